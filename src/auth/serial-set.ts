export type SerialSet = ReturnType<typeof createSerialSet>;

/**
 * A set of serial numbers, exact and compact: their bytes one after the other, and a hash table of where each begins. A
 * million of 16 bytes take some 34 MB. `most` is how many will be added at most.
 */
export function createSerialSet(most: number) {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(8, most * 1.5)));
  const table = new Uint32Array(slots);
  /** Each with its length before it; the first byte is not used, as 0 in the table means empty. */
  let bytes = new Uint8Array(1024);
  let end = 1;
  let size = 0;

  /** The slot of the number at `bytes`: that which holds it, or the empty one where it belongs. */
  function slotOf(from: Uint8Array, at: number, to: number): number {
    let hash = 0x811c9dc5;
    for (let index = at; index < to; index++) hash = Math.imul(hash ^ from[index]!, 0x01000193);
    for (let slot = (hash ^ (hash >>> 15)) & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const place = table[slot]!;
      if (place === 0 || isAt(place, from, at, to)) return slot;
    }
  }

  function isAt(place: number, from: Uint8Array, at: number, to: number): boolean {
    if (bytes[place] !== to - at) return false;
    for (let index = at; index < to; index++) if (bytes[place + 1 + index - at] !== from[index]) return false;
    return true;
  }

  return {
    /** Adds the number of at most 255 bytes from `at` to `to`. */
    add(from: Uint8Array, at: number, to: number): void {
      const slot = slotOf(from, at, to);
      if (table[slot] !== 0) return;
      const length = to - at;
      if (end + 1 + length > bytes.length) {
        const larger = new Uint8Array(Math.ceil(bytes.length * 1.5) + 256);
        larger.set(bytes.subarray(0, end));
        bytes = larger;
      }
      table[slot] = end;
      bytes[end] = length;
      for (let index = 0; index < length; index++) bytes[end + 1 + index] = from[at + index]!;
      end += 1 + length;
      size++;
    },
    /** Whether it holds a number, as `plainSerial` writes it. */
    has(serial: string): boolean {
      const wanted = Buffer.from(serial, 'hex');
      return table[slotOf(wanted, 0, wanted.length)] !== 0;
    },
    size: () => size,
  };
}
