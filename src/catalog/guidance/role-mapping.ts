import type { Database } from '../../db/database.ts';
import type { RoleMappingRow } from './role-schema.ts';

type Row = Omit<
  RoleMappingRow,
  'niceWorkRoleId' | 'niceWorkRoleName' | 'niceCategoryCode' | 'niceCategoryName'
> & {
  workRoleId: string | null;
  workRoleName: string;
  categoryCode: string;
  categoryName: string;
};

export type RoleMappingService = ReturnType<typeof createRoleMappingService>;

/** Who has to act on a STIG (rule D9.4). */
export function createRoleMappingService(db: Database) {
  const rowsOf = db.sqlite.prepare<[number], Row>(
    `SELECT m.id, m.occupation_code AS occupationCode, o.title AS occupationTitle, o.job_zone AS jobZone,
            m.confidence_score AS confidenceScore, m.responsibility_level AS roleResponsibilityLevel,
            m.mapping_source AS mappingSource, m.mapping_reason AS mappingReason, w.work_role_id AS workRoleId,
            w.name AS workRoleName, w.category_code AS categoryCode, w.category_name AS categoryName
       FROM role_mappings AS m
       JOIN occupations AS o USING (occupation_code)
       LEFT JOIN work_roles AS w USING (work_role_id)
      WHERE m.stig_id = ? ORDER BY m.relevance_rank`,
  );
  const byNumber = db.sqlite.prepare<[number], number>('SELECT id FROM stigs WHERE id = ?').pluck();
  const bySlug = db.sqlite.prepare<[string], number>('SELECT id FROM stigs WHERE slug = ?').pluck();

  /** The STIG of a number (the `id` of its json download) or of a slug; a slug may be all digits too. */
  function stigOf(benchmarkId: string): number | undefined {
    const number = /^\d{1,16}$/.test(benchmarkId) ? Number(benchmarkId) : null;
    const found = number !== null && Number.isSafeInteger(number) ? byNumber.get(number) : undefined;
    return found ?? bySlug.get(benchmarkId);
  }

  return {
    /** The occupations for a STIG by relevance; none for a STIG that is not known (D9.4). */
    rows(benchmarkId: string): RoleMappingRow[] {
      return db.read(() => {
        const stig = stigOf(benchmarkId);
        return stig === undefined ? [] : rowsOf.all(stig).map(toRow);
      });
    },
  };
}

/** The keys of the NICE Framework are left out where no work role applies (D9.3). */
function toRow({ workRoleId, workRoleName, categoryCode, categoryName, ...row }: Row): RoleMappingRow {
  if (workRoleId === null) return row;
  return {
    ...row,
    niceWorkRoleId: workRoleId,
    niceWorkRoleName: workRoleName,
    niceCategoryCode: categoryCode,
    niceCategoryName: categoryName,
  };
}
