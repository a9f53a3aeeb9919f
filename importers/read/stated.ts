/** The ledger's view of a source with stored facts. */
export interface Stated {
  /** Its subject: a catalog, a document, a release of roles. */
  target: string;
  counts: Record<string, number>;
}
