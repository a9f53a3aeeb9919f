import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { rightsAround } from '../src/base/files.ts';
import { sha256 } from '../src/base/ids.ts';
import {
  archiveLimits,
  type InflateBudget,
  looksLikeZip,
  type Member,
  newInflateBudget,
  openArchive,
} from '../src/read/archive.ts';
import { ImportError } from '../src/read/import-error.ts';
import { xmlLimits } from '../src/read/xml.ts';
import { type Group, Groups, type Unreadable } from './groups.ts';

/** One source or archive in the given paths. */
export type FoundSource =
  | Group
  | { type: 'bytes'; source: string; bytes: Buffer; sha256: string; lone: boolean }
  | Unreadable
  | { type: 'archive'; source: string; sha256: string; members: number; error: string | null };

export interface ListedFile {
  path: string;
  /** The user named this file, not a folder above it. */
  lone: boolean;
  /** Do not follow a link, even if the user named it. */
  noLinks?: boolean;
  /** Why a path cannot be read; for a folder, instead of its files. */
  error?: string;
}

/** The reason for refusing a link. */
export const isLink = 'a link, which is not followed';

/** All files of the paths, folders in order of names. It follows links only in `paths`, and none with `noLinks`. */
export function listFiles(paths: string[], { noLinks = false } = {}): ListedFile[] {
  return paths.flatMap((path): ListedFile[] => {
    const stat = noLinks ? lstatSync(path) : statSync(path);
    if (stat.isDirectory()) return listFolder(path);
    return [{ path, lone: true, noLinks, ...(stat.isSymbolicLink() && { error: isLink }) }];
  });
}

function listFolder(folder: string): ListedFile[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry): ListedFile[] => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? listFolder(path) : [{ path, lone: false, noLinks: true }];
      });
  } catch (error) {
    return [{ path: folder, lone: false, error: whyUnreadable(folder, error) }];
  }
}

/** Node replaces bytes of a name that are not UTF-8 by U+FFFD: no file has that name. */
function whyUnreadable(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' && path.includes('\uFFFD')
    ? 'the name is not UTF-8: rename the file'
    : `${message}${rightsAround(path, error)}`;
}

/** Takes a source that was found; the search ends where it gives false. */
type TakeSource = (source: FoundSource) => Promise<boolean>;

/**
 * Finds the sources in files and in nested archives, one in memory at a time, and hands each to `take`. It does not open
 * archives for whose hash and path `isSkipped` is true.
 */
export async function discover(
  files: ListedFile[],
  take: TakeSource,
  isSkipped: (sha256: string, source: string) => boolean = () => false,
): Promise<void> {
  const budget = newInflateBudget();
  const groups = new Groups(files.map(({ path }) => path));
  for (const file of files) {
    const { path, lone } = file;
    const opened = openListed(file);
    if ('reason' in opened) {
      if (opened.isDamaged) groups.spoil(path);
      if (!(await take(unreadable(path, opened.reason, opened.outcome)))) return;
      continue;
    }
    const { handle, bytes } = opened;
    try {
      if (bytes === null) {
        const hash = await hashFile(handle);
        const context = { budget, depth: 1, take };
        if (!isSkipped(hash, path) && !(await readArchive(path, handle, hash, context))) return;
      } else if (!groups.take(path, dirname(path), bytes)) {
        const source: FoundSource = { type: 'bytes', source: path, bytes, sha256: sha256(bytes), lone };
        if (!(await take(source))) return;
      }
    } finally {
      closeSync(handle);
    }
  }
  await takeAll(groups, take);
}

/** Gives false where `take` ended the search. */
async function takeAll(groups: Groups, take: TakeSource): Promise<boolean> {
  for (const group of groups.found()) if (!(await take(group))) return false;
  return true;
}

type Opened =
  | { handle: number; bytes: Buffer | null }
  | { reason: string; outcome: 'rejected' | 'skipped'; isDamaged?: boolean };

