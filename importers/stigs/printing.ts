import type { Evidence } from './evidence.ts';

/** One stored printing of a release, with what decides its STIG. */
export interface Printing {
  sha256: string;
  /** The folded benchmark id (`aliasKey`), with the kind. */
  idKey: string;
  benchmarkId: string;
  title: string;
  version: string;
  releaseOrder: string;
  releaseDate: string | null;
  stigIds: Uint32Array;
  /** Few comparisons need it: it may be read on demand. */
  evidence(): Evidence;
  /** The identifiers of its rules, read on demand. */
  identifiers(): RuleIdentifiers;
}

/** The STIG id, V- and SV-number of each rule, former ones included, and all of them together. */
export interface RuleIdentifiers {
  rules: string[][];
  ids: Set<string>;
}
