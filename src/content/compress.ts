import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

/** 128 MiB: equal text in releases of one STIG is further apart than a few megabytes. */
const largestWindow = 27;

/** A Zstandard compressor whose output depends only on the input and its size, `bytes`. */
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

/** Its memory is bounded by the largest window of `compressor`. */
export function decompressor() {
  return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: largestWindow } });
}
