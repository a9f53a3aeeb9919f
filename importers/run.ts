import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommandError } from '../src/base/errors.ts';
import type { Database } from '../src/db/database.ts';
import { asCommandError } from '../src/db/faults.ts';
import { prepareInsert } from '../src/db/insert.ts';
import { ImportError, type Kind, oneLine } from '../src/read/import-error.ts';
import { deriveAll, type StatedPart } from './derive.ts';
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
import type { Parsed } from './parsed.ts';
import { Phases } from './phases.ts';
import { Staging } from './staging.ts';
import type { SlugChange } from './stigs/write.ts';
import { storeDigest } from './stored-digest.ts';

export interface ImportOptions {
  strict?: boolean;
  /** Follow no link, even if the user named it. */
  noLinks?: boolean;
  dryRun?: boolean;
  /** The operator's slugs by benchmark id (rule D24.5, step 3), which the catalog keeps; an empty slug removes one. */
  overrides?: Map<string, string>;
  /** SHA-256 of files to ignore: an operator took them back (rule D42.8). */
  takenBack?: Set<string>;
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
  const run = new ImportRun(db, options);
  const { sqlite } = db;
  // The commit is safe in the log; `checkpoint` below moves it into the file, not the commit itself.
  const automatic = sqlite.pragma('wal_autocheckpoint', { simple: true });
  sqlite.pragma('wal_autocheckpoint = 0');
  try {
    return await run.import(paths);
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

class ImportRun {
  private readonly db: Database;
  private readonly options: ImportOptions;
  private readonly now: () => Date;
  private readonly startedAt: string;
  private readonly staging: Staging;
  private readonly lines: OpenLine[] = [];
  private readonly phases = new Phases();
  private readonly parts: StatedPart[] = [];

  constructor(db: Database, options: ImportOptions) {
    this.db = db;
    this.options = options;
    this.now = options.now ?? (() => new Date());
    this.startedAt = this.now().toISOString();
    this.staging = new Staging(db, this.startedAt, options.framework);
  }

  async import(paths: string[]): Promise<ImportResult> {
    await this.pause();
    const files = listFiles(paths, this.options);
    const start = performance.now();
    return this.complete(await this.takeAll(files), start);
  }

  /** Lets a signal arrive; throws its reason. */
  private async pause(): Promise<void> {
    await nextTurn();
    this.options.signal?.throwIfAborted();
  }

  /** Reads and stores all sources; gives the files of an unknown kind that the user named. */
  private async takeAll(files: ListedFile[]): Promise<string[]> {
    const loneUnknown: string[] = [];
    const { takenBack = new Set<string>() } = this.options;
    let found = files.length;
    let bytes = 0;
    let from = performance.now();
    const take = async (source: FoundSource) => {
      const read = performance.now();
      this.phases.times.read += read - from;
      if (source.type === 'unreadable' || !takenBack.has(source.sha256)) {
        if (source.type === 'archive') found += source.members;
        bytes += sizeOf(source);
        const line = this.take(source);
        line.ms = roundMs(performance.now() - read);
        this.lines.push(line);
        const lone = source.type === 'bytes' && source.lone;
        if (lone && line.outcome === 'skipped' && line.kind === 'other') loneUnknown.push(line.source);
        this.options.onProgress?.({ done: this.lines.length, found, rules: this.staging.rules, bytes });
      }
      await this.pause();
      from = performance.now();
    };
    await discover(files, take, { isSkipped: (hash) => takenBack.has(hash) });
    this.phases.times.read += performance.now() - from;
    return loneUnknown;
  }

  private async complete(loneUnknown: string[], start: number): Promise<ImportResult> {
    const { db, lines: open, staging, parts, phases } = this;
    const overrides = this.options.overrides ?? new Map<string, string>();
    const run = { lines: open, staging, parts, overrides, phases };
    const { changed, unusedOverrides, slugChanges } = await deriveAll(db, run, () => this.pause());
    noteArchives(open);
    const made = open.map(({ releaseId: _, sourceId: __, ...line }) => line);
    const bad = made.filter((line) => line.outcome === 'rejected' || loneUnknown.includes(line.source));
    const isRefused = this.options.strict === true && bad.length > 0;
    const lines = isRefused ? refusedByStrict(made, bad.length) : made;
    const stored = !this.options.dryRun && !isRefused;
    const summary = () => summarize(lines, phases.times, performance.now() - start);
    phases.timed('commit', () => this.finish(lines, summary(), stored, changed));
    if (stored) phases.timed('digest', () => storeDigest(db));
    return { lines, summary: summary(), stored, loneUnknown, unusedOverrides, slugChanges };
  }

  private take(found: FoundSource): OpenLine {
    const line: OpenLine = {
      source: found.source,
      kind: found.type === 'archive' ? 'archive' : 'other',
      sha256: found.type === 'unreadable' ? null : found.sha256,
      outcome: 'imported',
      reason: null,
      warnings: [],
      target: null,
      counts: {},
      ms: 0,
      releaseId: null,
      sourceId: null,
    };
    if (found.type === 'unreadable') return { ...line, outcome: found.outcome, reason: found.reason };
    if (found.type === 'archive') {
      if (found.error !== null) return { ...line, outcome: 'rejected', reason: found.error };
      return { ...line, counts: { members: found.members } };
    }
    const known = this.staging.unchanged(found.sha256);
    if (known) return { ...line, kind: known.kind as Kind, outcome: 'unchanged', target: known.target };
    let parsed: Parsed;
    try {
      parsed = this.phases.timed('parse', () => this.parse(found));
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      const kind = found.type === 'group' ? found.kind : error.kind;
      return { ...line, kind, outcome: 'rejected', reason: error.message };
    }
    const { kind, content } = parsed;
    const warnings = parsed.warnings.map(oneLine);
    if (content !== null)
      return this.phases.timed('write', () => this.staging.store({ ...line, kind, warnings }, content));
    const { part } = parsed;
    const outcome = part === undefined ? 'skipped' : 'rejected';
    const refused: OpenLine = { ...line, kind, warnings, outcome, reason: oneLine(parsed.reason) };
    if (part !== undefined) this.parts.push({ line: refused, part });
    return refused;
  }

  private parse(found: FoundSource & { type: 'bytes' | 'group' }): Parsed {
    const { strict = false, framework } = this.options;
    const options = { strict, ...(framework === undefined ? {} : { framework }) };
    return found.type === 'group' ? parseGroup(found, options) : parseSource(found.bytes, options);
  }

  private finish(lines: LedgerLine[], summary: LedgerSummary, stored: boolean, changed: boolean): void {
    const { db, staging, startedAt } = this;
    if (!stored) {
      if (db.sqlite.inTransaction) db.sqlite.exec('ROLLBACK');
      return;
    }
    staging.begin();
    const finishedAt = this.now().toISOString();
    const gained = lines.some((line) => line.outcome === 'imported' && line.kind !== 'archive');
    if (gained || changed || staging.replaced > 0)
      db.sqlite
        .prepare('UPDATE catalog SET generation = generation + 1, changed_at = ?, digest = NULL')
        .run(finishedAt);
    const generation = db.sqlite.prepare('SELECT generation FROM catalog').pluck().get();
    const run = { id: null, startedAt, finishedAt, generation, summary };
    const runId = prepareInsert(db, 'import_runs')(run);
    const insertLine = prepareInsert(db, 'import_ledger');
    for (const [index, line] of lines.entries()) insertLine({ runId, ordinal: index + 1, ...line });
    db.requireInPlace();
    this.options.beforeCommit?.(lines, summary);
    db.sqlite.exec('COMMIT');
  }
}

/** Archives count as 0: their members count. */
function sizeOf(found: FoundSource): number {
  if (found.type === 'bytes') return found.bytes.length;
  return found.type === 'group' ? found.files.reduce((sum, { bytes }) => sum + bytes.length, 0) : 0;
}
