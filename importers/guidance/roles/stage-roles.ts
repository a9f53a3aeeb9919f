import type { Database } from '../../../src/db/database.ts';
import type { Stated } from '../../read/stated.ts';
import type { OnetRecord, RolesRecord } from './role-record.ts';

/** Stores what one source states of roles, inside the run's transaction; gives what the ledger says of it. */
export function stageRoles(db: Database, sourceId: number, record: RolesRecord): Stated {
  const release = db.sqlite.prepare('INSERT INTO role_releases VALUES (?, ?, ?, ?)');
  const occupation = db.sqlite.prepare('INSERT INTO occupation_facts VALUES (?, ?, ?)');
  const workRole = db.sqlite.prepare('INSERT INTO work_role_facts VALUES (?, ?, ?, ?, ?)');
  const curated = db.sqlite.prepare('INSERT INTO curated_mapping_facts VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  switch (record.type) {
    case 'onet':
      release.run(sourceId, 'onet', record.newness, record.label);
      for (const each of record.occupations)
        occupation.run(sourceId, each.occupationCode, JSON.stringify(each));
      return { target: record.label, counts: countsOf(record) };
    case 'nice':
      release.run(sourceId, 'nice', record.newness, record.label);
      for (const each of record.workRoles)
        workRole.run(sourceId, each.workRoleId, each.name, each.categoryCode, each.categoryName);
      return {
        target: record.label,
        counts: { workRoles: record.workRoles.length, categories: record.categories },
      };
    case 'role-mapping':
      for (const each of record.rows) {
        const { stigSlug, occupationCode, confidenceScore, responsibilityLevel, workRoleId, reason, row } =
          each;
        curated.run(
          sourceId,
          stigSlug,
          occupationCode,
          confidenceScore,
          responsibilityLevel,
          workRoleId,
          reason,
          row,
        );
      }
      return { target: 'role mapping', counts: { rows: record.rows.length } };
  }
}

function countsOf({ occupations }: OnetRecord): Record<string, number> {
  const sum = (
    name: 'tasks' | 'technologySkills' | 'skills' | 'abilities' | 'workActivities' | 'education',
  ) => occupations.reduce((total, each) => total + each[name].length, 0);
  return {
    occupations: occupations.length,
    jobZones: occupations.filter((each) => each.jobZone !== null).length,
    tasks: sum('tasks'),
    technologySkills: sum('technologySkills'),
    skills: sum('skills'),
    abilities: sum('abilities'),
    workActivities: sum('workActivities'),
    education: sum('education'),
  };
}
