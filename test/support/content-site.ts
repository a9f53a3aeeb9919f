import { join } from 'node:path';
import { applyBundle, type Exchanged, type OpenSite, rollBack } from '../../src/content/apply.ts';
import { planBundle } from '../../src/content/plan.ts';
import { readBundle, type TrustedKey } from '../../src/content/read-bundle.ts';
import { type Database, type Files, openDatabase } from '../../src/db/database.ts';
import { scratchFolder } from './scratch.ts';
import { filesOf, importInto } from './site.ts';

/** A site in a folder of its own: its catalog of these runs (none: no catalog), users' data beside it. */
export async function makeSite(...runs: string[][]): Promise<Files> {
  const files = filesOf(join(scratchFolder(), 'g.db'));
  for (const paths of runs) await importInto(files.db, paths);
  return files;
}

/** What a site's record does for tests: it writes, and tells nobody. `fail` throws in the place of an action. */
export function openForContent(files: Files, fail?: (action: string) => void): OpenSite & Disposable {
  const db = openDatabase(files, { create: true, asItIs: true });
  return {
    db,
    file: files.db,
    async record(action, _, change) {
      fail?.(action);
      await db.write(change);
    },
    [Symbol.dispose]: () => db.close(),
  };
}

const now = new Date('2026-11-22T10:00:00.000Z');

/** Applies a bundle as the command does. */
export async function applyTo(
  files: Files,
  bundle: string,
  key: TrustedKey,
  { dropLocal = false, fail }: { dropLocal?: boolean; fail?: (action: string) => void } = {},
): Promise<Exchanged> {
  const read = (unpackTo?: string) =>
    readBundle(bundle, [key], { now, ...(unpackTo === undefined ? {} : { unpackTo }) });
  const verified = await read();
  using site = openForContent(files, fail);
  return await applyBundle(site, verified, read, { now, dropLocal });
}

/** Rolls back as the command does. */
export async function rollBackIn(files: Files, fail?: (action: string) => void): Promise<Exchanged> {
  using site = openForContent(files, fail);
  return await rollBack(site);
}

export async function planFor(files: Files, bundle: string, key: TrustedKey) {
  const unpackTo = join(scratchFolder(), 'catalog.db');
  return planBundle(files, await readBundle(bundle, [key], { now, unpackTo }), unpackTo);
}

/** Does something with both files of a site open. */
export async function withSite<T>(files: Files, work: (db: Database) => Promise<T> | T): Promise<T> {
  using db = openDatabase(files);
  return await work(db);
}
