import { notThere } from '../../base/errors.ts';
import { pick } from '../../base/objects.ts';
import { type Sort, sortOf } from '../../base/sort.ts';
import { cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf, prepareList, slice } from '../../http/paging.ts';
import { createStigNameIndex, type StigNameIndex } from './name-index.ts';
import { type RuleHead, ruleHeadColumns } from './rule-head.ts';
import type {
  Finding,
  FindingsQuery,
  Profile,
  RawStig,
  StigBatch,
  StigControls,
  StigList,
  StigRecord,
  StigVersions,
} from './schema.ts';

type FindingText =
  | 'weight'
  | 'groupTitle'
  | 'groupDescription'
  | 'fixId'
  | 'checkSystem'
  | 'documentable'
  | 'responsibility'
  | 'iaControls'
  | 'falsePositives'
  | 'falseNegatives'
  | 'mitigations'
  | 'severityOverrideGuidance'
  | 'potentialImpacts'
  | 'thirdPartyTools'
  | 'mitigationControl'
  | 'vulnDiscussion'
  | 'checkContent'
  | 'fixText';

/** A rule of a release with all its texts. */
export interface FindingRow
  extends RuleHead,
    Record<FindingText, string>,
    Record<'checkRefHref' | 'checkRefName' | 'referenceIdentifier', string | null>,
    Record<'ccis' | 'legacyIds', string[]> {
  /** Its place in the release, from 1. */
  ordinal: number;
}

/** A release with the slug of its STIG. */
export interface StigRelease
  extends Record<
      'slug' | 'benchmarkId' | 'version' | 'releaseInfo' | 'title' | 'description' | 'status',
      string
    >,
    Record<'statusDate' | 'benchmarkDate' | 'releaseDate', string | null>,
    Record<'id' | 'stigId' | 'findingCount' | 'high' | 'medium' | 'low', number> {}

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
interface StigsFilter extends Page {
  search?: string | undefined;
  sort?: Sort<StigColumn> | undefined;
  /** A date: only STIGs with an older release. */
  before?: string | undefined;
  /** Only these, in this order. */
  slugs?: string[] | undefined;
}

const releaseSql = `
  SELECT r.id, r.stig_id AS stigId, s.slug, r.benchmark_id AS benchmarkId, r.version, r.release_info AS releaseInfo, r.title,
         r.description, r.status, r.status_date AS statusDate, r.benchmark_date AS benchmarkDate,
         r.release_date AS releaseDate, r.finding_count AS findingCount, r.high, r.medium, r.low
    FROM stigs AS s JOIN stig_releases AS r ON r.stig_id = s.id`;

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

/** The raw benchmark record, its keys in the order of rule D5.3. */
const rawSql = `
  SELECT json_object(
           'id', r.stig_id, 'benchmarkId', r.benchmark_id, 'slug', s.slug, 'status', r.status,
           'statusDate', r.status_date, 'title', r.title, 'description', r.description, 'version', r.version,
           'releaseDate', r.release_date, 'createdAt', r.release_date || 'T00:00:00Z',
           'updatedAt', r.release_date || 'T00:00:00Z',
           'groups', json((
             SELECT json_group_array(json_object(
                      'groupId', group_id, 'groupTitle', group_title, 'ruleId', rule_id,
                      'ruleWeight', CAST(weight AS REAL), 'ruleSeverity', severity, 'ruleVersion', rule_version,
                      'ruleTitle', rule_title, 'ruleVulnDiscussion', vuln_discussion,
                      'ruleFalsePositives', false_positives, 'ruleFalseNegatives', false_negatives,
                      'ruleDocumentable', json(iif(lower(documentable) = 'true', 'true', 'false')),
                      'ruleMitigations', mitigations, 'ruleSeverityOverrideGuidance', severity_override_guidance,
                      'rulePotentialImpacts', potential_impacts, 'ruleThirdPartyTools', third_party_tools,
                      'ruleMitigationControl', mitigation_control, 'ruleResponsibility', responsibility,
                      'ruleIAControls', ia_controls, 'ruleIdent', ifnull(ccis ->> 0, ''), 'ruleIdents', json(ccis),
                      'ruleLegacyIds', json(legacy_ids), 'ruleFixText', fix_text, 'ruleFixId', fix_id,
                      'ruleCheckSystem', check_system, 'ruleCheckContent', check_content) ORDER BY ordinal)
               FROM findings WHERE release_id = r.id)),
           'profiles', json((
             SELECT json_group_array(json_object(
                      'profileId', profile_id, 'title', title, 'description', description) ORDER BY ordinal)
               FROM stig_profiles WHERE release_id = r.id)))
    FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id WHERE r.id = ?`;

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

