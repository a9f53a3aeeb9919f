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

export interface DecidedPair extends MappingDecision {
  ends: [GraphNode, GraphNode];
  /** No imported source makes an edge of the pair. */
  own: boolean;
  /** An end is not, or no longer, an active control of an imported catalog: the decision has no effect. */
  stale: boolean;
}

const { aFramework, aIdentifier, bFramework, bIdentifier } = mappingDecisions;
const pairKey = [aFramework, aIdentifier, bFramework, bIdentifier];

export type MappingDecisions = ReturnType<typeof createMappingDecisions>;

/** An operator's decisions about pairs of the crosswalk (rules D7.1, D34.5). */
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
  const deletion = orm.delete(mappingDecisions).where(isPair).prepare();

  /** Changes `Database.catalogVersion`. */
  function countChange(): void {
    orm
      .update(mappingChanges)
      .set({ changes: sql`${mappingChanges.changes} + 1` })
      .run();
  }

  /** Only the newest version counts, but for 800-171, whose revisions name different controls. */
  function standing(end: GraphNode): 'active' | 'withdrawn' | 'unknown' {
    const row = facts.control(end);
    if (!row) return 'unknown';
    return row.isNewest || end.framework === 'nist-800-171' ? row.status : 'withdrawn';
  }

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
        const own = facts.evidence(a, b).length === 0;
        return { ends: [a, b], ...decision, own, stale: isStale([a, b]) };
      }),

    /** The edges that decisions change or add to the sources' graph; rejected and stale ones add none. */
    over(stated: Graph): NamedEdge[] {
      return pairs().filter(({ a, b, status }) => {
        const [from, to] = [a, b].map(({ framework, identifier }) => stated.idOf(framework, identifier));
        const edge = from === undefined ? undefined : stated.neighbors[from]!.find(({ node }) => node === to);
        return edge ? edge.status !== statusCode(status) : status !== 'rejected' && !isStale([a, b]);
      });
    },

    /** Stores a decision, or replaces the one about the pair. */
    set([a, b]: [GraphNode, GraphNode], set: MappingDecision): void {
      const first = { aFramework: a.framework, aIdentifier: a.identifier };
      const values = { ...first, bFramework: b.framework, bIdentifier: b.identifier, ...set };
      orm.insert(mappingDecisions).values(values).onConflictDoUpdate({ target: pairKey, set }).run();
      countChange();
    },

    /** Deletes a decision; false where there is none. */
    remove(ends: [GraphNode, GraphNode]): boolean {
      countChange();
      return deletion.run(valuesOf(ends)).changes > 0;
    },
  };
}
