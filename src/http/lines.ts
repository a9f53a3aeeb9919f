import type { Writable } from 'node:stream';

export type LineWriter = ReturnType<typeof createLineWriter>;

const mostWaiting = 8 * 1024 * 1024;
const closeMilliseconds = 2000;

/**
 * Writes the lines of one turn of the event loop at once. When the reader is slow, lines beyond 8 MiB are dropped, and
 * when it is gone all are; both are counted.
 */
export function createLineWriter(stream: Writable = process.stdout) {
  let isCorked = false;
  let broken = false;
  let dropped = 0;
  stream.on('error', () => {
    broken = true;
  });

  function flush(): void {
    if (isCorked) stream.uncork();
    isCorked = false;
  }

  return {
    write(line: string): void {
      if (broken || stream.writableLength > mostWaiting) {
        dropped++;
        return;
      }
      if (!isCorked) {
        stream.cork();
        isCorked = true;
        setImmediate(flush);
      }
      stream.write(line);
    },
    dropped: () => dropped,
    /** Writes waiting lines, for a process that is about to end. */
    flush,
    /** Writes waiting lines; resolves with false when that takes longer than two seconds. */
    async close(): Promise<boolean> {
      flush();
      if (broken) return true;
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(broken), closeMilliseconds);
        stream.write('', () => {
          clearTimeout(timer);
          resolve(true);
        });
      });
    },
  };
}
