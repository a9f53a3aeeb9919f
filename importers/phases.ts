import { performance } from 'node:perf_hooks';

export type Phases = ReturnType<typeof createPhases>;

/** Counts the milliseconds of a run by phase. */
export function createPhases() {
  /** Milliseconds by phase, each without nested phases. */
  const times = {
    read: 0,
    parse: 0,
    write: 0,
    identity: 0,
    search: 0,
    controls: 0,
    closure: 0,
    roles: 0,
    commit: 0,
    digest: 0,
  };
  let inside = 0;
  return {
    times,
    timed<T>(phase: keyof typeof times, work: () => T): T {
      const from = performance.now();
      const before = inside;
      inside = 0;
      try {
        return work();
      } finally {
        const all = performance.now() - from;
        times[phase] += all - inside;
        inside = before + all;
      }
    },
  };
}
