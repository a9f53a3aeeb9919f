import { and, eq, sql } from 'drizzle-orm';
import { compareCodePoints } from '../../base/text.ts';
import { crosswalkEvidence, crosswalkNodes, mappingDecisions } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { compareFrameworks } from '../controls/frameworks.ts';
import { sortKey } from '../controls/identifier.ts';
import { createFacts } from './facts.ts';
import type { GraphNode, MappingStatus } from './graph.ts';

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

/** The two ends of a pair in the order of the crosswalk's nodes, in which decisions hold them. */
export function inOrder(one: GraphNode, other: GraphNode): [GraphNode, GraphNode] {
  const order =
    compareFrameworks(one.framework, other.framework) ||
    compareCodePoints(sortKey(one.framework, one.identifier), sortKey(other.framework, other.identifier));
  return order <= 0 ? [one, other] : [other, one];
}

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

  /** What a control is to the crosswalk; the revisions of 800-171 name different ones. */
  function standing(end: GraphNode): 'active' | 'withdrawn' | 'unknown' {
    const row = facts.control(end);
    if (!row) return 'unknown';
    return row.isNewest || end.framework === 'nist-800-171' ? row.status : 'withdrawn';
  }

  /** Whether an imported source makes an edge of a pair. */
  function hasEvidence(ends: [GraphNode, GraphNode]): boolean {
    const [a, b] = ends.map(({ framework, identifier }) =>
      orm
        .select({ id: crosswalkNodes.id })
        .from(crosswalkNodes)
        .where(and(eq(crosswalkNodes.framework, framework), eq(crosswalkNodes.identifier, identifier))),
    );
    const isEdge = and(eq(crosswalkEvidence.a, a!), eq(crosswalkEvidence.b, b!));
    return orm.select({ a: crosswalkEvidence.a }).from(crosswalkEvidence).where(isEdge).get() !== undefined;
  }

  return {
    standing,

    /** The decision about a pair, whichever end comes first; null where there is none. */
    of: (from: GraphNode, to: GraphNode): MappingDecision | null =>
      one.get(valuesOf(inOrder(from, to))) ?? null,

    /** Every decision, in the order in which they were made. */
    all(): DecidedPair[] {
      const rows = orm.select().from(mappingDecisions).orderBy(decidedAt, aIdentifier, bIdentifier).all();
      return rows.map(({ status, reason, decidedAt, ...row }) => {
        const ends: [GraphNode, GraphNode] = [
          { framework: row.aFramework, identifier: row.aIdentifier },
          { framework: row.bFramework, identifier: row.bIdentifier },
        ];
        const stale = ends.some((end) => standing(end) !== 'active');
        return { ends, status, reason, decidedAt, own: !hasEvidence(ends), stale };
      });
    },

    /** Stores a decision in the place of the last; what follows from it is derived by the caller. */
    set([a, b]: [GraphNode, GraphNode], set: MappingDecision): void {
      const pair = { aFramework: a.framework, aIdentifier: a.identifier };
      const other = { bFramework: b.framework, bIdentifier: b.identifier };
      const values = { ...pair, ...other, ...set };
      orm.insert(mappingDecisions).values(values).onConflictDoUpdate({ target: pairKey, set }).run();
    },

    /** Takes a decision back; false where there is none. */
    remove: (ends: [GraphNode, GraphNode]): boolean => take.run(valuesOf(ends)).changes > 0,
  };
}
