import type { Entitlement, User } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { withoutFolder } from './source-name.ts';

/** What became of a source (rule D20). */
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

/**
 * The kinds of sources that tell of what needs an entitlement: whoever lacks it is not to learn which documents or mappings
 * there are (rules D1.5, D9.4), neither by a row of the ledger nor by a total.
 */
const gated: Record<Entitlement, string[]> = {
  regdoc: ['regdoc', 'regdoc-markdown'],
  occ: ['onet', 'nice', 'role-mapping-csv'],
};

/** The kinds that a user may not see, as JSON. */
function hiddenFrom({ entitlements }: User): string {
  const lacking = (Object.keys(gated) as Entitlement[]).filter((product) => !entitlements.has(product));
  return JSON.stringify(lacking.flatMap((product) => gated[product]));
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

/** What the imports did (rule D20, the ledger as a table). */
export function createLedgerService(db: Database) {
  const { sqlite } = db;
  const runRows = sqlite.prepare<[number], RunRow>(
    'SELECT id, started_at, finished_at, summary FROM import_runs ORDER BY id DESC LIMIT ?',
  );
  const oneRun = sqlite.prepare<[number], RunRow>(
    'SELECT id, started_at, finished_at, summary FROM import_runs WHERE id = ?',
  );
  const isHidden = 'kind IN (SELECT value FROM json_each($hidden))';
  const hiddenTotals = sqlite.prepare<[object], { outcome: Outcome; sources: number; warnings: number }>(
    `SELECT outcome, count(*) AS sources, sum(json_array_length(warnings)) AS warnings
       FROM import_ledger WHERE run_id = $run AND ${isHidden} GROUP BY outcome`,
  );
  const matching = `FROM import_ledger
    WHERE run_id = $run AND ($outcome IS NULL OR outcome = $outcome) AND NOT ${isHidden}`;
  const count = sqlite.prepare<[object], number>(`SELECT count(*) ${matching}`).pluck();
  const entryRows = sqlite.prepare<[object], EntryRow>(
    `SELECT source, kind, outcome, reason, warnings, target, counts ${matching}
      ORDER BY ordinal LIMIT $limit OFFSET $offset`,
  );

  /** A run as a user may see it; null where all of it is hidden. */
  function toRun(row: RunRow, hidden: string): ImportRun | null {
    const { id, started_at: startedAt, finished_at: finishedAt, summary } = row;
    const totals = JSON.parse(summary) as ImportRun['totals'];
    let isEmpty = false;
    for (const { outcome, sources, warnings } of hiddenTotals.all({ run: id, hidden })) {
      totals[outcome] -= sources;
      totals.sources -= sources;
      totals.warnings -= warnings;
      isEmpty = totals.sources === 0;
    }
    return isEmpty ? null : { id, startedAt, finishedAt, totals };
  }

  return {
    /** The last runs, newest first, as a user may see them. */
    runs(user: User, limit: number): ImportRun[] {
      const hidden = hiddenFrom(user);
      return db.read(() =>
        runRows
          .all(limit)
          .map((row) => toRun(row, hidden))
          .filter((run) => run !== null),
      );
    },

    /** One run. Throws NOT_FOUND. */
    run(user: User, id: number): ImportRun {
      const row = oneRun.get(id);
      const run = row ? toRun(row, hiddenFrom(user)) : null;
      if (run === null) throw notFound();
      return run;
    },

    /** A page of the sources of a run, in the order in which they were met; of one outcome or of all. */
    entries(user: User, run: number, outcome: Outcome | undefined, page: Page) {
      return db.read(() => {
        const wanted = { run, outcome: outcome ?? null, hidden: hiddenFrom(user) };
        const total = count.get(wanted)!;
        const rows = entryRows.all({ ...wanted, limit: page.limit, offset: offsetOf(page, total) });
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
