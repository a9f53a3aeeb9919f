import { and, asc, count, desc, eq, getViewSelectedFields, type SQL, sql } from 'drizzle-orm';
import { notThere } from '../../base/errors.ts';
import type { Sort } from '../../base/sort.ts';
import { cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { orderBy } from '../../db/order-by.ts';
import { findings, stigProfiles, stigReleases, stigs } from '../../db/tables.ts';
import { offsetOf, type Page, paginationOf, slice } from '../../http/paging.ts';
import { createStigNameIndex, type StigNameIndex } from './name-index.ts';
import type {
  Finding,
  FindingsQuery,
  Profile,
  StigBatch,
  StigControls,
  StigList,
  StigRecord,
  StigVersions,
} from './schema.ts';

export type FindingRow = typeof findings.$inferSelect;

/** A release with the slug and id of its STIG. */
export type StigRelease = typeof stigReleases.$inferSelect & { slug: string };

/** A STIG with a release of it; null where the catalog no longer has it. */
export interface NamedRelease {
  slug: string;
  title: string;
  release: { id: number; version: string } | null;
}

/** A release with everything that downloads need. */
export interface FullRelease {
  release: StigRelease;
  findings: FindingRow[];
  profiles: Profile[];
}

export const stigColumns = ['title', 'version', 'date', 'rules'] as const;
type StigColumn = (typeof stigColumns)[number];

/** The filters and the order of the list of STIGs. */
export interface StigsWanted extends Page {
  search?: string | undefined;
  sort?: Sort<StigColumn> | undefined;
  /** A date: only STIGs with an older release. */
  before?: string | undefined;
  called?: string[] | undefined;
}

export type StigService = ReturnType<typeof createStigService>;

/** The queries of the STIG catalog (rule D4). */
export function createStigService(db: Database, stigNames = createStigNameIndex(db)) {
  const releases = createReleases(db, stigNames);
  const findingsOf = createFindingReader(db);
  const records = createRecords(db, releases, findingsOf, stigNames);
  const pages = createFindingPages(db, releases, findingsOf, records.full);
  return { ...releases, ...records, ...pages, list: createStigList(db) };
}

/** Where a request names a release; a STIG in the path is no field. */
export interface ReleaseFields {
  slug?: string;
  version: string;
}
const inPath: ReleaseFields = { version: 'version' };
export const inBody: ReleaseFields = { slug: '/slug', version: '/version' };

type Releases = ReturnType<typeof createReleases>;

function createReleases(db: Database, { slugOf }: StigNameIndex) {
  const slug = sql.placeholder('slug');
  const releaseColumns = { ...getViewSelectedFields(stigReleases), slug: stigs.slug };
  const releasesWhere = (isWanted: SQL | undefined) =>
    db.orm
      .select(releaseColumns)
      .from(stigs)
      .innerJoin(stigReleases, isWanted)
      .where(eq(stigs.slug, slug))
      .orderBy(desc(stigReleases.releaseOrder))
      .prepare();
  const isRetained = eq(stigReleases.stigId, stigs.id);
  const current = releasesWhere(eq(stigReleases.id, stigs.currentReleaseId));
  const retained = releasesWhere(and(isRetained, eq(stigReleases.version, sql.placeholder('version'))));

  /**
   * The current release of a STIG, by its slug or an alias, or a retained one. Throws NOT_FOUND (D2.2, D4.4), which names
   * the field of the request (rule D42.1).
   */
  function release(name: string, version?: string, fields: ReleaseFields = inPath): StigRelease {
    const own = { slug: slugOf(name) };
    const row =
      version === undefined ? current.get(own) : retained.get({ ...own, version: version.toUpperCase() });
    if (row) return row;
    if (version === undefined || !current.get(own))
      throw notThere(fields.slug, `STIG not found: ${cut(name)}`);
    throw notThere(fields.version, `Version not found: ${cut(version)}`);
  }

  const releasesOf = releasesWhere(isRetained);

  return {
    release,

    named(name: string, version?: string): NamedRelease {
      const { id, slug, title, version: own } = db.read(() => release(name, version));
      return { slug, title, release: { id, version: own } };
    },

    /** The versions of the retained releases of a STIG, newest first. */
    retained: (name: string): string[] =>
      db.read(() => releasesOf.all({ slug: release(name).slug }).map(({ version }) => version)),

    versions(name: string): StigVersions {
      return db.read(() => {
        const { id, slug: own } = release(name);
        const versions = releasesOf
          .all({ slug: own })
          .map(({ id: each, version, releaseDate, status, findingCount }) => ({
            ...{ version, releaseDate, status, findingCount },
            current: each === id,
          }));
        return { versions };
      });
    },
  };
}

function createFindingReader({ orm }: Database) {
  const rows = orm
    .select()
    .from(findings)
    .where(eq(findings.releaseId, sql.placeholder('release')))
    .orderBy(asc(findings.ordinal))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))
    .prepare();
  return (release: number, limit = -1, offset = 0) => rows.all({ release, limit, offset });
}

