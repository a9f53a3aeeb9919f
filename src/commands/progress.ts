import type { ImportProgress } from '../../importers/run.ts';
import { count } from '../base/text.ts';

const barWidth = 24;
const plainEvery = 2000;

/**
 * Shows how far an import is on stderr: a bar on a terminal, a plain line every two seconds otherwise.
 * `clear` removes the bar before anything else is printed. The bar is written over with blanks, which every terminal
 * knows, and is cut to its width: of a line that was wrapped only the end would be written over.
 */
export function createProgress(stream: NodeJS.WriteStream, now = () => performance.now()) {
  const start = now();
  let shown = start;
  let last = 0;
  const over = (text: string) => {
    stream.write(`\r${text.padEnd(last)}`);
    last = text.length;
  };
  const line = ({ done, found, rules, bytes }: ImportProgress) => {
    const seconds = Math.max(0.001, (now() - start) / 1000);
    return `${done} of ${count(found, 'source')}, ${count(rules, 'rule')}, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`;
  };
  return {
    update(progress: ImportProgress): void {
      const time = now();
      if (time - shown < (stream.isTTY ? 80 : plainEvery)) return;
      shown = time;
      if (!stream.isTTY) {
        stream.write(`reading: ${line(progress)}\n`);
        return;
      }
      const filled = Math.round((progress.done / Math.max(1, progress.found)) * barWidth);
      const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${line(progress)}`;
      // A terminal of unknown width says 0.
      over(bar.slice(0, (stream.columns || 80) - 1));
    },
    clear(): void {
      if (last === 0) return;
      over('');
      stream.write('\r');
    },
  };
}
