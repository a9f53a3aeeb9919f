import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommandError } from '../src/base/errors.ts';
import { asCommandError, storageFault } from '../src/base/faults.ts';
import type { Database } from '../src/db/database.ts';
import { digestOf, storedDigest } from '../src/db/digest.ts';
import { prepareInsert } from '../src/db/insert.ts';
import { ImportError, type Kind, oneLine } from '../src/read/import-error.ts';
import { deriveAll, type StagedRun } from './derive.ts';
import { discover, type FoundSource, type ListedFile, listFiles } from './discover.ts';
import {
  type LedgerLine,
  type LedgerSummary,
  type OpenLine,
  refusedByStrict,
  roundMs,
  summarize,
} from './ledger-lines.ts';
import { noteArchives } from './outcomes.ts';
import { parseGroup, parseSource } from './parse.ts';
import { createPhases } from './phases.ts';
import { createStaging } from './staging.ts';
import type { SlugChange } from './stigs/write.ts';

export interface ImportOptions {
  strict?: boolean;
  /** Follow no link, even if the user named it. */
  noLinks?: boolean;
  dryRun?: boolean;
  /** The operator's slugs by benchmark id (rule D24.5, step 3), which the catalog keeps; an empty slug removes one. */
  overrides?: Map<string, string>;
  /** SHA-256 of files to ignore: an operator removed their content from the catalog (rule D42.8). */
  ignoredHashes?: Set<string>;
  /** The operator's name for the frameworks of OSCAL catalogs that are none of the published (rule D40.1). */
  framework?: string;
  /** Ends the run before its commit, so that it changes nothing; the reason is thrown. */
  signal?: AbortSignal;
  now?: () => Date;
  onProgress?: (progress: ImportProgress) => void;
  /** Called with the ledger just before the commit; an exception undoes the run. */
  beforeCommit?: (lines: LedgerLine[], summary: LedgerSummary) => void;
}

export interface ImportProgress {
  done: number;
  found: number;
  rules: number;
  bytes: number;
}

export interface ImportResult {
  lines: LedgerLine[];
  summary: LedgerSummary;
  /** False with `--dry-run`, and with `--strict` after a rejected source. */
  stored: boolean;
  /** Files that the user named and that are of an unknown kind: these are failures. */
  loneUnknown: string[];
  unusedOverrides: string[];
  /** The slugs that now lead to another STIG. */
  slugChanges: SlugChange[];
}

