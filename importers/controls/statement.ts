import { partOfItem } from '../../src/catalog/controls/assessment-record.ts';
import type { StatementPart } from '../../src/catalog/controls/schema.ts';

/** A statement as plain text (rule D6.4): a line for each part, indented by depth, its label first. */
export function renderStatement(parts: StatementPart[], depth = 0): string {
  return parts
    .flatMap(({ label, prose, parts: below }) => {
      const line = [label, prose].filter((text) => text !== '').join(' ');
      return [line === '' ? '' : '  '.repeat(depth) + line, renderStatement(below, depth + 1)];
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** The label of an item of 800-171 Rev 3, from its id: `SR-03.01.01.c` has `c.`, `SR-03.01.01.c.02` has `2.`. */
export function labelOfItem(id: string): string {
  const last = partOfItem(id).split(' ').at(-1);
  return last ? `${last}.` : '';
}
