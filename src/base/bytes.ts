/** Bytes that have their buffer alone, copied where they share it: who keeps or transfers small ones has 64 KiB of others too. */
export function owned(bytes: Uint8Array<ArrayBuffer>): Buffer<ArrayBuffer> {
  const isAlone = bytes.byteLength === bytes.buffer.byteLength;
  return Buffer.from(isAlone ? bytes.buffer : new Uint8Array(bytes).buffer);
}
