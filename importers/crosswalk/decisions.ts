import type { MappingStatus } from '../../src/catalog/crosswalk/graph.ts';
import type { Database } from '../../src/db/database.ts';
import type { CatalogView } from './catalog-view.ts';
import type { DerivedEdge } from './edges.ts';

interface DecisionRow {
  a_framework: string;
  a_identifier: string;
  b_framework: string;
  b_identifier: string;
  status: MappingStatus;
}

/**
 * Gives the edges with the operator's word above the derived status (DECISIONS D7.1, `rejected`). A decided pair of active
 * controls that no source makes an edge of is the site's own, unless it is rejected (D34.5).
 */
export function applyDecisions(db: Database, edges: DerivedEdge[], catalogs: CatalogView): DerivedEdge[] {
  const rows = db.sqlite
    .prepare<[], DecisionRow>(
      'SELECT a_framework, a_identifier, b_framework, b_identifier, status FROM mapping_decisions',
    )
    .all();
  const nameOf = ({ framework, identifier }: DerivedEdge['a']) => `${framework}:${identifier}`;
  const keyOf = ({ a, b }: Pick<DerivedEdge, 'a' | 'b'>) => [nameOf(a), nameOf(b)].sort().join(' ');
  const decided = new Map(
    rows.map((row): [string, DerivedEdge] => {
      const a = { framework: row.a_framework, identifier: row.a_identifier };
      const b = { framework: row.b_framework, identifier: row.b_identifier };
      return [keyOf({ a, b }), { a, b, status: row.status, evidence: [] }];
    }),
  );
  const stated = edges.map((edge) => {
    const key = keyOf(edge);
    const status = decided.get(key)?.status ?? edge.status;
    decided.delete(key);
    return { ...edge, status };
  });
  const isActive = (end: DerivedEdge['a']) => catalogs.status(end.framework, end.identifier) === 'active';
  const own = [...decided.values()].filter(
    ({ a, b, status }) => status !== 'rejected' && isActive(a) && isActive(b),
  );
  return [...stated, ...own];
}
