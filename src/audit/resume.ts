import { sha256 } from '../base/ids.ts';
import { type AuditEvent, type Head, origin, type ReadLine, readLine, systemEvent } from './event.ts';

/** How the chain goes on at the end of a file: after which line, and what has to be written first. */
export interface Resumption {
  head: Head;
  /** The time of the last line; null when nothing is known of it. */
  lastTime: string | null;
  /** Whether the file ends in the middle of a line, which has to be ended. */
  torn: boolean;
  event: AuditEvent | null;
}

/**
 * Decides how to go on after the bytes that a file ends with, the head that is noted beside it (null: there is none) and
 * the one that is known otherwise, by the process or the database. The greater of these wins over a file that is behind it:
 * the gap in the numbers then shows for good that lines are missing. No lines are written before a head is, so one that is
 * gone was taken away, perhaps with the end of the file, and that is written. A file that is empty beside its head was renamed.
 */
export function resume(tail: Buffer, noted: Head | null, otherwise: Head = origin): Resumption {
  const known = noted !== null && noted.seq > otherwise.seq ? noted : otherwise;
  const isBeside = noted !== null;
  if (tail.length === 0) {
    const gone = { streamMissing: true, missingTo: known.seq, ...(isBeside ? {} : { headMissing: true }) };
    const event =
      noted?.hash === known.hash
        ? systemEvent('audit.continue', { previousHash: known.hash })
        : systemEvent('audit.recover', gone, { outcome: 'failure', reason: 'STREAM_MISSING' });
    return { head: known, lastTime: null, torn: false, event: known.seq === 0 ? null : event };
  }
  const end = tail.lastIndexOf('\n');
  const rest = tail.subarray(end + 1);
  // Only its newline was lost: the line itself is whole.
  if (rest.length > 0 && readLine(rest.toString('utf8'))?.holds) {
    return { ...resume(Buffer.concat([tail, Buffer.from('\n')]), noted, otherwise), torn: true };
  }
  const start = end <= 0 ? 0 : tail.lastIndexOf('\n', end - 1) + 1;
  const last = end < 0 ? null : readLine(tail.toString('utf8', start, end));
  const lastTime = last?.time ?? null;
  const torn = rest.length > 0;
  const recovered = (reason: string, detail: AuditEvent['detail'] = {}) =>
    systemEvent(
      'audit.recover',
      { ...detail, ...(torn ? tornDetail(rest) : {}), ...(isBeside ? {} : { headMissing: true }) },
      { outcome: 'failure', reason },
    );

  if (last === null || !last.holds) {
    // A first line that is torn leaves nothing before it to read.
    return { head: known, lastTime, torn, event: recovered(end < 0 ? 'TORN' : 'UNREADABLE') };
  }
  if (last.seq < known.seq) {
    const missing = { missingFrom: last.seq + 1, missingTo: known.seq };
    return { head: known, lastTime, torn, event: recovered('LINES_MISSING', missing) };
  }
  if (last.seq === known.seq && last.hash !== known.hash) {
    return { head: known, lastTime, torn, event: recovered('CHANGED', { expectedHash: known.hash }) };
  }
  // A new stream that has grown past the line that is known is another all the same.
  const inItsPlace = otherwise.seq < last.seq ? lineNumbered(otherwise.seq, tail, end) : null;
  if (inItsPlace !== null && inItsPlace.hash !== otherwise.hash) {
    const other = { knownLine: otherwise.seq, expectedHash: otherwise.hash };
    return {
      head: { seq: last.seq, hash: last.hash },
      lastTime,
      torn,
      event: recovered('CHANGED', other),
    };
  }
  const event = torn ? recovered('TORN') : isBeside ? null : recovered('HEAD_MISSING');
  return { head: { seq: last.seq, hash: last.hash }, lastTime, torn, event };
}

/** The line of a number in the bytes that a file ends with, before the newline at `end`; null where they do not have it. */
function lineNumbered(seq: number, tail: Buffer, end: number): ReadLine | null {
  for (let stop = end; stop > 0; ) {
    const start = tail.lastIndexOf('\n', stop - 1) + 1;
    const line = readLine(tail.toString('utf8', start, stop));
    if (line !== null && line.seq <= seq) return line.seq === seq ? line : null;
    stop = start - 1;
  }
  return null;
}

/** What a recovery says of the half line before it, so that the chain covers that as well. */
export function tornDetail(rest: Buffer): { tornBytes: number; tornSha256: string } {
  return { tornBytes: rest.length, tornSha256: sha256(rest) };
}
