import { and, asc, count, desc, eq, sql } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { createSlugOf } from '../../db/stig-slugs.ts';
import { findings, stigProfiles, stigReleases, stigs } from '../../db/tables.ts';
import { offsetOf, type Page, paginationOf, slice } from '../../http/paging.ts';
import type {
  Finding,
  Profile,
  StigBatch,
  StigControls,
  StigList,
  StigRecord,
  StigVersions,
} from './schema.ts';

export type FindingRow = typeof findings.$inferSelect;

/** A release with the slug and id of its STIG. */
export type StigRelease = typeof stigReleases.$inferSelect & { slug: string; stigNumber: number };

/** A release with everything that downloads need. */
export interface FullRelease {
  release: StigRelease;
  findings: FindingRow[];
  profiles: Profile[];
}

export type StigService = ReturnType<typeof createStigService>;

/** The queries of the STIG catalog (specification, "STIG catalog"; DECISIONS D4). */
export function createStigService(db: Database) {
  const { orm } = db;
  const slugOf = createSlugOf(db);
  const slug = sql.placeholder('slug');
  const releaseColumns = { release: stigReleases, slug: stigs.slug, stigNumber: stigs.number };
  const current = orm
    .select(releaseColumns)
    .from(stigs)
    .innerJoin(stigReleases, eq(stigReleases.id, stigs.currentReleaseId))
    .where(eq(stigs.slug, slug))
    .prepare();
  const retained = orm
    .select(releaseColumns)
    .from(stigs)
    .innerJoin(
      stigReleases,
      and(eq(stigReleases.stigId, stigs.id), eq(stigReleases.version, sql.placeholder('version'))),
    )
    .where(eq(stigs.slug, slug))
    .prepare();
  const releasesOf = orm
    .select(releaseColumns)
    .from(stigs)
    .innerJoin(stigReleases, eq(stigReleases.stigId, stigs.id))
    .where(eq(stigs.slug, slug))
    .orderBy(desc(stigReleases.newness))
    .prepare();
  const findingRows = orm
    .select()
    .from(findings)
    .where(eq(findings.releaseId, sql.placeholder('release')))
    .orderBy(asc(findings.ordinal))
    .prepare();
  const findingPage = orm
    .select()
    .from(findings)
    .where(eq(findings.releaseId, sql.placeholder('release')))
    .orderBy(asc(findings.ordinal))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))
    .prepare();
  const profileRows = orm
    .select({
      profileId: stigProfiles.profileId,
      title: stigProfiles.title,
      description: stigProfiles.description,
    })
    .from(stigProfiles)
    .where(eq(stigProfiles.releaseId, sql.placeholder('release')))
    .orderBy(asc(stigProfiles.ordinal))
    .prepare();

  /** The current release of a STIG, by its slug or an alias, or a retained one. Throws NOT_FOUND (D2.2, D4.4). */
  function release(name: string, version?: string): StigRelease {
    const row = current.get({ slug: slugOf(name) });
    if (!row) throw new AppError('NOT_FOUND', `STIG not found: ${cut(name)}`);
    if (version === undefined) return { ...row.release, slug: row.slug, stigNumber: row.stigNumber };
    const old = retained.get({ slug: row.slug, version: version.toUpperCase() });
    if (!old) throw new AppError('NOT_FOUND', `Version not found: ${cut(version)}`);
    return { ...old.release, slug: old.slug, stigNumber: old.stigNumber };
  }

  function full(name: string, version?: string): FullRelease {
    return db.read(() => {
      const found = release(name, version);
      return {
        release: found,
        findings: findingRows.all({ release: found.id }),
        profiles: profileRows.all({ release: found.id }),
      };
    });
  }

  return {
    full,

    list({ search, ...page }: Page & { search?: string | undefined }): StigList {
      const wanted = search ? fold(search) : '';
      const matches =
        wanted === ''
          ? undefined
          : sql`(instr(${stigs.titleFold}, ${wanted}) > 0 OR instr(${stigs.slug}, ${wanted}) > 0)`;
      return db.read(() => {
        const from = and(sql`${stigs.currentReleaseId} IS NOT NULL`, matches);
        const total = orm.select({ total: count() }).from(stigs).where(from).get()!.total;
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
          .where(from)
          .orderBy(asc(stigs.titleFold), asc(stigs.title), asc(stigs.slug))
          .limit(page.limit)
          .offset(offsetOf(page, total))
          .all();
        return { stigs: rows, pagination: paginationOf(page, total) };
      });
    },

    record(name: string, version?: string): StigRecord {
      return toRecord(full(name, version));
    },

    controls(
      name: string,
      query: Page & {
        search?: string | undefined;
        severity?: Set<string> | undefined;
        version?: string | undefined;
      },
    ): StigControls {
      return db.read(() => {
        const found = release(name, query.version);
        const { slug, title, version, status, releaseDate, findingCount } = found;
        const stig = { slug, title, version, status, releaseDate, findingCount };
        if (!query.search && !query.severity) {
          const rows = findingPage.all({
            release: found.id,
            limit: query.limit,
            offset: offsetOf(query, findingCount),
          });
          return { stig, findings: rows.map(toFinding), pagination: paginationOf(query, findingCount) };
        }
        const wanted = fold(query.search ?? '');
        const matching = findingRows
          .all({ release: found.id })
          .filter((row) => !query.severity || query.severity.has(row.severity))
          .filter((row) =>
            [row.groupId, row.ruleId, row.groupTitle, row.ruleTitle].some((text) =>
              fold(text).includes(wanted),
            ),
          );
        return {
          stig,
          findings: slice(matching, query).map(toFinding),
          pagination: paginationOf(query, matching.length),
        };
      });
    },

    /** A release with the counts of its severities, and a page of its findings; `cci` asks for those that cite it. */
    overview(
      name: string,
      query: Page & {
        search?: string | undefined;
        severity?: Set<string> | undefined;
        version?: string | undefined;
        cci?: string | undefined;
      },
    ) {
      return db.read(() => {
        const { release: found, findings: rows } = full(name, query.version);
        const wanted = fold(query.search ?? '');
        const matching = rows
          .filter((row) => !query.severity || query.severity.has(row.severity))
          .filter((row) => query.cci === undefined || row.ccis.includes(query.cci))
          .filter((row) =>
            [row.groupId, row.ruleId, row.ruleVersion, row.groupTitle, row.ruleTitle].some((text) =>
              fold(text).includes(wanted),
            ),
          );
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

    /** The rules of a group of a release, with those before and after it. Throws NOT_FOUND. */
    group(name: string, groupId: string, wanted?: string) {
      return db.read(() => {
        const { release: found, findings: rows } = full(name, wanted);
        const first = rows.findIndex((row) => row.groupId === groupId);
        if (first < 0) throw new AppError('NOT_FOUND', `Rule not found: ${cut(groupId)}`);
        const rules = rows.filter((row) => row.groupId === groupId);
        const other = (row: FindingRow | undefined) => (row === undefined ? null : toFinding(row));
        return {
          stig: { slug: found.slug, title: found.title, version: found.version },
          rules: rules.map(toFinding),
          before: other(rows[first - 1]),
          after: other(rows.slice(first).find((row) => row.groupId !== groupId)),
        };
      });
    },

    versions(name: string): StigVersions {
      return db.read(() => {
        const { id, slug: own } = release(name);
        const versions = releasesOf.all({ slug: own }).map(({ release: each }) => ({
          version: each.version,
          releaseDate: each.releaseDate,
          status: each.status,
          findingCount: each.findingCount,
          current: each.id === id,
        }));
        return { versions };
      });
    },

    /** Each STIG once, in the order of the request; `requested` counts the array as it was sent (D4.8). */
    batch(slugs: string[]): StigBatch {
      return db.read(() => {
        const isKnown = (name: string) => current.get({ slug: slugOf(name) }) !== undefined;
        const unique = [...new Set(slugs)];
        const found = [...new Set(unique.filter(isKnown).map(slugOf))];
        return {
          stigs: found.map((each) => toRecord(full(each))),
          meta: {
            requested: slugs.length,
            found: found.length,
            notFound: unique.filter((each) => !isKnown(each)),
          },
        };
      });
    },
  };
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
  return {
    slug: release.slug,
    benchmarkId: release.benchmarkId,
    title: release.title,
    description: release.description,
    version: release.version,
    status: release.status,
    releaseDate: release.releaseDate,
    findingCount: release.findingCount,
    profiles,
    findings: rows.map(toFinding),
  };
}
