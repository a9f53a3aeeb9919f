import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { crcOf } from '../base/zip.ts';

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

/** A stream that passes bytes on, and what they amount to at its end. */
export function createCounter() {
  const hash = createHash('sha256');
  let crc = 0;
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      crc = crcOf(chunk, crc);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, totals: () => ({ bytes, sha256: hash.digest('hex'), crc }) };
}
