import type { RoleDetails, RoleFacts } from '../../../src/catalog/guidance/role-schema.ts';
import { familyOf } from './families.ts';
import type { OccupationRecord } from './role-record.ts';

/** What the summary of an occupation says of it, but for its STIG mappings. */
export function toFacts(record: OccupationRecord): RoleFacts {
  const { occupationCode, title, jobZone, tasks, technologySkills } = record;
  return {
    occupationCode,
    title,
    occupationFamily: familyOf(occupationCode),
    jobZone,
    taskCount: tasks.length,
    technologySkillCount: technologySkills.length,
  };
}

/** What the full record says beyond that. */
export function toDetails(record: OccupationRecord): RoleDetails {
  const { description, jobZoneName, tasks, skills, abilities, workActivities, education } = record;
  const technologySkills = record.technologySkills.map(({ title, example, hotTechnology, inDemand }) => ({
    title,
    example,
    hotTechnology,
    inDemand,
  }));
  return { description, jobZoneName, tasks, technologySkills, skills, abilities, workActivities, education };
}
