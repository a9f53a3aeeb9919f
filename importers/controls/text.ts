import type { StatementPart } from './record.ts';

/** A text on one line: runs of blanks, line breaks and no-break spaces become one blank, none at the ends. */
export function collapseLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A text on its lines: each collapsed and without its indentation, at most one empty line between two, none at the ends. */
export function collapseLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(collapseLine)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/**
 * Closes the gaps that inserted parameters and removed links leave in a collapsed text: no blank before `;,:).` nor
 * after `(`. A dot that begins a word (`.mil`) keeps its blank.
 */
export function closeUp(text: string): string {
  return text.replace(/ (?=[;,:)]|\.(?![\w.]))/g, '').replace(/\( /g, '(');
}

/** A text from a source as messages show it: on one line, without control characters, cut short. */
export function shown(text: string, length = 60): string {
  const head = text.slice(0, 4 * length).toWellFormed();
  return [...collapseLine(head.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' '))].slice(0, length).join('');
}

/** A statement as plain text (rule D6.4): each part on its own line, two blanks per depth, its label first. */
export function renderStatement(parts: StatementPart[], depth = 0): string {
  return parts
    .flatMap(({ label, prose, parts: below }) => {
      const line = [label, prose].filter((text) => text !== '').join(' ');
      return [line === '' ? '' : '  '.repeat(depth) + line, renderStatement(below, depth + 1)];
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** The label of an item of 800-171 Rev 3, from the end of its id: `SR-03.01.01.c` has `c.`, `SR-03.01.01.c.02` has `2.`. */
export function labelOfItem(id: string): string {
  const segments = id.split('.').slice(3);
  const last = segments[segments.length - 1];
  return last === undefined ? '' : `${last.replace(/^0+(?=\d)/, '')}.`;
}
