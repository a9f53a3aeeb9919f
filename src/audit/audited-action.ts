import { AsyncLocalStorage } from 'node:async_hooks';
import type { Database } from '../db/database.ts';
import { type AuditEvent, shownName } from './event.ts';
import type { AuditStream } from './stream.ts';

/** An audited action under way. */
export interface Step {
  /** Writes its success, once, inside the transaction that does it. */
  write(result: unknown): void;
  written(): boolean;
}

export type Audit = ReturnType<typeof createAudit>;

/**
 * An audit stream with the database whose changes it records: the event of an action is written inside its transaction, just
 * before the commit, so that one which cannot be audited is rolled back (`GAPSTONE_AUDIT_FAILURE=stop`). Should the
 * commit itself fail after that, an event of the failure with the same request id follows.
 */
export function createAudit(stream: AuditStream, db: Database | null) {
  const steps = new AsyncLocalStorage<Step>();
  let underWay = 0;
  // The lock of the stream is taken before anything is done or written: what has to be tried again has written nothing yet.
  const unhook = db?.within((work, isLast) => {
    const recorded = () => {
      const result = work();
      steps.getStore()?.write(result);
      return result;
    };
    return stream.hold(recorded, isLast);
  });
  return {
    stream,

    /** Runs an action. Its `event` is asked for when it is about to be committed. Throws what the work throws. */
    async run<T>(
      event: () => Omit<AuditEvent, 'outcome' | 'reason'>,
      work: (step: Step) => Promise<T>,
    ): Promise<T> {
      let written = false;
      const step: Step = {
        written: () => written,
        write(result) {
          if (written) return;
          stream.must({ ...withResult(event(), result), outcome: 'success', reason: null });
          written = true;
        },
      };
      underWay++;
      try {
        return await steps.run(step, () => work(step));
      } finally {
        // While it is on, the runtime pays for it at every event of every request.
        if (--underWay === 0) steps.disable();
      }
    },

    /** Takes it off the database. */
    close: () => unhook?.(),
  };
}

const detailed = ['added', 'removed', 'purged', 'visibility', 'stigSlug', 'controlId', 'framework'] as const;

/** Adds what the result of a write says: the id of what was made, how many were touched. */
function withResult(event: Omit<AuditEvent, 'outcome' | 'reason'>, result: unknown) {
  if (typeof result === 'number') return { ...event, detail: { ...event.detail, count: result } };
  if (typeof result !== 'object' || result === null) return event;
  const values = result as Record<string, unknown>;
  const detail: NonNullable<AuditEvent['detail']> = { ...event.detail };
  for (const name of detailed) {
    const value = values[name];
    if (typeof value === 'number') detail[name] = value;
    // An answer may hold what the body said.
    else if (typeof value === 'string') detail[name] = shownName(value);
  }
  const made = typeof values.id === 'string' ? values.id : null;
  if (made !== null && event.objectId !== null && made !== event.objectId) detail.madeId = made;
  const kept = Object.keys(detail).length === 0 ? null : detail;
  return { ...event, objectId: event.objectId ?? made, detail: kept };
}
