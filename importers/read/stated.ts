/** The ledger's view of a source with stored facts. */
export interface Stated {
  target: string;
  counts: Record<string, number>;
}
