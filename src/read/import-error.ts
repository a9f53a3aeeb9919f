import type { Kind } from './kind.ts';

/** A source that cannot be imported: one clear line that says why and where, and its kind as far as it was known. */
export class ImportError extends Error {
  kind: Kind;

  constructor(message: string, kind: Kind = 'other') {
    super(oneLine(message));
    this.name = 'ImportError';
    this.kind = kind;
  }
}

/** A text on one line of the ledger, whatever a file put into it: control characters become blanks. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

/** Something about a source that only shows when all sources are read: a warning for its ledger line. */
export interface SourceProblem {
  sourceId: number;
  message: string;
}
