import type { Kind } from './ledger.ts';

/** A source that cannot be imported: one clear line that says why and where, and its kind as far as it was known. */
export class ImportError extends Error {
  kind: Kind;

  constructor(message: string, kind: Kind = 'other') {
    super(message);
    this.name = 'ImportError';
    this.kind = kind;
  }
}
