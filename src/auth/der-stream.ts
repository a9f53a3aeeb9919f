import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 256 * 1024;

/** Bytes in order: a filled buffer, or null at their end. Each buffer is valid until the next call. */
export type NextBytes = () => Promise<Uint8Array | null>;

/** The bytes of a file. */
export function bytesOf(file: FileHandle): NextBytes {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  return async () => {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, null);
    return bytesRead === 0 ? null : buffer.subarray(0, bytesRead);
  };
}

/**
 * The blocks of PEM text with a label, each as its bytes; text around them is passed over. A block is read to its end
 * before the next is asked for. Throws for what is not base64, and for a block without an end.
 */
export async function* pemBlocks(next: NextBytes, label: string): AsyncGenerator<NextBytes> {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  let text = '';
  async function more(): Promise<boolean> {
    const bytes = await next();
    if (bytes !== null) text += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    return bytes !== null;
  }
  async function block(): Promise<Uint8Array | null> {
    for (;;) {
      const stop = text.indexOf('-');
      const body = (stop < 0 ? text : text.slice(0, stop)).replace(/\s+/g, '');
      // Decode whole groups of four; what is left waits for more text.
      const whole = stop < 0 ? body.length - (body.length % 4) : body.length;
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(body) || whole % 4 > 0) throw new Error('it is not base64');
      if (whole > 0) {
        text = body.slice(whole) + (stop < 0 ? '' : text.slice(stop));
        return Buffer.from(body.slice(0, whole), 'base64');
      }
      if (stop >= 0 && text.length - stop >= end.length) {
        if (!text.startsWith(end, stop)) throw new Error(`it has no line ${end}`);
        text = text.slice(stop + end.length);
        return null;
      }
      if (!(await more())) throw new Error(`it has no line ${end}`);
    }
  }
  for (;;) {
    const at = text.indexOf(begin);
    if (at >= 0) {
      text = text.slice(at + begin.length);
      yield block;
      continue;
    }
    // A beginning may be cut between two chunks.
    text = text.slice(-begin.length);
    if (!(await more())) return;
  }
}

/** A value of DER: where its content begins and ends, counted from the beginning of the stream. */
interface Value {
  tag: number;
  from: number;
  to: number;
}

export type DerReader = ReturnType<typeof createDerReader>;

/** Reads DER from a stream, value by value. `seen` is given all bytes in order once they were read past. */
export function createDerReader(next: NextBytes, seen: (bytes: Uint8Array) => void = () => undefined) {
  let buffer = new Uint8Array(0);
  let at = 0;
  /** The place in the stream of the beginning of the buffer. */
  let base = 0;

  /** Makes at least `count` bytes available, if the stream has them. Gives how many there are. */
  async function fill(count: number): Promise<number> {
    while (buffer.length - at < count) {
      const bytes = await next();
      if (bytes === null) break;
      const rest = buffer.subarray(at);
      const joined = new Uint8Array(rest.length + bytes.length);
      joined.set(rest);
      joined.set(bytes, rest.length);
      base += at;
      buffer = joined;
      at = 0;
    }
    return buffer.length - at;
  }

  function pass(count: number): void {
    if (count > 0) seen(buffer.subarray(at, at + count));
    at += count;
  }

  return {
    place: () => base + at,
    /** The bytes that are here now, and where they begin; `fill` brings more. */
    here: () => ({ buffer, at }),
    fill,
    pass,
    isAtEnd: async () => (await fill(1)) === 0,

    /** The head of the next value, read past. Throws where the stream ends, or its length is not in its shortest form. */
    async open(): Promise<Value> {
      await fill(6);
      const head = readHead(buffer, at);
      if (head === null) throw new Error('it is cut');
      pass(head.from - at);
      const from = base + at;
      return { tag: head.tag, from, to: from + head.length };
    },

    /** The next value, whole, of at most `most` bytes, read past. */
    async whole(most: number): Promise<Buffer> {
      await fill(6);
      const head = readHead(buffer, at);
      if (head === null) throw new Error('it is cut');
      const size = head.from - at + head.length;
      if (size > most) throw new Error('a part of it is too long');
      if ((await fill(size)) < size) throw new Error('it is cut');
      const bytes = Buffer.from(buffer.subarray(at, at + size));
      pass(size);
      return bytes;
    },

    /** The tag of the next value, which stays to be read. */
    async tag(): Promise<number | undefined> {
      await fill(1);
      return buffer[at];
    },
  };
}

/** The tag, the length and the beginning of the content of the value at `at`; null where its head is cut. */
export function readHead(
  buffer: Uint8Array,
  at: number,
): { tag: number; length: number; from: number } | null {
  const tag = buffer[at];
  const first = buffer[at + 1];
  if (tag === undefined || first === undefined) return null;
  if (first < 128) return { tag, length: first, from: at + 2 };
  const count = first - 128;
  if (count < 1 || count > 4) throw new Error('it is not DER');
  if (at + 2 + count > buffer.length) return null;
  let length = 0;
  for (let index = 0; index < count; index++) length = length * 256 + buffer[at + 2 + index]!;
  if (length < 128 || length < 256 ** (count - 1)) throw new Error('it is not DER');
  return { tag, length, from: at + 2 + count };
}
