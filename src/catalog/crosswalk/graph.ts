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

/** The two ends of a pair in the order of the crosswalk's nodes: frameworks, then catalog order (rule D7.2). */
export function inOrder(one: GraphNode, other: GraphNode): [GraphNode, GraphNode] {
  return compareNodes(withKey(one), withKey(other)) <= 0 ? [one, other] : [other, one];
}

/** An undirected edge of the crosswalk by the names of its ends. */
export interface NamedEdge {
  a: GraphNode;
  b: GraphNode;
  status: MappingStatus;
}

export type NumberedEdge = { a: number; b: number; status: MappingStatus };

/** The name of an edge by the names of its ends, in any order. */
export const edgeBetween = (a: string, b: string) => [a, b].sort().join(' - ');
export const nameOfEdge = ({ a, b }: Pick<NamedEdge, 'a' | 'b'>) => edgeBetween(nameOf(a), nameOf(b));

const withKey = (node: GraphNode) => ({ ...node, key: sortKey(node.framework, node.identifier) });

function compareNodes(one: ReturnType<typeof withKey>, other: ReturnType<typeof withKey>): number {
  return compareFrameworks(one.framework, other.framework) || compareCodePoints(one.key, other.key);
}

/** The nodes that edges join, in order, and the edges by the numbers of their ends, the lower first. */
export function numberEdges<E extends NamedEdge>(edges: E[]) {
  const ends = new Map(edges.flatMap(({ a, b }) => [a, b]).map((end) => [nameOf(end), end]));
  const nodes: GraphNode[] = [...ends.values()]
    .map(withKey)
    .sort(compareNodes)
    .map(({ key: _, ...node }) => node);
  const ids = new Map(nodes.map((node, id) => [nameOf(node), id]));
  const numbered = edges.map((edge) => {
    const [one, other] = [ids.get(nameOf(edge.a))!, ids.get(nameOf(edge.b))!];
    return { ...edge, a: Math.min(one, other), b: Math.max(one, other) };
  });
  return { nodes, edges: numbered };
}

export interface Neighbor {
  node: number;
  /** Code of the edge's status. */
  status: number;
}

/** The crosswalk in memory. Node ids are in the order of rule D7.2, the neighbors of a node in the order of ids. */
export interface Graph {
  nodes: GraphNode[];
  frameworks: string[];
  /** The index in `frameworks` by node id. */
  frameworkOf: number[];
  /** Whether a path may pass through a framework of the index: through the published alone (rule D40.2). */
  isPassed: boolean[];
  neighbors: Neighbor[][];
  idOf(framework: string, identifier: string): number | undefined;
  /** The length of the shortest path with statuses in `mask` from each node to the framework of the index `target`. */
  distancesTo(target: number, mask: number): number[];
}

/** Builds a graph from nodes (in order) and undirected edges. */
export function createGraph(nodes: GraphNode[], edges: Iterable<NumberedEdge>): Graph {
  const frameworks = [...new Set(nodes.map((node) => node.framework))];
  const index = new Map(frameworks.map((framework, position) => [framework, position]));
  const ids = new Map(nodes.map((node, id) => [nameOf(node), id]));
  const neighbors: Neighbor[][] = nodes.map(() => []);
  for (const { a, b, status } of edges) {
    neighbors[a]!.push({ node: b, status: statusCode(status) });
    neighbors[b]!.push({ node: a, status: statusCode(status) });
  }
  for (const list of neighbors) list.sort((left, right) => left.node - right.node);
  const frameworkOf = nodes.map((node) => index.get(node.framework)!);
  const known = new Map<string, number[]>();
  return {
    nodes,
    frameworks,
    frameworkOf,
    isPassed: frameworks.map(isPublished),
    neighbors,
    idOf: (framework, identifier) => ids.get(nameOf({ framework, identifier })),
    distancesTo(target, mask) {
      const key = `${target} ${mask}`;
      const found = known.get(key) ?? distances(this, target, mask);
      known.set(key, found);
      return found;
    },
  };
}

/** What a walk looks for: by node ids and the index of a framework, -1 for one that the graph lacks. */
export interface Walk {
  source: number;
  target: number;
  /** The statuses of the edges that count. */
  mask: number;
  maxHops: number;
  /** The edges of the source that count. */
  first: Neighbor[];
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
  { source, target, mask, maxHops, first }: Walk,
  take: (path: Neighbor[]) => boolean,
  isOver: () => boolean,
): boolean {
  const distance = graph.distancesTo(target, mask);
  let level: WalkStep[] = [{ node: source, status: 0, parent: null }];
  let visited = 0;
  for (let hops = 1; hops <= maxHops && level.length > 0; hops++) {
    const next: WalkStep[] = [];
    for (const step of level)
      for (const { node, status } of hops === 1 ? first : graph.neighbors[step.node]!) {
        if ((visited++ & 1023) === 1023 && isOver()) return false;
        if (((1 << status) & mask) === 0 || isOn(step, node)) continue;
        const here = { node, status, parent: step };
        const framework = graph.frameworkOf[node]!;
        if (framework === target) {
          if (!take(unroll(here))) return false;
        } else if (graph.isPassed[framework] && hops + distance[node]! <= maxHops) next.push(here);
      }
    level = next;
  }
  return true;
}

/**
 * The nodes, in order, at which the paths of `walkPaths` end. A shortest path is simple, so this visits each node once
 * and needs no bound.
 */
export function endsOfPaths(graph: Graph, { source, target, mask, maxHops, first }: Walk): number[] {
  const seen = new Set([source]);
  let level = [source];
  for (let hops = 1; hops <= maxHops && level.length > 0; hops++) {
    const next: number[] = [];
    for (const from of level)
      for (const { node, status } of hops === 1 ? first : graph.neighbors[from]!) {
        if (((1 << status) & mask) === 0 || seen.has(node)) continue;
        seen.add(node);
        const framework = graph.frameworkOf[node]!;
        if (framework !== target && graph.isPassed[framework]) next.push(node);
      }
    level = next;
  }
  seen.delete(source);
  return [...seen].filter((node) => graph.frameworkOf[node] === target).sort((a, b) => a - b);
}

function distances({ neighbors, frameworkOf, isPassed }: Graph, target: number, mask: number): number[] {
  const distance = frameworkOf.map((framework) => (framework === target ? 0 : Number.POSITIVE_INFINITY));
  let level = distance.flatMap((value, node) => (value === 0 ? [node] : []));
  for (let hops = 1; level.length > 0; hops++) {
    const next: number[] = [];
    for (const node of level) {
      for (const { node: neighbor, status } of neighbors[node]!) {
        if (((1 << status) & mask) === 0 || distance[neighbor]! <= hops) continue;
        distance[neighbor] = hops;
        if (isPassed[frameworkOf[neighbor]!]) next.push(neighbor);
      }
    }
    level = next;
  }
  return distance;
}

function isOn(step: WalkStep, node: number): boolean {
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
