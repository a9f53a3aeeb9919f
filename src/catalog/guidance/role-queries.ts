import { and, asc, count, eq, getTableColumns, sql } from 'drizzle-orm';
import { notFound } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { occupations, roleMappings } from '../../db/role-tables.ts';
import { stigReleases, stigs } from '../../db/tables.ts';
import type { collectionRoles } from '../../db/user-tables.ts';
import { offsetOf, paginationOf } from '../../http/paging.ts';
import type { Role, RoleDetails, RoleFacts, Roles, RolesQuery } from './role-schema.ts';

/** How many STIGs are mapped to the occupation of a row, as a column. */
export const countStigMappings = (
  row: typeof occupations | typeof collectionRoles,
) => sql<number>`(SELECT count(*)
  FROM role_mappings AS m WHERE m.occupation_code = ${row}.occupation_code)`;

export type RoleService = ReturnType<typeof createRoleService>;

/** Occupational roles (rule D9). */
export function createRoleService({ orm, read }: Database) {
  const facts = occupations.summary;
  const stigMappingCount = countStigMappings(occupations);
  const record = orm
    .select({ facts, stigMappingCount, details: occupations.details })
    .from(occupations)
    .where(eq(occupations.occupationCode, sql.placeholder('code')))
    .prepare();
  const { confidenceScore, relevanceRank, responsibilityLevel, mappingSource, mappingReason } =
    getTableColumns(roleMappings);
  // The order of D3.4: by rank, then by slug, which is unique.
  const mappings = orm
    .select({
      stigSlug: stigs.slug,
      stigTitle: stigs.title,
      stigVersion: stigReleases.version,
      releaseDate: stigReleases.releaseDate,
      ...{ confidenceScore, relevanceRank, roleResponsibilityLevel: responsibilityLevel },
      ...{ mappingSource, mappingReason },
    })
    .from(roleMappings)
    .innerJoin(stigs, eq(stigs.id, roleMappings.stigId))
    .innerJoin(stigReleases, eq(stigReleases.id, stigs.currentReleaseId))
    .where(eq(roleMappings.occupationCode, sql.placeholder('code')))
    .orderBy(asc(relevanceRank), asc(stigs.slug))
    .prepare();

  return {
    /** By code (D3.4). */
    list({ search = '', family, ...page }: RolesQuery): Roles {
      const { titleFold, occupationCode, familyFold } = occupations;
      const wanted = fold(search);
      const where = and(
        wanted === ''
          ? undefined
          : sql`(instr(${titleFold}, ${wanted}) > 0 OR instr(${occupationCode}, ${wanted}) > 0)`,
        family === undefined ? undefined : eq(familyFold, fold(family)),
      );
      return read(() => {
        const { total } = orm.select({ total: count() }).from(occupations).where(where).get()!;
        const rows = orm
          .select({ facts, stigMappingCount })
          .from(occupations)
          .where(where)
          .orderBy(asc(occupationCode))
          .limit(page.limit)
          .offset(offsetOf(page, total))
          .all();
        const roles = rows.map(({ facts, ...counted }) => ({ ...(facts as RoleFacts), ...counted }));
        return { roles, pagination: paginationOf(page, total) };
      });
    },

    /** One role with everything that is known of it. Throws NOT_FOUND. */
    record(code: string): Role {
      return read(() => {
        const row = record.get({ code });
        if (!row) throw notFound();
        const { facts, stigMappingCount, details } = row;
        return {
          ...(facts as RoleFacts),
          stigMappingCount,
          ...(details as RoleDetails),
          stigMappings: mappings.all({ code }),
        };
      });
    },
  };
}
