import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { realFile } from '../base/files.ts';

/** "GAPS": what tells a database of ours from any other, and from an empty file. */
export const applicationId = 0x47415053;

/** What the first hundred bytes of a database file say (the SQLite file format, "The Database Header"). */
export interface Header {
  userVersion: number;
  /** Whether a write-ahead log with content lies beside the file: it is in use, or it was not closed. */
  hasLog: boolean;
}

const headerBytes = 100;
const hint = 'restore a backup with "gapstone restore", or move the file away to start with a new database';

/**
 * Reads the header of a database file without SQLite, so that a file that is refused stays as it is, with nothing made
 * beside it. Throws `CommandError` for what is no file, no database, not ours or cut off.
 */
export function readHeader(file: string): Header {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) throw new CommandError(`there is no database at ${file}`);
  if (!stat.isFile()) throw new CommandError(`${file} is not a file`);
  const header = Buffer.alloc(headerBytes);
  try {
    const handle = openSync(file, 'r');
    readSync(handle, header, 0, headerBytes, 0);
    closeSync(handle);
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
    throw new CommandError(`${file} is not a database (${stat.size} bytes): ${hint}`);
  if (header.readUInt32BE(68) !== applicationId) throw new CommandError(`${file} is not a Gapstone database`);
  const hasLog = (statSync(`${realFile(file)}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  // While a write-ahead log is waiting, the file may rightly be behind its own header.
  if (stat.size < pages * pageSize && !hasLog)
    throw new CommandError(`${file} is truncated: ${stat.size} bytes of ${pages * pageSize}: ${hint}`);
  return { userVersion: header.readUInt32BE(60), hasLog };
}

/** The application id of a file that begins as a database does; null for any other. */
export function readApplicationId(file: string): number | null {
  const header = Buffer.alloc(headerBytes);
  const handle = openSync(file, 'r');
  readSync(handle, header, 0, headerBytes, 0);
  closeSync(handle);
  return header.toString('latin1', 0, 16) === 'SQLite format 3\0' ? header.readUInt32BE(68) : null;
}

/** Refuses a file, or a folder, that this process may not write, by trying: the rights alone do not tell of the disk. */
export function refuseReadOnly(file: string): void {
  try {
    closeSync(openSync(file, 'r+'));
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message.split(',')[0]}`);
  }
}
