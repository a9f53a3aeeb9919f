import type { Database } from '../db/database.ts';
import { notFound } from '../errors.ts';
import { offsetOf, type Page, paginationOf } from './paging.ts';
import { withoutFolder } from './source-name.ts';

/** What became of a source (DECISIONS D20). */
export const outcomes = ['imported', 'unchanged', 'superseded', 'skipped', 'rejected'] as const;
export type Outcome = (typeof outcomes)[number];

/** One run of `gapstone import` with its totals. */
export interface ImportRun {
  id: number;
  startedAt: string;
  finishedAt: string;
  totals: Record<Outcome | 'sources' | 'warnings', number>;
}

/** One source of a run; its name is without the folder that it lay in. */
export interface LedgerEntry {
  source: string;
  kind: string;
  outcome: Outcome;
  reason: string | null;
  warnings: string[];
  target: string | null;
  counts: Record<string, number>;
}

interface RunRow {
  id: number;
  started_at: string;
  finished_at: string;
  summary: string;
}

interface EntryRow {
  source: string;
  kind: string;
  outcome: Outcome;
  reason: string | null;
  warnings: string;
  target: string | null;
  counts: string;
}

export type LedgerService = ReturnType<typeof createLedgerService>;

/** What the imports did (DECISIONS D20, the ledger as a table). */
export function createLedgerService(db: Database) {
  const { sqlite } = db;
  const runRows = sqlite.prepare<[number], RunRow>(
    'SELECT id, started_at, finished_at, summary FROM import_runs ORDER BY id DESC LIMIT ?',
  );
  const oneRun = sqlite.prepare<[number], RunRow>(
    'SELECT id, started_at, finished_at, summary FROM import_runs WHERE id = ?',
  );
  const matching = 'FROM import_ledger WHERE run_id = ? AND (? IS NULL OR outcome = ?)';
  const count = sqlite
    .prepare<[number, string | null, string | null], number>(`SELECT count(*) ${matching}`)
    .pluck();
  const entryRows = sqlite.prepare<[number, string | null, string | null, number, number], EntryRow>(
    `SELECT source, kind, outcome, reason, warnings, target, counts ${matching} ORDER BY ordinal LIMIT ? OFFSET ?`,
  );

  return {
    /** The last runs, newest first. */
    runs(limit: number): ImportRun[] {
      return runRows.all(limit).map(toRun);
    },

    /** One run. Throws NOT_FOUND. */
    run(id: number): ImportRun {
      const row = oneRun.get(id);
      if (!row) throw notFound();
      return toRun(row);
    },

    /** A page of the sources of a run, in the order in which they were met; of one outcome or of all. */
    entries(run: number, outcome: Outcome | undefined, page: Page) {
      return db.read(() => {
        const total = count.get(run, outcome ?? null, outcome ?? null)!;
        const rows = entryRows.all(run, outcome ?? null, outcome ?? null, page.limit, offsetOf(page, total));
        const entries: LedgerEntry[] = rows.map((row) => ({
          ...row,
          source: withoutFolder(row.source),
          warnings: JSON.parse(row.warnings) as string[],
          counts: JSON.parse(row.counts) as Record<string, number>,
        }));
        return { entries, pagination: paginationOf(page, total) };
      });
    },
  };
}

function toRun(row: RunRow): ImportRun {
  const { id, started_at: startedAt, finished_at: finishedAt, summary } = row;
  return { id, startedAt, finishedAt, totals: JSON.parse(summary) as ImportRun['totals'] };
}
