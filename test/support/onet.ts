import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { put } from './scratch.ts';

/** The tables of an invented release, by file name. */
export type Release = Record<string, string[][]>;

/** An invented release of three occupations; every text is ours. */
export function sampleRelease(): Release {
  const [, ...tables] = readFileSync(join(import.meta.dirname, 'onet.txt'), 'utf8').split(/^# /m);
  return Object.fromEntries(
    tables.map((table) => {
      const [name, ...lines] = table.trimEnd().split('\n');
      return [name!, lines.map((line) => line.split('\t'))];
    }),
  );
}

/** The text of a table. */
export function tableText(rows: string[][], lineEnd = '\r\n'): string {
  return rows.map((row) => row.join('\t') + lineEnd).join('');
}

/** Writes a release into a folder and gives its path. */
export function putRelease(folder: string, name: string, release: Release, lineEnd = '\r\n'): string {
  for (const [file, rows] of Object.entries(release))
    put(folder, `${name}/${file}`, tableText(rows, lineEnd));
  return `${folder}/${name}`;
}
