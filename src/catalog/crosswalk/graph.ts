import { compareCodePoints } from '../../base/text.ts';
import { compareFrameworks, isPublished } from '../controls/frameworks.ts';
import { sortKey } from '../controls/identifier.ts';

/** The workflow status of a mapping (rule D7), in the order of the codes below. */
export const statuses = ['auto', 'verified', 'rejected'] as const;
export type MappingStatus = (typeof statuses)[number];

/** The code of a status: its place in `statuses`. */
export const statusCode = (status: MappingStatus): number => statuses.indexOf(status);

/** A set of statuses as bits, one for each code. */
export const statusMask = (set: Iterable<MappingStatus>): number =>
  [...set].reduce((mask, status) => mask | (1 << statusCode(status)), 0);

export interface GraphNode {
  framework: string;
  identifier: string;
}

/** `nist-800-53:AC-2`. */
export const nameOf = ({ framework, identifier }: GraphNode) => `${framework}:${identifier}`;

/** Compares nodes in the order of rule D7.2: frameworks, then catalog order. */
export function compareNodes(one: GraphNode, other: GraphNode): number {
  const [a, b] = [one, other].map(({ framework, identifier }) => sortKey(framework, identifier));
  return compareFrameworks(one.framework, other.framework) || compareCodePoints(a!, b!);
}

/** The two ends of a pair in the order of the crosswalk's nodes. */
export const inOrder = (one: GraphNode, other: GraphNode): [GraphNode, GraphNode] =>
  compareNodes(one, other) <= 0 ? [one, other] : [other, one];

/** An undirected edge of the crosswalk by the names of its ends. */
export interface NamedEdge {
  a: GraphNode;
  b: GraphNode;
  status: MappingStatus;
}

/** The name of an edge by the names of its ends, in any order. */
export const edgeBetween = (a: string, b: string) => [a, b].sort().join(' - ');
export const nameOfEdge = ({ a, b }: Pick<NamedEdge, 'a' | 'b'>) => edgeBetween(nameOf(a), nameOf(b));

export interface Neighbor {
  node: LinkedNode;
  /** The status of the edge. */
  status: MappingStatus;
}

export interface LinkedNode extends GraphNode {
  /** The place in the order of rule D7.2; -1 for a control without edges. */
  id: number;
  /** In the order of their places. */
  neighbors: Neighbor[];
}

/** The crosswalk in memory. */
export interface Graph {
  /** In the order of rule D7.2. */
  nodes: LinkedNode[];
  frameworks: string[];
  /** The node of a control; one without neighbors for a control that the graph lacks. */
  nodeOf(control: GraphNode): LinkedNode;
  /** The hops of the shortest path from each node to a framework, over edges with some statuses. */
  distancesTo(framework: string, statuses: Set<MappingStatus>): Map<LinkedNode, number>;
}

/** Builds a graph from its edges. */
export function createGraph(edges: NamedEdge[]): Graph {
  const ends = new Map(edges.flatMap(({ a, b }) => [a, b]).map((end) => [nameOf(end), end]));
  // Walks compare frameworks often: equal strings that are one are compared at once.
  const shared = new Map([...ends.values()].map(({ framework }) => [framework, framework]));
  const nodes = [...ends.values()].sort(compareNodes).map(({ framework, identifier }, id): LinkedNode => {
    return { framework: shared.get(framework)!, identifier, id, neighbors: [] };
  });
  const byName = new Map(nodes.map((node) => [nameOf(node), node]));
  const nodeOf = ({ framework, identifier }: GraphNode): LinkedNode =>
    byName.get(nameOf({ framework, identifier })) ?? { framework, identifier, id: -1, neighbors: [] };
  for (const { a, b, status } of edges) {
    nodeOf(a).neighbors.push({ node: nodeOf(b), status });
    nodeOf(b).neighbors.push({ node: nodeOf(a), status });
  }
  for (const { neighbors } of nodes) neighbors.sort((one, other) => one.node.id - other.node.id);
  const known = new Map<string, Map<LinkedNode, number>>();
  return {
    nodes,
    frameworks: [...new Set(nodes.map(({ framework }) => framework))],
    nodeOf,
    distancesTo(framework, statuses) {
      const key = `${statusMask(statuses)} ${framework}`;
      const found =
        known.get(key) ??
        hopsFrom(
          nodes.filter((node) => node.framework === framework),
          statuses,
          (node) => (node.framework === framework || isPublished(node.framework) ? node.neighbors : []),
        );
      known.set(key, found);
      return found;
    },
  };
}

