import { sha256 } from '../base/ids.ts';
import { type AuditEvent, type Head, origin, type ReadLine, readLine, systemEvent } from './event.ts';

/** How the chain continues at the end of a file: after which line, and the event to write first. */
export interface Resumption {
  head: Head;
  lastTime: string | null;
  /** Whether the file ends within a line, which then needs a newline. */
  torn: boolean;
  event: AuditEvent | null;
}

/**
 * Decides how to continue after `tail`, the last bytes of a file. `noted` is the head beside it (null if missing),
 * `otherwise` a head known to the process or the database. The greater of these wins over a shorter file: the gap in
 * the numbers then shows for good that lines are missing. A head is always written before lines, so a missing one was
 * removed, and that is recorded. An empty file beside a head follows a rotation.
 */
export function resume(tail: Buffer, noted: Head | null, otherwise: Head = origin): Resumption {
  const known = noted !== null && noted.seq > otherwise.seq ? noted : otherwise;
  const headMissing = noted === null ? { headMissing: true } : {};
  if (tail.length === 0) {
    const gone = { streamMissing: true, missingTo: known.seq, ...headMissing };
    const event =
      noted?.hash === known.hash
        ? systemEvent('audit.continue', { previousHash: known.hash })
        : systemEvent('audit.recover', gone, { outcome: 'failure', reason: 'STREAM_MISSING' });
    return { head: known, lastTime: null, torn: false, event: known.seq === 0 ? null : event };
  }
  const end = tail.lastIndexOf('\n');
  const rest = tail.subarray(end + 1);
  // The line is whole; only its newline is missing.
  if (rest.length > 0 && readLine(rest.toString('utf8'))?.holds) {
    return { ...resume(Buffer.concat([tail, Buffer.from('\n')]), noted, otherwise), torn: true };
  }
  const start = end <= 0 ? 0 : tail.lastIndexOf('\n', end - 1) + 1;
  const last = end < 0 ? null : readLine(tail.toString('utf8', start, end));
  const torn = rest.length > 0;
  let reason = torn ? 'TORN' : noted === null ? 'HEAD_MISSING' : null;
  let detail: AuditEvent['detail'] = {};
  let head = known;
  // With only a torn first line there is nothing before it to read.
  if (!last?.holds) reason = end < 0 ? 'TORN' : 'UNREADABLE';
  else if (last.seq < known.seq) {
    reason = 'LINES_MISSING';
    detail = { missingFrom: last.seq + 1, missingTo: known.seq };
  } else if (last.seq === known.seq && last.hash !== known.hash) {
    reason = 'CHANGED';
    detail = { expectedHash: known.hash };
  } else {
    head = { seq: last.seq, hash: last.hash };
    // Even a longer file is another stream if the known line differs in it.
    const inItsPlace = otherwise.seq < last.seq ? lineNumbered(otherwise.seq, tail, end) : null;
    if (inItsPlace !== null && inItsPlace.hash !== otherwise.hash) {
      reason = 'CHANGED';
      detail = { knownLine: otherwise.seq, expectedHash: otherwise.hash };
    }
  }
  const whole = { ...detail, ...(torn && tornDetail(rest)), ...headMissing };
  const event = reason === null ? null : systemEvent('audit.recover', whole, { outcome: 'failure', reason });
  return { head, lastTime: last?.time ?? null, torn, event };
}

/** The line with a number in the last bytes of a file, before the newline at `end`; null if not there. */
function lineNumbered(seq: number, tail: Buffer, end: number): ReadLine | null {
  for (let stop = end; stop > 0; ) {
    const start = tail.lastIndexOf('\n', stop - 1) + 1;
    const line = readLine(tail.toString('utf8', start, stop));
    if (line !== null && line.seq <= seq) return line.seq === seq ? line : null;
    stop = start - 1;
  }
  return null;
}

/** The length and hash of a torn line for the recovery event, so that the chain covers them. */
export function tornDetail(rest: Buffer): { tornBytes: number; tornSha256: string } {
  return { tornBytes: rest.length, tornSha256: sha256(rest) };
}
