import {
  createGraph,
  type GraphNode,
  type MappingStatus,
  nameOf,
  nameOfEdge,
} from '../../src/catalog/crosswalk/graph.ts';
import type { Database } from '../../src/db/database.ts';
import { closureRows } from './closure.ts';
import { crosswalkOf } from './derive-crosswalk.ts';

/** Checks the stored crosswalk against its sources: a line for each wrong edge and each node with wrong paths. */
export const crosswalkProblems = (db: Database): string[] => [...edgeProblems(db), ...closureProblems(db)];

function edgeProblems(db: Database): string[] {
  const problems: string[] = [];
  const follow = new Map(crosswalkOf(db).edges.map((edge) => [nameOfEdge(edge), edge.status]));
  const rows = db.sqlite
    .prepare<[], [string, string, string, string, MappingStatus]>(
      `SELECT a.framework, a.identifier, b.framework, b.identifier, e.status FROM crosswalk_edges AS e
         JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b`,
    )
    .raw()
    .all();
  for (const [fromFramework, from, toFramework, to, status] of rows) {
    const a = { framework: fromFramework, identifier: from };
    const edge = nameOfEdge({ a, b: { framework: toFramework, identifier: to } });
    const expected = follow.get(edge) ?? 'no edge';
    follow.delete(edge);
    if (expected !== status) problems.push(`${edge} is ${status}, the sources give ${expected}`);
  }
  for (const [edge, status] of follow) problems.push(`${edge} is no edge, the sources give ${status}`);
  return problems;
}

function closureProblems({ sqlite }: Database): string[] {
  const problems: string[] = [];
  const nodes = sqlite
    .prepare<[], GraphNode>('SELECT framework, identifier FROM crosswalk_nodes ORDER BY id')
    .all();
  const edges = sqlite
    .prepare<[], { a: number; b: number; status: MappingStatus }>('SELECT a, b, status FROM crosswalk_edges')
    .all();
  const graph = createGraph(nodes, edges);
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
