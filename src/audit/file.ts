import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncPath, writeWhole } from '../base/files.ts';
import { createFileLock, type FileLock } from '../db/file-lock.ts';
import { type AuditEvent, type Head, lineOf, origin, systemEvent } from './event.ts';
import { type Resumption, resume } from './resume.ts';

/** The system calls for writing; tests replace them. */
export interface AuditIo {
  write(fd: number, bytes: Uint8Array): number;
  sync(fd: number): void;
}

export type AuditFile = ReturnType<typeof openAuditFile>;

const tailBytes = 64 * 1024;
const systemIo: AuditIo = {
  write: (fd, bytes) => writeSync(fd, bytes),
  sync: (fd) => fdatasyncSync(fd),
};

/** The files beside the stream: the lock, always empty, and the last recorded head. */
export const companionsOf = (file: string) => ({ lock: `${file}.lock`, head: `${file}.head` });

/**
 * Opens the append-only stream (mode 0600), and continues the chain in a new file after a rotation. `known` gives a
 * line that must exist. Throws when it cannot be opened.
 */
export function openAuditFile(
  file: string,
  options: { now: () => Date; lockTimeout?: number; io?: AuditIo; known?: () => Head },
) {
  const { now, io = systemIo, known = () => origin } = options;
  const open = openFiles(file, options.lockTimeout ?? 5000);
  let held = false;
  /** The head at the end of the file; valid while the file has this size. */
  let seen: { size: number; head: Head } | null = null;
  let lastDay = '';
  let own: Head = origin;

  function findEnd(): Resumption {
    if (open.renewStream()) seen = null;
    const { size } = fstatSync(open.stream());
    if (seen !== null && seen.size === size)
      return { head: seen.head, lastTime: lastDay, torn: false, event: null };
    seen = null;
    const noted = readHead(companionsOf(file).head);
    const remembered = known();
    return resume(readTail(open.stream(), size), noted, own.seq > remembered.seq ? own : remembered);
  }

  /** Runs a function while no other process appends. Throws SQLITE_BUSY when the lock is not free in time. */
  function hold<T>(work: () => T): T {
    if (held) return work();
    if (open.renewCompanions()) seen = null;
    return open.companions().lock.hold(() => {
      held = true;
      try {
        return work();
      } finally {
        held = false;
      }
    });
  }

  return {
    hold,
    /**
     * Appends events as lines, in order, under the lock of all processes; `sync` waits for the disk. Gives the new
     * head; `anchor`, the head before, if this line began a day or a file; `missing`, a code if lines were missing.
     * Throws system errors; the next append then records what was half written.
     */
    append: (events: readonly AuditEvent[], sync: boolean) =>
      hold(() => {
        const end = findEnd();
        const time = now();
        const { text, head, anchor, missing } = linesOf(events, end, time);
        // If anything fails from here on, the next append reads the file's end again.
        seen = null;
        const [fd, heads] = [open.stream(), open.companions().head];
        const isFirst = fstatSync(fd).size === 0;
        // A kill must never leave lines without a head: a missing head means that it was removed.
        if (isFirst && end.head.seq === 0) writeSync(heads, headText(origin), 0);
        writeWhole(fd, Buffer.from(text), io.write);
        if (sync) io.sync(fd);
        // A new file is only durable once its folder is synced.
        if (sync && isFirst) syncPath(dirname(file));
        writeSync(heads, headText(head), 0);
        if (sync && isFirst) fdatasyncSync(heads);
        own = head;
        seen = { size: fstatSync(fd).size, head };
        lastDay = dayOf(time);
        return { head, anchor, missing };
      }),
    isNewDay: () => lastDay !== '' && lastDay < dayOf(now()),
    close: open.close,
  };
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** The lines of events after the end of a file; first those about a new day and the state of the file. */
function linesOf(
  events: readonly AuditEvent[],
  { head: from, lastTime, torn, event }: Resumption,
  time: Date,
) {
  const yesterday = lastTime?.slice(0, 10) ?? '';
  const ours = event === null ? [] : [event];
  const isNew = yesterday !== '' && yesterday < dayOf(time);
  if (isNew) ours.push(systemEvent('audit.anchor', { day: yesterday, lines: from.seq }));
  let head = from;
  let text = torn ? '\n' : '';
  for (const each of [...ours, ...events]) {
    const made = lineOf(each, time, head);
    text += `${made.line}\n`;
    head = made.head;
  }
  return {
    text,
    head,
    anchor: isNew || event?.action === 'audit.continue' ? from : null,
    missing: event?.action === 'audit.recover' && event.reason !== 'TORN' ? event.reason : null,
  };
}

/** Opens the stream and its companions. `renew...` reopens a file that was replaced, and gives whether it was. */
function openFiles(file: string, lockTimeout: number) {
  const names = companionsOf(file);
  const openStream = () => openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
  let companions = openCompanions(file, lockTimeout);
  let fd = openStream();
  return {
    stream: () => fd,
    companions: () => companions,
    renewStream(): boolean {
      if (inodeOf(file) === fstatSync(fd).ino) return false;
      const next = openStream();
      closeSync(fd);
      fd = next;
      return true;
    },
    /** Without the same lock two processes could write at once; a removed head could hide cut lines. */
    renewCompanions(): boolean {
      const { inodes } = companions;
      if (inodeOf(names.lock) === inodes.lock && inodeOf(names.head) === inodes.head) return false;
      const next = openCompanions(file, lockTimeout);
      closeCompanions(companions);
      companions = next;
      return true;
    },
    close(): void {
      closeCompanions(companions);
      closeSync(fd);
    },
  };
}

function readTail(fd: number, size: number): Buffer {
  const tail = Buffer.alloc(Math.min(size, tailBytes));
  const read = readSync(fd, tail, 0, tail.length, size - tail.length);
  return tail.subarray(0, read);
}

interface Companions {
  lock: FileLock;
  head: number;
  inodes: { lock: number; head: number };
}

function openCompanions(file: string, timeout: number): Companions {
  const names = companionsOf(file);
  const head = openSync(names.head, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const lock = createFileLock(names.lock, timeout);
    return { lock, head, inodes: { lock: statSync(names.lock).ino, head: fstatSync(head).ino } };
  } catch (error) {
    closeSync(head);
    throw error;
  }
}

function closeCompanions({ lock, head }: Companions): void {
  lock.close();
  closeSync(head);
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

/** An audit file that is opened at its first append, retried at each until it opens. */
export function lazyAuditFile(open: () => AuditFile): AuditFile {
  let file: AuditFile | null = null;
  const opened = () => (file ??= open());
  return {
    hold: (work) => opened().hold(work),
    append: (events, sync) => opened().append(events, sync),
    isNewDay: () => file?.isNewDay() ?? false,
    close: () => file?.close(),
  };
}

/** Of fixed length, so that one small write replaces it. */
function headText({ seq, hash }: Head): string {
  return `${String(seq).padStart(16, '0')} ${hash}\n`;
}

/** The last recorded head; null when it is missing or malformed. */
export function readHead(file: string): Head | null {
  let text: string;
  try {
    text = readFileSync(file, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const match = /^(\d{16}) ([0-9a-f]{64})\n$/.exec(text);
  return match ? { seq: Number(match[1]), hash: match[2]! } : null;
}