/** What a walk looks for: paths from a node to the framework `to`. */
export interface Walk {
  source: LinkedNode;
  /** The edges of the source that count. */
  first: Neighbor[];
  to: string;
  /** The statuses of the edges that count. */
  statuses: Set<MappingStatus>;
  maxHops: number;
}

/** The edges over which a walk leaves a node. It passes through published frameworks alone (rule D40.2). */
function edgesFrom({ source, first, to }: Walk, node: LinkedNode): Neighbor[] {
  if (node === source) return first;
  return node.framework !== to && isPublished(node.framework) ? node.neighbors : [];
}

interface WalkStep extends Neighbor {
  parent: WalkStep | null;
}

/**
 * Walks every simple path from a source to its first node of the target framework: the shortest first, then in the
 * order of nodes (D7.2). `take` receives each path without its source, with the status of the edge that led to each node.
 * Returns false where `take` did, or where `isOver` ended the walk.
 */
export function walkPaths(
  graph: Graph,
  walk: Walk,
  take: (path: Neighbor[]) => boolean,
  isOver: () => boolean,
): boolean {
  const { source, to, statuses, maxHops } = walk;
  const distances = graph.distancesTo(to, statuses);
  let level: WalkStep[] = [{ node: source, status: 'auto', parent: null }];
  let visited = 0;
  for (let hops = 1; hops <= maxHops && level.length > 0; hops++) {
    const next: WalkStep[] = [];
    for (const step of level)
      for (const { node, status } of edgesFrom(walk, step.node)) {
        if ((visited++ & 1023) === 1023 && isOver()) return false;
        if (!statuses.has(status) || isOn(step, node)) continue;
        const here = { node, status, parent: step };
        if (node.framework === to) {
          if (!take(unroll(here))) return false;
        } else if (hops + (distances.get(node) ?? Number.POSITIVE_INFINITY) <= maxHops) next.push(here);
      }
    level = next;
  }
  return true;
}

/**
 * The nodes, in order, at which the paths of `walkPaths` end. A shortest path is simple, so this visits each node once
 * and needs no bound.
 */
export function endsOfPaths(walk: Walk): LinkedNode[] {
  const hops = hopsFrom([walk.source], walk.statuses, (node) => edgesFrom(walk, node), walk.maxHops);
  hops.delete(walk.source);
  return [...hops.keys()]
    .filter(({ framework }) => framework === walk.to)
    .sort((one, other) => one.id - other.id);
}

/** The fewest hops, up to `most`, from some nodes to each node, over the edges that lead `onward` from a node. */
function hopsFrom(
  nodes: LinkedNode[],
  statuses: Set<MappingStatus>,
  onward: (node: LinkedNode) => Neighbor[],
  most = Number.POSITIVE_INFINITY,
): Map<LinkedNode, number> {
  const found = new Map(nodes.map((node) => [node, 0]));
  // A map gives what is added while it is read: the nearest nodes come first.
  for (const [from, hops] of found)
    if (hops < most)
      for (const { node, status } of onward(from))
        if (statuses.has(status) && !found.has(node)) found.set(node, hops + 1);
  return found;
}

function isOn(step: WalkStep, node: LinkedNode): boolean {
  for (let each: WalkStep | null = step; each !== null; each = each.parent)
    if (each.node === node) return true;
  return false;
}

function unroll(end: WalkStep): Neighbor[] {
  const path: Neighbor[] = [];
  for (let { node, status, parent } = end; parent !== null; { node, status, parent } = parent)
    path.unshift({ node, status });
  return path;
}
