import type { Database } from '../../../src/db/database.ts';
import type { Stated } from '../../read/stated.ts';
import { type OnetRecord, occupationLists, type RolesRecord } from './role-record.ts';

/** Stores the roles of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageRoles(db: Database, sourceId: number, record: RolesRecord): Stated {
  const insert = (table: string, values: string) =>
    db.sqlite.prepare(`INSERT INTO ${table} VALUES (@sourceId, ${values})`);
  if (record.type === 'role-mapping') {
    const curated = insert(
      'curated_mapping_facts',
      '@stigSlug, @occupationCode, @confidenceScore, @responsibilityLevel, @workRoleId, @reason, @row',
    );
    for (const each of record.rows) curated.run({ sourceId, ...each });
    return { target: 'role mapping', counts: { rows: record.rows.length } };
  }
  insert('role_releases', '@type, @releaseOrder, @label').run({ sourceId, ...record });
  if (record.type === 'onet') {
    const occupation = insert('occupation_facts', '@occupationCode, @record');
    for (const each of record.occupations)
      occupation.run({ sourceId, occupationCode: each.occupationCode, record: JSON.stringify(each) });
    return { target: record.label, counts: countsOf(record) };
  }
  const workRole = insert('work_role_facts', '@workRoleId, @name, @categoryCode, @categoryName');
  for (const each of record.workRoles) workRole.run({ sourceId, ...each });
  const { label, workRoles, categories } = record;
  return { target: label, counts: { workRoles: workRoles.length, categories } };
}

function countsOf({ occupations }: OnetRecord): Record<string, number> {
  const sums = occupationLists.map((name) => [
    name,
    occupations.reduce((total, each) => total + each[name].length, 0),
  ]);
  const jobZones = occupations.filter((each) => each.jobZone !== null).length;
  return { occupations: occupations.length, jobZones, ...Object.fromEntries(sums) };
}
