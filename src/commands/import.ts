import { type ImportedBefore, notYetImported } from '../../importers/imported-before.ts';
import { type LedgerLine, type LedgerSummary, type Result, resultOf } from '../../importers/ledger-lines.ts';
import type { ImportResult } from '../../importers/run.ts';
import { describeChange } from '../../importers/stigs/identity-outcomes.ts';
import { isSlug, reservedSlugs } from '../../importers/stigs/slug.ts';
import type { SlugChange } from '../../importers/stigs/write.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere, whyRefused } from '../base/files.ts';
import { count, countOf, cut } from '../base/text.ts';
import { frameworkKey, isPublished } from '../catalog/controls/frameworks.ts';
import { connectReadOnly } from '../db/connect.ts';
import { type Database, openCatalog } from '../db/database.ts';
import { forgetInboxContents, inboxContents } from '../db/site-records.ts';
import { readTable, type TableRow } from '../read/table.ts';
import { openForCommand, withUsers } from './audit.ts';
import { auditedImport, createProgress } from './audited-import.ts';
import { command, print, tell, textOf } from './command.ts';

const busyTimeout = 30_000;

export const importCommand = () =>
  command('import', 'import files, folders and zips into the catalog', {
    settings: ['auditFile', 'auditFailure'],
    exitCodes: [
      ['1', 'failed: nothing could be used'],
      ['3', 'done in part: something was rejected'],
      ['130', 'stopped by Ctrl-C, within seconds; nothing was changed'],
      ['143', 'stopped by SIGTERM; nothing was changed'],
    ],
    notes: ['--json prints one ledger line for each source, then the summary.'],
    examples: [
      'gapstone import U_SRG-STIG_Library_July_2026.zip',
      'gapstone import --dry-run --json data/stigs',
    ],
  })
    .argument('<path...>', 'files, folders, zips, zips of zips')
    .option(
      '--once',
      'skip each path that is missing, or that an import or the inbox has handled with the same content',
    )
    .option('--no-links', 'follow no link, not even a path that is one')
    .option('--strict', 'change nothing unless every source can be imported')
    .option('--dry-run', 'show what would change, and change nothing')
    .option(
      '--slugs <file>',
      'csv with the columns benchmarkId,slug: sets the slugs of benchmarks, for later runs too; - as a slug removes the row',
      readSlugs,
    )
    .option(
      '--framework <name>',
      'the name of the framework of each OSCAL catalog that is none of the published ones, in place of the one that its title gives',
      readFramework,
    )
    .action(async (paths, { once, links, strict = false, dryRun = false, slugs, framework, ...options }) => {
      const signal = stoppedBySignal();
      // A file that the inbox saw may have been removed since.
      const given = once ? paths.filter(isThere) : paths;
      for (const path of given) if (!isThere(path)) throw new CommandError(`${path} does not exist`);
      const config = readConfig(options);
      using db = await openForImport(config, dryRun);
      const { fresh, removedHashes } = once
        ? await withoutKnown(config, db, given, { noLinks: !links, json: options.json })
        : { fresh: given, removedHashes: new Set<string>() };
      if (fresh.length === 0) {
        tell('nothing to import: every path is missing or already imported');
        if (!options.json) tell('done');
        return;
      }
      const result = await auditedImport(config, db, fresh, {
        strict,
        dryRun,
        noLinks: !links,
        overrides: slugs ?? new Map(),
        ...(framework === undefined ? {} : { framework }),
        onProgress: createProgress(),
        ignoredHashes: removedHashes,
        signal,
      });
      const refused = strict && (result.summary.rejected > 0 || result.loneUnknown.length > 0);
      const outcome = resultOf(result.lines, refused);
      report(result, config.usersDb, options.json ?? false, dryRun);
      if (!options.json) tell(describeResult(outcome, result.summary, refused));
      process.exitCode = exitCodes[outcome];
    });

/** Opens the catalog alone; a dry run creates none. */
async function openForImport(config: Config, dryRun: boolean): Promise<Database> {
  const isNew = config.db !== ':memory:' && !isThere(config.db);
  if (dryRun) return openCatalog(isThere(config.db) ? config.db : ':memory:', { busyTimeout });
  const db = await openForCommand(config, { catalogAlone: true, create: true, busyTimeout });
  if (isNew && isThere(config.usersDb)) await withUsers(config, forgetInboxContents);
  return db;
}

/** The paths that `--once` imports; tells of the others, with `json` what the inbox records (rule D42.8). */
async function withoutKnown(
  config: Config,
  db: Database,
  paths: string[],
  { noLinks, json }: { noLinks: boolean; json: boolean | undefined },
): Promise<Pick<ImportedBefore, 'fresh' | 'removedHashes'>> {
  const held = inboxContents(config.usersDb);
  const { removedPaths, ...others } = await notYetImported(db, paths, held, noLinks);
  const knownHashes = others.knownHashes.filter((hash) => !held.has(hash));
  if (json && knownHashes.length + removedPaths.length > 0) print(true, { knownHashes, removedPaths }, '');
  for (const path of removedPaths)
    tell(
      `skipped ${path}: a rollback removed it, or a part of it; "gapstone import" without --once imports it`,
    );
  return others;
}

