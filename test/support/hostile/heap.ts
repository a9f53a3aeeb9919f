import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// V8's garbage collector, hidden without `--expose-gc`.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as NodeJS.GCFunction;

/** Megabytes of heap that are in use after everything that can be collected was. */
export async function heapInUse(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collect({ type: 'major', flavor: 'last-resort' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}