/** Imports paths in one transaction (rule D20): a killed run leaves the old catalog. Throws `CommandError`. */
export async function runImport(
  db: Database,
  paths: string[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const { sqlite } = db;
  // The commit is safe in the log; `checkpoint` below moves it into the file, not the commit itself.
  const automatic = sqlite.pragma('wal_autocheckpoint', { simple: true });
  sqlite.pragma('wal_autocheckpoint = 0');
  try {
    return await importAll(db, paths, options);
  } catch (error) {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    throw asImportFailure(error);
  } finally {
    sqlite.pragma(`wal_autocheckpoint = ${automatic}`);
    checkpoint(db);
  }
}

const readersPatience = 1000;

/** Whatever file next has this name must not take a log with content for its own. */
function checkpoint({ sqlite }: Database): void {
  const timeout = sqlite.pragma('busy_timeout', { simple: true });
  try {
    sqlite.pragma('wal_checkpoint(PASSIVE)');
    sqlite.pragma(`busy_timeout = ${readersPatience}`);
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // The commit stays in the log, and the next checkpoint tries again.
  } finally {
    sqlite.pragma(`busy_timeout = ${timeout}`);
  }
}

function asImportFailure(error: unknown): unknown {
  const known = asCommandError(error);
  if (known !== error) return known;
  const code = (error as { code?: string }).code ?? '';
  if (code.startsWith('SQLITE_'))
    return new CommandError(
      `the database cannot be written, nothing was changed: ${(error as Error).message}`,
    );
  if (/^E[A-Z]+$/.test(code)) return new CommandError((error as Error).message);
  return error;
}

/** A run, whose lines are open until all sources are read. */
interface Run extends StagedRun {
  options: ImportOptions;
}

async function importAll(db: Database, paths: string[], options: ImportOptions): Promise<ImportResult> {
  const now = options.now ?? (() => new Date());
  const startedAt = now().toISOString();
  const run: Run = {
    options,
    staging: createStaging(db, startedAt, options.framework),
    lines: [],
    parts: [],
    overrides: options.overrides ?? new Map<string, string>(),
    phases: createPhases(),
  };
  const { phases } = run;
  const pause = () => letSignalArrive(options.signal);
  await pause();
  const files = listFiles(paths, options);
  const start = performance.now();
  const loneUnknown = await takeSources(run, files, pause);
  const { changed, ...derived } = await deriveAll(db, run, pause);
  noteArchives(run.lines);
  const closed = run.lines.map(({ sourceId: _, ...line }) => line);
  const bad = closed.filter((line) => line.outcome === 'rejected' || loneUnknown.includes(line.source));
  const isRefused = options.strict === true && bad.length > 0;
  const lines = isRefused ? refusedByStrict(closed, bad.length) : closed;
  const stored = !options.dryRun && !isRefused;
  const summary = () => summarize(lines, phases.times, performance.now() - start);
  if (stored) {
    phases.timed('commit', () => {
      run.staging.begin();
      const times = { startedAt, finishedAt: now().toISOString() };
      writeLedger(db, lines, { ...times, summary: summary() }, changed || run.staging.replaced > 0);
      db.requireInPlace();
      options.beforeCommit?.(lines, summary());
      db.sqlite.exec('COMMIT');
    });
    phases.timed('digest', () => storeDigest(db));
  } else if (db.sqlite.inTransaction) db.sqlite.exec('ROLLBACK');
  return { lines, summary: summary(), stored, loneUnknown, ...derived };
}

/** Lets a signal arrive; throws its reason. */
async function letSignalArrive(signal: AbortSignal | undefined): Promise<void> {
  await nextTurn();
  signal?.throwIfAborted();
}

/** Reads and stores all sources; gives the files of an unknown kind that the user named. */
async function takeSources(run: Run, files: ListedFile[], pause: () => Promise<void>): Promise<string[]> {
  const { lines, staging, phases } = run;
  const { ignoredHashes = new Set<string | null>(), onProgress } = run.options;
  const loneUnknown: string[] = [];
  let found = files.length;
  let bytes = 0;
  let from = performance.now();
  const take = async (source: FoundSource) => {
    const read = performance.now();
    phases.times.read += read - from;
    if (!ignoredHashes.has(source.sha256)) {
      found += source.members;
      bytes += sizeOf(source.content);
      const line = takeSource(run, source);
      line.ms = roundMs(performance.now() - read);
      lines.push(line);
      const isUnknown = line.outcome === 'skipped' && line.kind === 'other';
      if (source.lone && isUnknown) loneUnknown.push(line.source);
      onProgress?.({ done: lines.length, found, rules: staging.rules, bytes });
    }
    await pause();
    from = performance.now();
    return true;
  };
  await discover(files, take, (hash) => ignoredHashes.has(hash));
  phases.times.read += performance.now() - from;
  return loneUnknown;
}

function takeSource({ staging, phases, parts, options }: Run, found: FoundSource): OpenLine {
  const { source, kind, sha256, content, members, refusal } = found;
  const line: OpenLine = {
    source,
    kind,
    sha256,
    outcome: 'imported',
    reason: null,
    warnings: [],
    target: null,
    counts: {},
    ms: 0,
    sourceId: null,
  };
  if (refusal !== null) return { ...line, ...refusal };
  if (content === null) return { ...line, counts: { members } };
  const known = staging.unchanged(sha256!);
  if (known) return { ...line, kind: known.kind as Kind, outcome: 'unchanged', target: known.target };
  try {
    const parsed = phases.timed('parse', () =>
      Array.isArray(content) ? parseGroup(kind, content, options) : parseSource(content, options),
    );
    const read = { ...line, kind: parsed.kind, warnings: parsed.warnings.map(oneLine) };
    if (parsed.content !== null) return phases.timed('write', () => staging.store(read, parsed.content));
    const { part, reason } = parsed;
    const outcome = part === undefined ? 'skipped' : 'rejected';
    const refused: OpenLine = { ...read, outcome, reason: oneLine(reason) };
    if (part !== undefined) parts.push({ line: refused, part });
    return refused;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    const ownKind = kind === 'other' ? error.kind : kind;
    return { ...line, kind: ownKind, outcome: 'rejected', reason: error.message };
  }
}

function sizeOf(content: FoundSource['content']): number {
  if (content === null) return 0;
  return Array.isArray(content) ? content.reduce((sum, { bytes }) => sum + bytes.length, 0) : content.length;
}

/** Writes the ledger of a run; `changed` says that the catalog changed without a new source. */
function writeLedger(
  db: Database,
  lines: LedgerLine[],
  run: { summary: LedgerSummary; startedAt: string; finishedAt: string },
  changed: boolean,
): void {
  const { sqlite } = db;
  const hasGained = lines.some((line) => line.outcome === 'imported' && line.kind !== 'archive');
  if (hasGained || changed)
    sqlite
      .prepare('UPDATE catalog SET generation = generation + 1, changed_at = ?, digest = NULL')
      .run(run.finishedAt);
  const generation = sqlite.prepare('SELECT generation FROM catalog').pluck().get();
  const runId = prepareInsert(db, 'import_runs')({ id: null, generation, ...run });
  const insertLine = prepareInsert(db, 'import_ledger');
  for (const [index, line] of lines.entries()) insertLine({ runId, ordinal: index + 1, ...line });
}

/**
 * Computes the digest of the committed catalog and stores it, so that no server must. It holds no lock, and stores
 * nothing after another import. A failure leaves the digest to the next import.
 */
function storeDigest({ sqlite, requireInPlace }: Database): void {
  try {
    const computed = sqlite.transaction(() => {
      if (storedDigest(sqlite) !== null) return null;
      const generation = sqlite.prepare<[], number>('SELECT generation FROM catalog').pluck().get()!;
      return { generation, digest: digestOf(sqlite) };
    })();
    if (computed === null) return;
    requireInPlace();
    sqlite.prepare('UPDATE catalog SET digest = :digest WHERE generation = :generation').run(computed);
  } catch (error) {
    // The import is committed. Without a digest, a server computes it in slices.
    if (storageFault(error) === null) throw error;
  }
}