/** Reads `--framework`. Throws `CommandError` for a name that no question could name, and for a published one. */
function readFramework(name: string): string {
  if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,199}$/u.test(name))
    throw new CommandError('--framework takes a name of up to 200 letters, digits, ".", "_" and "-"', 2);
  if (frameworkKey(name) !== name || isPublished(name))
    throw new CommandError(`--framework ${name}: this is a published framework, which its own files name`, 2);
  return name;
}

/** Is aborted by the first SIGINT or SIGTERM; a second one ends the process at once. */
function stoppedBySignal(): AbortSignal {
  const stop = new AbortController();
  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () =>
      stop.abort(new CommandError(`stopped by ${signal}: nothing was changed`, exitCode)),
    );
  return stop.signal;
}

const exitCodes: Record<Result, number> = { done: 0, failed: 1, 'done in part': 3 };

/** The result of a run in one line, with the reason of a failure. */
function describeResult(result: Result, { rejected }: LedgerSummary, refused: boolean): string {
  if (refused) return `${result}: --strict was given, and not every source is good`;
  if (result === 'failed') return `${result}: nothing could be used`;
  return result === 'done' ? result : `${result}: ${count(rejected, 'source')} could not be used`;
}

function report(
  { lines, summary, stored, unusedOverrides, slugChanges }: ImportResult,
  usersDb: string,
  json: boolean,
  dryRun: boolean,
): void {
  if (json) {
    for (const line of lines) print(true, line, '');
    print(true, { summary }, '');
  } else {
    for (const line of lines) tell(...humanLines(line));
    tell(humanSummary(summary));
  }
  for (const benchmarkId of unusedOverrides)
    tell(`warning: --slugs names ${JSON.stringify(cut(benchmarkId))}, but no benchmark has this id`);
  warnOfReferences(usersDb, slugChanges);
  if (!stored) tell(dryRun ? 'dry run: nothing was changed' : 'strict: nothing was changed');
}

/** Warns about changed slugs that users' data refers to. */
function warnOfReferences(usersDb: string, changes: SlugChange[]): void {
  if (changes.length === 0) return;
  try {
    if (!isThere(usersDb)) return;
    using users = connectReadOnly(usersDb, 'users', { busyTimeout });
    const count = ['list_stigs', 'favorite_stigs'].map((table) =>
      users.prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE slug = ?`).pluck(),
    );
    for (const change of changes) {
      const [entries, favorites] = count.map((each) => each.get(change.from)!) as [number, number];
      const referring = `${countOf(entries, 'list entries')} and ${countOf(favorites, 'favorites')} refer to it`;
      if (entries + favorites > 0) tell(`warning: ${describeChange(change)}: ${referring}`);
    }
  } catch (error) {
    // The import is complete; only this warning is not possible.
    tell(`warning: cannot read whether users' data refers to a changed slug: ${(error as Error).message}`);
  }
}

function humanLines(line: LedgerLine): string[] {
  const target = line.target === null ? '' : ` -> ${line.target}`;
  const counts = Object.entries(line.counts).map(([name, number]) => countOf(number, name));
  const reason = line.reason === null ? '' : `: ${line.reason}`;
  const detail = counts.length === 0 ? '' : ` (${counts.join(', ')})`;
  const first = `${line.outcome.padEnd(10)} ${line.source} [${line.kind}]${target}${detail}${reason}`;
  return [first, ...line.warnings.map((warning) => `    warning: ${warning}`)];
}

function humanSummary(summary: LedgerSummary): string {
  const { sources, imported, unchanged, superseded, skipped, rejected, warnings, ms } = summary;
  const parts = { imported, unchanged, superseded, skipped, rejected, warnings };
  const counts = Object.entries(parts).map(([name, number]) => countOf(number, name));
  return `${count(sources, 'source')} in ${(ms / 1000).toFixed(2)} s: ${counts.join(', ')}`;
}

/** Reads the operator's overrides (rule D24.5, step 3); the slug `-` removes a former row. Throws `CommandError`. */
function readSlugs(file: string): Map<string, string> {
  const text = textOf(file);
  let table: TableRow[];
  try {
    table = readTable(text);
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${whyRefused(file, error)}`);
  }
  const [header, ...rows] = table;
  if (header?.cells.join(',') !== 'benchmarkId,slug')
    throw new CommandError(`${file}: the header must be benchmarkId,slug`);
  const overrides = new Map<string, string>();
  for (const { cells, number } of rows) {
    const [benchmarkId = '', slug = ''] = cells;
    const problem = overrides.has(benchmarkId)
      ? `${benchmarkId.slice(0, 64)} occurs twice`
      : problemOfRow(cells.length, benchmarkId, slug);
    if (problem !== null) throw new CommandError(`${file}, row ${number}: ${problem}`);
    overrides.set(benchmarkId, slug === '-' ? '' : slug);
  }
  return overrides;
}

function problemOfRow(columns: number, benchmarkId: string, slug: string): string | null {
  if (columns > 2) return `it has ${columns} columns, not 2`;
  if (benchmarkId === '') return 'the benchmarkId is empty';
  if (slug !== '-' && !isSlug(slug)) return `"${slug.slice(0, 64)}" is not a slug: use a-z, 0-9 and _`;
  return reservedSlugs.has(slug) ? `"${slug}" is reserved for a path of the API: choose another slug` : null;
}
