import type Sqlite from 'better-sqlite3';
import type { Graph } from '../../src/catalog/crosswalk/graph.ts';

/** The most hops of a stored path (rule D7.3). */
export const closureDepth = 4;

/** The most paths of the closure (rule D40.2): today's sources have 0.36 million. */
export const mostPaths = 3_000_000;

/** Flat numbers: the closure has half a million paths. */
interface ClosurePath {
  target: number;
  hops: number;
  mask: number;
  statuses: number;
  nodes: [number, number | null, number | null, number | null];
}

/**
 * The simple paths of up to 4 edges from a node whose end is the first node of its framework, in the order of D7.2.
 * They include rejected edges: a request chooses the statuses that it accepts. Stops after more than `most`.
 */
export function closureOf(graph: Graph, source: number, most = mostPaths): ClosurePath[] {
  const paths: ClosurePath[] = [];
  const nodes: number[] = [];
  const { neighbors, frameworkOf, isPassed } = graph;

  const extend = (from: number, mask: number, statuses: number): void => {
    for (const { node, status } of neighbors[from]!) {
      if (node === source || nodes.includes(node)) continue;
      if (paths.length > most) return;
      const hops = nodes.length + 1;
      const framework = frameworkOf[node]!;
      const here = statuses | (status << (2 * (hops - 1)));
      const isFirst = !nodes.some((passed) => frameworkOf[passed] === framework);
      nodes.push(node);
      if (isFirst) {
        paths.push({
          target: framework,
          hops,
          mask: mask | (1 << status),
          statuses: here,
          nodes: [nodes[0]!, nodes[1] ?? null, nodes[2] ?? null, nodes[3] ?? null],
        });
      }
      if (hops < closureDepth && isPassed[framework]) extend(node, mask | (1 << status), here);
      nodes.pop();
    }
  };
  extend(source, 0, 0);
  return paths.sort(comparePaths);
}

function comparePaths(a: ClosurePath, b: ClosurePath): number {
  return (
    a.target - b.target ||
    a.hops - b.hops ||
    a.nodes[0] - b.nodes[0] ||
    (a.nodes[1] ?? 0) - (b.nodes[1] ?? 0) ||
    (a.nodes[2] ?? 0) - (b.nodes[2] ?? 0) ||
    (a.nodes[3] ?? 0) - (b.nodes[3] ?? 0)
  );
}

/** The rows of the closure table for one source node; `ordinal` numbers the paths to one target. */
export function closureRows(graph: Graph, source: number, most?: number): (number | null)[][] {
  let target = -1;
  let ordinal = 0;
  return closureOf(graph, source, most).map((path) => {
    ordinal = path.target === target ? ordinal + 1 : 1;
    target = path.target;
    return [source, target, ordinal, path.hops, path.mask, path.statuses, ...path.nodes];
  });
}

/** So many rows are inserted by one statement: each by its own takes nearly twice as long. */
const together = 50;

/** Fills the empty closure table from a graph; false where it would have more than `most` rows, of which some are written. */
export function writeClosure(sqlite: Sqlite.Database, graph: Graph, most = mostPaths): boolean {
  const row = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
  const prepare = (rows: number) =>
    sqlite.prepare(`INSERT INTO crosswalk_paths VALUES ${Array(rows).fill(row).join(', ')}`);
  const insert = prepare(together);
  let rows: (number | null)[][] = [];
  let left = most;
  for (const source of graph.nodes.keys()) {
    const paths = closureRows(graph, source, left);
    left -= paths.length;
    if (left < 0) return false;
    for (const each of paths)
      if (rows.push(each) === together) {
        insert.run(rows.flat());
        rows = [];
      }
  }
  if (rows.length > 0) prepare(rows.length).run(rows.flat());
  return true;
}
