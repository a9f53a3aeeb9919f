import { AsyncLocalStorage } from 'node:async_hooks';
import type { Database } from '../db/database.ts';
import { type AuditEvent, shownName } from './event.ts';
import type { AuditStream } from './stream.ts';

/** What is known of a deed before it is done; asked for only when it is about to be committed. */
export type Deed = () => Omit<AuditEvent, 'outcome' | 'reason'>;

/** One deed under way. */
export interface Step {
  /** Whether its success was written, inside the transaction that does it. */
  written(): boolean;
}

interface OpenStep extends Step {
  write(result: unknown): void;
}

export type Audit = ReturnType<typeof createAudit>;

/**
 * An audit stream with the database whose changes it records: the event of a deed is written inside its transaction, just
 * before the commit, so that a deed which cannot be audited is rolled back (`GAPSTONE_AUDIT_FAILURE=stop`). Should the
 * commit itself fail after that, an event of the failure with the same request id follows.
 */
export function createAudit(stream: AuditStream, db: Database | null) {
  const steps = new AsyncLocalStorage<OpenStep>();
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

    /** Runs a deed; what it throws is thrown on. */
    async run<T>(deed: Deed, work: (step: Step) => Promise<T>): Promise<T> {
      let written = false;
      const step: OpenStep = {
        written: () => written,
        write(result) {
          if (written) return;
          stream.must({ ...withResult(deed(), result), outcome: 'success', reason: null });
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
