import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { ImportError } from '../src/read/import-error.ts';

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** The reason for refusing a link. */
export const isLink = 'a link, which is not followed';

/** An open file: replacing the path does not change what is read. */
export interface OpenFile {
  handle: number;
  size: number;
}

export interface Opening {
  follow: boolean;
  /** The required path without links; undefined for any. */
  place?: string | undefined;
}

/**
 * Opens a file; null for a link not to follow, a device or a pipe. A path that became a link since is refused, and with
 * `place` a link in a folder above it too. Throws `ImportError` and errors of the file system.
 */
export function openFile(path: string, { follow, place }: Opening): OpenFile | null {
  const isFile = (follow ? statSync(path) : lstatSync(path)).isFile();
  if (!isFile) return null;
  const handle = open(path, O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw new ImportError('the file was replaced while the import opened it');
    if (place !== undefined && placeOf(handle) !== place) throw new ImportError(isLink);
    return { handle, size: stat.size };
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

function open(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ELOOP' && (flags & O_NOFOLLOW) !== 0 ? new ImportError(isLink) : error;
  }
}

const placeOf = (handle: number) => readlinkSync(`/proc/self/fd/${handle}`);

/** Whether this system tells the path of an open file. */
export const knowsPlaces = process.platform === 'linux';
