import { performance } from 'node:perf_hooks';

/** What a run spends its time on, each without the others. */
const phases = [
  'read',
  'parse',
  'write',
  'identity',
  'search',
  'controls',
  'closure',
  'roles',
  'commit',
] as const;
type Phase = (typeof phases)[number];

/** Counts the milliseconds of a run by phase. */
export class Phases {
  readonly times = Object.fromEntries(phases.map((phase) => [phase, 0])) as Record<Phase, number>;
  /** Milliseconds of the timed parts that the part under way has inside it. */
  private inside = 0;

  /** Does a part of the work and counts its time, without that of the parts inside it. */
  timed<T>(phase: Phase, work: () => T): T {
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
