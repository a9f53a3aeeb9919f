import { join } from 'node:path';
import { runImport } from '../../importers/run.ts';
import { readConfig } from '../../src/base/config.ts';
import { type Database, type Files, openCatalog, openDatabase } from '../../src/db/database.ts';

/** The two files of a site by the name of its catalog, as the configuration names them (rule D23.1). */
export function filesOf(db: string): Files {
  return readConfig({ db }, {});
}

/** Imports into a catalog, which is made when it is missing, as a process of its own does; gives the outcomes. */
export async function importInto(db: string, paths: string[]): Promise<string[]> {
  using catalog = openCatalog(db, { create: true });
  return (await runImport(catalog, paths)).lines.map((line) => line.outcome);
}

/** A catalog of some sources and users' data in a folder, opened as a server opens them. */
export async function openSite(folder: string, paths: string[] = [], name = 'g'): Promise<Database> {
  const files = filesOf(join(folder, `${name}.db`));
  await importInto(files.db, paths);
  return openDatabase(files);
}
