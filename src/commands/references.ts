import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { statIfThere } from '../base/files.ts';
import { createRuleHistoryService } from '../catalog/stigs/history.ts';
import { createReferenceLookup, type ReferenceLookup } from '../checklists/reference-lookup.ts';
import { fileText, keyOf, largestText, placesIn, referencesOf } from '../checklists/reference-scan.ts';
import type { Reference, References } from '../checklists/reference-schema.ts';
import { command, tell } from './command.ts';
import { openToLook } from './open-to-look.ts';
import { referencesWriters } from './references-writers.ts';

export const referencesCommand = () =>
  command('references', 'find the ids of rules, controls and CCIs in files, and say what became of them', {
    notes: ['--json is the same as --format json.'],
    examples: ['gapstone references docs', 'gapstone references --format sarif --strict playbooks'],
  })
    .argument(
      '<path...>',
      'files, or folders with everything in them; binary files, links and files over 8 MiB are skipped',
    )
    .addOption(
      new Option(
        '--format <format>',
        'text (what is not current), json, csv, or sarif (what is not current)',
      ).choices(['text', 'json', 'csv', 'sarif']),
    )
    .option('--strict', 'exit with 1 where an id is not current, or a file was skipped')
    .action((paths, { format, strict, ...options }) => {
      using db = openToLook(readConfig(options));
      const lookup = createReferenceLookup(db, createRuleHistoryService(db));
      const writer = referencesWriters[format ?? (options.json ? 'json' : 'text')]();
      const counts: Partial<References['counts']> = {};
      let skipped = 0;
      const skip = (path: string, why: string) => {
        skipped++;
        tell(`${path} is skipped: ${why}`);
      };
      const find = (file: string) => {
        const found = referencesInFile(file, lookup, skip);
        for (const { state } of found) counts[state] = (counts[state] ?? 0) + 1;
        process.stdout.write(writer.next(found.map((each) => ({ file, ...each }))));
      };
      process.stdout.write(writer.begin);
      for (const path of paths) eachFile(path, find, skip);
      process.stdout.write(writer.end(counts));
      const isClean = skipped === 0 && Object.keys(counts).every((state) => state === 'current');
      if (strict && !isClean) process.exitCode = 1;
    });

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
