import { storageFault } from '../base/faults.ts';
import type { Log } from '../base/log.ts';
import { createTurns, lockPatience } from '../base/turns.ts';
import { type AuditEvent, type Head, systemEvent } from './event.ts';
import type { AuditFile } from './file.ts';
import { createRepeats } from './repeats.ts';

const warnEvery = 60_000;
/** How many events wait while another process has the lock, and the milliseconds between attempts. */
const mostWaiting = 5000;
const retryEvery = 100;

export type AuditStream = ReturnType<typeof createAuditStream>;

/** Events since the last success that were lost, or whose actions were rejected. */
interface Gap {
  lost: number;
  refused: number;
  since: string;
  reason: string;
}

const failureEvent = ({ reason, ...detail }: Gap) =>
  systemEvent('audit.failure', detail, { outcome: 'failure', reason });

/** The audit stream over its file, with the policy of `GAPSTONE_AUDIT_FAILURE` (rule D21). */
export function createAuditStream(
  file: AuditFile,
  options: {
    failure: 'stop' | 'continue';
    now: () => Date;
    log: Log;
    refuse: (cause: Error) => Error;
    /** Called with the last line after each synced write. */
    remember?: (head: Head) => void;
  },
) {
  const { failure, now, log, refuse, remember } = options;
  const turns = createTurns();
  /** Events that wait for the lock, oldest first. */
  const waiting: AuditEvent[] = [];
  let waitingSince = 0;
  let retry: NodeJS.Timeout | null = null;
  let written = 0;
  let lost = 0;
  let gap: Gap | null = null;
  let last: Head | null = null;
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** Writes events, those that wait first. Throws system errors and SQLITE_BUSY. */
  function write(events: readonly AuditEvent[], sync: boolean): Head {
    const all = [...waiting, ...events];
    const { head, anchor, missing } = file.append(gap === null ? all : [failureEvent(gap), ...all], sync);
    waiting.length = 0;
    written += all.length;
    if (sync) last = head;
    if (missing !== null)
      log.warn('audit stream: lines or the head were removed, or this is a different stream', {
        reason: missing,
        seq: head.seq,
      });
    if (anchor !== null) log.info('audit anchor', { seq: anchor.seq, hash: anchor.hash });
    if (gap !== null) {
      log.warn('audit stream can be written again', { lost: gap.lost, refused: gap.refused, seq: head.seq });
      gap = null;
      warnedAt = Number.NEGATIVE_INFINITY;
    }
    return head;
  }

  /** Counts what could not be written, and logs it once a minute. */
  function failed(error: Error, events: { lost?: number; refused?: number } = {}): void {
    const reason = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
    gap ??= { lost: 0, refused: 0, since: now().toISOString(), reason };
    gap.lost += events.lost ?? 0;
    gap.refused += events.refused ?? 0;
    lost += events.lost ?? 0;
    const time = now().getTime();
    if (Math.abs(time - warnedAt) < warnEvery) return;
    warnedAt = time;
    log.error('audit stream cannot be written', { reason: error.message, policy: failure });
  }

  /** Writes and syncs events. On failure the policy `stop` throws, and `continue` counts them as lost. */
  function must(...events: AuditEvent[]): void {
    let head: Head;
    try {
      head = write(events, true);
    } catch (error) {
      failed(error as Error, { [failure === 'stop' ? 'refused' : 'lost']: events.length });
      if (failure === 'stop') throw refuse(error as Error);
      return;
    }
    remember?.(head);
  }

  /** Writes the events that wait. Those that find the file locked wait on, except at the end. */
  function flush(atEnd = false): void {
    if (waiting.length === 0) return;
    try {
      write([], false);
    } catch (error) {
      const isBusy = storageFault(error) === 'busy' && !atEnd;
      const dropped = waiting.splice(isBusy ? mostWaiting : 0).length;
      if (dropped > 0 || performance.now() - waitingSince > lockPatience)
        failed(error as Error, { lost: dropped });
      if (!isBusy) return;
      retry ??= setTimeout(() => {
        retry = null;
        flush();
      }, retryEvery).unref();
    }
  }

  /** Writes an event of something already done as soon as no other process writes; counts it as lost on failure. */
  function note(event: AuditEvent): void {
    if (waiting.length === 0) waitingSince = performance.now();
    waiting.push(event);
    flush();
  }

  const repeats = createRepeats(note, now);

  /**
   * Runs audited work under the file's lock, so that nothing in it finds the lock busy. Throws SQLITE_BUSY before the
   * work begins, except the last time: then, and where the file has no lock, the work runs anyway, and the policy
   * decides about its events.
   */
  function hold<T>(work: () => T, isLast: boolean): T {
    let begun = false;
    try {
      return file.hold(() => {
        begun = true;
        return work();
      });
    } catch (error) {
      if (begun || (storageFault(error) === 'busy' && !isLast)) throw error;
      return work();
    }
  }

  return {
    must,
    /** As `must`, outside of transactions: waits for another process's lock without blocking the event loop. */
    tell: (...events: AuditEvent[]): Promise<void> =>
      turns.take(({ isLast }) => hold(() => must(...events), isLast)),
    hold,
    note,
    /** As `note`, for refusals: repeats within a minute become one event with their count. */
    refused: repeats.note,
    /** Periodic work: the anchor of a new day, counted repeats (at the end, all of them). */
    tick(atEnd = false): void {
      repeats.flush(atEnd);
      if (!file.isNewDay()) return;
      try {
        write([], true);
      } catch (error) {
        // The process with the lock writes the anchor, or the next tick does.
        if (storageFault(error) !== 'busy') failed(error as Error);
      }
    },
    /** The last line that this process synced; null before the first. */
    head: () => last,
    stats: () => ({ written, lost, failing: gap !== null }),
    close(): void {
      flush(true);
      if (retry !== null) clearTimeout(retry);
      file.close();
    },
  };
}

/** A stream that discards everything, for tests and in-memory databases. */
export const silentAudit: AuditStream = {
  must() {},
  async tell() {},
  hold: (work) => work(),
  note() {},
  refused() {},
  tick() {},
  head: () => null,
  stats: () => ({ written: 0, lost: 0, failing: false }),
  close() {},
};
