/** What the ledger says of a source whose facts are stored. */
export interface Stated {
  /** What it speaks of: a catalog, a document, a release of roles. */
  target: string;
  counts: Record<string, number>;
}
