import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  lstatSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
import { isLink, knowsPlaces, type OpenFile, openFile } from './open-file.ts';

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
  /** Set if links must not be followed: the path without links, where the system can tell it for an open file. */
  noLinks?: { place: string | undefined };
  /** Why a path cannot be read; for a folder, instead of its files. */
  error?: string;
}

interface DiscoverOptions {
  /** Keep the bytes of files that no importer reads. */
  keepAll?: boolean;
  /** Whether to skip an archive with this hash and path. */
  isSkipped?: (sha256: string, source: string) => boolean;
}

/** Takes one source; false ends the walk. */
export type TakeSource = (found: FoundSource) => unknown;

interface Walk {
  budget: InflateBudget;
  keepAll: boolean;
  hasEnded: boolean;
  take: (found: FoundSource) => Promise<void>;
}

/** All files of the paths, folders in order of names. It follows links only in `paths`, and none with `noLinks`. */
export function listFiles(paths: string[], { noLinks = false } = {}): ListedFile[] {
  return paths.flatMap<ListedFile>((path) => {
    if (!noLinks) return statSync(path).isDirectory() ? walkFolder(path, undefined) : { path, lone: true };
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return { path, lone: true, error: isLink };
    const place = knowsPlaces ? join(realpathSync(dirname(path)), basename(path)) : undefined;
    return stat.isDirectory() ? walkFolder(path, { place }) : { path, lone: true, noLinks: { place } };
  });
}

function walkFolder(folder: string, noLinks: ListedFile['noLinks']): ListedFile[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap<ListedFile>((entry) => {
        const path = join(folder, entry.name);
        const inner = noLinks && { place: noLinks.place && join(noLinks.place, entry.name) };
        if (entry.isDirectory()) return walkFolder(path, inner);
        return { path, lone: false, ...(inner && { noLinks: inner }) };
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

/** Gives `takeSource` the sources in files and in nested archives, one in memory at a time. */
export async function discover(
  files: ListedFile[],
  takeSource: TakeSource,
  { keepAll = false, isSkipped = () => false }: DiscoverOptions = {},
): Promise<void> {
  const walk: Walk = {
    budget: newInflateBudget(),
    keepAll,
    hasEnded: false,
    async take(found) {
      if (!walk.hasEnded) walk.hasEnded = (await takeSource(found)) === false;
    },
  };
  const groups = new Groups(
    files.map((file) => file.path),
    keepAll,
  );
  for (const { path, lone, noLinks, error } of files) {
    if (walk.hasEnded) return;
    if (error !== undefined) {
      await walk.take(refused(path, error));
      continue;
    }
    let file: OpenFile | null = null;
    try {
      let bytes: Buffer | null;
      try {
        file = openFile(path, { follow: lone && noLinks === undefined, place: noLinks?.place });
        bytes = file === null || isZipFile(file) ? null : readWhole(file);
      } catch (error) {
        groups.spoil(path);
        await walk.take(refused(path, whyUnreadable(path, error)));
        continue;
      }
      if (file === null) {
        // The user meant to import a named file; in a folder, devices and links are skipped.
        await walk.take(
          lone
            ? refused(path, `a ${noLinks ? 'link, ' : ''}device or pipe, not a file`)
            : { ...refused(path, 'a link or device, not a file'), outcome: 'skipped' },
        );
      } else if (bytes === null) {
        const hash = await hashFile(file);
        if (!isSkipped(hash, path)) await openNested(path, file.handle, hash, 1, walk);
      } else if (!groups.take(path, dirname(path), bytes))
        await walk.take({ type: 'bytes', source: path, bytes, sha256: sha256(bytes), lone });
    } finally {
      if (file !== null) closeSync(file.handle);
    }
  }
  for (const each of groups.found()) await walk.take(each);
}

function refused(source: string, reason: string): Unreadable {
  return { type: 'unreadable', source, reason, outcome: 'rejected' };
}

function isZipFile({ handle }: OpenFile): boolean {
  const head = Buffer.alloc(4);
  readSync(handle, head, 0, 4, 0);
  return looksLikeZip(head);
}

function readWhole({ handle, size }: OpenFile): Buffer {
  if (size > xmlLimits.bytes)
    throw new ImportError(`the file is larger than ${xmlLimits.bytes / 1024 / 1024} MB`);
  return readFileSync(handle);
}

async function hashFile({ handle }: OpenFile): Promise<string> {
  const hash = createHash('sha256');
  const stream = createReadStream('', { fd: handle, autoClose: false, start: 0 });
  for await (const part of stream) hash.update(part as Buffer);
  return hash.digest('hex');
}

async function openNested(
  source: string,
  origin: number | Buffer,
  hash: string,
  depth: number,
  walk: Walk,
): Promise<void> {
  let archive: Awaited<ReturnType<typeof openArchive>>;
  try {
    if (depth > archiveLimits.depth)
      throw new ImportError(`archives are nested deeper than ${archiveLimits.depth}`);
    archive = await openArchive(origin, walk.budget);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return walk.take({ type: 'archive', source, sha256: hash, members: 0, error: error.message });
  }
  await walk.take({ type: 'archive', source, sha256: hash, members: archive.members.length, error: null });
  const groups = new Groups(
    archive.members.map((member) => member.name),
    walk.keepAll,
  );
  try {
    for (const member of archive.members)
      if (!walk.hasEnded) await readMember(source, member, depth, walk, groups);
    for (const each of groups.found()) await walk.take(each);
  } finally {
    archive.close();
  }
}

async function readMember(
  archive: string,
  member: Member,
  depth: number,
  walk: Walk,
  groups: Groups,
): Promise<void> {
  const source = `${archive}!/${member.name}`;
  let bytes: Buffer;
  try {
    bytes = await member.read();
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    groups.spoil(member.name);
    return walk.take(refused(source, error.message));
  }
  const hash = sha256(bytes);
  if (looksLikeZip(bytes)) await openNested(source, bytes, hash, depth + 1, walk);
  else if (!groups.take(member.name, folderOf(archive, member.name), bytes))
    await walk.take({ type: 'bytes', source, bytes, sha256: hash, lone: false });
}

/** The folder of a member in the ledger; for a member at the top, the archive. */
function folderOf(archive: string, name: string): string {
  const folder = dirname(name);
  return folder === '.' ? archive : `${archive}!/${folder}`;
}
