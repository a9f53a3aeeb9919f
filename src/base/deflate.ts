import { constants, crc32, deflateRawSync } from 'node:zlib';

/**
 * A piece of a deflate stream (RFC 1951) that begins and ends on a byte and does not refer back: concatenated pieces
 * are the stream of their concatenated contents. So content that many files share is compressed once.
 */
export interface Piece {
  bytes: Buffer;
  /** The bytes after decompression, and their CRC-32. */
  unpacked: number;
  crc: number;
  /** The factor for the CRC-32 of everything before this piece. */
  factor: number;
}

const longestBlock = 0xffff;

/** A piece of a few uncompressed bytes; `isLast` ends the stream. */
export function storedPiece(content: Buffer, isLast = false): Piece {
  if (content.length > longestBlock) throw new RangeError(`${content.length} bytes in a stored block`);
  const head = Buffer.alloc(5);
  head[0] = isLast ? 1 : 0;
  head.writeUInt16LE(content.length, 1);
  head.writeUInt16LE(content.length ^ 0xffff, 3);
  return {
    bytes: Buffer.concat([head, content]),
    unpacked: content.length,
    crc: crc32(content),
    factor: power(content.length),
  };
}

/** A piece of a compressed text. */
export function deflatedPiece(text: string): Piece {
  const content = Buffer.from(text);
  return {
    bytes: deflateRawSync(content, { level: 9, finishFlush: constants.Z_SYNC_FLUSH }),
    unpacked: content.length,
    crc: crc32(content),
    factor: power(content.length),
  };
}

/** Sizes and CRC-32 of concatenated pieces. */
export function joinedPieces(pieces: readonly Piece[]): { bytes: number; unpacked: number; crc: number } {
  const whole = { bytes: 0, unpacked: 0, crc: 0 };
  for (const { bytes, unpacked, crc, factor } of pieces) {
    whole.bytes += bytes.length;
    whole.unpacked += unpacked;
    whole.crc = (times(factor, whole.crc) ^ crc) >>> 0;
  }
  return whole;
}

// A CRC-32 is a polynomial modulo this one, its highest power in the lowest bit; each later byte multiplies it by x^8.
const modulus = 0xedb88320;
const one = 0x80000000;
const byte = one >>> 8;

function times(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ modulus : shifted >>> 1;
  }
  return product >>> 0;
}

/** The factor by which so many bytes multiply a CRC-32. */
function power(bytes: number): number {
  let product = one;
  let square = byte;
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) product = times(square, product);
    square = times(square, square);
  }
  return product;
}
