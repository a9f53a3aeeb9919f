import type { Entitlement, User } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import { type Sort, sortOf } from '../base/sort.ts';
import { folderOf, withoutFolder } from '../base/source-name.ts';
import { fold } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { perCatalogVersion } from '../db/per-catalog-version.ts';
import { filesToReadAgain } from '../db/read-again.ts';
import { type Page, prepareList } from '../http/paging.ts';
import type { Pagination } from '../http/schema.ts';

/** The outcomes of a source (rule D20). */
export const outcomes = ['imported', 'unchanged', 'superseded', 'skipped', 'rejected'] as const;
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
  run: number;
  finishedAt: string;
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

/** The filters and the order of sources: of one run or of all, with a name or the beginning of a hash. */
export interface LedgerFilter {
  run?: number | undefined;
  outcome?: Outcome | undefined;
  search?: string | undefined;
  sort?: Sort<(typeof ledgerColumns)[number]> | undefined;
}

/** The kinds of sources that need an entitlement. Without it, neither rows nor totals show them (rules D1.5, D9.4). */
const gated: Record<Entitlement, string[]> = {
  regdoc: ['regdoc', 'regdoc-markdown'],
  occ: ['onet', 'nice', 'role-mapping-csv'],
};

const entryJson = `json_object(
         'run', l.run_id, 'finishedAt', r.finished_at, 'source', l.source, 'sha256', l.sha256, 'kind', l.kind,
         'outcome', l.outcome, 'reason', l.reason, 'target', l.target,
         'warnings', json(iif(json_valid(l.warnings), l.warnings, '[]')),
         'counts', json(iif(json_valid(l.counts), l.counts, '{}')),
         'stig', json((SELECT json_object('slug', s.slug, 'title', s.title, 'version', p.version)
                         FROM sources AS x
                         JOIN stig_printings AS p ON p.source_id = x.id
                         JOIN stigs AS s ON s.id = p.stig_id
                        WHERE x.sha256 = l.sha256))) AS json`;

const matching = `FROM import_ledger AS l JOIN import_runs AS r ON r.id = l.run_id
 WHERE l.run_id BETWEEN @firstRun AND @lastRun
   AND (@outcome IS NULL OR l.outcome = @outcome)
   AND (instr(lower(l.source), @search) > 0 OR substr(l.sha256, 1, length(@search)) = @search)
   AND l.kind NOT IN (SELECT value FROM json_each(@hidden))`;

export type LedgerService = ReturnType<typeof createLedgerService>;

/** What the imports did (rule D20, the ledger as a table). */
export function createLedgerService(db: Database) {
  const { sqlite } = db;
  const runsOf = sqlite
    .prepare<object, string>(
      `SELECT json_object('id', r.id, 'startedAt', r.started_at, 'finishedAt', r.finished_at, 'totals', json_object(
                'sources', count(l.ordinal),
                'warnings', coalesce(sum(json_array_length(iif(json_valid(l.warnings), l.warnings, '[]'))), 0),
                'imported', count(*) FILTER (WHERE l.outcome = 'imported'),
                'unchanged', count(*) FILTER (WHERE l.outcome = 'unchanged'),
                'superseded', count(*) FILTER (WHERE l.outcome = 'superseded'),
                'skipped', count(*) FILTER (WHERE l.outcome = 'skipped'),
                'rejected', count(*) FILTER (WHERE l.outcome = 'rejected')))
         FROM (SELECT * FROM import_runs WHERE @id IS NULL OR id = @id ORDER BY id DESC LIMIT @limit) AS r
         LEFT JOIN import_ledger AS l ON l.run_id = r.id AND l.kind NOT IN (SELECT value FROM json_each(@hidden))
        GROUP BY r.id
       HAVING count(l.ordinal) > 0 OR NOT EXISTS (SELECT 1 FROM import_ledger WHERE run_id = r.id)
        ORDER BY r.id DESC`,
    )
    .pluck();
  const again = perCatalogVersion(db, () => {
    const named = (what: 'scap' | 'controls') =>
      filesToReadAgain(sqlite, what).map((source) => withoutFolder(source));
    return { scap: named('scap'), controls: named('controls') };
  });

  /** The last runs, the latest first, or one; a run of which all is hidden from the user is left out. */
  const runs = (user: User, limit: number, id: number | null = null): ImportRun[] =>
    runsOf.all({ id, limit, hidden: hiddenFrom(user) }).map((json) => JSON.parse(json));

  return {
    /** The files that an older version skipped or read less of, to be imported again (rule D42.9). */
    readAgain: (what: 'scap' | 'controls'): string[] => again()[what],

    runs,

    /** One run. Throws NOT_FOUND. */
    run(user: User, id: number): ImportRun {
      const [run] = runs(user, 1, id);
      if (run === undefined) throw notFound();
      return run;
    },

    /** A page of the sources that match, by default in the order of the imports, the latest run first. */
    entries(
      user: User,
      { run, outcome, search = '', sort }: LedgerFilter,
      page: Page,
    ): { entries: LedgerEntry[]; pagination: Pagination } {
      const filter = {
        firstRun: run ?? 0,
        lastRun: run ?? Number.MAX_SAFE_INTEGER,
        outcome: outcome ?? null,
        search: fold(search.trim()),
        hidden: hiddenFrom(user),
      };
      const sorted = sort && sortOf(sort);
      const first = sorted ? `l.${sorted.column} ${sorted.down ? 'DESC' : 'ASC'},` : '';
      const order = `${first} l.run_id DESC, l.ordinal`;
      const listed = prepareList<{ json: string }>(db, { columns: entryJson, matching, order });
      const { rows, pagination } = listed(filter, page);
      return { entries: rows.map(({ json }) => readEntry(json)), pagination };
    },
  };
}

/** The kinds of sources that a user may not see, as JSON. */
function hiddenFrom({ entitlements }: User): string {
  const lacking = (Object.keys(gated) as Entitlement[]).filter((product) => !entitlements.has(product));
  return JSON.stringify(lacking.flatMap((product) => gated[product]));
}

function readEntry(json: string): LedgerEntry {
  const entry = JSON.parse(json) as LedgerEntry;
  const { source } = entry;
  return { ...entry, source: withoutFolder(source), folder: folderOf(source) };
}
