import { and, asc, count, desc, eq, getTableColumns, inArray, notInArray, type SQL, sql } from 'drizzle-orm';
import type { Entitlement, User } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { Sort } from '../base/sort.ts';
import { folderOf, withoutFolder } from '../base/source-name.ts';
import { fold } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { perGeneration } from '../db/one-generation.ts';
import { orderBy } from '../db/order-by.ts';
import { filesToReadAgain } from '../db/read-again.ts';
import { importLedger, importRuns } from '../db/tables.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import type { Pagination } from '../http/schema.ts';

/** The outcomes of a source (rule D20). */
export const outcomes = importLedger.outcome.enumValues;
export type Outcome = (typeof outcomes)[number];

/** The sources of a run, by outcome, and their warnings. */
export type Totals = Record<Outcome | 'sources' | 'warnings', number>;

export interface ImportRun {
  id: number;
  startedAt: string;
  finishedAt: string;
  totals: Totals;
}

export const ledgerColumns = ['source', 'kind', 'outcome'] as const;

/** One source of a run; its name is without its folder. */
export interface LedgerEntry {
  source: string;
  folder: string;
  sha256: string | null;
  stig: { slug: string; title: string; version: string } | null;
  kind: string;
  outcome: Outcome;
  reason: string | null;
  warnings: string[];
  target: string | null;
  counts: Record<string, number>;
}

/** The filters and the order of the sources of a run. */
export interface LedgerFilter {
  outcome?: Outcome | undefined;
  search?: string | undefined;
  sort?: Sort<(typeof ledgerColumns)[number]> | undefined;
}

export interface LedgerFile extends LedgerEntry {
  run: number;
  finishedAt: string;
}

/** The kinds of sources that need an entitlement. Without it, neither rows nor totals show them (rules D1.5, D9.4). */
const gated: Record<Entitlement, string[]> = {
  regdoc: ['regdoc', 'regdoc-markdown'],
  occ: ['onet', 'nice', 'role-mapping-csv'],
};

function hiddenFrom({ entitlements }: User): string[] {
  const lacking = (Object.keys(gated) as Entitlement[]).filter((product) => !entitlements.has(product));
  return lacking.flatMap((product) => gated[product]);
}

export type LedgerService = ReturnType<typeof createLedgerService>;

const { source, kind, outcome, reason, warnings, target, counts, sha256 } = importLedger;
const stig = sql<string | null>`(
  SELECT json_object('slug', s.slug, 'title', s.title, 'version', p.version)
    FROM sources AS x JOIN stig_printings AS p ON p.source_id = x.id JOIN stigs AS s ON s.id = p.stig_id
   WHERE x.sha256 = ${importLedger}.sha256)`;
/** Reads stored JSON: what another version or a hand wrote, and nobody can read, is left out. */
function readStored(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}
const readTexts = (text: unknown): string[] =>
  [readStored(text)].flat().filter((each): each is string => typeof each === 'string');
const readNumbers = (text: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries(readStored(text) ?? {}).filter(([, each]) => typeof each === 'number'));
const none: Totals = {
  ...{ sources: 0, warnings: 0 },
  ...{ imported: 0, unchanged: 0, superseded: 0, skipped: 0, rejected: 0 },
};
const shown = {
  ...{ source, kind, outcome, reason, target, sha256, stig },
  warnings: sql<string[]>`${warnings}`.mapWith(readTexts),
  counts: sql<Record<string, number>>`${counts}`.mapWith(readNumbers),
};
const runs = {
  ...getTableColumns(importRuns),
  summary: sql<Totals>`${importRuns.summary}`.mapWith((text) => ({ ...none, ...readNumbers(text) })),
};

function toEntry<Row extends { source: string; stig: string | null }>(row: Row) {
  const found = row.stig === null ? null : (JSON.parse(row.stig) as LedgerEntry['stig']);
  return { ...row, source: withoutFolder(row.source), folder: folderOf(row.source), stig: found };
}

function isCalled(search: string | undefined): SQL | undefined {
  if (search === undefined || search.trim() === '') return undefined;
  const wanted = fold(search.trim());
  return sql`(instr(lower(${source}), ${wanted}) > 0 OR substr(${sha256}, 1, ${wanted.length}) = ${wanted})`;
}

/** Null where all of it is hidden. */
function toRun(
  orm: Database['orm'],
  row: Omit<ImportRun, 'totals'> & { summary: Totals },
  hidden: string[],
): ImportRun | null {
  const { id, startedAt, finishedAt, summary: totals } = row;
  const hiddenTotals = orm
    .select({
      outcome: importLedger.outcome,
      sources: count(),
      warnings: sql<number>`sum(CASE WHEN json_valid(${warnings}) THEN json_array_length(${warnings}) ELSE 0 END)`,
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

/** What the imports did (rule D20, the ledger as a table). */
export function createLedgerService(db: Database) {
  const { orm, read } = db;
  const again = perGeneration(db, () => {
    const named = (what: 'scap' | 'controls') =>
      filesToReadAgain(db.sqlite, what).map(({ source }) => withoutFolder(source));
    return { scap: named('scap'), controls: named('controls') };
  });

  return {
    /** The files that an older version skipped or read less of, to be imported again (rule D42.9). */
    readAgain: (what: 'scap' | 'controls'): string[] => read(() => again()[what]),

    runs(user: User, limit: number): ImportRun[] {
      const hidden = hiddenFrom(user);
      return read(() => {
        const rows = orm.select(runs).from(importRuns).orderBy(desc(importRuns.id)).limit(limit).all();
        return rows.map((row) => toRun(orm, row, hidden)).filter((run) => run !== null);
      });
    },

    run(user: User, id: number): ImportRun {
      const row = orm.select(runs).from(importRuns).where(eq(importRuns.id, id)).get();
      const run = row ? toRun(orm, row, hiddenFrom(user)) : null;
      if (run === null) throw notFound();
      return run;
    },

    /** A page of the sources of a run, by default in the order of the import. */
    entries(user: User, run: number, wanted: LedgerFilter, page: Page) {
      return read(() => {
        const matching = and(
          eq(importLedger.runId, run),
          wanted.outcome && eq(outcome, wanted.outcome),
          isCalled(wanted.search),
          notInArray(kind, hiddenFrom(user)),
        );
        const { total } = orm.select({ total: count() }).from(importLedger).where(matching).get()!;
        const rows = orm
          .select(shown)
          .from(importLedger)
          .where(matching)
          .orderBy(...orderBy(wanted.sort, { source, kind, outcome }, [asc(importLedger.ordinal)]))
          .limit(page.limit)
          .offset(offsetOf(page, total))
          .all();
        const entries: LedgerEntry[] = rows.map(toEntry);
        return { entries, pagination: paginationOf(page, total) };
      });
    },

    /** A page of the sources whose names contain a text, or whose hash begins with it, the latest run first. */
    files(user: User, search: string, page: Page): { files: LedgerFile[]; pagination: Pagination } {
      return read(() => {
        const matching = and(isCalled(search), notInArray(kind, hiddenFrom(user)));
        const { total } = orm.select({ total: count() }).from(importLedger).where(matching).get()!;
        const rows = orm
          .select({ ...shown, run: importLedger.runId, finishedAt: importRuns.finishedAt })
          .from(importLedger)
          .innerJoin(importRuns, eq(importRuns.id, importLedger.runId))
          .where(matching)
          .orderBy(desc(importLedger.runId), asc(importLedger.ordinal))
          .limit(page.limit)
          .offset(offsetOf(page, total))
          .all();
        return { files: rows.map(toEntry), pagination: paginationOf(page, total) };
      });
    },
  };
}
