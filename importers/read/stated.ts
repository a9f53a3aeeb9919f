/** The ledger's view of a source with stored facts. */
export interface Stated {
  /** null where what the source is about is only known with others. */
  target: string | null;
  counts: Record<string, number>;
}
