import type { Log } from '../base/log.ts';
import { storageFault } from '../db/faults.ts';
import { createTurns, lockPatience } from '../db/turns.ts';
import { type AuditEvent, type Head, systemEvent } from './event.ts';
import type { AuditFile } from './file.ts';
import { createRepeats } from './repeats.ts';

const warnEvery = 60_000;
/** How many events wait while another process has the lock, and the milliseconds between attempts. */
const mostKept = 5000;
const retryEvery = 100;

export type AuditStream = ReturnType<typeof createAuditStream>;

export interface StreamOptions {
  failure: 'stop' | 'continue';
  now: () => Date;
  log: Log;
  refuse: (cause: Error) => Error;
  /** Called with the last line after each synced write. */
  remember?: (head: Head) => void;
}

/** The audit stream over its file, with the policy of `GAPSTONE_AUDIT_FAILURE` (rule D21). */
export function createAuditStream(file: AuditFile, options: StreamOptions) {
  const { failure, now, refuse, remember = () => undefined } = options;
  const writer = createWriter(file, options);
  const notes = createNotes(writer);
  const repeats = createRepeats(notes.note, now);
  const turns = createTurns();

  /** Writes and syncs events. On failure the policy `stop` throws, and `continue` counts them as lost. */
  function must(...events: AuditEvent[]): void {
    try {
      writer.write(events, true);
    } catch (error) {
      const stop = failure === 'stop';
      writer.failed(error as Error, { lost: stop ? 0 : events.length, refused: stop ? events.length : 0 });
      if (stop) throw refuse(error as Error);
      return;
    }
    remember(writer.head()!);
  }

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
    note: notes.note,
    /** As `note`, for refusals: repeats within a minute become one event with their count. */
    refused: repeats.note,
    /** Periodic work: the anchor of a new day, counted repeats (at the end, all of them). */
    tick(atEnd = false): void {
      repeats.flush(atEnd);
      if (!file.isNewDay()) return;
      try {
        writer.write([], true);
      } catch (error) {
        // The process with the lock writes the anchor, or the next tick does.
        if (storageFault(error) !== 'busy') writer.failed(error as Error, { lost: 0, refused: 0 });
      }
    },
    /** The last line that this process synced; null before the first. */
    head: writer.head,
    stats: writer.stats,
    close(): void {
      notes.close();
      file.close();
    },
  };
}

/** Writes events to the file, those in `kept` first, and counts and logs what could not be written. */
function createWriter(file: AuditFile, { failure, now, log }: StreamOptions) {
  /** Events that wait for the lock, oldest first. */
  const kept: AuditEvent[] = [];
  let written = 0;
  let lost = 0;
  let gap: Gap | null = null;
  let last = null as Head | null;
  let warnedAt = Number.NEGATIVE_INFINITY;
  return {
    kept,
    write(events: readonly AuditEvent[], sync: boolean): void {
      const all = [...kept, ...events];
      const { head, anchor, missing } = file.append(gap === null ? all : [failureEvent(gap), ...all], sync);
      kept.length = 0;
      written += all.length;
      if (sync) last = head;
      if (missing !== null)
        log.warn('audit stream: lines or the head were removed, or this is a different stream', {
          reason: missing,
          seq: head.seq,
        });
      if (anchor !== null) log.info('audit anchor', { seq: anchor.seq, hash: anchor.hash });
      if (gap === null) return;
      log.warn('audit stream can be written again', { lost: gap.lost, refused: gap.refused, seq: head.seq });
      gap = null;
      warnedAt = Number.NEGATIVE_INFINITY;
    },
    failed(error: Error, events: { lost: number; refused: number }): void {
      const reason = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
      gap ??= { lost: 0, refused: 0, since: now().toISOString(), reason };
      gap.lost += events.lost;
      gap.refused += events.refused;
      lost += events.lost;
      const time = now().getTime();
      if (Math.abs(time - warnedAt) < warnEvery) return;
      warnedAt = time;
      log.error('audit stream cannot be written', { reason: error.message, policy: failure });
    },
    head: () => last,
    stats: () => ({ written, lost, failing: gap !== null }),
  };
}

/** Writes events of completed actions. Events that find the file locked wait, except at the end. */
function createNotes({ kept, write, failed }: ReturnType<typeof createWriter>) {
  let keptSince = 0;
  let retry: NodeJS.Timeout | null = null;

  function flush(atEnd = false): void {
    if (kept.length === 0) return;
    try {
      write([], false);
    } catch (error) {
      const isBusy = storageFault(error) === 'busy' && !atEnd;
      const lost = kept.splice(isBusy ? mostKept : 0).length;
      if (lost > 0 || performance.now() - keptSince > lockPatience)
        failed(error as Error, { lost, refused: 0 });
      if (!isBusy) return;
      retry ??= setTimeout(() => {
        retry = null;
        flush();
      }, retryEvery).unref();
    }
  }

  return {
    /** Writes an event of something already done as soon as no other process writes; counts it as lost on failure. */
    note(event: AuditEvent): void {
      if (kept.length === 0) keptSince = performance.now();
      kept.push(event);
      flush();
    },
    close(): void {
      flush(true);
      if (retry !== null) clearTimeout(retry);
    },
  };
}

/** Events since the last success that were lost, or whose actions were rejected. */
interface Gap {
  lost: number;
  refused: number;
  since: string;
  reason: string;
}

const failureEvent = ({ reason, ...detail }: Gap) =>
  systemEvent('audit.failure', detail, { outcome: 'failure', reason });

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
