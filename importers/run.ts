import { performance } from 'node:perf_hooks';
import { eq, sql } from 'drizzle-orm';
import type { Database } from '../src/db/database.ts';
import { prepareInsert } from '../src/db/insert.ts';
import { catalog, importLedger, importRuns, sources, stigReleases } from '../src/db/tables.ts';
import { CommandError } from '../src/errors.ts';
import { deriveControls } from './controls/derive.ts';
import { createStageControls } from './controls/facts.ts';
import type { ControlsRecord } from './controls/record.ts';
import { discover, type Found, listFiles } from './discover.ts';
import { ImportError } from './errors.ts';
import { type Content, importerVersion, type Parsed } from './format.ts';
import { type LedgerLine, type LedgerSummary, roundMs, summarize } from './ledger.ts';
import { parseSource } from './parse.ts';
import { decideIdentity } from './stigs/identity.ts';
import { removeRelease } from './stigs/store.ts';
import { createStageRelease, type StagedRelease } from './stigs/write.ts';
import type { XccdfRelease } from './xccdf/record.ts';

export interface ImportOptions {
  /** Change nothing unless every source is good. */
  strict?: boolean;
  /** Do everything but the commit. */
  dryRun?: boolean;
  /** Benchmark id to slug: the operator's word (FORMATS 2.4 step 6). */
  overrides?: Map<string, string>;
  now?: () => Date;
  onProgress?: (progress: ImportProgress) => void;
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
  /** False under `--dry-run`, and under `--strict` when a source was rejected: then nothing was changed. */
  stored: boolean;
  /** The files that were named themselves and are of no known kind: failures, unlike other skips. */
  loneUnknown: string[];
}

interface OpenLine extends LedgerLine {
  releaseId: number | null;
  sourceId: number | null;
}

/**
 * Imports files, folders and archives in one transaction with a savepoint for each source (DECISIONS D20): killed at
 * any moment, the catalog is the old one. Throws `CommandError` when the database cannot be written.
 */
