import { compareCodePoints } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { compareFrameworks } from '../controls/frameworks.ts';
import { sortKey } from '../controls/identifier.ts';
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

interface Row {
  a_framework: string;
  a_identifier: string;
  b_framework: string;
  b_identifier: string;
  status: MappingStatus;
  reason: string;
  decided_at: string;
}

/** The two ends of a pair in the order of the crosswalk's nodes, in which decisions hold them. */
export function inOrder(one: GraphNode, other: GraphNode): [GraphNode, GraphNode] {
  const order =
    compareFrameworks(one.framework, other.framework) ||
    compareCodePoints(sortKey(one.framework, one.identifier), sortKey(other.framework, other.identifier));
  return order <= 0 ? [one, other] : [other, one];
}

export type MappingDecisions = ReturnType<typeof createMappingDecisions>;

/** What an operator decided about pairs of the crosswalk (rules D7.1, D34.5). */
export function createMappingDecisions({ sqlite }: Database) {
  const pair = 'a_framework = ? AND a_identifier = ? AND b_framework = ? AND b_identifier = ?';
  const one = sqlite.prepare<string[], Row>(`SELECT * FROM mapping_decisions WHERE ${pair}`);
  const every = sqlite.prepare<[], Row>(
    'SELECT * FROM mapping_decisions ORDER BY decided_at, a_identifier, b_identifier',
  );
  const put = sqlite.prepare<string[]>(
    `INSERT INTO mapping_decisions VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET status = excluded.status, reason = excluded.reason, decided_at = excluded.decided_at`,
  );
  const take = sqlite.prepare<string[]>(`DELETE FROM mapping_decisions WHERE ${pair}`);
  const evidence = sqlite.prepare<string[]>(
    `SELECT 1 FROM crosswalk_evidence AS e
       JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b
      WHERE a.framework = ? AND a.identifier = ? AND b.framework = ? AND b.identifier = ?`,
  );
  const newest = sqlite.prepare<[string, string], { status: 'active' | 'withdrawn'; is_newest: 0 | 1 }>(
    `SELECT c.status, v.is_newest FROM controls AS c
       JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
      WHERE c.framework = ? AND c.identifier = ? ORDER BY v.is_newest DESC LIMIT 1`,
  );

  const namesOf = (ends: [GraphNode, GraphNode]) =>
    ends.flatMap(({ framework, identifier }) => [framework, identifier]);

  /** What a control is to the crosswalk; the revisions of 800-171 name different ones. */
  function standing({ framework, identifier }: GraphNode): 'active' | 'withdrawn' | 'unknown' {
    const row = newest.get(framework, identifier);
    if (!row) return 'unknown';
    return row.is_newest || framework === 'nist-800-171' ? row.status : 'withdrawn';
  }

  return {
    standing,

    /** The decision about a pair, whichever end comes first; null where there is none. */
    of(from: GraphNode, to: GraphNode): MappingDecision | null {
      const row = one.get(...namesOf(inOrder(from, to)));
      return row ? { status: row.status, reason: row.reason, decidedAt: row.decided_at } : null;
    },

    /** Every decision, in the order in which they were made. */
    all: (): DecidedPair[] =>
      every.all().map((row) => {
        const ends: [GraphNode, GraphNode] = [
          { framework: row.a_framework, identifier: row.a_identifier },
          { framework: row.b_framework, identifier: row.b_identifier },
        ];
        const own = evidence.get(...namesOf(ends)) === undefined;
        const stale = ends.some((end) => standing(end) !== 'active');
        return { ends, status: row.status, reason: row.reason, decidedAt: row.decided_at, own, stale };
      }),

    /** Stores a decision in the place of the last; what follows from it is derived by the caller. */
    set(ends: [GraphNode, GraphNode], { status, reason, decidedAt }: MappingDecision): void {
      put.run(...namesOf(ends), status, reason, decidedAt);
    },

    /** Takes a decision back; false where there is none. */
    remove: (ends: [GraphNode, GraphNode]): boolean => take.run(...namesOf(ends)).changes > 0,
  };
}
