import type { ImportProgress } from '../../importers/run.ts';
import { count } from '../base/text.ts';
import { tell } from './command.ts';

const milliseconds = 2000;

/** Gives a function that reports the progress of an import, one line every two seconds. */
export function createProgress(write = tell, now = () => performance.now()) {
  const start = now();
  let last = start;
  return ({ done, found, rules, bytes }: ImportProgress): void => {
    const time = now();
    if (time - last < milliseconds) return;
    last = time;
    const rate = (bytes / 1000 / (time - start)).toFixed(1);
    write(`reading: ${done} of ${count(found, 'source')}, ${count(rules, 'rule')}, ${rate} MB/s`);
  };
}
