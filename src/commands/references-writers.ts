import { escapedLine } from '../base/text.ts';
import { type FileReference, referenceColumns } from '../checklists/reference-columns.ts';
import type { References } from '../checklists/reference-schema.ts';
import { toCsv } from '../http/columns.ts';
import { sarifOf } from './references-sarif.ts';

type Counts = Partial<References['counts']>;

/** Writes what is found in one file after the other: a tree has more references than fit into memory. */
export interface ReferencesWriter {
  begin: string;
  /** The references of the next file. */
  next(found: FileReference[]): string;
  end(counts: Counts): string;
}

/** The writers of `gapstone references` by format (rule D39.2). */
export const referencesWriters: Record<'text' | 'json' | 'csv' | 'sarif', () => ReferencesWriter> = {
  text: () => ({
    begin: '',
    next: (found) => linesOf(found.filter(({ state }) => state !== 'current').map(lineOf)),
    end: (counts) => {
      const total = Object.entries(counts).map(([state, number]) => `${number} ${state}`);
      return linesOf([total.join(', ') || 'no ids found']);
    },
  }),
  json: () => ({
    ...elements('{"references":['),
    end: (counts) => `],"counts":${JSON.stringify(counts)}}\n`,
  }),
  csv: () => {
    const head = toCsv(referenceColumns, []);
    return {
      begin: head,
      next: (found) => toCsv(referenceColumns, found).slice(head.length),
      end: () => '',
    };
  },
  sarif: () => {
    const ending = ']}]}';
    const { next } = elements('');
    return {
      begin: JSON.stringify(sarifOf([])).slice(0, -ending.length),
      next: (found) => next(sarifOf(found).runs[0]!.results),
      end: () => `${ending}\n`,
    };
  },
};

/** The elements of a JSON array, a few at a time. */
function elements(begin: string) {
  let comma = '';
  return {
    begin,
    next(found: object[]): string {
      if (found.length === 0) return '';
      const text = comma + found.map((each) => JSON.stringify(each)).join(',');
      comma = ',';
      return text;
    },
  };
}

const linesOf = (lines: string[]) => lines.map((line) => `${escapedLine(line)}\n`).join('');

const lineOf = ({ file, line, column, text, state, advice }: FileReference) =>
  `${file}:${line}:${column}: ${text} ${state}${advice === null ? '' : `: ${advice}`}`;
