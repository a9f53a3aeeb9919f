import { type SectionRow, sectionColumns, sectionRows } from '../../http/sections.ts';
import { type Role, type RoleFile, StigMapping, Task, TechnologySkill } from './role-schema.ts';

/** The json download of a role. */
export function toRoleFile({ occupationCode, title, tasks, technologySkills, stigMappings }: Role): RoleFile {
  return { occupationCode, title, tasks, technologySkills, stigMappings };
}

/** The columns of the csv and xml downloads of a role; the role and its technology skills share the column `title`. */
export const roleColumns = sectionColumns([
  ...new Set([
    'occupationCode',
    'title',
    ...Object.keys(Task.shape),
    ...Object.keys(TechnologySkill.shape),
    ...Object.keys(StigMapping.shape),
  ]),
]);

/** The rows: the role, each task, each technology skill, each STIG. */
export function roleRows({
  occupationCode,
  title,
  tasks,
  technologySkills,
  stigMappings,
}: RoleFile): SectionRow[] {
  return [
    ...sectionRows('role', [{ occupationCode, title }]),
    ...sectionRows('tasks', tasks),
    ...sectionRows('technologySkills', technologySkills),
    ...sectionRows('stigMappings', stigMappings),
  ];
}
