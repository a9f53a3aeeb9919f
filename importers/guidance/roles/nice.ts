import { ImportError } from '../../../src/read/import-error.ts';
import { cprtBody, cprtBodyOf, cprtDocument } from '../../controls/cprt-shape.ts';
import { readShape } from '../../read/json-shape.ts';
import { createLosses } from '../../read/losses.ts';
import { type Parsed, stored } from '../../read/parsed.ts';
import { collapseLine, excerpt } from '../../read/source-text.ts';
import type { NiceRecord, RolesContent } from './role-record.ts';

const kind = 'nice';

/** True for a CPRT export of the NICE Framework (SP 800-181), in any version. */
export function isNice(value: unknown): boolean {
  return /^SP_800_181(?:_|$)/.test(cprtDocument(value) ?? '');
}

/**
 * Reads the work roles of the NICE Framework with their categories (rule F9.2), without withdrawn ones. Gives warnings of
 * what is not stored. Throws `ImportError` for a broken export, and for a work role in no category that is not withdrawn.
 */
export function parseNice(value: unknown): Parsed<RolesContent> {
  const { documents, elements, relationships } = readShape(cprtBody, cprtBodyOf(value), kind);
  const losses = createLosses();
  const elementsOf = (type: string) => elements.filter((element) => element.type === type);
  const categories = new Map(elementsOf('category').map(({ id, title }) => [id, titleCase(title)]));
  const categoryOf = new Map(
    relationships.filter(({ from }) => categories.has(from)).map(({ from, to }) => [to, from]),
  );
  const workRoles = elementsOf('work_role').flatMap(({ id: workRoleId, title, text }) => {
    const categoryCode = categoryOf.get(workRoleId);
    if (categoryCode !== undefined)
      return [
        {
          workRoleId,
          name: collapseLine(title),
          categoryCode,
          categoryName: categories.get(categoryCode)!,
        },
      ];
    if (!/\bwithdrawn\b/i.test(`${title} ${text}`))
      throw new ImportError(`the work role ${excerpt(workRoleId)} is in no category`, kind);
    losses.add('withdrawn work_role');
    return [];
  });
  if (workRoles.length === 0) throw new ImportError('the framework has no work roles', kind);
  if (new Set(workRoles.map((role) => role.workRoleId)).size < workRoles.length)
    throw new ImportError('a work role occurs twice', kind);
  for (const { type, text } of elements) {
    if (type !== 'category' && type !== 'work_role') losses.add(type);
    else if (text.trim() !== '') losses.add(`the text of a ${type}`);
  }
  for (const { from } of relationships)
    if (!categories.has(from)) losses.add('a relationship other than of category and work_role');
  for (const _ of documents.slice(1)) losses.add('a further document');
  const { version } = documents[0]!;
  const numbers = version.split('.').map((part) => part.padStart(4, '0'));
  const record: NiceRecord = {
    type: 'nice',
    label: `NICE Framework ${version}`,
    // The larger export of a version wins: the one that we ship has only names.
    releaseOrder: `${numbers.join('.')} ${String(elements.length).padStart(6, '0')}`,
    categories: categories.size,
    workRoles,
  };
  return stored(kind, { type: 'roles', record }, losses.warnings());
}

/** `OVERSIGHT and GOVERNANCE` as `Oversight and Governance`. */
function titleCase(text: string): string {
  return collapseLine(text).replace(/\p{Lu}{2,}/gu, (word) => word[0]! + word.slice(1).toLowerCase());
}
