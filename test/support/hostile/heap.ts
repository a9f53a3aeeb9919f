import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** V8's garbage collector, hidden without `--expose-gc`. */
const gc = runInNewContext('gc') as NodeJS.GCFunction;
setFlagsFromString('--no-expose-gc');
const collect = () => gc({ type: 'major', flavor: 'last-resort' });

/** Megabytes of heap that are in use after everything that can be collected was. */
export async function heapInUse(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}
