import { AsyncLocalStorage } from 'node:async_hooks';
import { type AuditEvent, shownName } from './event.ts';
import type { AuditStream } from './stream.ts';

export interface Step {
  /** Writes the success event, once, inside the transaction of the action. */
  write(result: unknown): void;
  written(): boolean;
}

/** A database whose writes run within a function; the result removes it. */
interface WrappedWrites {
  within(around: <T>(work: () => T, isLast: boolean) => T): () => void;
}

export type Audit = ReturnType<typeof createAudit>;

/**
 * Connects an audit stream with the database. The event of an action is written inside its transaction, just before the
 * commit, so that a change that cannot be audited is rolled back (`GAPSTONE_AUDIT_FAILURE=stop`). If the commit then
 * fails, a failure event with the same request id follows.
 */
export function createAudit(stream: AuditStream, db: WrappedWrites | null) {
  const steps = new AsyncLocalStorage<Step>();
  // Take the stream's lock before the work: when it is busy, nothing was written and the write can be retried.
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

    /** Runs an action; `event` is called just before the commit. Throws what the work throws. */
    run<T>(
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
      return steps.run(step, () => work(step));
    },

    close: () => unhook?.(),
  };
}

const detailed = ['added', 'removed', 'purged', 'visibility', 'stigSlug', 'controlId', 'framework'] as const;

function withResult(event: Omit<AuditEvent, 'outcome' | 'reason'>, result: unknown) {
  if (typeof result === 'number') return { ...event, detail: { ...event.detail, count: result } };
  if (typeof result !== 'object' || result === null) return event;
  const values = result as Record<string, unknown>;
  const detail: NonNullable<AuditEvent['detail']> = { ...event.detail };
  for (const name of detailed) {
    const value = values[name];
    if (typeof value === 'number') detail[name] = value;
    // The answer may repeat text of the request, even a token.
    else if (typeof value === 'string') detail[name] = shownName(value);
  }
  const made = typeof values.id === 'string' ? values.id : null;
  if (made !== null && event.objectId !== null && made !== event.objectId) detail.madeId = made;
  const kept = Object.keys(detail).length === 0 ? null : detail;
  return { ...event, objectId: event.objectId ?? made, detail: kept };
}
