import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { type Head, origin, type ReadLine, readLine } from './event.ts';
import { companionsOf, readHead } from './file.ts';
import { tornDetail } from './resume.ts';

const nothingFound = () => ({
  /** The valid lines before the first problem. */
  lines: 0,
  /** The number of the first line: above 1 where older files were removed. */
  first: null as number | null,
  /** The last valid line. Record it elsewhere: whoever can write the file can write a whole new chain. */
  head: null as Head | null,
  problem: null as { file: string; line: number; reason: string } | null,
  /** Why the head beside the newest file is unusable; null when it is there. */
  headProblem: null as string | null,
  /** Remarks that break no chain: lines torn by a kill and recorded by the next, a head that was missing. */
  notes: [] as string[],
});

/** The result of verifying a chain. */
export type AuditVerdict = ReturnType<typeof nothingFound>;

/**
 * Verifies the chain of one file, or of rotated files from the oldest to the newest. Finds changed, removed, inserted
 * and moved lines, and lines cut off at the end, if the head beside the last file exists or a line is `known`. Reads
 * the files in chunks. Throws when one cannot be read.
 */
export function verifyAuditFile(files: string | readonly string[], known: Head = origin): AuditVerdict {
  const list = typeof files === 'string' ? [files] : files;
  const found = nothingFound();
  const newest = list.at(-1);
  if (newest === undefined) return found;
  // Read the head before the lines, because a running server adds to both.
  const noted = readHead(companionsOf(newest).head);
  for (const file of list) found.problem ??= walk(file, found, known);
  found.problem ??= compare(newest, found, noted !== null && noted.seq > known.seq ? noted : known);
  if (noted === null) found.headProblem = missingHead(newest, found.lines);
  return found;
}

/** Lines are never written without a head. It is read again: a server may have written its first line just now. */
function missingHead(newest: string, lines: number): string | null {
  const { head } = companionsOf(newest);
  if (readHead(head) !== null) return null;
  // A process killed before its first line leaves both files empty.
  if (lines === 0 && statSync(newest).size === 0 && existsSync(head)) return null;
  return `${head} is missing or cannot be read: missing lines at the end would not be noticed`;
}

/** Why a line does not follow the last valid one; null when it does. */
function whyNot(line: ReadLine, head: Head | null, known: Head): string | null {
  if (!line.holds) return 'the line was changed: its hash does not match';
  const last = head ?? (line.seq === 1 ? origin : null);
  if (line.seq === known.seq && line.hash !== known.hash)
    return 'this is not the line that the database recorded: the stream was rewritten, or belongs to another database';
  if (last === null) return null;
  if (line.seq > last.seq + 1) return `${span(last.seq + 1, line.seq - 1)} missing before this line`;
  if (line.seq <= last.seq) return `line ${line.seq} of the chain comes after line ${last.seq}`;
  return line.prevHash === last.hash
    ? null
    : 'the previous line was changed or replaced: its hash does not match';
}

function missedBefore({ seq, action, detail }: ReadLine): string | null {
  if (action !== 'audit.recover') return null;
  if (detail?.streamMissing === true)
    return `the stream was missing, with lines up to ${seq - 1} of the chain`;
  if (typeof detail?.knownLine === 'number')
    return `line ${detail.knownLine} of the chain did not match the recorded one: the stream was rewritten or replaced`;
  return detail?.headMissing === true ? 'the head was missing: earlier lines may have been cut off' : null;
}

/** Adds the valid lines of one file to `found`; gives the first problem. */
function walk(file: string, found: AuditVerdict, known: Head): AuditVerdict['problem'] {
  let number = 0;
  /** An unreadable line, until the next one shows whether it was torn. */
  let half: Buffer | null = null;
  const problemAt = (line: number, reason = 'this is not a line of the audit stream') => ({
    file,
    line,
    reason,
  });

  function read(bytes: Buffer, isEnded: boolean): AuditVerdict['problem'] {
    number++;
    const line = readLine(bytes.toString('utf8'));
    if (!isEnded && !line?.holds) {
      found.notes.push(`${file}, line ${number}: incomplete; the next write will log it`);
      return null;
    }
    if (half !== null) {
      const { tornBytes, tornSha256 } = tornDetail(half);
      const detail = line?.action === 'audit.recover' ? line.detail : null;
      if (detail?.tornBytes !== tornBytes || detail.tornSha256 !== tornSha256) return problemAt(number - 1);
      found.notes.push(`${file}, line ${number - 1}: torn, and recorded by the next`);
    }
    half = line === null ? Buffer.from(bytes) : null;
    if (line === null) return null;
    const reason = whyNot(line, found.head, known);
    if (reason !== null) return problemAt(number, reason);
    const missed = missedBefore(line);
    if (missed !== null) found.notes.push(`${file}, line ${number}: ${missed}`);
    found.first ??= line.seq;
    found.head = { seq: line.seq, hash: line.hash };
    found.lines++;
    return null;
  }

  return readLines(file, read) ?? (half === null ? null : problemAt(number));
}

function compare(file: string, { lines, head }: AuditVerdict, recorded: Head): AuditVerdict['problem'] {
  const { seq, hash } = head ?? origin;
  const cut = `the end is cut off: ${span(seq + 1, recorded.seq)} missing`;
  if (seq < recorded.seq) return { file, line: lines, reason: cut };
  const other = seq === recorded.seq && hash !== recorded.hash;
  return other
    ? { file, line: lines, reason: 'the last line does not match the one that was recorded' }
    : null;
}

function span(from: number, to: number): string {
  return from === to ? `line ${from} of the chain is` : `lines ${from} to ${to} of the chain are`;
}

const chunkBytes = 1024 * 1024;
/** Far longer than any line of the stream, so a longer one is an error. */
const longest = 4 * chunkBytes;

/**
 * Calls `read` with each line of a file as bytes, without its newline, until that gives something, which is returned;
 * `isEnded` is false for a last line without newline.
 */
function readLines<T>(file: string, read: (line: Buffer, isEnded: boolean) => T | null): T | null {
  const fd = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(chunkBytes);
    let rest = Buffer.alloc(0);
    for (;;) {
      const length = readSync(fd, chunk, 0, chunkBytes, null);
      if (length === 0) return rest.length > 0 ? read(rest, false) : null;
      const data = Buffer.concat([rest, chunk.subarray(0, length)]);
      let from = 0;
      for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, from)) {
        const result = read(data.subarray(from, end), true);
        if (result !== null) return result;
        from = end + 1;
      }
      rest = data.subarray(from);
      if (rest.length > longest) throw new Error(`${file} has a line of more than ${longest} bytes`);
    }
  } finally {
    closeSync(fd);
  }
}
