import { notThere } from '../../base/errors.ts';
import { pick } from '../../base/objects.ts';
import { type Sort, sortOf } from '../../base/sort.ts';
import { cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf, slice } from '../../http/paging.ts';
import { createStigNameIndex, type StigNameIndex } from './name-index.ts';
import { type RuleHead, ruleHeadColumns } from './rule-head.ts';
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

/** A rule of a release with all its texts. */
export interface FindingRow extends RuleHead {
  /** Its place in the release, from 1. */
  ordinal: number;
  weight: string;
  ccis: string[];
  legacyIds: string[];
  groupTitle: string;
  groupDescription: string;
  fixId: string;
  checkSystem: string;
  checkRefHref: string | null;
  checkRefName: string | null;
  referenceIdentifier: string | null;
  documentable: string;
  responsibility: string;
  iaControls: string;
  falsePositives: string;
  falseNegatives: string;
  mitigations: string;
  severityOverrideGuidance: string;
  potentialImpacts: string;
  thirdPartyTools: string;
  mitigationControl: string;
  vulnDiscussion: string;
  checkContent: string;
  fixText: string;
}

/** A release with the slug of its STIG. */
export interface StigRelease {
  id: number;
  stigId: number;
  slug: string;
  benchmarkId: string;
  version: string;
  releaseInfo: string;
  title: string;
  description: string;
  status: string;
  statusDate: string | null;
  benchmarkDate: string | null;
  releaseDate: string | null;
  findingCount: number;
  high: number;
  medium: number;
  low: number;
}

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

const releaseSql = `
  SELECT r.id, r.stig_id AS stigId, s.slug, r.benchmark_id AS benchmarkId, r.version, r.release_info AS releaseInfo, r.title,
         r.description, r.status, r.status_date AS statusDate, r.benchmark_date AS benchmarkDate,
         r.release_date AS releaseDate, r.finding_count AS findingCount, r.high, r.medium, r.low
    FROM stigs AS s JOIN stig_releases AS r`;

const findingSql = `
  SELECT ${ruleHeadColumns}, f.ordinal, f.weight, f.ccis, f.legacy_ids AS legacyIds, f.group_title AS groupTitle,
         f.group_description AS groupDescription, f.fix_id AS fixId, f.check_system AS checkSystem,
         f.check_ref_href AS checkRefHref, f.check_ref_name AS checkRefName,
         f.reference_identifier AS referenceIdentifier, f.documentable, f.responsibility, f.ia_controls AS iaControls,
         f.false_positives AS falsePositives, f.false_negatives AS falseNegatives, f.mitigations,
         f.severity_override_guidance AS severityOverrideGuidance, f.potential_impacts AS potentialImpacts,
         f.third_party_tools AS thirdPartyTools, f.mitigation_control AS mitigationControl,
         f.vuln_discussion AS vulnDiscussion, f.check_content AS checkContent, f.fix_text AS fixText
    FROM findings AS f WHERE f.release_id = ?`;

const listedSql = `
    FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id
   WHERE (@search = '' OR instr(s.title_fold, @search) > 0 OR instr(s.slug, @search) > 0)
     AND (@before IS NULL OR r.release_date < @before)
     AND (@slugs IS NULL OR s.slug IN (SELECT value FROM json_each(@slugs)))`;

const sortedBy: Record<StigColumn, string> = {
  title: 's.title_fold',
  version: 'r.release_order',
  date: 'r.release_date',
  rules: 'r.finding_count',
};

export type StigService = ReturnType<typeof createStigService>;

/** The queries of the STIG catalog (rule D4). */
export function createStigService(db: Database, stigNames = createStigNameIndex(db)) {
  const releases = createReleases(db, stigNames);
  return { ...releases, ...createRecords(db, releases, stigNames), list: createStigList(db) };
}

/** Where a request names a release; a STIG in the path is no field. */
export interface ReleaseFields {
  slug?: string;
  version: string;
}
const inPath: ReleaseFields = { version: 'version' };
export const inBody: ReleaseFields = { slug: '/slug', version: '/version' };

