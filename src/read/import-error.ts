/** The kinds of sources in the ledger (rule D20). */
export type Kind =
  | 'xccdf'
  | 'scap'
  | 'oscal-catalog'
  | 'oscal-profile'
  | 'oscal-mapping'
  | 'cprt'
  | 'cci-list'
  | 'dod-8500'
  | 'diacap-map'
  | 'controls-csv'
  | 'mappings-csv'
  | 'onet'
  | 'nice'
  | 'regdoc'
  | 'regdoc-markdown'
  | 'role-mapping-csv'
  | 'synonyms-csv'
  | 'archive'
  | 'other';

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
