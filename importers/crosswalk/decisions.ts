import type { GraphNode, MappingStatus } from '../../src/catalog/crosswalk/graph.ts';
import type { Database } from '../../src/db/database.ts';
import type { CatalogView } from './catalog-view.ts';
import { type DerivedEdge, nameOfEdge } from './edges.ts';

/**
 * Gives the edges with the operator's word above the derived status (rule D7.1, `rejected`). A decided pair of active
 * controls that no source makes an edge of is the site's own, unless it is rejected (D34.5).
 */
export function applyDecisions(db: Database, edges: DerivedEdge[], catalogs: CatalogView): DerivedEdge[] {
  const rows = db.sqlite
    .prepare<[], [string, string, string, string, MappingStatus]>(
      'SELECT a_framework, a_identifier, b_framework, b_identifier, status FROM mapping_decisions',
    )
    .raw()
    .all();
  const decided = new Map(
    rows.map(([aFramework, aIdentifier, bFramework, bIdentifier, status]): [string, DerivedEdge] => {
      const a = { framework: aFramework, identifier: aIdentifier };
      const b = { framework: bFramework, identifier: bIdentifier };
      return [nameOfEdge({ a, b }), { a, b, status, evidence: [] }];
    }),
  );
  const stated = edges.map((edge) => {
    const name = nameOfEdge(edge);
    const status = decided.get(name)?.status ?? edge.status;
    decided.delete(name);
    return { ...edge, status };
  });
  const isActive = ({ framework, identifier }: GraphNode) =>
    catalogs.status(framework, identifier) === 'active';
  const own = [...decided.values()].filter(
    ({ a, b, status }) => status !== 'rejected' && isActive(a) && isActive(b),
  );
  return [...stated, ...own];
}
