import {
  closeSync,
  constants,
  copyFileSync,
  createWriteStream,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { CommandError } from '../base/errors.ts';
import { storageFault } from '../base/faults.ts';
import { freeName, isThere, realFile, rightsAround, sha256OfFile, statIfThere } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { printable } from '../base/text.ts';
import { memberOf } from './backup-file.ts';
import { applicationIdOf, connectReadOnly, logBytes } from './connect.ts';
import { hashFile, requireBytes, seal } from './copy.ts';
import type { Files } from './database.ts';
import { replaceDatabases } from './replace.ts';
import { applicationIds, type Kind, kindOf } from './schema.ts';
import { damaged } from './schema-check.ts';
import { retainSiteRecords } from './site-records.ts';

interface Audited {
  seq: number;
  hash: string;
}

/** A database of a backup: where it is restored, its name in messages, and what writes it to another file. */
interface Part {
  kind: Kind;
  file: string;
  bytes: number;
  name: string;
  unpack(to: string): Promise<void>;
}

/**
 * Replaces the databases by those of a backup: both, or users' data alone. Everything is verified first, on the very
 * copies that are put in place: header, hash (where FILE.sha256 exists), schema, pages, foreign keys. Sessions are
 * removed: one closed since the backup must not be valid again. `audited`, the last audit line of this machine,
 * replaces the backup's: the backup may be of another machine. What the site knows of its content stays (rule D42.8).
 * Gives the backup's hash, and of each file its schema and the name of the replaced one (null: there was none); `lost`
 * is which records of the site's content could not be read, and why. Throws `CommandError`, and then nothing has changed.
 */
export async function restoreBackup(backup: string, files: Files, now: Date, audited: Audited | null = null) {
  // Replace the file behind a link where it is: the link may lead to another disk.
  const places: Record<Kind, string> = { catalog: realFile(files.db), users: realFile(files.usersDb) };
  for (const file of Object.values(places))
    if (resolve(realFile(backup)) === resolve(file))
      throw new CommandError(`${backup} is the database itself`);
  let zip: ZipFile | null = null;
  const staged: (Part & { sealed: string })[] = [];
  try {
    if (isZip(backup)) zip = await openZip(backup);
    const parts = zip === null ? [partOf(backup, places)] : await partsOf(backup, zip, places);
    for (const { file } of parts) refuseForeign(file);
    for (const { file, bytes } of parts) requireBytes(file, bytes, requireFolder(file));
    for (const part of parts) {
      const sealed = join(mkdtempSync(`${part.file}.part-`), basename(part.file));
      staged.push({ ...part, sealed });
      await part.unpack(sealed);
      inspectPart(sealed, part);
    }
    // For a plain database, hash the copy that will be used.
    const sha256 = sha256OfFile(zip === null ? staged[0]!.sealed : backup);
    compareHash(backup, sha256);
    let lost: string | undefined;
    const suffix = `.before-restore-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`;
    const replacements = staged.map(({ kind, file, sealed }) => {
      const { schema } = seal(sealed, 'full', backup, (sqlite) => {
        const loose = sqlite.pragma('foreign_key_check') as unknown[];
        if (loose.length > 0)
          throw new CommandError(
            `the backup is damaged: ${loose.length} rows refer to rows that do not exist`,
          );
        if (kind !== 'users') return;
        sqlite.exec('DELETE FROM sessions; DELETE FROM user_tokens');
        sqlite
          .prepare('UPDATE audit_head SET seq = ?, hash = ?')
          .run(audited?.seq ?? 0, audited?.hash ?? '0'.repeat(64));
        lost = retainSiteRecords(sqlite, files, parts.length === 1);
      });
      return { kind, schema, sealed, file, keptAs: freeName(`${file}${suffix}`) };
    });
    const replaced = replaceDatabases(replacements);
    return {
      bytes: statSync(backup).size,
      sha256,
      files: replacements.map(({ kind, file, schema }, index) => ({
        kind,
        file,
        schema,
        before: replaced[index]!,
      })),
      ...(lost === undefined ? {} : { lost }),
    };
  } catch (error) {
    if (error instanceof CommandError) {
      // A hint for a database in use: here a backup is what is wrong.
      error.message = error.message.replace(
        /: restore a backup with .*/,
        ': take another backup. Nothing was changed',
      );
      throw error;
    }
    const { message, path } = error as NodeJS.ErrnoException;
    const why = `${printable(message, 200)}${rightsAround(path ?? backup, error)}`;
    throw new CommandError(`${backup} cannot be restored: ${why}. Nothing was changed`);
  } finally {
    zip?.close();
    for (const { sealed } of staged) rmSync(dirname(sealed), { recursive: true, force: true });
  }
}

function isZip(file: string): boolean {
  if (statIfThere(file)?.isFile() !== true) return false;
  const bytes = Buffer.alloc(4);
  const handle = openSync(file, 'r');
  readSync(handle, bytes);
  closeSync(handle);
  return bytes.toString('latin1') === 'PK\x03\x04';
}

function partOf(backup: string, places: Record<Kind, string>): Part {
  const stat = statIfThere(backup);
  if (!stat) throw new CommandError(`there is no database at ${backup}`);
  if (!stat.isFile()) throw new CommandError(`${backup} is not a file`);
  if (logBytes(backup) > 0)
    throw new CommandError(
      `${backup} is a database in use, not a backup: it has a log beside it. Make a backup with "gapstone backup"`,
    );
  const id = idOfBackup(backup);
  if (id === null)
    throw new CommandError(
      `${backup} is no backup of Gapstone: it is neither a zip nor a database (${stat.size} bytes). Nothing was changed`,
    );
  const kind = kindOf(backup, id);
  return {
    kind,
    file: places[kind],
    bytes: stat.size,
    name: backup,
    unpack: async (to) => copyFileSync(backup, to, constants.COPYFILE_EXCL),
  };
}

function idOfBackup(backup: string): number | null {
  try {
    return applicationIdOf(backup);
  } catch (error) {
    throw storageFault(error) === 'damaged' ? damaged(backup, (error as Error).message) : error;
  }
}

async function openZip(backup: string): Promise<ZipFile> {
  try {
    return await yauzl.openPromise(backup, { lazyEntries: true, autoClose: false, validateEntrySizes: true });
  } catch (error) {
    throw new CommandError(`${backup} is no backup of Gapstone: ${(error as Error).message}`);
  }
}

/** Stored, as others may pack it again, and deflated. */
const compressionMethods = [0, 8];

/** The parts of a zipped backup: only the files that `backUp` adds. */
async function partsOf(backup: string, zip: ZipFile, places: Record<Kind, string>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const entry of zip.eachEntry()) {
    const kind = (Object.keys(places) as Kind[]).find((each) => memberOf(each) === entry.fileName);
    if (
      !kind ||
      parts.some((part) => part.kind === kind) ||
      !compressionMethods.includes(entry.compressionMethod)
    )
      throw new CommandError(
        `${backup} is no backup of Gapstone: it has the member ${printable(entry.fileName, 64)}`,
      );
    const unpack = async (to: string) => {
      const stream = await zip.openReadStreamPromise(entry as Entry);
      let sum = 0;
      const summed = new Transform({
        transform(chunk: Buffer, _, done) {
          sum = crc32(chunk, sum);
          done(null, chunk);
        },
      });
      await pipeline(stream, summed, createWriteStream(to, { flags: 'wx', mode: 0o600 }));
      // SQLite does not notice a changed bit in a text.
      if (sum !== entry.crc32)
        throw new CommandError(`${backup} was changed: its member ${entry.fileName} has another checksum`);
    };
    const name = `${backup}!/${entry.fileName}`;
    parts.push({ kind, file: places[kind], bytes: entry.uncompressedSize, name, unpack });
  }
  if (!parts.some(({ kind }) => kind === 'catalog'))
    throw new CommandError(`${backup} is no backup of Gapstone: it has no member ${memberOf('catalog')}`);
  return parts;
}

/** Inspects an unpacked database; errors show its name in the backup. */
function inspectPart(unpacked: string, { kind, name }: Part): void {
  try {
    connectReadOnly(unpacked, kind, { anySchema: true }).close();
  } catch (error) {
    if (error instanceof CommandError) error.message = error.message.replace(unpacked, () => name);
    throw error;
  }
}

function refuseForeign(file: string): void {
  let id: number | null = null;
  try {
    if (isThere(file)) id = applicationIdOf(file);
  } catch (error) {
    if (storageFault(error) !== 'damaged') throw error;
  }
  if (id !== null && !Object.values(applicationIds).includes(id))
    throw new CommandError(`${file} belongs to another program: nothing was replaced`);
}

function compareHash(backup: string, sha256: string): void {
  const file = hashFile(backup);
  if (!isThere(file)) return;
  const stated = /^([0-9a-f]{64})\b/i.exec(readFileSync(file, 'utf8'))?.[1]?.toLowerCase();
  if (stated === undefined) throw new CommandError(`${file} does not contain a SHA-256`);
  if (stated !== sha256) throw new CommandError(`${backup} was changed: its SHA-256 does not match ${file}`);
}
