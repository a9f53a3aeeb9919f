import { createHash } from 'node:crypto';
import { copyFileSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { CommandError } from '../../src/base/errors.ts';
import { type Files, openCatalog, openDatabase } from '../../src/db/database.ts';
import { type Kind, newestSchema } from '../../src/db/schema.ts';
import { shipped } from './reference.ts';
import { filesIn, filesOf, scratchFolder } from './scratch.ts';

export const kinds: Kind[] = ['catalog', 'users'];
export const newest = { catalog: newestSchema('catalog'), users: newestSchema('users') };
export const fileOf = ({ db, usersDb }: Files, kind: Kind) => (kind === 'catalog' ? db : usersDb);

/** A catalog of the sample STIGs, and users' data with a list, a favorite and a session. */
export const sample = filesOf(join(scratchFolder(), 'g.db'));
{
  const catalog = openCatalog(sample.db, { create: true });
  await runImport(catalog, [shipped('stigs')]);
  catalog.close();
  const db = openDatabase(sample);
  db.sqlite.exec(`INSERT INTO bundles VALUES ('id', 'list', 'Kept', '', '[]', '', '', 'PRIVATE', 'ann', NULL, NULL, 't', 't', NULL, 1);
    INSERT INTO favorite_stigs VALUES ('ann', 'harbor_linux_3', 'h', 'H', 't');
    INSERT INTO sessions VALUES ('hash', 'ann', NULL, NULL, '[]', 't', 't', 't', NULL)`);
  db.close();
}
export const sampleBytes = { catalog: readFileSync(sample.db), users: readFileSync(sample.usersDb) };

export interface Site {
  folder: string;
  files: Files;
  /** The one of the kind that was asked for. */
  file: string;
}

/** A folder with copies of two files; that of a kind may have other bytes. */
export function siteOf(kind: Kind = 'catalog', bytes?: Uint8Array, from = sample): Site {
  const folder = scratchFolder();
  const files = filesOf(join(folder, 'g.db'));
  for (const each of kinds) copyFileSync(fileOf(from, each), fileOf(files, each));
  const file = fileOf(files, kind);
  if (bytes !== undefined) writeFileSync(file, bytes);
  return { folder, files, file };
}

/** Such a folder in which one file was changed, its schema as if it were any table. */
export function changed(kind: Kind, sql: string, from = sample): Site {
  const site = siteOf(kind, undefined, from);
  change(site.file, sql);
  return site;
}

export function change(file: string, sql: string): void {
  const sqlite = new Sqlite(file);
  sqlite.unsafeMode(true);
  sqlite.pragma('foreign_keys = OFF');
  sqlite.pragma('writable_schema = ON');
  sqlite.exec(sql);
  sqlite.close();
}

/** Such a folder in which one file has a log that waits beside it, as a kill leaves the two; what is done is in the log alone. */
export function unclean(kind: Kind, sql: string): Site {
  const from = siteOf(kind);
  const sqlite = new Sqlite(from.file);
  sqlite.pragma('journal_mode = WAL');
  sqlite.exec(sql);
  const to = siteOf(kind);
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(`${from.file}${suffix}`, `${to.file}${suffix}`);
  sqlite.close();
  assert.ok(lstatSync(`${to.file}-wal`).size > 0);
  return to;
}

/** Overwrites the head of the last page of a table (of the catalog: of findings) of a copy of the sample. */
export function damagePage(file: string, kind: Kind): void {
  const table = { catalog: 'findings', users: 'integration_tokens' }[kind];
  const sqlite = new Sqlite(fileOf(sample, kind), { readonly: true });
  const page = sqlite.prepare('SELECT max(pageno) FROM dbstat WHERE name = ?').pluck().get(table) as number;
  const size = sqlite.pragma('page_size', { simple: true }) as number;
  sqlite.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, (page - 1) * size, (page - 1) * size + 64);
  writeFileSync(file, bytes);
}

export const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Everything about the files of a folder that a refusal must leave as it is; the audit stream left out. */
export function stateOf(folder: string): Record<string, string> {
  const state: Record<string, string> = {};
  for (const name of filesIn(folder)) {
    const stat = lstatSync(join(folder, name));
    const { mode, size, ino } = stat;
    // The index of a log is made anew by whoever reads it; it holds nothing of its own.
    const hash = !stat.isFile() || name.endsWith('-shm') ? '' : sha256(join(folder, name));
    state[name] = `${ino} ${mode.toString(8)} ${stat.isFile() ? size : ''} ${hash}`;
  }
  return state;
}

/** The one line with which something is refused. */
export async function refusalOf(work: () => unknown): Promise<string> {
  try {
    const db = (await work()) as { close?(): void } | undefined;
    db?.close?.();
  } catch (error) {
    assert.instance(error, CommandError, (error as Error).stack);
    const { message } = error as Error;
    assert.not.match(message, /[\n\u0000]/);
    return message;
  }
  return 'nothing was refused';
}
