import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError } from './errors.ts';

const chunkBytes = 1 << 20;

/**
 * Gives a function the path of a temporary file, which it may write and then give the name of `file`. It lies in a folder
 * beside it whose name cannot be guessed and that only we may write into, so that nobody can plant a link or a log where we
 * write; the folder is removed when the function ends.
 */
export function inPrivateFolder<T>(file: string, work: (temporary: string) => T): T {
  const folder = mkdtempSync(`${file}.part-`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  let result: T;
  try {
    result = work(join(folder, basename(file)));
  } catch (error) {
    remove();
    throw error;
  }
  if (result instanceof Promise) return result.finally(remove) as T;
  remove();
  return result;
}

/** Whether anything bears a name, a link that leads nowhere included. */
export function isTaken(name: string): boolean {
  return lstatSync(name, { throwIfNoEntry: false }) !== undefined;
}

/** Makes sure that a file, or the names in a folder, are on the disk before it goes on. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Gives a whole, synced temporary file its name, in one step that a kill cannot halve, and only if nothing bears that
 * name yet: throws EEXIST otherwise, and leaves the temporary file where it is.
 */
export function publishNew(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (!hasNoLinks(error)) throw error;
    if (isThere(file)) throw Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });
    renameSync(temporary, file);
  }
  rmSync(temporary, { force: true });
  syncPath(dirname(file));
}

/** Whether a file system refused a hard link because it knows none. */
export function hasNoLinks(error: unknown): boolean {
  return ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(
    (error as { code?: string }).code ?? '',
  );
}

/**
 * What an operator must know about a right that is missing: whose the file is, or the nearest folder above it that can be looked at,
 * and who we are. Empty for an error that is about no right.
 */
export function rightsAround(path: string, error: unknown): string {
  const { code } = error as { code?: string };
  if ((code !== 'EACCES' && code !== 'EPERM') || process.geteuid === undefined) return '';
  for (let at = resolve(path); ; at = dirname(at)) {
    let stat: Stats;
    try {
      stat = statSync(at);
    } catch {
      if (at === dirname(at)) return '';
      continue;
    }
    const mode = (stat.mode & 0o7777).toString(8).padStart(4, '0');
    return `: ${at} belongs to uid ${stat.uid}, gid ${stat.gid} (mode ${mode}), and this process is uid ${process.geteuid()}, gid ${process.getegid!()}`;
  }
}

/** Why an error of the file system refused a path: its first words, and the rights around the path where one is missing. */
export function whyRefused(path: string, error: unknown): string {
  return `${(error as Error).message.split(',')[0]}${rightsAround(path, error)}`;
}

/**
 * What a path leads to, links followed; null where there is nothing. Throws `CommandError` without the right to enter a folder above
 * it: a missing right is never reported as a missing file (rule D44.4). What else the system refuses is thrown as it is.
 */
export function statIfThere(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (rightsAround(path, error) === '') throw error;
    throw new CommandError(`${path} cannot be read: ${whyRefused(path, error)}`);
  }
}

/** Whether a path leads to anything; throws as `statIfThere`. */
export const isThere = (path: string): boolean => statIfThere(path) !== null;

/** SHA-256 of a file in lower-case hexadecimal. */
export function sha256OfFile(file: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(chunkBytes);
  const handle = openSync(file, 'r');
  try {
    for (;;) {
      const length = readSync(handle, buffer, 0, chunkBytes, null);
      if (length === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, length));
    }
  } finally {
    closeSync(handle);
  }
}

/** The file that a link leads to, as SQLite takes it for the names of its log; any other path as it is. */
export function realFile(file: string): string {
  return existsSync(file) && lstatSync(file).isSymbolicLink() ? realpathSync(file) : file;
}

/** A name that nothing bears, numbered from 2 on when the plain one is taken. */
export function freeName(name: string): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name}-${number}`;
  return free;
}
