import type { Kind } from './kind.ts';

/** A source that cannot be imported: one line that says why and where, and its kind where known. */
export class ImportError extends Error {
  kind: Kind;

  constructor(message: string, kind: Kind = 'other') {
    super(oneLine(message));
    this.name = 'ImportError';
    this.kind = kind;
  }
}

/** A text for one line of the ledger: control characters become blanks. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

/** A problem that shows only when all sources are read: a warning for the ledger line of its source. */
export interface SourceProblem {
  sourceId: number;
  message: string;
}
