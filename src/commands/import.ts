import { notYetImported } from '../../importers/imported-before.ts';
import { type LedgerLine, type LedgerSummary, type Result, resultOf } from '../../importers/ledger-lines.ts';
import type { ImportResult } from '../../importers/run.ts';
import { describeChange } from '../../importers/stigs/identity-outcomes.ts';
import { isSlug, reservedSlugs } from '../../importers/stigs/slug.ts';
import type { SlugChange } from '../../importers/stigs/write.ts';
import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere, whyRefused } from '../base/files.ts';
import { count, countOf, cut } from '../base/text.ts';
import { frameworkKey, isPublished } from '../catalog/controls/frameworks.ts';
import { connectReadOnly } from '../db/connect.ts';
import { openCatalog } from '../db/database.ts';
import { forgetInboxContents, inboxContents } from '../db/site-records.ts';
import { readTable, type TableRow } from '../read/table.ts';
import { openForCommand, withUsers } from './audit.ts';
import { auditedImport } from './audited-import.ts';
import { type Command, flag, parse, print, required, tell, text, textOf } from './command.ts';
import { createProgress } from './progress.ts';

const busyTimeout = 30_000;

export const importCommand: Command = {
  name: 'import',
  summary: 'import files, folders and zips into the catalog',
  usage:
    'gapstone import PATH... [--once] [--no-links] [--strict] [--dry-run] [--slugs FILE] [--framework NAME] [--db FILE] [--users-db FILE] [--json]',
  help: [
    '--once        skip each PATH that is missing, or that an import or the inbox has handled with the same content',
    '--no-links    follow no link, not even a PATH that is one',
    '--strict      change nothing unless every source can be imported',
    '--dry-run     show what would change, and change nothing',
    '--slugs FILE  CSV with the columns benchmarkId,slug: sets the slugs of benchmarks, for later runs too; - as a slug removes the row',
    '--framework NAME  the name of the framework of each OSCAL catalog that is none of the published ones, in place of the one that its title gives',
    '--json        print one ledger line for each source on stdout, then the summary',
  ],
  exitCodes: [
    ['1', 'failed: nothing could be used'],
    ['3', 'done in part: something was rejected'],
    ['130', 'stopped by Ctrl-C, within seconds; nothing was changed'],
    ['143', 'stopped by SIGTERM; nothing was changed'],
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: [
    'gapstone import U_SRG-STIG_Library_July_2026.zip',
    'gapstone import --dry-run --json data/stigs',
  ],
  async run(args) {
    const { values, positionals } = parse(args, null, {
      ...{ once: flag, 'no-links': flag, strict: flag, 'dry-run': flag, slugs: text, framework: text },
    });
    if (positionals.length === 0) throw new CommandError('give at least one PATH to import', 2);
    const signal = stoppedBySignal();
    // A file that the inbox saw may have been removed since.
    const given = values.once ? positionals.filter((path) => isThere(path)) : positionals;
    for (const path of given) requirePath(path);
    const overrides =
      values.slugs === undefined ? new Map<string, string>() : readSlugs(required(values.slugs, 'slugs'));
    const framework = frameworkNamed(values.framework);
    const config = readConfig(values);
    const dryRun = values['dry-run'] ?? false;
    const noLinks = values['no-links'] ?? false;
    const isNew = config.db !== ':memory:' && !isThere(config.db);
    using db = dryRun
      ? openCatalog(isThere(config.db) ? config.db : ':memory:', { busyTimeout })
      : await openForCommand(config, { catalogAlone: true, create: true, busyTimeout });
    if (isNew && !dryRun && isThere(config.usersDb)) await withUsers(config, forgetInboxContents);
    const held = values.once ? inboxContents(config.usersDb) : new Set<string>();
    const { fresh, met, leftOut, takenBack } = values.once
      ? await notYetImported(db, given, held, noLinks)
      : { fresh: given, met: [], leftOut: [], takenBack: new Set<string>() };
    // For the record of the inbox (rule D42.8).
    const unkept = met.filter((hash) => !held.has(hash));
    if (values.json && unkept.length + leftOut.length > 0) print(true, { met: unkept, leftOut }, '');
    for (const path of leftOut)
      tell(
        `skipped ${path}: a rollback removed it, or a part of it; "gapstone import" without --once imports it`,
      );
    if (fresh.length === 0) {
      tell('nothing to import: every path is missing or already imported');
      if (!values.json) tell('done');
      return 0;
    }
    const strict = values.strict ?? false;
    const onProgress = createProgress();
    const result = await auditedImport(config, db, fresh, {
      ...{ strict, noLinks, dryRun, overrides, onProgress, takenBack, signal, ...framework },
    });
    const refused = strict && (result.summary.rejected > 0 || result.loneUnknown.length > 0);
    const outcome = resultOf(result.lines, refused);
    report(result, config.usersDb, values.json ?? false, dryRun);
    if (!values.json) tell(describeResult(outcome, result.summary, refused));
    return exitCodes[outcome];
  },
};

/** The name of `--framework`. Throws `CommandError` for one that no question could name, and for a published one. */
function frameworkNamed(name: string | undefined): { framework?: string } {
  if (name === undefined) return {};
  if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,199}$/u.test(name))
    throw new CommandError('--framework takes a name of up to 200 letters, digits, ".", "_" and "-"', 2);
  if (frameworkKey(name) !== name || isPublished(name))
    throw new CommandError(`--framework ${name}: this is a published framework, which its own files name`, 2);
  return { framework: name };
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

function requirePath(path: string): void {
  if (!isThere(path)) throw new CommandError(`${path} does not exist`);
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

const takenBack = '-';

/** Reads the operator's overrides (rule D24.5, step 3); an empty slug removes a former row. */
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
    const [benchmarkId, slug] = cells;
    const where = `${file}, row ${number}`;
    if (cells.length > 2) throw new CommandError(`${where}: it has ${cells.length} columns, not 2`);
    if (!benchmarkId) throw new CommandError(`${where}: the benchmarkId is empty`);
    if (!slug || (slug !== takenBack && !isSlug(slug)))
      throw new CommandError(`${where}: "${(slug ?? '').slice(0, 64)}" is not a slug: use a-z, 0-9 and _`);
    if (reservedSlugs.has(slug))
      throw new CommandError(`${where}: "${slug}" is reserved for a path of the API: choose another slug`);
    if (overrides.has(benchmarkId))
      throw new CommandError(`${where}: ${benchmarkId.slice(0, 64)} occurs twice`);
    overrides.set(benchmarkId, slug === takenBack ? '' : slug);
  }
  return overrides;
}
