import { join } from 'node:path';
import { runImport } from '../../importers/run.ts';
import { type Database, openCatalog, openDatabase } from '../../src/db/database.ts';
import { holdCatalog, replaceCatalog } from '../../src/db/replace.ts';
import { filesOf } from './scratch.ts';

export { filesOf };

/** Imports into a catalog, which is made when it is missing, as a process of its own does; gives the outcomes. */
export async function importInto(db: string, paths: string[]): Promise<string[]> {
  using catalog = openCatalog(db, { create: true });
  return (await runImport(catalog, paths)).lines.map((line) => line.outcome);
}

/** Replaces the content of a catalog by that of another file. */
export async function replaceBy(db: string, other: string): Promise<void> {
  using _catalog = openCatalog(db);
  using held = holdCatalog(db);
  await replaceCatalog(held, db, other, () => true);
}

/** A catalog of some sources and users' data in a folder, opened as a server opens them. */
export async function openSite(folder: string, paths: string[] = [], name = 'g'): Promise<Database> {
  const files = filesOf(join(folder, `${name}.db`));
  await importInto(files.db, paths);
  return openDatabase(files);
}
