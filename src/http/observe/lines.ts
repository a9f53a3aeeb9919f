import { writeSync } from 'node:fs';

/** Where lines go: a stream of a process, as far as it is needed here. */
export interface LineStream {
  readonly writableLength: number;
  write(text: string, done: () => void): boolean;
  on(event: 'error', listener: () => void): unknown;
}

export type LineWriter = ReturnType<typeof createLineWriter>;

const mostWaiting = 8 * 1024 * 1024;

/**
 * Collects the lines of one turn of the event loop into one write. A reader that stopped reading costs lines, never
 * memory past 8 MiB; one that is gone costs all that follow. Both are counted.
 */
export function createLineWriter(stream: LineStream = process.stdout, file = 1) {
  let lines: string[] = [];
  let scheduled = false;
  let broken = false;
  let dropped = 0;
  // Without a listener an EPIPE would end the process.
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
    /** How many lines nobody will read. */
    dropped: () => dropped,
    /** Writes what is waiting at once, for a process that is about to end. Never throws. */
    flushNow(): void {
      const text = lines.join('');
      lines = [];
      if (broken || text === '') return;
      try {
        writeSync(file, text);
      } catch {
        // There is nowhere left to tell it.
        broken = true;
      }
    },
    /** Writes what is waiting; resolves with false when that takes longer than two seconds. */
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
