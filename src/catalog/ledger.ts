import { and, asc, count, desc, eq, inArray, notInArray, sql } from 'drizzle-orm';
import type { Entitlement, User } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import { withoutFolder } from '../base/source-name.ts';
import type { Database } from '../db/database.ts';
import { importLedger, importRuns } from '../db/tables.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';

/** What became of a source (rule D20). */
export const outcomes = importLedger.outcome.enumValues;
export type Outcome = (typeof outcomes)[number];

/** How many sources a run met, how many of them came to what, and how many warnings they gave. */
export type Totals = Record<Outcome | 'sources' | 'warnings', number>;

/** One run of `gapstone import` with its totals. */
export interface ImportRun {
  id: number;
  startedAt: string;
  finishedAt: string;
  totals: Totals;
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

/** The kinds that a user may not see. */
function hiddenFrom({ entitlements }: User): string[] {
  const lacking = (Object.keys(gated) as Entitlement[]).filter((product) => !entitlements.has(product));
  return lacking.flatMap((product) => gated[product]);
}

export type LedgerService = ReturnType<typeof createLedgerService>;

/** What the imports did (rule D20, the ledger as a table). */
export function createLedgerService({ orm, read }: Database) {
  /** A run as a user may see it; null where all of it is hidden. */
  function toRun(row: typeof importRuns.$inferSelect, hidden: string[]): ImportRun | null {
    const { id, startedAt, finishedAt, summary } = row;
    const totals = summary as Totals;
    const hiddenTotals = orm
      .select({
        outcome: importLedger.outcome,
        sources: count(),
        warnings: sql<number>`sum(json_array_length(${importLedger.warnings}))`,
      })
      .from(importLedger)
      .where(and(eq(importLedger.runId, id), inArray(importLedger.kind, hidden)))
      .groupBy(importLedger.outcome)
      .all();
    for (const { outcome, sources, warnings } of hiddenTotals) {
      totals[outcome] -= sources;
      totals.sources -= sources;
      totals.warnings -= warnings;
    }
    return hiddenTotals.length > 0 && totals.sources === 0 ? null : { id, startedAt, finishedAt, totals };
  }

  return {
    /** The last runs, newest first, as a user may see them. */
    runs(user: User, limit: number): ImportRun[] {
      const hidden = hiddenFrom(user);
      return read(() => {
        const rows = orm.select().from(importRuns).orderBy(desc(importRuns.id)).limit(limit).all();
        return rows.map((row) => toRun(row, hidden)).filter((run) => run !== null);
      });
    },

    /** One run. Throws NOT_FOUND. */
    run(user: User, id: number): ImportRun {
      const row = orm.select().from(importRuns).where(eq(importRuns.id, id)).get();
      const run = row ? toRun(row, hiddenFrom(user)) : null;
      if (run === null) throw notFound();
      return run;
    },

    /** A page of the sources of a run, in the order in which they were met; of one outcome or of all. */
    entries(user: User, run: number, outcome: Outcome | undefined, page: Page) {
      return read(() => {
        const wanted = and(
          eq(importLedger.runId, run),
          outcome && eq(importLedger.outcome, outcome),
          notInArray(importLedger.kind, hiddenFrom(user)),
        );
        const { total } = orm.select({ total: count() }).from(importLedger).where(wanted).get()!;
        const { source, kind, reason, warnings, target, counts } = importLedger;
        const rows = orm
          .select({ source, kind, outcome: importLedger.outcome, reason, warnings, target, counts })
          .from(importLedger)
          .where(wanted)
          .orderBy(asc(importLedger.ordinal))
          .limit(page.limit)
          .offset(offsetOf(page, total))
          .all();
        const entries: LedgerEntry[] = rows.map((row) => ({ ...row, source: withoutFolder(row.source) }));
        return { entries, pagination: paginationOf(page, total) };
      });
    },
  };
}
