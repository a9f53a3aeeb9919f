import type { Database } from '../../../src/db/database.ts';
import { prepareInsert } from '../../../src/db/insert.ts';
import type { Stated } from '../../read/stated.ts';
import { type OnetRecord, occupationLists, type RolesRecord } from './role-record.ts';

/** Stores the roles of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageRoles(db: Database, sourceId: number, record: RolesRecord): Stated {
  if (record.type === 'role-mapping') {
    const insertMapping = prepareInsert(db, 'curated_mapping_facts');
    for (const row of record.rows) insertMapping({ sourceId, ...row });
    return { target: 'role mapping', counts: { rows: record.rows.length } };
  }
  const { type: family, releaseOrder, label } = record;
  prepareInsert(db, 'role_releases')({ sourceId, family, releaseOrder, label });
  if (record.type === 'onet') {
    const insertOccupation = prepareInsert(db, 'occupation_facts');
    for (const occupation of record.occupations)
      insertOccupation({ sourceId, occupationCode: occupation.occupationCode, record: occupation });
    return { target: label, counts: countsOf(record) };
  }
  const insertWorkRole = prepareInsert(db, 'work_role_facts');
  for (const workRole of record.workRoles) insertWorkRole({ sourceId, ...workRole });
  return { target: label, counts: { workRoles: record.workRoles.length, categories: record.categories } };
}

function countsOf({ occupations }: OnetRecord): Record<string, number> {
  const sums = occupationLists.map((name) => [
    name,
    occupations.reduce((total, each) => total + each[name].length, 0),
  ]);
  const jobZones = occupations.filter((each) => each.jobZone !== null).length;
  return { occupations: occupations.length, jobZones, ...Object.fromEntries(sums) };
}

/** Removes a source with its statements, and notes why. */
export function removeSource(
  db: Database,
  sourceId: number,
  reason: string,
  superseded: Map<number, string>,
): void {
  db.sqlite.prepare('DELETE FROM sources WHERE id = ?').run(sourceId);
  superseded.set(sourceId, reason);
}
