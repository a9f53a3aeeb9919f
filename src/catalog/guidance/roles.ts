import { notFound } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../../http/paging.ts';
import type { Role, RoleDetails, RoleFacts, RoleSummary, Roles, StigMapping } from './role-schema.ts';

/** The filters of the list of roles. */
export interface RoleFilter extends Page {
  search?: string | undefined;
  family?: string | undefined;
}

interface SummaryRow {
  summary_json: string;
  stig_mapping_count: number;
}

export type RoleService = ReturnType<typeof createRoleService>;

/** Occupational roles (rule D9). */
export function createRoleService(db: Database) {
  const { sqlite } = db;
  const where = `(:search = '' OR instr(o.title_fold, :search) > 0 OR instr(o.occupation_code, :search) > 0)
    AND (:family IS NULL OR o.family_fold = :family)`;
  const summary = `k.summary_json, (SELECT count(*) FROM role_mappings AS m
    WHERE m.occupation_code = k.occupation_code) AS stig_mapping_count`;
  const count = sqlite
    .prepare<[object], number>(`SELECT count(*) FROM occupations AS o WHERE ${where}`)
    .pluck();
  const page = sqlite.prepare<[object], SummaryRow>(
    `SELECT ${summary} FROM occupations AS o JOIN occupation_keys AS k USING (occupation_code) WHERE ${where}
      ORDER BY o.occupation_code LIMIT :limit OFFSET :offset`,
  );
  const record = sqlite.prepare<[string], SummaryRow & { details_json: string }>(
    `SELECT ${summary}, o.details_json FROM occupations AS o JOIN occupation_keys AS k USING (occupation_code)
      WHERE o.occupation_code = ?`,
  );
  // The order of D3.4: by rank, then by slug, which is unique.
  const mappings = sqlite.prepare<[string], StigMapping>(
    `SELECT s.slug AS stigSlug, s.title AS stigTitle, r.version AS stigVersion, r.release_date AS releaseDate,
            m.confidence_score AS confidenceScore, m.relevance_rank AS relevanceRank,
            m.responsibility_level AS roleResponsibilityLevel, m.mapping_source AS mappingSource,
            m.mapping_reason AS mappingReason
       FROM role_mappings AS m
       JOIN stigs AS s ON s.id = m.stig_id
       JOIN stig_releases AS r ON r.id = s.current_release_id
      WHERE m.occupation_code = ? ORDER BY m.relevance_rank, s.slug`,
  );

  return {
    /** By code (D3.4). */
    list(filter: RoleFilter): Roles {
      const wanted = {
        search: fold(filter.search ?? ''),
        family: filter.family === undefined ? null : fold(filter.family),
      };
      return db.read(() => {
        const total = count.get(wanted)!;
        const rows = page.all({ ...wanted, limit: filter.limit, offset: offsetOf(filter, total) });
        return { roles: rows.map(toSummary), pagination: paginationOf(filter, total) };
      });
    },

    /** One role with everything that is known of it. Throws NOT_FOUND. */
    record(code: string): Role {
      return db.read(() => {
        const row = record.get(code);
        if (!row) throw notFound();
        const details = JSON.parse(row.details_json) as RoleDetails;
        return { ...toSummary(row), ...details, stigMappings: mappings.all(code) };
      });
    },
  };
}

/** A summary from what a key row holds and the number of mappings. */
export function toSummary(row: SummaryRow): RoleSummary {
  const facts = JSON.parse(row.summary_json) as RoleFacts;
  return { ...facts, stigMappingCount: row.stig_mapping_count };
}
