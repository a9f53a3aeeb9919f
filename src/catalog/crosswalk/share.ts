import type { JsonText } from '../../base/json.ts';

/**
 * The bytes of JSON that the paths of one answer may have, of a single question or of a batch: with all that stands
 * around them the answer stays under 16 MB (rule D7.3).
 */
export const mostPathBytes = 12 * 1024 * 1024;
const maxPaths = 10_000;

/** The paths that were taken for one question, each with its text. */
export interface Taken<T> {
  paths: T[];
  texts: JsonText<T>[];
  bytes: number;
  /** A bound bit: there may be more. */
  truncated: boolean;
  /** It was that of bytes. */
  isFull: boolean;
}

/** Takes paths, in the order in which they come, as long as they fit in so many bytes of JSON and are no more than 10,000. */
export function createTaker<T>(mostBytes: number) {
  const taken: Taken<T> = { paths: [], texts: [], bytes: 0, truncated: false, isFull: false };
  return {
    taken,
    /** False for a path that finds no room, which is not taken. */
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
 * Divides a number of bytes among questions: each may have an equal part, and what those leave that need less is divided
 * among those that need more, again and again until none wants more or nothing is left. So a question is cut only
 * where all together need too much, and none then gets less than another that is cut. `answer` takes the place of a
 * question and its bytes; `isOver` ends it early, with what there is.
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
      // A search that time ended may have found less than the one before.
      if (!known || taken.bytes >= known.bytes) answers[index] = taken;
    }
    const full = open.filter((index) => answers[index]!.isFull);
    if (full.length === open.length) return answers;
    for (const index of open) if (!answers[index]!.isFull) left -= answers[index]!.bytes;
    open = full;
  }
  return answers;
}
