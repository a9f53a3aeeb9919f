/**
 * Bytes in a buffer of their own, copied where they share one: a small slice of Node's pool keeps all of its 64 KiB, and
 * a transfer would move them.
 */
export function owned(bytes: Uint8Array<ArrayBuffer>): Buffer<ArrayBuffer> {
  const isAlone = bytes.byteLength === bytes.buffer.byteLength;
  return Buffer.from(isAlone ? bytes.buffer : new Uint8Array(bytes).buffer);
}
