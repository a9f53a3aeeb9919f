import { performance } from 'node:perf_hooks';

/** Counts the milliseconds of a run by phase. */
export class Phases {
  /** Milliseconds by phase, each without nested phases. */
  readonly times = {
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
  private inside = 0;

  timed<T>(phase: keyof Phases['times'], work: () => T): T {
    const from = performance.now();
    const before = this.inside;
    this.inside = 0;
    try {
      return work();
    } finally {
      const all = performance.now() - from;
      this.times[phase] += all - this.inside;
      this.inside = before + all;
    }
  }
}
