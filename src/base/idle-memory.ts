import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often the process looks at its memory, in milliseconds, and how many looks there are between two collections. */
const lookMilliseconds = 2_000;
const looksApart = 5;
/** Bytes of growth that are worth a collection. */
const worthwhile = 64 * 1024 * 1024;
/** An idle event loop worked for a smaller share than this of the time since the last look. */
const idleShare = 0.25;

/** What a look needs to know of the process; `resident` is in bytes. */
export interface Memory {
  resident(): number;
  /** The share of the time since the last call that the event loop worked, 0 to 1. */
  utilization(): number;
  collect(): void;
}

/**
 * Makes the function that looks at the memory of the process, and collects garbage where it has grown and the process is
 * idle (rule S2.10). V8 by itself collects when it needs memory: an idle process would keep all that it once took.
 */
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
    // What is left is in use, and no reason to collect again.
    least = resident();
  };
}

/** Gives memory back to the system whenever this process is idle (rule S2.10), until the returned function is called. */
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

/**
 * V8's own collector of garbage, which Node hides unless it was started with `--expose-gc`. As a last resort it gives the
 * pages back as well; otherwise V8 keeps them for later. (The inspector's collector locks up the process when its session
 * ends in its own answer.)
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'major', flavor: 'last-resort' });
}
