import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { occupations, roleMappings, workRoles } from '../../db/role-tables.ts';
import { stigs } from '../../db/tables.ts';
import type { RoleMappingRow } from './role-schema.ts';

export type RoleMappingService = ReturnType<typeof createRoleMappingService>;

/** The occupations that act on a STIG (rule D9.4); `slugOf` gives the slug for any name of a STIG. */
export function createRoleMappingService(db: Database, slugOf: (name: string) => string) {
  const { orm, read } = db;
  const { id, occupationCode, confidenceScore, responsibilityLevel, mappingSource, mappingReason } =
    getTableColumns(roleMappings);
  const rowsOf = orm
    .select({
      mapping: {
        ...{ id, occupationCode, occupationTitle: occupations.title, jobZone: occupations.jobZone },
        ...{ confidenceScore, roleResponsibilityLevel: responsibilityLevel, mappingSource, mappingReason },
      },
      nice: {
        niceWorkRoleId: workRoles.workRoleId,
        niceWorkRoleName: workRoles.name,
        niceCategoryCode: workRoles.categoryCode,
        niceCategoryName: workRoles.categoryName,
      },
    })
    .from(roleMappings)
    .innerJoin(occupations, eq(occupations.occupationCode, occupationCode))
    .leftJoin(workRoles, eq(workRoles.workRoleId, roleMappings.workRoleId))
    .where(eq(roleMappings.stigId, sql.placeholder('stig')))
    .orderBy(asc(roleMappings.relevanceRank))
    .prepare();
  const stigBy = (column: typeof stigs.id | typeof stigs.slug) =>
    orm
      .select({ id: stigs.id })
      .from(stigs)
      .where(eq(column, sql`${sql.placeholder('name')}`))
      .prepare();
  const byNumber = stigBy(stigs.id);
  const bySlug = stigBy(stigs.slug);

  /** The STIG of a number (the `id` of its json download) or of a slug; a slug may be all digits too. */
  function stigOf(benchmarkId: string) {
    const number = /^\d{1,16}$/.test(benchmarkId) ? Number(benchmarkId) : null;
    const found =
      number !== null && Number.isSafeInteger(number) ? byNumber.get({ name: number }) : undefined;
    return found ?? bySlug.get({ name: slugOf(benchmarkId) });
  }

  return {
    /** The occupations by relevance; none for an unknown STIG (D9.4). Without a work role the NICE keys are absent (D9.3). */
    rows(benchmarkId: string): RoleMappingRow[] {
      return read(() => {
        const stig = stigOf(benchmarkId);
        const rows = stig === undefined ? [] : rowsOf.all({ stig: stig.id });
        return rows.map(({ mapping, nice }) => ({ ...mapping, ...nice }));
      });
    },
  };
}
