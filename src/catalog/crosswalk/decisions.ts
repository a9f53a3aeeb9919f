import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { mappingChanges, mappingDecisions } from '../../db/user-tables.ts';
import { createFacts } from './facts.ts';
import {
  type Graph,
  type GraphNode,
  inOrder,
  type MappingStatus,
  type NamedEdge,
  statusCode,
} from './graph.ts';

export interface MappingDecision {
  status: MappingStatus;
  reason: string;
  decidedAt: string;
}

/** A decision with its pair. */
export interface DecidedPair extends MappingDecision {
  ends: [GraphNode, GraphNode];
  /** No imported source makes an edge of the pair: it is the site's own. */
  own: boolean;
  /** An end is no active control of an imported catalog, or is none any more: it decides nothing. */
  stale: boolean;
}

const { aFramework, aIdentifier, bFramework, bIdentifier } = mappingDecisions;
const pairKey = [aFramework, aIdentifier, bFramework, bIdentifier];

export type MappingDecisions = ReturnType<typeof createMappingDecisions>;

/** What an operator decided about pairs of the crosswalk (rules D7.1, D34.5). */
export function createMappingDecisions(db: Database) {
  const { orm } = db;
  const facts = createFacts(db);
  const isPair = and(...pairKey.map((column) => eq(column, sql.placeholder(column.name))));
  const valuesOf = ([a, b]: [GraphNode, GraphNode]) => ({
    ...{ a_framework: a.framework, a_identifier: a.identifier },
    ...{ b_framework: b.framework, b_identifier: b.identifier },
  });
  const { status, reason, decidedAt } = mappingDecisions;
  const one = orm.select({ status, reason, decidedAt }).from(mappingDecisions).where(isPair).prepare();
  const take = orm.delete(mappingDecisions).where(isPair).prepare();

  /** What the crosswalk is made of is another from now on (see `generation`). */
  function countChange(): void {
    orm
      .update(mappingChanges)
      .set({ changes: sql`${mappingChanges.changes} + 1` })
      .run();
  }

  /** What a control is to the crosswalk; the revisions of 800-171 name different ones. */
  function standing(end: GraphNode): 'active' | 'withdrawn' | 'unknown' {
    const row = facts.control(end);
    if (!row) return 'unknown';
    return row.isNewest || end.framework === 'nist-800-171' ? row.status : 'withdrawn';
  }

  /** Every pair that is decided, in the order in which that was. */
  function pairs() {
    const rows = orm.select().from(mappingDecisions).orderBy(decidedAt, aIdentifier, bIdentifier).all();
    return rows.map(({ aFramework, aIdentifier, bFramework, bIdentifier, ...decision }) => {
      const a = { framework: aFramework, identifier: aIdentifier };
      const b = { framework: bFramework, identifier: bIdentifier };
      return { a, b, ...decision };
    });
  }

  const isStale = (ends: GraphNode[]) => ends.some((end) => standing(end) !== 'active');

  return {
    standing,

    /** The decision about a pair, whichever end comes first; null where there is none. */
    of: (from: GraphNode, to: GraphNode): MappingDecision | null =>
      one.get(valuesOf(inOrder(from, to))) ?? null,

    /** Every decision, in the order in which they were made. */
    all: (): DecidedPair[] =>
      pairs().map(({ a, b, ...decision }) => {
        const ends: [GraphNode, GraphNode] = [a, b];
        return { ends, ...decision, own: facts.evidence(a, b).length === 0, stale: isStale(ends) };
      }),

    /**
     * What the decisions make other than the graph of what sources state: an edge of another status, and where no source makes
     * one between two active controls the site's own, unless it is rejected.
     */
    over(stated: Graph): NamedEdge[] {
      return pairs().filter(({ a, b, status }) => {
        const [from, to] = [a, b].map(({ framework, identifier }) => stated.idOf(framework, identifier));
        const edge = from === undefined ? undefined : stated.neighbors[from]!.find(({ node }) => node === to);
        return edge ? edge.status !== statusCode(status) : status !== 'rejected' && !isStale([a, b]);
      });
    },

    /** Stores a decision in the place of the last. */
    set([a, b]: [GraphNode, GraphNode], set: MappingDecision): void {
      const pair = { aFramework: a.framework, aIdentifier: a.identifier };
      const other = { bFramework: b.framework, bIdentifier: b.identifier };
      const values = { ...pair, ...other, ...set };
      orm.insert(mappingDecisions).values(values).onConflictDoUpdate({ target: pairKey, set }).run();
      countChange();
    },

    /** Takes a decision back; false where there is none. */
    remove(ends: [GraphNode, GraphNode]): boolean {
      countChange();
      return take.run(valuesOf(ends)).changes > 0;
    },
  };
}
