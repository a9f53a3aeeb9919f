import { ImportError } from '../../../src/read/import-error.ts';
import { cprtBody, cprtBodyOf, cprtDocument } from '../../controls/cprt-shape.ts';
import { readShape } from '../../read/json-shape.ts';
import { createLosses } from '../../read/losses.ts';
import { collapseLine, excerpt } from '../../read/source-text.ts';
import type { NiceRecord } from './role-record.ts';

const kind = 'nice';

/** True for a CPRT export of the NICE Framework (SP 800-181), in any version. */
export function isNice(value: unknown): boolean {
  return /^SP_800_181(?:_|$)/.test(cprtDocument(value) ?? '');
}

/**
 * Reads the work roles of the NICE Framework with their categories (rule F9.2), without withdrawn ones. Gives
 * warnings of what is not stored. Throws `ImportError` for a broken export, and for a work role without a category that is not withdrawn.
 */
export function parseNice(value: unknown): { record: NiceRecord; warnings: string[] } {
  const { documents, elements, relationships } = readShape(cprtBody, cprtBodyOf(value), kind);
  const losses = createLosses();
  const of = (type: string) => elements.filter((element) => element.type === type);
  const categories = new Map(of('category').map(({ id, title }) => [id, titleCase(title)]));
  const categoryOf = new Map(
    relationships.filter(({ from }) => categories.has(from)).map(({ from, to }) => [to, from]),
  );
  const roles = of('work_role').flatMap(({ id: workRoleId, title, text }) => {
    const categoryCode = categoryOf.get(workRoleId);
    if (categoryCode === undefined) {
      if (/\bwithdrawn\b/i.test(`${title} ${text}`)) {
        losses.add('withdrawn work_role');
        return [];
      }
      throw new ImportError(`the work role ${excerpt(workRoleId)} is in no category`, kind);
    }
    const categoryName = categories.get(categoryCode)!;
    return [{ workRoleId, name: collapseLine(title), categoryCode, categoryName }];
  });
  if (roles.length === 0) throw new ImportError('the framework has no work roles', kind);
  const ids = new Set(roles.map((role) => role.workRoleId));
  if (ids.size < roles.length) throw new ImportError('a work role occurs twice', kind);
  for (const { type, text } of elements) {
    if (type !== 'category' && type !== 'work_role') losses.add(type);
    else if (text.trim() !== '') losses.add(`the text of a ${type}`);
  }
  for (const { from } of relationships)
    if (!categories.has(from)) losses.add('a relationship other than of category and work_role');
  for (const _ of documents.slice(1)) losses.add('a further document');
  const { version } = documents[0]!;
  const numbers = version.split('.').map((part) => part.padStart(4, '0'));
  // The larger export of a version wins: the one that we ship has only names.
  const releaseOrder = `${numbers.join('.')} ${String(elements.length).padStart(6, '0')}`;
  const label = `NICE Framework ${version}`;
  return {
    record: { type: 'nice', label, releaseOrder, categories: categories.size, workRoles: roles },
    warnings: losses.warnings(),
  };
}

/** `OVERSIGHT and GOVERNANCE` as `Oversight and Governance`. */
function titleCase(text: string): string {
  return collapseLine(text).replace(/\p{Lu}{2,}/gu, (word) => word[0]! + word.slice(1).toLowerCase());
}
