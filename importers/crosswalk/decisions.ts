import type { MappingStatus } from '../../src/crosswalk/graph.ts';
import type { Database } from '../../src/db/database.ts';
import type { DerivedEdge } from './edges.ts';

interface DecisionRow {
  a_framework: string;
  a_identifier: string;
  b_framework: string;
  b_identifier: string;
  status: MappingStatus;
}

/** Gives the edges with the operator's word above the derived status (DECISIONS D7.1, `rejected`). */
export function applyDecisions(db: Database, edges: DerivedEdge[]): DerivedEdge[] {
  const rows = db.sqlite
    .prepare<[], DecisionRow>(
      'SELECT a_framework, a_identifier, b_framework, b_identifier, status FROM mapping_decisions',
    )
    .all();
  const pair = (a: string, b: string) => [a, b].sort().join(' ');
  const decided = new Map(
    rows.map((row) => [
      pair(`${row.a_framework}:${row.a_identifier}`, `${row.b_framework}:${row.b_identifier}`),
      row.status,
    ]),
  );
  return edges.map((edge) => {
    const key = pair(`${edge.a.framework}:${edge.a.identifier}`, `${edge.b.framework}:${edge.b.identifier}`);
    return { ...edge, status: decided.get(key) ?? edge.status };
  });
}
