import type Sqlite from 'better-sqlite3';
import {
  type Graph,
  type LinkedNode,
  type Neighbor,
  statusCode,
  statuses,
  statusMask,
  walkPaths,
} from '../../src/catalog/crosswalk/graph.ts';
import { closureDepth } from '../../src/catalog/crosswalk/queries.ts';

/** The most paths of the closure (rule D40.2): today's sources have 0.36 million. */
export const mostPaths = 3_000_000;

const every = new Set(statuses);

/**
 * The rows of the closure table for one source node: its paths, the rejected edges included, as a request chooses the
 * statuses that it accepts. `ordinal` numbers the paths to one target. Stops after more than `most`.
 */
export function closureRows(graph: Graph, source: LinkedNode, most = mostPaths): (number | null)[][] {
  const rows: (number | null)[][] = [];
  for (const [target, to] of graph.frameworks.entries()) {
    let ordinal = 0;
    const take = (path: Neighbor[]) => {
      const codes = path.reduce((sum, { status }, hop) => sum | (statusCode(status) << (2 * hop)), 0);
      const mask = statusMask(path.map(({ status }) => status));
      const nodes = [0, 1, 2, 3].map((hop) => path[hop]?.node.id ?? null);
      rows.push([source.id, target, ++ordinal, path.length, mask, codes, ...nodes]);
      return rows.length <= most;
    };
    const walk = { source, first: source.neighbors, to, statuses: every, maxHops: closureDepth };
    if (!walkPaths(graph, walk, take, () => false)) break;
  }
  return rows;
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
  for (const source of graph.nodes) {
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
