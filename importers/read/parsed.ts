import type { Kind } from '../../src/read/import-error.ts';

/** What reading a source gives: content, or the reason why there is none. */
export type Parsed<Content> =
  | { kind: Kind; content: Content; warnings: string[] }
  | { kind: Kind; content: null; reason: string; warnings: string[] };

/** A source of an unknown kind. */
export function skipped(reason: string, warnings: string[] = []): Parsed<never> {
  return { kind: 'other', content: null, reason, warnings };
}

/** A source with content; warnings of decoding come first. */
export function stored<Content>(kind: Kind, content: Content, ...warnings: string[][]): Parsed<Content> {
  return { kind, content, warnings: warnings.flat() };
}

/** One file of a source of several files. */
export interface GroupFile {
  name: string;
  /** Empty for a table of O*NET that no importer reads: a release has large ones. */
  bytes: Buffer;
}

/** What the ledger tells of a source whose facts are stored. */
export interface StagedFacts {
  /** null where what the source is about is only known with others. */
  target: string | null;
  counts: Record<string, number>;
}
