import { mappingNumber } from '../../../src/base/ids.ts';
import { compareCodePoints } from '../../../src/base/text.ts';
import type { Database } from '../../../src/db/database.ts';
import { prepareInsert } from '../../../src/db/insert.ts';
import type { SourceProblem } from '../../../src/read/import-error.ts';
import type { StatedMapping } from './curated-mappings.ts';
import { classOf, type ResponsibleRole, rolesOf, tablesVersion } from './product-classes.ts';

/** `automated` is how the schema spells the source `class` of the API. */
interface Mapping extends ResponsibleRole {
  mappingSource: 'automated' | 'curated';
}

interface MappedStig {
  id: number;
  slug: string;
  title: string;
  releaseId: number | null;
  /** JSON. */
  aliases: string;
}

/**
 * Fills the empty mapping of STIGs to occupations (rule F9.3): the rows of a STIG's class, which curated rows replace.
 * Gives the names in curated rows that the catalog lacks.
 */
export function deriveRoleMappings(db: Database, curated: StatedMapping[]): SourceProblem[] {
  const { sqlite } = db;
  const valuesOf = (sql: string) => new Set(sqlite.prepare<[], string>(sql).pluck().all());
  const occupations = valuesOf('SELECT occupation_code FROM occupations');
  const workRoles = valuesOf('SELECT work_role_id FROM work_roles');
  const groupTitles = sqlite
    .prepare<[number | null], string>('SELECT group_title FROM findings WHERE release_id = ?')
    .pluck();
  const insert = prepareInsert(db, 'role_mappings');
  const bySlug = Map.groupBy(curated, (row) => row.stigSlug);
  const names = new Set<string>();
  for (const stig of readStigs(db)) {
    // A curated row with the slug replaces one with an alias.
    const namesOfStig = [...(JSON.parse(stig.aliases) as string[]), stig.slug];
    for (const name of namesOfStig) names.add(name);
    const ofClass = rolesOf(classOf(stig.title, () => groupTitles.all(stig.releaseId)));
    const ofStig = namesOfStig.flatMap((name) => bySlug.get(name) ?? []);
    const rows = mappingsOf(ofClass, ofStig).filter((row) => occupations.has(row.occupationCode));
    for (const [index, row] of rows.entries())
      insert({
        ...row,
        id: mappingNumber(stig.slug, row.occupationCode),
        stigId: stig.id,
        relevanceRank: index + 1,
        workRoleId: row.workRoleId !== null && workRoles.has(row.workRoleId) ? row.workRoleId : null,
        rule: tablesVersion,
      });
  }
  // A missing STIG, occupation or work role is a warning: a later run may add it.
  return curated.flatMap(({ sourceId, row, stigSlug, occupationCode, workRoleId }) => {
    const missing = [
      ...(names.has(stigSlug) ? [] : [`no STIG ${stigSlug}`]),
      ...(occupations.has(occupationCode) ? [] : [`no occupation ${occupationCode}`]),
      ...(workRoleId === null || workRoles.has(workRoleId) ? [] : [`no work role ${workRoleId}`]),
    ];
    return missing.length === 0
      ? []
      : [{ sourceId, message: `row ${row}: ${missing.join(', ')} in the catalog` }];
  });
}

/** By score, then code. A curated row with a score of 0 removes a mapping. */
function mappingsOf(ofClass: ResponsibleRole[], curated: StatedMapping[]): Mapping[] {
  const rows = new Map<string, Mapping>();
  for (const role of ofClass) rows.set(role.occupationCode, { ...role, mappingSource: 'automated' });
  for (const row of curated)
    rows.set(row.occupationCode, {
      ...row,
      workRoleId: row.workRoleId ?? rows.get(row.occupationCode)?.workRoleId ?? null,
      mappingReason: row.reason,
      mappingSource: 'curated',
    });
  return [...rows.values()]
    .filter((row) => row.confidenceScore > 0)
    .sort(
      (a, b) =>
        b.confidenceScore - a.confidenceScore || compareCodePoints(a.occupationCode, b.occupationCode),
    );
}

const readStigs = ({ sqlite }: Database) =>
  sqlite
    .prepare<[], MappedStig>(
      `SELECT s.id, s.slug, s.title, s.current_release_id AS releaseId,
              (SELECT json_group_array(alias ORDER BY alias) FROM stig_aliases WHERE stig_id = s.id) AS aliases
         FROM stigs AS s`,
    )
    .all();
