import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

/** 128 MiB: releases of one STIG stand further apart than a few megabytes, and are almost equal. */
const largestWindow = 27;

/** Zstandard, without anything that differs between two runs; `bytes` is the size of what is compressed. */
export function compressor(bytes: number) {
  const windowLog = Math.min(largestWindow, Math.max(10, Math.ceil(Math.log2(bytes + 1))));
  return createZstdCompress({
    params: {
      [constants.ZSTD_c_compressionLevel]: 9,
      [constants.ZSTD_c_windowLog]: windowLog,
      [constants.ZSTD_c_enableLongDistanceMatching]: windowLog > 20 ? 1 : 0,
    },
  });
}

/** Takes no more memory than what `compressor` makes needs. */
export function decompressor() {
  return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: largestWindow } });
}
