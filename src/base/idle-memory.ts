import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds between two looks, and the looks between two collections. */
const lookMilliseconds = 2_000;
const looksApart = 5;
/** Bytes of growth that justify a collection. */
const worthwhile = 64 * 1024 * 1024;
/** The event loop is idle below this share of working time. */
const idleShare = 0.25;

/** What a look reads of the process; `resident` is in bytes. */
export interface Memory {
  resident(): number;
  /** The share of the time since the last call that the event loop was working, 0 to 1. */
  utilization(): number;
  collect(): void;
}

/** Gives a function that collects garbage when memory has grown and the process is idle (rule S2.10). */
export function createMemoryLook({ resident, utilization, collect }: Memory): () => void {
  let least = Number.POSITIVE_INFINITY;
  let looks = looksApart;
  return () => {
    const isBusy = utilization() >= idleShare;
    const now = resident();
    least = Math.min(least, now);
    looks++;
    if (isBusy || looks <= looksApart || now - least < worthwhile) return;
    collect();
    looks = 0;
    // What remains is in use, so it must not trigger the next collection.
    least = resident();
  };
}

/** Returns memory to the system whenever this process is idle (rule S2.10), until the returned function is called. */
export function giveMemoryBack(): () => void {
  let last = performance.eventLoopUtilization();
  const look = createMemoryLook({
    resident: process.memoryUsage.rss,
    utilization() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    collect: garbageCollector(),
  });
  const timer = setInterval(look, lookMilliseconds).unref();
  return () => clearInterval(timer);
}

/** V8's garbage collector, hidden without `--expose-gc`; only the last-resort flavor returns pages to the system. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'major', flavor: 'last-resort' });
}
