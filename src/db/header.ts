import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { realFile, statIfThere, whyRefused } from '../base/files.ts';

/** The two database files: what importers build, and what users enter (rule D23.1). */
export type Kind = 'catalog' | 'users';

/** "GAPC" and "GAPU": the application ids of Gapstone's files. */
export const applicationIds: Record<Kind, number> = { catalog: 0x47415043, users: 0x47415055 };

/** "GAPS": both in one file, as before the first version. */
const formerId = 0x47415053;

/** The operator's words for each kind. */
export const namesOfKinds: Record<Kind, string> = { catalog: 'catalog', users: "file of users' data" };

/** The kind with an application id. Throws `CommandError` for an unknown or unexpected one. */
export function kindOf(file: string, id: number, expected: Kind | null = null): Kind {
  if (id === formerId)
    throw new CommandError(
      `${file} holds catalog and users' data in one file, which this version does not read: move it away, then import the sources again with "gapstone import"`,
    );
  const kind = (Object.keys(applicationIds) as Kind[]).find((each) => applicationIds[each] === id);
  if (kind === undefined) throw new CommandError(`${file} is not a Gapstone database`);
  if (expected !== null && kind !== expected)
    throw new CommandError(`${file} is a ${namesOfKinds[kind]}, not a ${namesOfKinds[expected]}`);
  return kind;
}

/** Data of the first hundred bytes of a database file (the SQLite file format, "The Database Header"). */
export interface Header {
  kind: Kind;
  userVersion: number;
  /** Whether a write-ahead log with content is beside the file: it is in use, or was not closed. */
  hasLog: boolean;
}

const headerBytes = 100;
const hint = 'restore a backup with "gapstone restore", or move the file away to start with a new database';

/** Reads the header without SQLite, which would create files beside a rejected one. Throws `CommandError`. */
export function readHeader(file: string, expected: Kind | null = null): Header {
  const stat = statIfThere(file);
  if (!stat) throw new CommandError(`there is no database at ${file}`);
  if (!stat.isFile()) throw new CommandError(`${file} is not a file`);
  let header: Buffer;
  try {
    header = firstBytes(file);
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${whyRefused(file, error)}`);
  }
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
    throw new CommandError(`${file} is not a database (${stat.size} bytes): ${hint}`);
  const kind = kindOf(file, header.readUInt32BE(68), expected);
  const hasLog = logBytes(file) > 0;
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  // With a log waiting, the file may be shorter than its header says. The size is read last: whoever puts the log away
  // makes the file longer first.
  const { size } = statSync(file);
  if (size < pages * pageSize && !hasLog)
    throw new CommandError(`${file} is truncated: ${size} bytes of ${pages * pageSize}: ${hint}`);
  return { kind, userVersion: header.readUInt32BE(60), hasLog };
}

/** Whether a file begins like a zip. */
export function isZip(file: string): boolean {
  return statIfThere(file)?.isFile() === true && firstBytes(file).toString('latin1', 0, 4) === 'PK\x03\x04';
}

/** The application id of a database file; null for any other file. */
export function readApplicationId(file: string): number | null {
  const header = firstBytes(file);
  return header.toString('latin1', 0, 16) === 'SQLite format 3\0' ? header.readUInt32BE(68) : null;
}

/** The size of the write-ahead log beside a file. */
export function logBytes(file: string): number {
  return statSync(`${realFile(file)}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Whether the header of a file says WAL mode ("File format version numbers"). */
export function keepsLog(file: string): boolean {
  return firstBytes(file).readUInt8(18) === 2;
}

function firstBytes(file: string): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, bytes, 0, headerBytes, 0);
  } finally {
    closeSync(handle);
  }
  return bytes;
}

/** Throws `CommandError` for a read-only file or disk: permissions alone do not show the latter. */
export function refuseReadOnly(file: string): void {
  try {
    closeSync(openSync(file, 'r+'));
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${whyRefused(file, error)}`);
  }
}