type FindingReader = ReturnType<typeof createFindingReader>;

function createRecords(
  db: Database,
  { release }: Releases,
  findingsOf: FindingReader,
  stigNames: StigNameIndex,
) {
  const { profileId, title, description } = stigProfiles;
  const profileRows = db.orm
    .select({ profileId, title, description })
    .from(stigProfiles)
    .where(eq(stigProfiles.releaseId, sql.placeholder('release')))
    .orderBy(asc(stigProfiles.ordinal))
    .prepare();

  function full(name: string, version?: string, fields?: ReleaseFields): FullRelease {
    return db.read(() => {
      const found = release(name, version, fields);
      return {
        release: found,
        findings: findingsOf(found.id),
        profiles: profileRows.all({ release: found.id }),
      };
    });
  }

  return {
    full,

    /** The same of a STIG that the body of a request names. */
    ofBody: (name: string, version?: string): FullRelease => full(name, version, inBody),

    record: (name: string, version?: string): StigRecord => toRecord(full(name, version)),

    /** Each STIG once, in the order of the request; `requested` counts the array as it was sent (D4.8). */
    batch(slugs: string[]): StigBatch {
      return db.read(() => {
        const unique = [...new Set(slugs)];
        const known = unique.flatMap((name) => stigNames.ofSlug(name)?.slug ?? []);
        const found = [...new Set(known)];
        return {
          stigs: found.map((each) => toRecord(full(each))),
          meta: {
            requested: slugs.length,
            found: found.length,
            notFound: unique.filter((each) => stigNames.ofSlug(each) === null),
          },
        };
      });
    },
  };
}

function createFindingPages(
  db: Database,
  { release }: Releases,
  findingsOf: FindingReader,
  full: (name: string, version?: string) => FullRelease,
) {
  return {
    controls(name: string, query: FindingsQuery): StigControls {
      return db.read(() => {
        const found = release(name, query.version);
        const { slug, title, version, status, releaseDate, findingCount } = found;
        const stig = { slug, title, version, status, releaseDate, findingCount };
        if (!query.search && !query.severity) {
          const offset = offsetOf(query, findingCount);
          const rows = findingsOf(found.id, query.limit, offset);
          return { stig, findings: rows.map(toFinding), pagination: paginationOf(query, findingCount) };
        }
        const matching = narrowed(findingsOf(found.id), query);
        return {
          stig,
          findings: slice(matching, query).map(toFinding),
          pagination: paginationOf(query, matching.length),
        };
      });
    },

    /** A release with the counts of its severities, and a page of the findings that pass the filters. */
    overview(name: string, query: FindingsQuery & Narrowing) {
      return db.read(() => {
        const { release: found, findings: rows } = full(name, query.version);
        const matching = narrowed(rows, query);
        const { slug, title, benchmarkId, description, version, status, releaseDate, findingCount } = found;
        const { high, medium, low } = found;
        return {
          stig: { slug, title, benchmarkId, description, version, status, releaseDate, findingCount },
          counts: { high, medium, low },
          findings: slice(matching, query).map(toFinding),
          pagination: paginationOf(query, matching.length),
        };
      });
    },
  };
}