function createReleases(db: Database, { slugOf }: StigNameIndex) {
  const current = db.sqlite.prepare<[string], StigRelease>(
    `${releaseSql} ON r.id = s.current_release_id WHERE s.slug = ?`,
  );
  const retained = db.sqlite.prepare<[string, string], StigRelease>(
    `${releaseSql} ON r.stig_id = s.id WHERE s.slug = ? AND r.version = ?`,
  );
  const releasesOf = db.sqlite.prepare<[string], StigRelease>(
    `${releaseSql} ON r.stig_id = s.id WHERE s.slug = ? ORDER BY r.release_order DESC`,
  );

  /** The current release of a STIG, by its slug or an alias, or a retained one; null for none. */
  function findRelease(name: string, version?: string): StigRelease | null {
    const slug = slugOf(name);
    const row = version === undefined ? current.get(slug) : retained.get(slug, version.toUpperCase());
    return row ?? null;
  }

  /** As `findRelease`. Throws NOT_FOUND (D2.2, D4.4), which names the field of the request (rule D42.1). */
  function release(name: string, version?: string, fields: ReleaseFields = inPath): StigRelease {
    const found = findRelease(name, version);
    if (found) return found;
    if (version === undefined || !findRelease(name))
      throw notThere(fields.slug, `STIG not found: ${cut(name)}`);
    throw notThere(fields.version, `Version not found: ${cut(version)}`);
  }

  /** The retained releases of a STIG, newest first. Throws NOT_FOUND. */
  function versions(name: string): StigVersions {
    return db.read(() => {
      const { id, slug } = release(name);
      return {
        versions: releasesOf.all(slug).map((each) => ({
          ...pick(each, 'version', 'releaseDate', 'status', 'findingCount'),
          current: each.id === id,
        })),
      };
    });
  }

  return {
    findRelease,
    release,
    versions,

    named(name: string, version?: string): NamedRelease {
      const { id, slug, title, version: own } = db.read(() => release(name, version));
      return { slug, title, release: { id, version: own } };
    },

    /** The versions of the retained releases of a STIG, newest first. */
    retained: (name: string): string[] => versions(name).versions.map(({ version }) => version),
  };
}

/** A row whose lists are JSON. */
type Stored<Row> = { [Name in keyof Row]: Row[Name] extends string[] ? string : Row[Name] };

/** Makes the functions that read the rules of a release, in document order. */
export function createFindingReader({ sqlite }: Database) {
  const ofRelease = sqlite.prepare<[number, number, number], Stored<FindingRow>>(
    `${findingSql} ORDER BY f.ordinal LIMIT ? OFFSET ?`,
  );
  const ofGroup = sqlite.prepare<[number, string], Stored<FindingRow>>(
    `${findingSql} AND f.group_id = ? ORDER BY f.ordinal`,
  );
  const parsed = (row: Stored<FindingRow>): FindingRow => ({
    ...row,
    ccis: JSON.parse(row.ccis),
    legacyIds: JSON.parse(row.legacyIds),
  });
  return {
    ofRelease: (release: number, limit = -1, offset = 0) => ofRelease.all(release, limit, offset).map(parsed),
    ofGroup: (release: number, group: string) => ofGroup.all(release, group).map(parsed),
  };
}

