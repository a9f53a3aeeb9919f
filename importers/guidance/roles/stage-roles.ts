import type { Database } from '../../../src/db/database.ts';
import { prepareInsert } from '../../../src/db/insert.ts';
import type { StagedFacts } from '../../read/parsed.ts';
import { occupationLists, type RolesRecord } from './role-record.ts';

/** Stores the roles of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageRoles(db: Database, sourceId: number, record: RolesRecord): StagedFacts {
  const insertAll = (table: string, rows: object[]) => {
    const insert = prepareInsert(db, table);
    for (const row of rows) insert({ sourceId, ...row });
  };
  if (record.type === 'role-mapping') {
    insertAll('curated_mapping_facts', record.rows);
    return { target: 'role mapping', counts: { rows: record.rows.length } };
  }
  const { type: family, releaseOrder, label } = record;
  insertAll('role_releases', [{ family, releaseOrder, label }]);
  if (record.type === 'nice') {
    insertAll('work_role_facts', record.workRoles);
    const counts = { workRoles: record.workRoles.length, categories: record.categories };
    return { target: label, counts };
  }
  const { occupations } = record;
  insertAll(
    'occupation_facts',
    occupations.map((occupation) => ({ occupationCode: occupation.occupationCode, record: occupation })),
  );
  const sums = occupationLists.map((name) => [
    name,
    occupations.reduce((total, each) => total + each[name].length, 0),
  ]);
  const jobZones = occupations.filter((each) => each.jobZone !== null).length;
  const counts = { occupations: occupations.length, jobZones, ...Object.fromEntries(sums) };
  return { target: label, counts };
}
