/** Reads the numbers of a record of FTS5: seven bits in each byte, the highest first. */
export class Numbers {
  private readonly bytes: Buffer;
  private readonly start: number;
  at: number;
  readonly end: number;

  constructor(bytes: Buffer, at: number, end = bytes.length) {
    this.bytes = bytes;
    this.start = at;
    this.at = at;
    this.end = end;
  }

  /** The same from its beginning. */
  again(): Numbers {
    return new Numbers(this.bytes, this.start, this.end);
  }

  /** The next number. Throws behind the last byte. */
  next(): number {
    for (let number = 0; ; ) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error('The search index cannot be read');
      number = number * 128 + (byte & 127);
      if (byte < 128) return number;
    }
  }
}

/** All numbers of a record. */
export function numbersIn(record: Buffer): number[] {
  const found: number[] = [];
  for (const numbers = new Numbers(record, 0); numbers.at < numbers.end; ) found.push(numbers.next());
  return found;
}
