import type { Kind } from './ledger.ts';
import type { XccdfRelease } from './xccdf/record.ts';

/** What the bytes of one source turned out to be: a record to store, or a kind that is not stored and why. */
export type Parsed =
  | { kind: 'xccdf'; record: XccdfRelease; warnings: string[] }
  | { kind: Kind; record: null; reason: string; warnings: string[] };

/** Raised when what an importer makes of the same bytes changes, so that stored sources are read again. */
export const importerVersion = 1;
