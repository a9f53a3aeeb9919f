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
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError } from './errors.ts';

const chunkBytes = 1 << 20;

/**
 * Runs a function with the path of a temporary file, which it can write and then rename to `file`. It is in a folder
 * beside `file` with a random name, writable by this user alone, so that no one can plant a link or a log there. The
 * folder is removed at the end.
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

/** Whether a name exists, even as a dangling link. */
export function isTaken(name: string): boolean {
  return lstatSync(name, { throwIfNoEntry: false }) !== undefined;
}

/** Syncs a file, or the names in a folder, to the disk. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes all bytes: one system call may write fewer. */
export function writeWhole(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes.subarray(done));
}

/** Renames a synced file in one step. Throws EEXIST where the name exists, and then keeps the temporary file. */
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

/** Whether an error means that the file system has no hard links. */
export function hasNoLinks(error: unknown): boolean {
  return ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(
    (error as { code?: string }).code ?? '',
  );
}

/** For a permission error: the owners of the nearest readable path, and this process's user; else empty. */
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

/**
 * Why others could change some files or replace them in their folders, with the command that mends it (rule S3.6): one
 * line for each. Files that do not exist are left out. Root may look after the files of a service account.
 */
export function writableByOthers(files: string[]): string[] {
  const named = files.filter((file) => existsSync(file));
  const there = named.map((file) => realpathSync(file));
  // Where a file is a link, its own folder too: who may write that could put another link there.
  const folders = [
    ...there.map((file) => dirname(file)),
    ...named.map((file) => realpathSync(dirname(file))),
  ];
  return [...new Set([...there, ...folders])].flatMap((path) => {
    const { mode, uid } = statSync(path);
    const isSticky = (mode & 0o1000) !== 0 && !there.includes(path);
    const [own = 0, name] = [process.geteuid?.(), there.includes(path) ? path : `the folder ${path}`];
    if (isSticky) return [];
    if (own !== 0 && uid !== 0 && uid !== own)
      return [`${name} belongs to uid ${uid}: chown ${own} ${shellWord(path)}`];
    if ((mode & 0o022) === 0) return [];
    return [
      `others may write ${name} (mode ${(mode & 0o7777).toString(8).padStart(4, '0')}): chmod go-w ${shellWord(path)}`,
    ];
  });
}

/** A path as one word of a shell. */
const shellWord = (path: string) =>
  /^[\w./@%+:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

/** The message of a file system error, with the owners if it is about permissions. */
export function whyRefused(path: string, error: unknown): string {
  return `${(error as Error).message.split(',')[0]}${rightsAround(path, error)}`;
}

/**
 * The stat of a path, following links; null where nothing exists. Throws `CommandError` without the permission to look:
 * a missing permission is never reported as a missing file (rule D44.4). Other errors are thrown unchanged.
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

/** Whether a path exists; throws as `statIfThere`. */
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

/** The target of a link, from which SQLite derives the names of its logs; any other path unchanged. */
export function realFile(file: string): string {
  return existsSync(file) && lstatSync(file).isSymbolicLink() ? realpathSync(file) : file;
}

/** An unused name: this one, or numbered from 2. */
export function freeName(name: string): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name}-${number}`;
  return free;
}
