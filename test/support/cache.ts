import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../src/base/ids.ts';
import { packageRoot } from '../../src/base/root.ts';
import { closureOf } from './imports.ts';

/** The files below a folder, in order. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * The folder where catalogs of the tests are stored between runs, by a hash of the importers and of what they read besides
 * their sources. What other importers made is removed.
 */
export function folderOfCatalogs(): string {
  const files = [
    ...closureOf(['importers/run.ts', 'src/db/database.ts']).map((file) => join(packageRoot, file)),
    ...['migrations', 'data'].flatMap((name) => filesBelow(join(packageRoot, name))),
    join(packageRoot, 'package-lock.json'),
  ];
  const current = sha256(files.map((file) => sha256(readFileSync(file))).join());
  const all = join(packageRoot, 'node_modules', '.cache', 'gapstone', 'catalogs');
  mkdirSync(join(all, current), { recursive: true });
  for (const name of readdirSync(all))
    if (name !== current) rmSync(join(all, name), { recursive: true, force: true });
  return join(all, current);
}
