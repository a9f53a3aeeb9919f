import type { Database } from '../../db/database.ts';
import { createFacts } from './facts.ts';
import { type GraphNode, inOrder, type MappingStatus, type NamedEdge, nameOfEdge } from './graph.ts';

export interface MappingDecision {
  status: MappingStatus;
  reason: string;
  decidedAt: string;
}

export interface DecidedPair extends MappingDecision {
  ends: [GraphNode, GraphNode];
  /** No imported source makes an edge of the pair. */
  own: boolean;
  /** An end is not, or no longer, an active control of an imported catalog: the decision has no effect. */
  stale: boolean;
}

type PairKey = [aFramework: string, aIdentifier: string, bFramework: string, bIdentifier: string];

const isPair = 'a_framework = ? AND a_identifier = ? AND b_framework = ? AND b_identifier = ?';
const keyOf = ([a, b]: [GraphNode, GraphNode]): PairKey => [
  a.framework,
  a.identifier,
  b.framework,
  b.identifier,
];

export type MappingDecisions = ReturnType<typeof createMappingDecisions>;

/** An operator's decisions about pairs of the crosswalk (rules D7.1, D34.5). */
export function createMappingDecisions(db: Database) {
  const { sqlite } = db;
  const facts = createFacts(db);
  const one = sqlite.prepare<PairKey, MappingDecision>(
    `SELECT status, reason, decided_at AS decidedAt FROM mapping_decisions WHERE ${isPair}`,
  );
  const every = sqlite
    .prepare<[], string>(
      `SELECT json_object('a', json_object('framework', a_framework, 'identifier', a_identifier),
                'b', json_object('framework', b_framework, 'identifier', b_identifier),
                'status', status, 'reason', reason, 'decidedAt', decided_at)
         FROM mapping_decisions ORDER BY decided_at, a_identifier, b_identifier`,
    )
    .pluck();
  const store = sqlite.prepare<[...PairKey, string, string, string]>(
    `INSERT INTO mapping_decisions (a_framework, a_identifier, b_framework, b_identifier, status, reason, decided_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET status = excluded.status, reason = excluded.reason, decided_at = excluded.decided_at`,
  );
  const deletion = sqlite.prepare<PairKey>(`DELETE FROM mapping_decisions WHERE ${isPair}`);
  /** Changes `Database.catalogVersion`. */
  const countChange = sqlite.prepare('UPDATE mapping_changes SET changes = changes + 1');

  /** Only the newest version counts, but for 800-171, whose revisions name different controls. */
  function standing(end: GraphNode): 'active' | 'withdrawn' | 'unknown' {
    const row = facts.control(end);
    if (!row) return 'unknown';
    return row.isNewest || end.framework === 'nist-800-171' ? row.status : 'withdrawn';
  }

  const isStale = (ends: GraphNode[]) => ends.some((end) => standing(end) !== 'active');

  const pairs = (): (NamedEdge & MappingDecision)[] => every.all().map((each) => JSON.parse(each));

  return {
    standing,

    /** The decision about a pair, whichever end comes first; null where there is none. */
    of: (from: GraphNode, to: GraphNode): MappingDecision | null =>
      one.get(...keyOf(inOrder(from, to))) ?? null,

    /** Every decision, in the order in which they were made. */
    all: (): DecidedPair[] =>
      pairs().map(({ a, b, ...decision }) => {
        const own = facts.evidence(a, b).length === 0;
        return { ends: [a, b], ...decision, own, stale: isStale([a, b]) };
      }),

    /** The edges that decisions change or add to the sources' edges by name; rejected and stale ones add none. */
    over: (stated: Map<string, NamedEdge>): NamedEdge[] =>
      pairs().filter((pair) => {
        const edge = stated.get(nameOfEdge(pair));
        return edge ? edge.status !== pair.status : pair.status !== 'rejected' && !isStale([pair.a, pair.b]);
      }),

    /** Stores a decision, or replaces the one about the pair. */
    set(ends: [GraphNode, GraphNode], { status, reason, decidedAt }: MappingDecision): void {
      store.run(...keyOf(ends), status, reason, decidedAt);
      countChange.run();
    },

    /** Deletes a decision; false where there is none. */
    remove(ends: [GraphNode, GraphNode]): boolean {
      countChange.run();
      return deletion.run(...keyOf(ends)).changes > 0;
    },
  };
}
