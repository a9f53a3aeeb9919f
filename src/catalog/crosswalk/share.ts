import type { JsonText } from '../../base/json.ts';

/** The most bytes of JSON for the paths of one answer, which then stays under 16 MB (rule D7.3). */
export const mostPathBytes = 12 * 1024 * 1024;
const maxPaths = 10_000;

/** The paths of one question, each with its JSON. */
export interface Taken<T> {
  paths: T[];
  texts: JsonText<T>[];
  bytes: number;
  /** A limit was reached: there may be more. */
  truncated: boolean;
  /** The limit of bytes was reached. */
  isFull: boolean;
}

/** Collects up to 10,000 paths that together have at most `mostBytes` of JSON. */
export function createTaker<T>(mostBytes: number) {
  const taken: Taken<T> = { paths: [], texts: [], bytes: 0, truncated: false, isFull: false };
  return {
    taken,
    /** Adds a path. False where it exceeds a limit: then it is not added. */
    take(path: T): boolean {
      const text: JsonText<T> = JSON.stringify(path);
      const bytes = Buffer.byteLength(text) + ','.length;
      taken.isFull = taken.bytes + bytes > mostBytes;
      taken.truncated = taken.isFull || taken.paths.length >= maxPaths;
      if (taken.truncated) return false;
      taken.paths.push(path);
      taken.texts.push(text);
      taken.bytes += bytes;
      return true;
    },
  };
}

/**
 * Divides bytes among questions. Each gets an equal part; then those that need more share what the others left, until
 * none needs more or nothing is left. So answers are truncated only where all together exceed the bytes. `answer` gets
 * the index of a question and its bytes; `isOver` ends early with the answers so far.
 */
export async function shareBytes<T>(
  count: number,
  bytes: number,
  answer: (index: number, bytes: number, waiting: number) => Promise<Taken<T>>,
  isOver: () => boolean,
): Promise<Taken<T>[]> {
  const answers: Taken<T>[] = [];
  let open = Array.from({ length: count }, (_, index) => index);
  let left = bytes;
  while (open.length > 0) {
    const part = Math.floor(left / open.length);
    for (const [turn, index] of open.entries()) {
      const known = answers[index];
      if (known && isOver()) return answers;
      const taken = await answer(index, part, open.length - turn);
      // A search that ran out of time may find less than the one before.
      if (!known || taken.bytes >= known.bytes) answers[index] = taken;
    }
    const full = open.filter((index) => answers[index]!.isFull);
    if (full.length === open.length) return answers;
    for (const index of open) if (!answers[index]!.isFull) left -= answers[index]!.bytes;
    open = full;
  }
  return answers;
}
