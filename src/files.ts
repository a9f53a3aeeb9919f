import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';

const chunkBytes = 1 << 20;

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
    if (existsSync(file)) throw Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });
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
  for (let number = 2; existsSync(free); number++) free = `${name}-${number}`;
  return free;
}

/** Removes a temporary database file with what SQLite may have left beside it. */
export function removeDatabaseFiles(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}
