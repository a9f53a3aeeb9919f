import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { ImportError } from '../src/read/import-error.ts';

/** Not every system has all of them. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** The reason for which a link is refused. */
export const isLink = 'a link, which is not followed';

/** A file that is open to be read: nothing that takes its name from now on is read in its place. */
export interface OpenFile {
  handle: number;
  size: number;
}

/** How a path may be opened. */
export interface Opening {
  /** Follow a link. */
  follow: boolean;
  /** The place without links that the file must have; undefined: any. */
  place?: string | undefined;
}

/**
 * Opens a file; null where the path is a link that is not to be followed, a device or a pipe. What became a link since it was
 * looked at is not followed, nor any folder above it where `place` is given. Throws `ImportError` and what the file system throws.
 */
export function openFile(path: string, { follow, place }: Opening): OpenFile | null {
  const isFile = (follow ? statSync(path) : lstatSync(path)).isFile();
  if (!isFile) return null;
  const handle = open(path, O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw new ImportError('it was replaced while it was looked at');
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

/** Where the kernel says that an open file is. */
const placeOf = (handle: number) => readlinkSync(`/proc/self/fd/${handle}`);

/** Whether this system says where an open file is. */
export const knowsPlaces = process.platform === 'linux';