export async function runImport(
  db: Database,
  paths: string[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const run = new ImportRun(db, options);
  try {
    return await run.import(paths);
  } catch (error) {
    if (db.sqlite.inTransaction) db.sqlite.exec('ROLLBACK');
    throw asCommandError(error);
  }
}

function asCommandError(error: unknown): unknown {
  const code = (error as { code?: string }).code ?? '';
  if (code.startsWith('SQLITE_BUSY'))
    return new CommandError('the database is busy: another process is writing to it');
  if (code === 'SQLITE_FULL') return new CommandError('the disk is full: nothing was changed');
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
  private readonly startedAt: Date;
  private readonly lines: OpenLine[] = [];
  private readonly staged: StagedRelease[] = [];
  private readonly phases: Record<string, number> = { read: 0, parse: 0, write: 0, derive: 0, commit: 0 };
  private readonly controlSources = new Set<number>();
  private readonly stageRelease;
  private readonly stageControls;
  private replaced = 0;
  private rules = 0;

  constructor(db: Database, options: ImportOptions) {
    this.db = db;
    this.options = options;
    this.startedAt = (options.now ?? (() => new Date()))();
    this.stageRelease = createStageRelease(db);
    this.stageControls = createStageControls(db);
  }

  async import(paths: string[]): Promise<ImportResult> {
    const files = listFiles(paths);
    const start = performance.now();
    let mark = start;
    let found = files.length;
    let bytes = 0;
    const loneUnknown: string[] = [];
    for await (const source of discover(files)) {
      const read = performance.now() - mark;
      this.phases.read! += read;
      if (source.type === 'archive') found += source.members;
      if (source.type === 'bytes') bytes += source.bytes.length;
      const line = this.take(source);
      line.ms = roundMs(performance.now() - mark);
      this.lines.push(line);
      if (source.type === 'bytes' && source.lone && line.outcome === 'skipped' && line.kind === 'other') {
        loneUnknown.push(line.source);
      }
      this.options.onProgress?.({ done: this.lines.length, found, rules: this.rules, bytes });
      mark = performance.now();
    }
    const rejected = this.lines.some((line) => line.outcome === 'rejected');
    this.timed('derive', () => {
      this.decide();
      this.deriveControls();
    });
    const lines = this.lines.map(({ releaseId: _, sourceId: __, ...line }) => line);
    const stored = !this.options.dryRun && !(this.options.strict && rejected);
    const summary = () => summarize(lines, this.phases, performance.now() - start);
    this.timed('commit', () => this.finish(lines, summary(), stored));
    return { lines, summary: summary(), stored, loneUnknown };
  }

  private timed<T>(phase: string, work: () => T): T {
    const from = performance.now();
    try {
      return work();
    } finally {
      this.phases[phase]! += performance.now() - from;
    }
  }

  private take(found: Found): OpenLine {
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
    const known = this.unchanged(found.sha256);
    if (known)
      return { ...line, kind: known.kind as LedgerLine['kind'], outcome: 'unchanged', target: known.target };
    let parsed: Parsed;
    try {
      parsed = this.timed('parse', () => parseSource(found.bytes, { strict: this.options.strict ?? false }));
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      return { ...line, kind: error.kind, outcome: 'rejected', reason: error.message };
    }
    line.kind = parsed.kind;
    line.warnings = parsed.warnings;
    if (parsed.content === null) return { ...line, outcome: 'skipped', reason: parsed.reason };
    const { content } = parsed;
    return this.timed('write', () => this.store(line, content));
  }

  /** The stored source with these bytes, unless an older importer read it. */
  private unchanged(sha256: string) {
    const row = this.db.orm.select().from(sources).where(eq(sources.sha256, sha256)).get();
    return row?.importerVersion === importerVersion ? row : null;
  }

  private store(line: OpenLine, content: Content): OpenLine {
    const { db } = this;
    if (!db.sqlite.inTransaction) {
      db.sqlite.exec('BEGIN IMMEDIATE');
      // Another import may have stored the same bytes while this one was reading.
      const known = this.unchanged(line.sha256!);
      if (known) return { ...line, outcome: 'unchanged', target: known.target };
    }
    db.sqlite.exec('SAVEPOINT source');
    try {
      this.removeOutdated(line.sha256!);
      const sourceId = this.addSource(line);
      const stored =
        content.type === 'stig'
          ? this.storeStig(sourceId, line, content.release)
          : this.storeControls(sourceId, line, content.records);
      db.sqlite.exec('RELEASE source');
      return stored;
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      db.sqlite.exec('ROLLBACK TO source');
      db.sqlite.exec('RELEASE source');
      return { ...line, outcome: 'rejected', reason: error.message };
    }
  }

  private storeStig(sourceId: number, line: OpenLine, record: XccdfRelease): OpenLine {
    const release = this.stageRelease(sourceId, line.sha256!, record);
    this.staged.push(release);
    this.rules += release.findingCount;
    const { high, medium, low, profileCount } = release;
    const counts = { rules: release.findingCount, high, medium, low, profiles: profileCount };
    return { ...line, counts, releaseId: release.id };
  }

  private storeControls(sourceId: number, line: OpenLine, records: ControlsRecord[]): OpenLine {
    const { target, counts } = this.stageControls(sourceId, records);
    this.db.orm.update(sources).set({ target }).where(eq(sources.id, sourceId)).run();
    this.controlSources.add(sourceId);
    return { ...line, counts, target, sourceId };
  }

  /** Forgets what an older importer version made of these bytes. */
  private removeOutdated(sha256: string): void {
    const source = this.db.orm
      .select({ id: sources.id })
      .from(sources)
      .where(eq(sources.sha256, sha256))
      .get();
    if (!source) return;
    const release = this.db.orm
      .select({ id: stigReleases.id })
      .from(stigReleases)
      .where(eq(stigReleases.sourceId, source.id))
      .get();
    if (release) removeRelease(this.db, release.id);
    else this.db.orm.delete(sources).where(eq(sources.id, source.id)).run();
    this.replaced++;
  }

  private addSource(line: OpenLine): number {
    const row = {
      sha256: line.sha256!,
      kind: line.kind,
      importerVersion,
      source: line.source,
      target: null,
      importedAt: this.startedAt.toISOString(),
    };
    return this.db.orm.insert(sources).values(row).returning({ id: sources.id }).get().id;
  }

  private decide(): void {
    const overrides = this.options.overrides ?? new Map<string, string>();
    if (this.staged.length === 0 && overrides.size === 0) return;
    if (!this.db.sqlite.inTransaction) this.db.sqlite.exec('BEGIN IMMEDIATE');
    const { decisions, moved } = decideIdentity(this.db, this.staged, overrides);
    this.replaced += moved;
    const superseded = new Set<string>();
    for (const line of this.lines) {
      const decision = line.releaseId === null ? undefined : decisions.get(line.releaseId);
      if (!decision) continue;
      line.outcome = decision.outcome;
      line.reason = decision.reason;
      line.target = decision.slug;
      if (decision.outcome === 'superseded') superseded.add(line.sha256!);
      else
        this.db.sqlite
          .prepare('UPDATE sources SET target = ? WHERE sha256 = ?')
          .run(decision.slug, line.sha256);
    }
    const targets = new Map(
      this.lines.filter((line) => line.releaseId !== null).map((line) => [line.sha256, line]),
    );
    for (const line of this.lines) {
      const first = targets.get(line.sha256);
      if (line.outcome !== 'unchanged' || !first) continue;
      line.target = first.target;
      if (superseded.has(line.sha256!)) Object.assign(line, { outcome: 'superseded', reason: first.reason });
    }
  }

  private deriveControls(): void {
    if (this.controlSources.size === 0) return;
    for (const { sourceId, message } of deriveControls(this.db)) {
      this.lines.find((line) => line.sourceId === sourceId)?.warnings.push(message);
    }
  }

  private finish(lines: LedgerLine[], summary: LedgerSummary, stored: boolean): void {
    const { db } = this;
    if (!stored) {
      if (db.sqlite.inTransaction) db.sqlite.exec('ROLLBACK');
      return;
    }
    if (!db.sqlite.inTransaction) db.sqlite.exec('BEGIN IMMEDIATE');
    const finishedAt = (this.options.now ?? (() => new Date()))().toISOString();
    const changed =
      this.replaced > 0 || lines.some((line) => line.outcome === 'imported' && line.kind !== 'archive');
    if (changed) {
      db.orm
        .update(catalog)
        .set({ generation: sql`${catalog.generation} + 1`, changedAt: finishedAt })
        .run();
    }
    const { generation } = db.orm.select().from(catalog).get()!;
    const run = db.orm
      .insert(importRuns)
      .values({ startedAt: this.startedAt.toISOString(), finishedAt, generation, summary })
      .returning({ id: importRuns.id })
      .get();
    const insertLine = prepareInsert(db, importLedger);
    for (const [index, line] of lines.entries())
      insertLine.run({ runId: run.id, ordinal: index + 1, ...line });
    db.sqlite.exec('COMMIT');
  }
}
