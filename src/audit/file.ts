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
import { createFileLock, type FileLock } from '../base/file-lock.ts';
import { syncPath, writeWhole } from '../base/files.ts';
import { type AuditEvent, type Head, lineOf, origin, systemEvent } from './event.ts';
import { type Resumption, resume } from './resume.ts';

export type AuditFile = ReturnType<typeof openAuditFile>;

const tailBytes = 64 * 1024;

/** The files beside the stream: the lock, always empty, and the last recorded head. */
export const companionsOf = (file: string) => ({ lock: `${file}.lock`, head: `${file}.head` });

/**
 * The append-only stream (mode 0600). Its files are opened by each append, so that the chain continues in a new file
 * after a rotation. `known` gives a line that must exist; `lockTimeout` is in milliseconds.
 */
export function openAuditFile(
  file: string,
  options: { now: () => Date; lockTimeout?: number; known?: () => Head },
) {
  const { now, lockTimeout = 5000, known = () => origin } = options;
  const names = companionsOf(file);
  let lock: FileLock | null = null;
  let lockInode: number | undefined;
  let held = false;
  let lastDay = '';
  let own: Head = origin;

  /** The lock, opened again where it was removed: with different locks two processes could write at once. */
  function currentLock(): FileLock {
    if (lock !== null && inodeOf(names.lock) === lockInode) return lock;
    // Its error names the cause (a missing folder, a missing right); that of SQLite does not.
    closeSync(openOwn(names.head));
    const next = createFileLock(names.lock, lockTimeout);
    lock?.close();
    lock = next;
    lockInode = inodeOf(names.lock);
    return lock;
  }

  /** Runs a function while no other process appends. Throws SQLITE_BUSY when the lock is not free in time. */
  function hold<T>(work: () => T): T {
    if (held) return work();
    return currentLock().hold(() => {
      held = true;
      try {
        return work();
      } finally {
        held = false;
      }
    });
  }

  function appendTo(fd: number, heads: number, events: readonly AuditEvent[], sync: boolean) {
    const remembered = known();
    const noted = readHead(names.head);
    const end = resume(readTail(fd), noted, own.seq > remembered.seq ? own : remembered);
    const time = now();
    const { text, head, anchor, missing } = linesOf(events, end, time);
    const isFirst = fstatSync(fd).size === 0;
    // A kill must never leave lines without a head: a missing head means that it was removed.
    if (isFirst && end.head.seq === 0) writeSync(heads, headText(origin), 0);
    writeWhole(fd, Buffer.from(text));
    if (sync) fdatasyncSync(fd);
    // A new file is only durable once its folder is synced.
    if (sync && isFirst) syncPath(dirname(file));
    writeSync(heads, headText(head), 0);
    if (sync && isFirst) fdatasyncSync(heads);
    own = head;
    lastDay = dayOf(time);
    return { head, anchor, missing };
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
        const heads = openOwn(names.head);
        try {
          const fd = openOwn(file, constants.O_APPEND);
          try {
            return appendTo(fd, heads, events, sync);
          } finally {
            closeSync(fd);
          }
        } finally {
          closeSync(heads);
        }
      }),
    isNewDay: () => lastDay !== '' && lastDay < dayOf(now()),
    close: () => lock?.close(),
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
  const isNew = yesterday !== '' && yesterday < dayOf(time);
  const anchor = systemEvent('audit.anchor', { day: yesterday, lines: from.seq });
  let head = from;
  let text = torn ? '\n' : '';
  for (const each of [...(event ? [event] : []), ...(isNew ? [anchor] : []), ...events]) {
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

/** Opens a file for reading and writing, made for its owner alone. */
function openOwn(file: string, flags = 0): number {
  return openSync(file, constants.O_RDWR | constants.O_CREAT | flags, 0o600);
}

function readTail(fd: number): Buffer {
  const { size } = fstatSync(fd);
  const tail = Buffer.alloc(Math.min(size, tailBytes));
  const read = readSync(fd, tail, 0, tail.length, size - tail.length);
  return tail.subarray(0, read);
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
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
