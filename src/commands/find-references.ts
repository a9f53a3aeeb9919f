import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { statIfThere } from '../base/files.ts';
import { createRuleHistoryService } from '../catalog/stigs/history.ts';
import { createReferenceLookup, type ReferenceLookup } from '../checklists/reference-lookup.ts';
import { fileText, keyOf, largestText, placesIn, referencesOf } from '../checklists/reference-scan.ts';
import type { Reference, References } from '../checklists/reference-schema.ts';
import { type Command, flag, openToLook, parse, tell, text } from './command.ts';
import { referencesWriters } from './references-writers.ts';

const formats = ['text', 'json', 'csv', 'sarif'] as const;

export const referencesCommand: Command = {
  name: 'references',
  summary: 'find the ids of rules, controls and CCIs in files, and say what became of them',
  usage: `gapstone references PATH... [--format text|json|csv|sarif] [--strict] [--db FILE] [--users-db FILE]`,
  help: [
    'PATH          a file, or a folder with everything in it; binary files, links and files over 8 MiB are skipped',
    '--format F    text (default: what is not current), json, csv, or sarif (without what is current)',
    '--json        the same as --format json',
    '--strict      exit with 1 where an id is not current, or a file was skipped',
  ],
  examples: ['gapstone references docs', 'gapstone references --format sarif --strict playbooks'],
  async run(args) {
    const { values, positionals } = parse(args, null, { format: text, strict: flag });
    if (positionals.length === 0) throw new CommandError('expected PATH..., got no arguments', 2);
    const format = formats.find((each) => each === (values.format ?? (values.json ? 'json' : 'text')));
    if (format === undefined) throw new CommandError(`--format must be one of ${formats.join(', ')}`, 2);
    using db = openToLook(readConfig(values));
    const lookup = createReferenceLookup(db, createRuleHistoryService(db));
    const writer = referencesWriters[format]();
    const counts: Partial<References['counts']> = {};
    let skipped = 0;
    const skip = (path: string, why: string) => {
      skipped++;
      tell(`${path} is skipped: ${why}`);
    };
    process.stdout.write(writer.begin);
    const find = (file: string) => {
      const found = referencesInFile(file, lookup, skip);
      for (const { state } of found) counts[state] = (counts[state] ?? 0) + 1;
      process.stdout.write(writer.next(found.map((each) => ({ file, ...each }))));
    };
    for (const path of positionals) eachFile(path, find, skip);
    process.stdout.write(writer.end(counts));
    const isClean = skipped === 0 && Object.keys(counts).every((state) => state === 'current');
    return values.strict && !isClean ? 1 : 0;
  },
};

const neither = 'neither a file nor a folder';

type Skip = (path: string, why: string) => void;

/** Takes the files of a path in the order of their names. Throws `CommandError` for a path that is not there. */
function eachFile(path: string, take: (file: string) => void, skip: Skip): void {
  const stat = statIfThere(path);
  if (!stat) throw new CommandError(`there is no ${path}`);
  if (stat.isFile()) take(path);
  else if (!stat.isDirectory()) skip(path, neither);
  else
    for (const name of readdirSync(path).sort()) {
      const inside = join(path, name);
      const kind = lstatSync(inside);
      if (kind.isDirectory()) eachFile(inside, take, skip);
      else if (kind.isFile()) take(inside);
      else skip(inside, neither);
    }
}

function referencesInFile(file: string, lookup: ReferenceLookup, skip: Skip): Reference[] {
  const size = statIfThere(file)?.size ?? 0;
  if (size > largestText) {
    skip(file, 'larger than 8 MiB');
    return [];
  }
  try {
    const read = fileText(readFileSync(file));
    if (read === null) {
      skip(file, 'a binary file');
      return [];
    }
    const vocabulary = lookup.vocabulary();
    const places = placesIn(read, vocabulary, Number.POSITIVE_INFINITY);
    const asked = [...new Map(places.map((place) => [keyOf(place), place])).values()];
    return referencesOf(places, lookup.facts(asked), vocabulary).references;
  } catch (error) {
    const isOfFile = error instanceof AppError || (error as NodeJS.ErrnoException).syscall !== undefined;
    throw isOfFile ? new CommandError(`${file}: ${(error as Error).message}`) : error;
  }
}