/** Makes the function that gives a page of STIGs, by default by title, or in the order of `called`. */
function createStigList({ orm, read }: Database) {
  const sortable: Record<StigColumn, SQL> = {
    title: sql`${stigs.titleFold}`,
    version: sql`${stigReleases.releaseOrder}`,
    date: sql`${stigReleases.releaseDate}`,
    rules: sql`${stigReleases.findingCount}`,
  };

  return ({ search, called, sort, before, ...page }: StigsWanted): StigList => {
    const wanted = search ? fold(search) : '';
    const slugs = called === undefined ? null : JSON.stringify(called);
    const matches = and(
      wanted === ''
        ? undefined
        : sql`(instr(${stigs.titleFold}, ${wanted}) > 0 OR instr(${stigs.slug}, ${wanted}) > 0)`,
      before === undefined ? undefined : sql`${stigReleases.releaseDate} < ${before}`,
      slugs === null ? undefined : sql`${stigs.slug} IN (SELECT value FROM json_each(${slugs}))`,
    );
    const byTitle = [asc(stigs.titleFold), asc(stigs.title), asc(stigs.slug)];
    const byPlace = sql`(SELECT key FROM json_each(${slugs}) WHERE value = ${stigs.slug})`;
    return read(() => {
      const total = orm
        .select({ total: count() })
        .from(stigs)
        .innerJoin(stigReleases, eq(stigReleases.id, stigs.currentReleaseId))
        .where(matches)
        .get()!.total;
      const rows = orm
        .select({
          slug: stigs.slug,
          title: stigs.title,
          version: stigReleases.version,
          releaseDate: stigReleases.releaseDate,
          findingCount: stigReleases.findingCount,
        })
        .from(stigs)
        .innerJoin(stigReleases, eq(stigReleases.id, stigs.currentReleaseId))
        .where(matches)
        .orderBy(...orderBy(sort, sortable, slugs === null ? byTitle : [byPlace]))
        .limit(page.limit)
        .offset(offsetOf(page, total))
        .all();
      return { stigs: rows, pagination: paginationOf(page, total) };
    });
  };
}

/** The findings of some severities that cite a CCI, pass, and contain a text. */
export function narrowed<Row extends Record<SearchedField, string> & Pick<FindingRow, 'severity' | 'ccis'>>(
  rows: Row[],
  query: Narrowing,
): Row[] {
  const { cci, passes } = query;
  const wanted = rows
    .filter((row) => cci === undefined || row.ccis.includes(cci))
    .filter(({ ruleId }) => passes === undefined || passes(ruleId));
  return matchingOf(wanted, query, searchedFields);
}

const searchedFields = ['groupId', 'ruleId', 'ruleVersion', 'groupTitle', 'ruleTitle'] as const;
type SearchedField = (typeof searchedFields)[number];

/** The filters of findings; `cci` as the catalog writes it, `passes` by the id with revision. */
export interface Narrowing extends Pick<FindingsQuery, 'search' | 'severity'> {
  cci?: string | undefined;
  passes?: ((ruleId: string) => boolean) | undefined;
}

/** The findings of some severities, or of all, that contain a text in one of some fields, in any case. */
export function matchingOf<K extends string, Row extends Record<K, string> & Pick<FindingRow, 'severity'>>(
  rows: Row[],
  { search, severity }: Pick<FindingsQuery, 'search' | 'severity'>,
  fields: readonly K[],
): Row[] {
  const wanted = fold(search ?? '');
  return rows
    .filter((row) => !severity || severity.has(row.severity))
    .filter((row) => fields.some((field) => fold(row[field]).includes(wanted)));
}

/** The finding of the API (D4.8): all twelve fields. */
export function toFinding(row: FindingRow): Finding {
  return {
    groupId: row.groupId,
    title: row.groupTitle,
    description: row.groupDescription,
    severity: row.severity,
    ruleId: row.ruleId,
    ruleVersion: row.ruleVersion,
    ruleTitle: row.ruleTitle,
    vulnDiscussion: row.vulnDiscussion,
    fixText: row.fixText,
    checkContent: row.checkContent,
    ruleIdent: row.ccis[0] ?? '',
    ruleIdents: row.ccis,
  };
}

function toRecord({ release, findings: rows, profiles }: FullRelease): StigRecord {
  const { slug, benchmarkId, title, description, version, status, releaseDate, findingCount } = release;
  const stig = { slug, benchmarkId, title, description, version, status, releaseDate, findingCount };
  return { ...stig, profiles, findings: rows.map(toFinding) };
}
