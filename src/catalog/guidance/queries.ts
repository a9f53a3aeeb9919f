import { notFound } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { prepareList } from '../../http/paging.ts';
import type {
  DocumentsQuery,
  RegulatoryDocument,
  RegulatoryDocumentSummary,
  RegulatoryDocuments,
} from './document-schema.ts';
import type { Role, RoleMappingRow, Roles, RolesQuery, StigMapping } from './role-schema.ts';

export type DocumentService = ReturnType<typeof createDocumentService>;
export type RoleService = ReturnType<typeof createRoleService>;
export type RoleMappingService = ReturnType<typeof createRoleMappingService>;

const matchingDocuments = `FROM documents
 WHERE instr(title_fold, @search) > 0
   AND (@publisher IS NULL OR @publisher IN (publisher_fold, publisher_id_fold))
   AND (@doctype IS NULL OR doctype_fold = @doctype)
   AND (@status IS NULL OR coalesce(summary_json ->> 'status', 'active') = @status)`;

const matchingRoles = `FROM occupations
 WHERE (instr(title_fold, @search) > 0 OR instr(occupation_code, @search) > 0)
   AND (@family IS NULL OR family_fold = @family)`;

const roleSummary = `json_set(summary_json, '$.stigMappingCount',
  (SELECT count(*) FROM role_mappings AS m WHERE m.occupation_code = occupations.occupation_code)) AS json`;

/** The schema spells `class` as `automated`. */
const mappingSource = "iif(m.mapping_source = 'curated', 'curated', 'class')";

const folded = (text: string | undefined) => (text === undefined ? null : fold(text));

/** Reads a stored document. One that is active has no status in the catalog. */
function readDocument<T extends RegulatoryDocumentSummary>(json: string): T {
  const { id, documentId, title, ...rest } = JSON.parse(json);
  return { id, documentId, title, status: 'active', ...rest };
}

/** Regulatory documents (rule D9). */
export function createDocumentService(db: Database) {
  const listed = prepareList<{ json: string }>(db, {
    columns: 'summary_json AS json',
    matching: matchingDocuments,
    order: 'title_fold, title, document_id',
  });
  const stored = db.sqlite
    .prepare<[string], string>('SELECT record_json FROM documents WHERE document_id = ?')
    .pluck();
  return {
    /** By title (D3.4). */
    list({ search = '', publisher, doctype, status, ...page }: DocumentsQuery): RegulatoryDocuments {
      const filter = {
        search: fold(search),
        publisher: folded(publisher),
        doctype: folded(doctype),
        status: status ?? null,
      };
      const { rows, pagination } = listed(filter, page);
      return { documents: rows.map(({ json }) => readDocument(json)), pagination };
    },

    /** One document with everything that is in it. Throws NOT_FOUND. */
    record(documentId: string): RegulatoryDocument {
      const json = stored.get(documentId);
      if (json === undefined) throw notFound();
      return readDocument(json);
    },
  };
}

/** Occupational roles (rule D9). */
export function createRoleService(db: Database) {
  const listed = prepareList<{ json: string }>(db, {
    columns: roleSummary,
    matching: matchingRoles,
    order: 'occupation_code',
  });
  const stored = db.sqlite.prepare<[string], Record<'json' | 'details', string>>(
    `SELECT ${roleSummary}, details_json AS details FROM occupations WHERE occupation_code = ?`,
  );
  const mappings = db.sqlite.prepare<[string], StigMapping>(
    `SELECT s.slug AS stigSlug, s.title AS stigTitle, r.version AS stigVersion, r.release_date AS releaseDate,
           m.confidence_score AS confidenceScore, m.relevance_rank AS relevanceRank,
           m.responsibility_level AS roleResponsibilityLevel, ${mappingSource} AS mappingSource,
           m.mapping_reason AS mappingReason
      FROM role_mappings AS m
      JOIN stigs AS s ON s.id = m.stig_id
      JOIN stig_releases AS r ON r.id = s.current_release_id
     WHERE m.occupation_code = ?
     ORDER BY m.relevance_rank, s.slug`,
  );
  return {
    /** By code (D3.4). */
    list({ search = '', family, ...page }: RolesQuery): Roles {
      const { rows, pagination } = listed({ search: fold(search), family: folded(family) }, page);
      return { roles: rows.map(({ json }) => JSON.parse(json)), pagination };
    },

    /** One role with everything that is known of it. Throws NOT_FOUND. */
    record: (code: string): Role =>
      db.read(() => {
        const found = stored.get(code);
        if (!found) throw notFound();
        const { json, details } = found;
        return { ...JSON.parse(json), ...JSON.parse(details), stigMappings: mappings.all(code) };
      }),
  };
}

/** The occupations that act on a STIG (rule D9.4); `slugOf` gives the slug for any name of a STIG. */
export function createRoleMappingService({ sqlite, read }: Database, slugOf: (name: string) => string) {
  // Without a work role the NICE keys are absent (D9.3).
  const rolesOf = sqlite.prepare<object, RoleMappingRow & { nice: string }>(
    `SELECT m.id, m.occupation_code AS occupationCode, o.title AS occupationTitle, o.job_zone AS jobZone,
           m.confidence_score AS confidenceScore, m.responsibility_level AS roleResponsibilityLevel,
           ${mappingSource} AS mappingSource, m.mapping_reason AS mappingReason,
           CASE WHEN w.work_role_id IS NULL THEN '{}' ELSE json_object(
             'niceWorkRoleId', w.work_role_id, 'niceWorkRoleName', w.name,
             'niceCategoryCode', w.category_code, 'niceCategoryName', w.category_name) END AS nice
      FROM role_mappings AS m
      JOIN occupations AS o ON o.occupation_code = m.occupation_code
      LEFT JOIN work_roles AS w ON w.work_role_id = m.work_role_id
     WHERE m.stig_id = coalesce((SELECT id FROM stigs WHERE id = @number), (SELECT id FROM stigs WHERE slug = @slug))
     ORDER BY m.relevance_rank`,
  );
  return {
    /**
     * The occupations by relevance; none for an unknown STIG (D9.4). A STIG is named by its number (the `id` of its json
     * download) or by a slug, which may be all digits too.
     */
    rows: (benchmarkId: string): RoleMappingRow[] =>
      read(() => {
        const number = /^\d+$/.test(benchmarkId) ? Number(benchmarkId) : null;
        const rows = rolesOf.all({ number, slug: slugOf(benchmarkId) });
        return rows.map(({ nice, ...mapping }) => ({ ...mapping, ...JSON.parse(nice) }));
      }),
  };
}