/** Where a request names a release; a STIG in the path is no field. */
interface ReleaseFields {
  slug?: string;
  version: string;
}
const inPath: ReleaseFields = { version: 'version' };
export const inBody: ReleaseFields = { slug: '/slug', version: '/version' };

/** A row whose lists are JSON. */
type Stored<Row> = { [Name in keyof Row]: Row[Name] extends string[] ? string : Row[Name] };

const parsed = (row: Stored<FindingRow>): FindingRow => ({
  ...row,
  ccis: JSON.parse(row.ccis),
  legacyIds: JSON.parse(row.legacyIds),
});

/** The queries of the STIG catalog (rule D4). */
export function createStigService(db: Database, { slugOf, ofSlug }: StigNameIndex = createStigNameIndex(db)) {
  const { sqlite } = db;
  const releaseOf = sqlite.prepare<{ slug: string; version: string | null }, StigRelease>(
    `${releaseSql} WHERE s.slug = @slug
        AND CASE WHEN @version IS NULL THEN r.id = s.current_release_id ELSE r.version = @version END`,
  );
  const releasesOf = sqlite.prepare<[string], StigRelease>(
    `${releaseSql} WHERE s.slug = ? ORDER BY r.release_order DESC`,
  );
  const findings = sqlite.prepare<[number, number, number], Stored<FindingRow>>(
    `${findingSql} ORDER BY f.ordinal LIMIT ? OFFSET ?`,
  );
  const ofGroup = sqlite.prepare<[number, string], Stored<FindingRow>>(
    `${findingSql} AND f.group_id = ? ORDER BY f.ordinal`,
  );
  const profiles = sqlite.prepare<[number], Profile>(
    `SELECT profile_id AS profileId, title, description FROM stig_profiles WHERE release_id = ? ORDER BY ordinal`,
  );

  const raw = sqlite.prepare<[number], string>(rawSql).pluck();

  /** The rules of a release in document order. */
  const findingsOf = (release: number, limit = -1, offset = 0): FindingRow[] =>
    findings.all(release, limit, offset).map(parsed);

  /** The current release of a STIG, by its slug or an alias, or a retained one; null for none. */
  function findRelease(name: string, version?: string): StigRelease | null {
    return releaseOf.get({ slug: slugOf(name), version: version?.toUpperCase() ?? null }) ?? null;
  }

  /** As `findRelease`. Throws NOT_FOUND (D2.2, D4.4), which names the field of the request (rule D42.1). */
  function release(name: string, version?: string, fields = inPath): StigRelease {
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

  /** A release with its rules and profiles. Throws NOT_FOUND. */
  function full(name: string, version?: string, fields?: ReleaseFields): FullRelease {
    return db.read(() => {
      const found = release(name, version, fields);
      return { release: found, findings: findingsOf(found.id), profiles: profiles.all(found.id) };
    });
  }

  /** A release with the counts of its severities, and a page of the findings that pass the filters. */
  function overview(name: string, query: FindingsQuery & Narrowing) {
    return db.read(() => {
      const stig = release(name, query.version);
      const isNarrowed = query.search || query.severity || query.cci || query.matchesFilter;
      const all = isNarrowed ? narrowed(findingsOf(stig.id), query) : null;
      const total = all?.length ?? stig.findingCount;
      const rows = all ? slice(all, query) : findingsOf(stig.id, query.limit, offsetOf(query, total));
      return {
        stig,
        counts: pick(stig, 'high', 'medium', 'low'),
        findings: rows.map(toFinding),
        pagination: paginationOf(query, total),
      };
    });
  }

  const record = (name: string, version?: string): StigRecord => toRecord(full(name, version));

  return {
    findRelease,
    release,
    versions,
    full,
    record,
    overview,

    named(name: string, version?: string): NamedRelease {
      const { id, slug, title, version: own } = release(name, version);
      return { slug, title, release: { id, version: own } };
    },

    /** The versions of the retained releases of a STIG, newest first. */
    retained: (name: string): string[] => versions(name).versions.map(({ version }) => version),

    /** A release as the json download has it. */
    raw: (release: number): RawStig => JSON.parse(raw.get(release)!),

    /** The rules of a group of a release. */
    group: (release: number, group: string): FindingRow[] => ofGroup.all(release, group).map(parsed),

    /** As `full`, of a STIG that the body of a request names. */
    ofBody: (name: string, version?: string): FullRelease => full(name, version, inBody),

    /** Each STIG once, in the order of the request; `requested` counts the array as it was sent (D4.8). */
    batch(slugs: string[]): StigBatch {
      const unique = [...new Set(slugs)];
      const found = new Set(unique.flatMap((name) => ofSlug(name)?.slug ?? []));
      return {
        stigs: [...found].map((slug) => record(slug)),
        meta: {
          requested: slugs.length,
          found: found.size,
          notFound: unique.filter((name) => ofSlug(name) === null),
        },
      };
    },

    controls(name: string, query: FindingsQuery): StigControls {
      const { stig, findings, pagination } = overview(name, query);
      return {
        stig: pick(stig, 'slug', 'title', 'version', 'status', 'releaseDate', 'findingCount'),
        findings,
        pagination,
      };
    },

    /** A page of STIGs, by default by title, or in the order of `slugs`. */
    list({ search = '', slugs, sort, before, ...page }: StigsFilter): StigList {
      const usual = slugs === undefined ? byTitle : byPlace;
      const list = prepareList<StigList['stigs'][number]>(db, {
        columns: 's.slug, s.title, r.version, r.release_date AS releaseDate, r.finding_count AS findingCount',
        matching: listedSql,
        order: sort === undefined ? usual : `${orderBy(sort)}, ${usual}`,
      });
      const { rows, pagination } = list(
        { search: fold(search), before: before ?? null, slugs: slugs ? JSON.stringify(slugs) : null },
        page,
      );
      return { stigs: rows, pagination };
    },
  };
}

const byTitle = 's.title_fold, s.title, s.slug';
const byPlace = '(SELECT key FROM json_each(@slugs) WHERE value = s.slug)';

function orderBy(sort: Sort<StigColumn>): string {
  const { column, down } = sortOf(sort);
  return `${sortedBy[column]} IS NULL, ${sortedBy[column]} ${down ? 'DESC' : 'ASC'}`;
}

const searchedFields = ['groupId', 'ruleId', 'ruleVersion', 'groupTitle', 'ruleTitle'] as const;
type SearchedRow = Pick<FindingRow, (typeof searchedFields)[number] | 'severity' | 'ccis'>;

/** The filters of findings; `cci` as the catalog writes it, `matchesFilter` by the id with revision. */
export interface Narrowing extends Pick<FindingsQuery, 'search' | 'severity'> {
  cci?: string | undefined;
  matchesFilter?: ((ruleId: string) => boolean) | undefined;
}

/** The findings of some severities that cite a CCI, pass, and contain a text in one of some fields, in any case. */
export function narrowed<Row extends SearchedRow>(
  rows: Row[],
  { cci, matchesFilter, search, severity }: Narrowing,
): Row[] {
  const folded = fold(search ?? '');
  return rows
    .filter((row) => cci === undefined || row.ccis.includes(cci))
    .filter(({ ruleId }) => matchesFilter === undefined || matchesFilter(ruleId))
    .filter((row) => !severity || severity.has(row.severity))
    .filter((row) => searchedFields.some((field) => fold(row[field]).includes(folded)));
}

/** The finding of the API (D4.8): all twelve fields. */
export function toFinding(row: FindingRow): Finding {
  return {
    groupId: row.groupId,
    title: row.groupTitle,
    description: row.groupDescription,
    ...pick(
      row,
      'severity',
      'ruleId',
      'ruleVersion',
      'ruleTitle',
      'vulnDiscussion',
      'fixText',
      'checkContent',
    ),
    ruleIdent: row.ccis[0] ?? '',
    ruleIdents: row.ccis,
  };
}

function toRecord({ release, findings, profiles }: FullRelease): StigRecord {
  return {
    ...pick(
      release,
      'slug',
      'benchmarkId',
      'title',
      'description',
      'version',
      'status',
      'releaseDate',
      'findingCount',
    ),
    profiles,
    findings: findings.map(toFinding),
  };
}
