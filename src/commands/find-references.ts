import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { statIfThere } from '../base/files.ts';
import { escapedLine } from '../base/text.ts';
import { createRuleHistoryService } from '../catalog/stigs/history.ts';
import { type FileReference, referenceColumns } from '../checklists/reference-columns.ts';
import { createReferenceLookup, type ReferenceLookup } from '../checklists/reference-lookup.ts';
import { fileText, keyOf, largestText, placesIn, referencesOf } from '../checklists/reference-scan.ts';
import type { Reference, References } from '../checklists/reference-schema.ts';
import { toCsv } from '../http/columns.ts';
import { type Command, flag, openToLook, parse, tell, text } from './command.ts';
import { sarifOf } from './references-sarif.ts';

const formats = ['text', 'json', 'csv', 'sarif'] as const;

export const referencesCommand: Command = {
  name: 'references',
  summary: 'find the ids of rules, controls and CCIs in files, and say what became of them',
  usage: `gapstone references PATH... [--format text|json|csv|sarif] [--strict] [--db FILE] [--users-db FILE]`,
  help: [
    'PATH          a file, or a folder with everything in it; binary files, links and files over 8 MiB are skipped',
    '--format F    text (default: what is not current), json, csv, or sarif (without what is current)',
    '--json        the same as --format json',
    '--strict      exit with 1 where an id is not current',
  ],
  async run(args) {
    const { values, positionals } = parse(args, null, { format: text, strict: flag });
    if (positionals.length === 0) throw new CommandError('expected PATH..., got no arguments', 2);
    const format = formats.find((each) => each === (values.format ?? (values.json ? 'json' : 'text')));
    if (format === undefined) throw new CommandError(`--format must be one of ${formats.join(', ')}`, 2);
    using db = openToLook(readConfig(values));
    const lookup = createReferenceLookup(db, createRuleHistoryService(db));
    const found: FileReference[] = [];
    for (const path of positionals) {
      for (const file of filesUnder(path)) {
        for (const each of await referencesInFile(file, lookup)) found.push({ file, ...each });
      }
    }
    process.stdout.write(written(format, found));
    return values.strict && found.some(({ state }) => state !== 'current') ? 1 : 0;
  },
};

/** The files of a path, in the order of their names. Throws `CommandError` for a path that is not there. */
function* filesUnder(path: string): Generator<string> {
  const stat = statIfThere(path);
  if (!stat) throw new CommandError(`there is no ${path}`);
  if (!stat.isDirectory()) return yield path;
  const entries = readdirSync(path).sort();
  for (const name of entries) {
    const inside = join(path, name);
    const kind = lstatSync(inside);
    if (kind.isDirectory()) yield* filesUnder(inside);
    else if (kind.isFile()) yield inside;
    else tell(`${inside} is skipped: neither a file nor a folder`);
  }
}

async function referencesInFile(file: string, lookup: ReferenceLookup): Promise<Reference[]> {
  const size = statIfThere(file)?.size ?? 0;
  const skip = (why: string) => {
    tell(`${file} is skipped: ${why}`);
    return [];
  };
  if (size > largestText) return skip('larger than 8 MiB');
  const bytes = readFileSync(file);
  const read = fileText(bytes);
  if (read === null) return skip('neither UTF-8 nor UTF-16 with a byte order mark');
  try {
    const vocabulary = await lookup.vocabulary();
    const places = placesIn(read, vocabulary, Number.POSITIVE_INFINITY);
    const asked = [...new Map(places.map((place) => [keyOf(place), place])).values()];
    return referencesOf(places, await lookup.facts(asked), vocabulary).references;
  } catch (error) {
    throw error instanceof AppError ? new CommandError(`${file}: ${error.message}`) : error;
  }
}

function written(format: (typeof formats)[number], found: FileReference[]): string {
  if (format === 'csv') return toCsv(referenceColumns, found);
  if (format === 'sarif') return `${JSON.stringify(sarifOf(found), null, 2)}\n`;
  const counts: Partial<References['counts']> = {};
  for (const { state } of found) counts[state] = (counts[state] ?? 0) + 1;
  if (format === 'json') return `${JSON.stringify({ counts, references: found })}\n`;
  const lines = found.filter(({ state }) => state !== 'current').map(lineOf);
  const total = Object.entries(counts).map(([state, number]) => `${number} ${state}`);
  return [...lines, total.join(', ') || 'no ids found'].map((line) => `${escapedLine(line)}\n`).join('');
}

const lineOf = ({ file, line, column, text, state, advice }: FileReference) =>
  `${file}:${line}:${column}: ${text} ${state}${advice === null ? '' : `: ${advice}`}`;
