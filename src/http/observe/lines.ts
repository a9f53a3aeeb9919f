import { writeSync } from 'node:fs';

/** The part of a process stream that is used here. */
export interface LineStream {
  readonly writableLength: number;
  write(text: string, done: () => void): boolean;
  on(event: 'error', listener: () => void): unknown;
}

export type LineWriter = ReturnType<typeof createLineWriter>;

const mostWaiting = 8 * 1024 * 1024;

/**
 * Writes the lines of one turn of the event loop at once. When the reader is slow, lines beyond 8 MiB are dropped, and
 * when it is gone all are; both are counted.
 */
export function createLineWriter(stream: LineStream = process.stdout, file = 1) {
  let lines: string[] = [];
  let scheduled = false;
  let broken = false;
  let dropped = 0;
  stream.on('error', () => {
    broken = true;
  });

  function flush(): void {
    scheduled = false;
    const count = lines.length;
    if (count === 0) return;
    const text = lines.join('');
    lines = [];
    if (broken || stream.writableLength > mostWaiting) dropped += count;
    else stream.write(text, () => undefined);
  }

  return {
    write(line: string): void {
      lines.push(line);
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    },
    dropped: () => dropped,
    /** Writes waiting lines synchronously, for a process that is about to end. Never throws. */
    flushNow(): void {
      const text = lines.join('');
      lines = [];
      if (broken || text === '') return;
      try {
        writeSync(file, text);
      } catch {
        // No stream is left to report this error on.
        broken = true;
      }
    },
    /** Writes waiting lines; resolves with false when that takes longer than two seconds. */
    async close(): Promise<boolean> {
      flush();
      if (broken) return true;
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(broken), 2000);
        stream.write('', () => {
          clearTimeout(timer);
          resolve(true);
        });
      });
    },
  };
}
