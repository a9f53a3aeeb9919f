import {
  createGraph,
  type MappingStatus,
  type NamedEdge,
  nameOf,
  nameOfEdge,
} from '../../src/catalog/crosswalk/graph.ts';
import type { Database } from '../../src/db/database.ts';
import { closureRows } from './closure.ts';
import { crosswalkOf } from './derive-crosswalk.ts';

/** Checks the stored crosswalk against its sources: a line for each wrong edge and each node with wrong paths. */
export function crosswalkProblems(db: Database): string[] {
  const edges = db.sqlite
    .prepare<[], [string, string, string, string, MappingStatus]>(
      `SELECT a.framework, a.identifier, b.framework, b.identifier, e.status FROM crosswalk_edges AS e
         JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b`,
    )
    .raw()
    .all()
    .map(([fromFramework, from, toFramework, to, status]): NamedEdge => {
      const a = { framework: fromFramework, identifier: from };
      return { a, b: { framework: toFramework, identifier: to }, status };
    });
  return [...edgeProblems(db, edges), ...closureProblems(db, edges)];
}

function edgeProblems(db: Database, edges: NamedEdge[]): string[] {
  const problems: string[] = [];
  const follow = new Map(crosswalkOf(db).edges.map((edge) => [nameOfEdge(edge), edge.status]));
  for (const each of edges) {
    const edge = nameOfEdge(each);
    const expected = follow.get(edge) ?? 'no edge';
    follow.delete(edge);
    if (expected !== each.status) problems.push(`${edge} is ${each.status}, the sources give ${expected}`);
  }
  for (const [edge, status] of follow) problems.push(`${edge} is no edge, the sources give ${status}`);
  return problems;
}

function closureProblems({ sqlite }: Database, edges: NamedEdge[]): string[] {
  const problems: string[] = [];
  const graph = createGraph(edges);
  const rowsOf = sqlite
    .prepare<[number], (number | null)[]>(
      'SELECT * FROM crosswalk_paths WHERE source = ? ORDER BY target, ordinal',
    )
    .raw();
  let rows = 0;
  for (const source of graph.nodes) {
    const stored = rowsOf.all(source.id);
    const made = closureRows(graph, source);
    rows += stored.length;
    if (JSON.stringify(stored) !== JSON.stringify(made))
      problems.push(
        `the paths of ${nameOf(source)} do not match its edges: ${stored.length} stored, ${made.length} expected`,
      );
  }
  const all = sqlite.prepare<[], number>('SELECT count(*) FROM crosswalk_paths').pluck().get()!;
  if (all !== rows) problems.push(`${all - rows} paths begin at nodes that do not exist`);
  return problems;
}
