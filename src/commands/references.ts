import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Option } from '@commander-js/extra-typings';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { statIfThere } from '../base/files.ts';
import { packageVersion } from '../base/root.ts';
import { escapedLine } from '../base/text.ts';
import { createRuleHistoryService } from '../catalog/stigs/history.ts';
import {
  createReferenceLookup,
  fileText,
  keyOf,
  largestText,
  placesIn,
  type ReferenceLookup,
  referencesOf,
} from '../checklists/reference-lookup.ts';
import {
  type FileReference,
  type Reference,
  type References,
  referenceColumns,
  referenceStates,
} from '../checklists/reference-schema.ts';
import { toCsv } from '../http/columns.ts';
import { command, tell } from './command.ts';
import { openToLook } from './open-to-look.ts';

type Counts = Partial<References['counts']>;

/** The formats of rule D39.2. */
const formats = {
  text(references: FileReference[], counts: Counts) {
    const total = Object.entries(counts).map(([state, number]) => `${number} ${state}`);
    const lines = references.filter(({ state }) => state !== 'current').map(describeReference);
    return [...lines, total.join(', ') || 'no ids found'].map((line) => `${escapedLine(line)}\n`).join('');
  },
  json: (references: FileReference[], counts: Counts) => `${JSON.stringify({ references, counts })}\n`,
  csv: (references: FileReference[]) => toCsv(referenceColumns, references),
  sarif: (references: FileReference[]) => `${JSON.stringify(sarifOf(references))}\n`,
};
const formatNames = Object.keys(formats) as (keyof typeof formats)[];

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
      ).choices(formatNames),
    )
    .option('--strict', 'exit with 1 where an id is not current, or a file was skipped')
    .action((paths, { format, strict, ...options }) => {
      using db = openToLook(readConfig(options));
      const lookup = createReferenceLookup(db, createRuleHistoryService(db));
      let skipped = 0;
      const skip = (path: string, why: string) => {
        skipped++;
        tell(`${path} is skipped: ${why}`);
      };
      const references: FileReference[] = [];
      for (const file of paths.flatMap((path) => filesIn(path, skip)))
        for (const reference of referencesInFile(file, lookup, skip)) references.push({ file, ...reference });
      const counts: Counts = {};
      for (const { state } of references) counts[state] = (counts[state] ?? 0) + 1;
      process.stdout.write(formats[format ?? (options.json ? 'json' : 'text')](references, counts));
      const isClean = skipped === 0 && references.every(({ state }) => state === 'current');
      if (strict && !isClean) process.exitCode = 1;
    });

type Skip = (path: string, why: string) => void;

/** The files of a path in the order of their names. Throws `CommandError` for a path that is not there. */
function filesIn(path: string, skip: Skip, stat = statIfThere(path)): string[] {
  if (!stat) throw new CommandError(`there is no ${path}`);
  if (stat.isFile()) return [path];
  if (stat.isDirectory())
    return readdirSync(path)
      .sort()
      .map((name) => join(path, name))
      .flatMap((inside) => filesIn(inside, skip, lstatSync(inside)));
  skip(path, 'neither a file nor a folder');
  return [];
}

function referencesInFile(file: string, lookup: ReferenceLookup, skip: Skip): Reference[] {
  if ((statIfThere(file)?.size ?? 0) > largestText) {
    skip(file, 'larger than 8 MiB');
    return [];
  }
  try {
    const text = fileText(readFileSync(file));
    if (text === null) {
      skip(file, 'a binary file');
      return [];
    }
    const vocabulary = lookup.vocabulary();
    const places = placesIn(text, vocabulary, Number.POSITIVE_INFINITY);
    const ids = [...new Map(places.map((place) => [keyOf(place), place])).values()];
    return referencesOf(places, lookup.facts(ids), vocabulary).references;
  } catch (error) {
    const isOfFile = error instanceof AppError || (error as NodeJS.ErrnoException).syscall !== undefined;
    throw isOfFile ? new CommandError(`${file}: ${(error as Error).message}`) : error;
  }
}

const describeReference = ({ file, line, column, text, state, advice }: FileReference) =>
  `${file}:${line}:${column}: ${text} ${state}${advice === null ? '' : `: ${advice}`}`;

const meanings = {
  changed: 'The rule has a newer revision',
  removed: 'No newest release has the rule',
  withdrawn: 'The control is withdrawn',
  deprecated: 'The CCI is deprecated',
  unknown: 'The id is in no source',
};
type Reported = keyof typeof meanings;

const states = referenceStates.filter((state): state is Reported => state !== 'current');

/** SARIF 2.1.0 of what is not current (rule D39.2). */
export function sarifOf(found: FileReference[]) {
  const results = found.flatMap((each) => {
    const ruleIndex = states.indexOf(each.state as Reported);
    return ruleIndex < 0 ? [] : [resultOf(each, each.state as Reported, ruleIndex)];
  });
  const rules = states.map((id) => ({ id, shortDescription: { text: meanings[id] } }));
  const driver = { name: 'Gapstone', version: packageVersion, rules };
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
}

function resultOf(each: FileReference, state: Reported, ruleIndex: number) {
  const { file, line, column, text, advice } = each;
  const region = { startLine: line, startColumn: column, endColumn: column + text.length };
  const message = `${text}: ${meanings[state]}${advice === null ? '' : `. ${advice}`}`;
  return {
    ruleId: state,
    ruleIndex,
    level: state === 'unknown' || state === 'removed' ? 'error' : 'warning',
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, region } }],
  };
}

/** A path as a URI, relative where the path is. */
const uriOf = (file: string) =>
  isAbsolute(file) ? pathToFileURL(file).href : file.split(/[\\/]/).map(encodeURIComponent).join('/');
