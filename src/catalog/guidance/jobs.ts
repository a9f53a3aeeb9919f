import { type SectionRow, sectionColumns, sectionRows } from '../../http/columns.ts';
import { type FileChoice, type RenderedFile, renderFile } from '../../http/downloads.ts';
import { ActionableItem } from './document-schema.ts';
import type { DocumentService, RoleService } from './queries.ts';
import { StigMapping, Task, TechnologySkill } from './role-schema.ts';

const documentColumns = sectionColumns([
  ...['documentId', 'title', 'tag', 'page', 'inferenceText', 'csfFunction', 'csfCategory', 'csfCategoryName'],
  ...Object.keys(ActionableItem.shape),
]);

// The role and its technology skills share the column `title`.
const listed = [Task, TechnologySkill, StigMapping].flatMap(({ shape }) => Object.keys(shape));
const roleColumns = sectionColumns([...new Set(['occupationCode', 'title', ...listed])]);

/** The download of a document: a row for itself, for each signpost in each category, and for each actionable item. */
export function documentFile(
  { documents }: { documents: DocumentService },
  id: string,
  choice: FileChoice,
): RenderedFile {
  const { documentId, title, signposts, actionableItems } = documents.record(id);
  const json = { documentId, title, signposts, actionableItems };
  const places: SectionRow[] = signposts.flatMap(({ nistCsf, ...signpost }, index) =>
    (nistCsf.length === 0 ? [{}] : nistCsf).map((category) => ({
      section: 'signposts',
      ordinal: index + 1,
      values: { ...signpost, ...category },
    })),
  );
  const rows = [
    ...sectionRows('document', [{ documentId, title }]),
    ...places,
    ...sectionRows('actionableItems', actionableItems),
  ];
  return renderFile(choice, { json, root: 'regdoc', element: 'row', columns: documentColumns, rows });
}

/** The download of a role: a row for itself, for each task, technology skill and STIG. */
export function roleFile({ roles }: { roles: RoleService }, code: string, choice: FileChoice): RenderedFile {
  const { occupationCode, title, tasks, technologySkills, stigMappings } = roles.record(code);
  const role = { occupationCode, title };
  const lists = { tasks, technologySkills, stigMappings };
  const sections = Object.entries({ role: [role], ...lists });
  const rows = sections.flatMap(([name, rows]) => sectionRows(name, rows));
  return renderFile(choice, {
    json: { ...role, ...lists },
    root: 'role',
    element: 'row',
    columns: roleColumns,
    rows,
  });
}
