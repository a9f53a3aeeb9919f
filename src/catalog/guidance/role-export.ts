import { type SectionRow, sectionColumns, sectionRows } from '../../http/columns.ts';
import type { FlatFile } from '../../http/downloads.ts';
import { type Role, type RoleFile, StigMapping, Task, TechnologySkill } from './role-schema.ts';

// The role and its technology skills share the column `title`.
const listed = [Task, TechnologySkill, StigMapping].flatMap(({ shape }) => Object.keys(shape));
const columns = sectionColumns([...new Set(['occupationCode', 'title', ...listed])]);

/** The download of a role; its rows are the role, each task, each technology skill, each STIG. */
export function roleFile(role: Role): FlatFile<SectionRow> {
  const { occupationCode, title, tasks, technologySkills, stigMappings } = role;
  const json: RoleFile = { occupationCode, title, tasks, technologySkills, stigMappings };
  const rows = [
    ...sectionRows('role', [{ occupationCode, title }]),
    ...sectionRows('tasks', tasks),
    ...sectionRows('technologySkills', technologySkills),
    ...sectionRows('stigMappings', stigMappings),
  ];
  return { json, root: 'role', element: 'row', columns, rows };
}
