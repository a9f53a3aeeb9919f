import { garbageCollector } from '../../../src/base/idle-memory.ts';

const collect = garbageCollector();

/** Megabytes of heap that are in use after everything that can be collected was. */
export async function heapInUse(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}
