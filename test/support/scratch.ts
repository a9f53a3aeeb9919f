import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readConfig } from '../../src/base/config.ts';
import type { Files } from '../../src/db/database.ts';

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new empty folder that is gone when the process ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gapstone-test-'));
  folders.push(folder);
  return folder;
}

/** Writes a file into a folder (making the folders between) and gives its path. */
export function put(folder: string, name: string, data: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, data);
  return path;
}

/** The names in a folder, in order; the audit stream, which every command may add to, left out. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('gapstone-audit.jsonl'))
    .sort();
}

/** The two files that a command uses which is given the name of the catalog. */
export function filesOf(db: string): Files {
  const { usersDb } = readConfig({ db }, {});
  return { db, usersDb };
}
