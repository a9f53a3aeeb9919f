import { basename } from 'node:path';
import { discover, type FoundSource, listFiles } from '../../importers/discover.ts';
import { groupHash } from '../../importers/groups.ts';
import { CommandError } from '../base/errors.ts';
import { printable } from '../base/text.ts';

/** A file of a source for a bundle. */
export interface SourceFile {
  source: string;
  file: string;
  bytes: Buffer;
}

/** Whether files are the source with this hash: a single file has its own hash, a group that of all its files. */
export function isSource(sha256: string, files: { name: string; sha256: string }[]): boolean {
  return (files.length === 1 && files[0]!.sha256 === sha256) || groupHash(files) === sha256;
}

/** Takes the files of sources found in folders and archives by hash. Throws `CommandError` for missing ones. */
export async function findSources(
  paths: string[],
  wanted: Map<string, string>,
  take: (file: SourceFile) => Promise<void>,
): Promise<void> {
  const missing = new Map(wanted);
  for await (const found of discover(listFiles(paths), { keepAll: true })) {
    if ((found.type !== 'bytes' && found.type !== 'group') || !missing.delete(found.sha256)) continue;
    for (const file of filesOf(found)) await take(file);
    if (missing.size === 0) return;
  }
  if (missing.size === 0) return;
  const names = [...missing].slice(0, 5).map(([sha256, name]) => `${name} (SHA-256 ${sha256})`);
  const more = missing.size > names.length ? ` and ${missing.size - names.length} more` : '';
  throw new CommandError(
    `--sources lacks ${missing.size} of ${wanted.size} sources: ${printable(names.join(', '), 1000)}${more}`,
  );
}

function filesOf(found: FoundSource & { type: 'bytes' | 'group' }): SourceFile[] {
  const { sha256: source } = found;
  if (found.type === 'bytes') return [{ source, file: safeName(lastName(found.source)), bytes: found.bytes }];
  return found.files.map(({ name, bytes }) => ({ source, file: name, bytes }));
}

/** The name of a source without folders and archives. */
export const lastName = (source: string): string => basename(source.split('!/').at(-1)!);

/** A name that a manifest accepts; importers ignore the names of single files. */
const safeName = (name: string): string =>
  name
    .replace(/[/\\:*?"<>|\p{Cc}\p{Cs}]/gu, '_')
    .slice(0, 150)
    .replace(/^\./, '_')
    .replace(/[. ]$/, '_') || '_';
