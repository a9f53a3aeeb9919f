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
import { ImportError, type Kind } from '../src/read/import-error.ts';
import { xmlLimits } from '../src/read/xml.ts';
import { createGroups, type Groups } from './groups.ts';
import type { GroupFile } from './read/parsed.ts';

/** One source or archive in the given paths. */
export interface FoundSource {
  /** The path; of a member of an archive behind `!/`. */
  source: string;
  /** `other` until a file is read. */
  kind: Kind;
  /** Null for what cannot be read. */
  sha256: string | null;
  /** The bytes of a file, or the files of a group; null for an archive, and for what cannot be read. */
  content: Buffer | GroupFile[] | null;
  /** The number of members of an archive. */
  members: number;
  /** The user named this file, not a folder above it. */
  lone: boolean;
  /** Why it is not read. */
  refusal: { outcome: 'rejected' | 'skipped'; reason: string } | null;
}

/** A source that was found, with defaults for what is not given. */
function foundSource(source: string, more: Partial<FoundSource>): FoundSource {
  return {
    source,
    kind: 'other',
    sha256: null,
    content: null,
    members: 0,
    lone: false,
    refusal: null,
    ...more,
  };
}

const rejected = (source: string, reason: string) =>
  foundSource(source, { refusal: { outcome: 'rejected', reason } });

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

/** Gives false to end the search. */
type TakeSource = (source: FoundSource) => Promise<boolean>;

/**
 * Finds the sources in files and in nested archives, one in memory at a time, and hands each to `take`, until that gives
 * false. It does not open archives for whose hash and path `isSkipped` is true.
 */
export async function discover(
  files: ListedFile[],
  take: TakeSource,
  isSkipped: (sha256: string, source: string) => boolean = () => false,
): Promise<void> {
  const groups = createGroups(files.map(({ path }) => path));
  const budget = newInflateBudget();
  for (const file of files) {
    const { path, lone } = file;
    const opened = openListed(file);
    if ('refusal' in opened) {
      if (opened.refusal?.outcome === 'rejected' && file.error === undefined) groups.spoil(path);
      if (!(await take(opened))) return;
      continue;
    }
    const { handle, content } = opened;
    try {
      if (content === null) {
        const hash = await hashFile(handle);
        const context = { budget, depth: 1, take };
        if (!isSkipped(hash, path) && !(await readArchive(path, handle, hash, context))) return;
      } else if (!groups.take(path, dirname(path), content)) {
        const source = foundSource(path, { sha256: sha256(content), content, lone });
        if (!(await take(source))) return;
      }
    } finally {
      closeSync(handle);
    }
  }
  await takeGroups(groups, take);
}

/** Gives false where `take` ended the search. */
async function takeGroups(groups: Groups, take: TakeSource): Promise<boolean> {
  for (const { source, isSpoiled, ...group } of groups.found()) {
    const found = isSpoiled
      ? rejected(source, 'a file of this folder cannot be read, so the source is incomplete')
      : foundSource(source, group);
    if (!(await take(found))) return false;
  }
  return true;
}

/** Opens a file and reads it, unless it is an archive; or gives why not. */
function openListed(file: ListedFile): { handle: number; content: Buffer | null } | FoundSource {
  const { path, lone, noLinks, error } = file;
  if (error !== undefined) return rejected(path, error);
  let handle: number | null = null;
  try {
    handle = openFile(path, !noLinks);
    if (handle !== null) return { handle, content: isZipFile(handle) ? null : readWhole(handle) };
  } catch (error) {
    if (handle !== null) closeSync(handle);
    return rejected(path, whyUnreadable(path, error));
  }
  // The user meant to import a named file; in a folder, devices and links are skipped.
  if (lone) return rejected(path, `a ${noLinks ? 'link, ' : ''}device or pipe, not a file`);
  return foundSource(path, { refusal: { outcome: 'skipped', reason: 'a link or device, not a file' } });
}

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Opens a file; null for a link that is not followed, a device or a pipe. What becomes a link meanwhile is refused. */
function openFile(path: string, followsLinks: boolean): number | null {
  if (!(followsLinks ? statSync(path) : lstatSync(path)).isFile()) return null;
  const handle = openSync(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
  if (fstatSync(handle).isFile()) return handle;
  closeSync(handle);
  throw new ImportError('the file was replaced while the import opened it');
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
  const { take, depth, budget } = context;
  const found = foundSource(source, { kind: 'archive', sha256: hash });
  let archive: Awaited<ReturnType<typeof openArchive>>;
  try {
    if (depth > archiveLimits.depth)
      throw new ImportError(`archives are nested deeper than ${archiveLimits.depth}`);
    archive = await openArchive(origin, budget);
  } catch (error) {
    return take({ ...found, refusal: { outcome: 'rejected', reason: reasonOf(error) } });
  }
  const { members } = archive;
  const groups = createGroups(members.map(({ name }) => name));

  async function takeMember({ name, read }: Member): Promise<boolean> {
    const path = `${source}!/${name}`;
    let content: Buffer;
    try {
      content = await read();
    } catch (error) {
      groups.spoil(name);
      return take(rejected(path, reasonOf(error)));
    }
    const memberHash = sha256(content);
    if (looksLikeZip(content))
      return readArchive(path, content, memberHash, { ...context, depth: depth + 1 });
    // Members at the top are in the folder of the archive itself.
    const folder = dirname(name) === '.' ? source : `${source}!/${dirname(name)}`;
    return groups.take(name, folder, content) || take(foundSource(path, { sha256: memberHash, content }));
  }

  try {
    if (!(await take({ ...found, members: members.length }))) return false;
    for (const member of members) if (!(await takeMember(member))) return false;
    return await takeGroups(groups, take);
  } finally {
    archive.close();
  }
}

/** The message of an `ImportError`; throws any other error again. */
function reasonOf(error: unknown): string {
  if (error instanceof ImportError) return error.message;
  throw error;
}
