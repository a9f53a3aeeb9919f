import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';

const statement =
  /^[ \t]*(?:import|export)\b(?<clause>[^'"`;]*?)\bfrom\s*['"](?<from>[^'"]+)['"]|^[ \t]*import\s*['"](?<bare>[^'"]+)['"]|\bimport\(\s*['"`](?<call>[^'"`]+)['"`]/gm;

/** The modules that a text of TypeScript imports; those of which it imports only types are left out with `values`. */
export function importsOf(text: string, { values = false } = {}): string[] {
  return [...text.matchAll(statement)]
    .map(({ groups }) => groups!)
    .filter(({ clause }) => !(values && /^\s*type\b/.test(clause ?? '')))
    .map(({ from, bare, call }) => (from ?? bare ?? call)!);
}

/** The files of the project that some files load, with themselves, as paths below the package's folder in order. */
export function closureOf(files: string[]): string[] {
  const seen = new Set<string>();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const name of importsOf(readFileSync(join(packageRoot, file), 'utf8'), { values: true }))
      if (name.startsWith('.')) waiting.push(normalize(join(dirname(file), name)));
  }
  return [...seen].sort();
}