/** Opens a file and reads it, unless it is an archive; or gives why not. */
function openListed({ path, lone, noLinks, error }: ListedFile): Opened {
  if (error !== undefined) return { reason: error, outcome: 'rejected' };
  let handle: number | null = null;
  try {
    handle = openFile(path, !noLinks);
    if (handle !== null) return { handle, bytes: isZipFile(handle) ? null : readWhole(handle) };
  } catch (error) {
    if (handle !== null) closeSync(handle);
    return { reason: whyUnreadable(path, error), outcome: 'rejected', isDamaged: true };
  }
  // The user meant to import a named file; in a folder, devices and links are skipped.
  return lone
    ? { reason: `a ${noLinks ? 'link, ' : ''}device or pipe, not a file`, outcome: 'rejected' }
    : { reason: 'a link or device, not a file', outcome: 'skipped' };
}

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Opens a file; null for a link that is not followed, a device or a pipe. What becomes a link meanwhile is refused. */
function openFile(path: string, followsLinks: boolean): number | null {
  if (!(followsLinks ? statSync(path) : lstatSync(path)).isFile()) return null;
  let handle: number;
  try {
    handle = openSync(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ELOOP' ? new ImportError(isLink) : error;
  }
  if (fstatSync(handle).isFile()) return handle;
  closeSync(handle);
  throw new ImportError('the file was replaced while the import opened it');
}

function unreadable(source: string, reason: string, outcome: Unreadable['outcome'] = 'rejected'): Unreadable {
  return { type: 'unreadable', source, reason, outcome };
}

function isZipFile(handle: number): boolean {
  const head = Buffer.alloc(4);
  readSync(handle, head, 0, 4, 0);
  return looksLikeZip(head);
}

function readWhole(handle: number): Buffer {
  if (fstatSync(handle).size > xmlLimits.bytes)
    throw new ImportError(`the file is larger than ${xmlLimits.bytes / 1024 / 1024} MB`);
  return readFileSync(handle);
}

async function hashFile(handle: number): Promise<string> {
  const hash = createHash('sha256');
  const stream = createReadStream('', { fd: handle, autoClose: false, start: 0 });
  for await (const part of stream) hash.update(part as Buffer);
  return hash.digest('hex');
}

interface ArchiveContext {
  budget: InflateBudget;
  depth: number;
  take: TakeSource;
}

/** Gives false where `take` ended the search. */
async function readArchive(
  source: string,
  origin: number | Buffer,
  hash: string,
  context: ArchiveContext,
): Promise<boolean> {
  const { take } = context;
  let archive: Awaited<ReturnType<typeof openArchive>>;
  try {
    if (context.depth > archiveLimits.depth)
      throw new ImportError(`archives are nested deeper than ${archiveLimits.depth}`);
    archive = await openArchive(origin, context.budget);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return take({ type: 'archive', source, sha256: hash, members: 0, error: error.message });
  }
  const { members } = archive;
  const groups = new Groups(members.map(({ name }) => name));
  try {
    if (!(await take({ type: 'archive', source, sha256: hash, members: members.length, error: null })))
      return false;
    for (const member of members) if (!(await readMember(source, member, groups, context))) return false;
    return await takeAll(groups, take);
  } finally {
    archive.close();
  }
}

async function readMember(
  archive: string,
  { name, read }: Member,
  groups: Groups,
  context: ArchiveContext,
): Promise<boolean> {
  const source = `${archive}!/${name}`;
  let bytes: Buffer;
  try {
    bytes = await read();
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    groups.spoil(name);
    return context.take(unreadable(source, error.message));
  }
  // Members at the top are in the folder of the archive itself.
  const folder = dirname(name) === '.' ? archive : `${archive}!/${dirname(name)}`;
  const hash = sha256(bytes);
  if (looksLikeZip(bytes)) return readArchive(source, bytes, hash, { ...context, depth: context.depth + 1 });
  if (groups.take(name, folder, bytes)) return true;
  return context.take({ type: 'bytes', source, bytes, sha256: hash, lone: false });
}