function createRecords(
  db: Database,
  { release }: ReturnType<typeof createReleases>,
  stigNames: StigNameIndex,
) {
  const findings = createFindingReader(db);
  const profiles = db.sqlite.prepare<[number], Profile>(
    `SELECT profile_id AS profileId, title, description FROM stig_profiles WHERE release_id = ? ORDER BY ordinal`,
  );

  function full(name: string, version?: string, fields?: ReleaseFields): FullRelease {
    return db.read(() => {
      const found = release(name, version, fields);
      return { release: found, findings: findings.ofRelease(found.id), profiles: profiles.all(found.id) };
    });
  }

  /** A release, and a page of the findings that pass the filters. */
  function page(name: string, query: FindingsQuery & Narrowing) {
    return db.read(() => {
      const found = release(name, query.version);
      if (query.search || query.severity || query.cci || query.passes) {
        const matching = narrowed(findings.ofRelease(found.id), query);
        return { found, rows: slice(matching, query), pagination: paginationOf(query, matching.length) };
      }
      const { findingCount } = found;
      const rows = findings.ofRelease(found.id, query.limit, offsetOf(query, findingCount));
      return { found, rows, pagination: paginationOf(query, findingCount) };
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
        const named = stigNames.ofSlugs(unique);
        const found = [...new Set(named.flatMap((stig) => stig?.slug ?? []))];
        return {
          stigs: found.map((each) => toRecord(full(each))),
          meta: {
            requested: slugs.length,
            found: found.length,
            notFound: unique.filter((_, index) => named[index] === null),
          },
        };
      });
    },

    controls(name: string, query: FindingsQuery): StigControls {
      const { found, rows, pagination } = page(name, query);
      return {
        stig: pick(found, 'slug', 'title', 'version', 'status', 'releaseDate', 'findingCount'),
        findings: rows.map(toFinding),
        pagination,
      };
    },

    /** A release with the counts of its severities, and a page of the findings that pass the filters. */
    overview(name: string, query: FindingsQuery & Narrowing) {
      const { found, rows, pagination } = page(name, query);
      return {
        stig: found,
        counts: pick(found, 'high', 'medium', 'low'),
        findings: rows.map(toFinding),
        pagination,
      };
    },
  };
}

/** Makes the function that gives a page of STIGs, by default by title, or in the order of `called`. */
function createStigList({ sqlite, read }: Database) {
  const count = sqlite.prepare<object, number>(`SELECT count(*) ${listedSql}`).pluck();
  const byTitle = 's.title_fold, s.title, s.slug';
  const byPlace = '(SELECT key FROM json_each(@slugs) WHERE value = s.slug)';

  function orderOf(sort: StigsWanted['sort'], usual: string): string {
    if (sort === undefined) return usual;
    const { column, down } = sortOf(sort);
    return `${sortedBy[column]} IS NULL, ${sortedBy[column]} ${down ? 'DESC' : 'ASC'}, ${usual}`;
  }

  return ({ search = '', called, sort, before, ...page }: StigsWanted): StigList => {
    const order = orderOf(sort, called === undefined ? byTitle : byPlace);
    const wanted = {
      search: fold(search),
      before: before ?? null,
      slugs: called === undefined ? null : JSON.stringify(called),
    };
    return read(() => {
      const total = count.get(wanted)!;
      const rows = sqlite
        .prepare<object, StigList['stigs'][number]>(
          `SELECT s.slug, s.title, r.version, r.release_date AS releaseDate, r.finding_count AS findingCount
           ${listedSql} ORDER BY ${order} LIMIT @limit OFFSET @offset`,
        )
        .all({ ...wanted, limit: page.limit, offset: offsetOf(page, total) });
      return { stigs: rows, pagination: paginationOf(page, total) };
    });
  };
}

const searchedFields = ['groupId', 'ruleId', 'ruleVersion', 'groupTitle', 'ruleTitle'] as const;
type SearchedRow = Pick<FindingRow, (typeof searchedFields)[number] | 'severity' | 'ccis'>;

/** The filters of findings; `cci` as the catalog writes it, `passes` by the id with revision. */
export interface Narrowing extends Pick<FindingsQuery, 'search' | 'severity'> {
  cci?: string | undefined;
  passes?: ((ruleId: string) => boolean) | undefined;
}

/** The findings of some severities that cite a CCI, pass, and contain a text in one of some fields, in any case. */
export function narrowed<Row extends SearchedRow>(
  rows: Row[],
  { cci, passes, search, severity }: Narrowing,
): Row[] {
  const wanted = fold(search ?? '');
  return rows
    .filter((row) => cci === undefined || row.ccis.includes(cci))
    .filter(({ ruleId }) => passes === undefined || passes(ruleId))
    .filter((row) => !severity || severity.has(row.severity))
    .filter((row) => searchedFields.some((field) => fold(row[field]).includes(wanted)));
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

function toRecord({ release, findings, profiles }: FullRelease): StigRecord {
  return {
    ...pick(release, 'slug', 'benchmarkId', 'title', 'description'),
    ...pick(release, 'version', 'status', 'releaseDate', 'findingCount'),
    profiles,
    findings: findings.map(toFinding),
  };
}
