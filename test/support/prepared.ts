import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import { type Database, openCatalog, openSerialized } from '../../src/db/database.ts';
import { filesBelow } from './cache.ts';
import { preparedFolder } from './harness.ts';
import { hasReferenceData, reference, shipped } from './reference.ts';
import { scratchFolder } from './scratch.ts';
import { importInto } from './site.ts';

/**
 * A fresh catalog in memory, filled from the given paths. What is imported is stored under a hash of the paths' content and
 * of the importers, and is copied for every other test that asks for the same, in this run and in later ones.
 */
export async function preparedCatalog(paths: string[], now: () => Date): Promise<Database> {
  if (paths.length === 0) return emptyCatalog();
  const bytes = await prepared([contentOf(paths), now()], async () => {
    using made = emptyCatalog();
    await runImport(made, paths, { now });
    moveSources(made, paths, stored(paths));
    return made.sqlite.serialize();
  });
  const db = openSerialized(bytes);
  moveSources(db, stored(paths), paths);
  return db;
}

/** What stands for the paths in a stored catalog: the same files may lie in another folder next time. */
const stored = (paths: string[]) => paths.map((_, index) => `<path ${index}>`);

/** Replaces the beginnings of the paths that a catalog names. */
function moveSources(db: Database, from: string[], to: string[]): void {
  for (const table of ['sources', 'import_ledger'])
    for (const [index, path] of from.entries())
      db.sqlite
        .prepare(`UPDATE ${table} SET source = ? || substr(source, ?) WHERE substr(source, 1, ?) = ?`)
        .run(to[index], path.length + 1, path.length, path);
}

/** Puts a catalog of these paths into a file, made once as those in memory are. */
export async function putCatalog(file: string, paths: string[] = [shipped()]): Promise<void> {
  const make = async () => {
    const made = join(scratchFolder(), 'g.db');
    await importInto(made, paths);
    return readFileSync(made);
  };
  writeFileSync(file, await prepared(['a file', contentOf(paths)], make));
}

/** Identifies the files below some paths: the publishers' by size and time, as they are large, others by their bytes. */
function contentOf(paths: string[]): unknown {
  return paths.map((path) => {
    const isLarge = path.startsWith(reference());
    const files = statSync(path).isDirectory() ? filesBelow(path) : [path];
    return files.map((file) => {
      const { size, mtimeMs } = statSync(file);
      const content = isLarge ? [file, size, mtimeMs] : sha256(readFileSync(file));
      return [relative(path, file) || basename(path), content];
    });
  });
}

/** Bytes that are made once, by the first of the processes of a run that asks for them. */
async function prepared(key: unknown, make: () => Promise<Buffer>): Promise<Buffer> {
  const file = join(process.env[preparedFolder] ?? scratchFolder(), sha256(JSON.stringify(key)));
  const mark = `${file}.begun`;
  try {
    writeFileSync(mark, String(process.pid), { flag: 'wx' });
  } catch {
    // Another process makes them.
    while (!existsSync(file) && isOfProcess(mark)) await setTimeout(20);
  }
  if (existsSync(file)) return readFileSync(file);
  try {
    const bytes = await make();
    writeFileSync(`${file}.${process.pid}`, bytes);
    renameSync(`${file}.${process.pid}`, file);
    return bytes;
  } finally {
    rmSync(mark, { force: true });
  }
}

/** Whether a file is there with the number of a process that runs. */
function isOfProcess(mark: string): boolean {
  try {
    return process.kill(Number(readFileSync(mark, 'utf8')), 0);
  } catch {
    return false;
  }
}

/** A catalog in memory of all that is shipped and, where they are here, of all real files, imported in one run. */
export const everything = () =>
  preparedCatalog(
    [shipped(), ...(hasReferenceData ? [reference()] : [])],
    () => new Date('2026-11-21T12:00:00Z'),
  );

let empty: Buffer | undefined;

/** A catalog in memory that holds nothing, a copy of one that the migrations made once. */
export function emptyCatalog(): Database {
  if (empty === undefined) {
    using db = openCatalog(':memory:', { create: true });
    empty = db.sqlite.serialize();
  }
  return openSerialized(empty);
}
