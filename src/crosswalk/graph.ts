/** The workflow status of a mapping (specification, "Crosswalk types"), in the order of the codes below. */
export const statuses = ['auto', 'verified', 'rejected'] as const;
export type MappingStatus = (typeof statuses)[number];

/** The code of a status: its place in `statuses`. */
export function statusCode(status: MappingStatus): number {
  return statuses.indexOf(status);
}

/** A set of statuses as bits, one for each code. */
export function statusMask(set: Iterable<MappingStatus>): number {
  let mask = 0;
  for (const status of set) mask |= 1 << statusCode(status);
  return mask;
}

export interface GraphNode {
  framework: string;
  identifier: string;
}

export interface Neighbor {
  node: number;
  /** Code of the edge's status. */
  status: number;
}

/**
 * The crosswalk as it is walked: nodes by id, ids in the order of DECISIONS D7.2, neighbors of a node by id.
 * `frameworkOf[id]` is the index of the node's framework in `frameworks`.
 */
export interface Graph {
  nodes: GraphNode[];
  frameworks: string[];
  frameworkOf: number[];
  neighbors: Neighbor[][];
  /** Node ids by framework and identifier. */
  idOf(framework: string, identifier: string): number | undefined;
}

/** Builds a graph from nodes (in order) and undirected edges. */
export function createGraph(
  nodes: GraphNode[],
  edges: Iterable<{ a: number; b: number; status: MappingStatus }>,
): Graph {
  const frameworks = [...new Set(nodes.map((node) => node.framework))];
  const index = new Map(frameworks.map((framework, position) => [framework, position]));
  const ids = new Map(nodes.map((node, id) => [`${node.framework}:${node.identifier}`, id]));
  const neighbors: Neighbor[][] = nodes.map(() => []);
  for (const { a, b, status } of edges) {
    neighbors[a]!.push({ node: b, status: statusCode(status) });
    neighbors[b]!.push({ node: a, status: statusCode(status) });
  }
  for (const list of neighbors) list.sort((left, right) => left.node - right.node);
  return {
    nodes,
    frameworks,
    frameworkOf: nodes.map((node) => index.get(node.framework)!),
    neighbors,
    idOf: (framework, identifier) => ids.get(`${framework}:${identifier}`),
  };
}

/** A path by node ids without its source, with the code of the status of the edge that led to each. */
export interface WalkedPath {
  nodes: number[];
  statuses: number[];
}

/** What bounds a walk (D7.3): milliseconds, and paths. */
export interface WalkBounds {
  maxPaths: number;
  deadline: number;
  now: () => number;
}

interface Step {
  node: number;
  status: number;
  parent: Step | null;
}

/**
 * Walks every simple path of up to `maxHops` edges, all of admitted statuses, from a source to the first node of the
 * target framework that it meets, shortest first and node by node in order (D7.2). `first` gives the edges that may
 * come first, else the source's own. Where a bound bites, what was found so far comes with `truncated`.
 */
export function walkPaths(
  graph: Graph,
  source: number,
  target: number,
  maxHops: number,
  mask: number,
  bounds: WalkBounds,
  first: Neighbor[] = graph.neighbors[source] ?? [],
): { paths: WalkedPath[]; truncated: boolean } {
  const paths: WalkedPath[] = [];
  const distance = distances(graph, target, mask);
  let level: Step[] = [{ node: source, status: 0, parent: null }];
  let visited = 0;
  for (let hops = 1; hops <= maxHops && level.length > 0; hops++) {
    const next: Step[] = [];
    for (const step of level) {
      const neighbors = hops === 1 ? first : graph.neighbors[step.node]!;
      for (const { node, status } of neighbors) {
        if ((visited++ & 1023) === 1023 && bounds.now() > bounds.deadline) return { paths, truncated: true };
        if (((1 << status) & mask) === 0 || isOn(step, node)) continue;
        const here = { node, status, parent: step };
        if (graph.frameworkOf[node] === target) {
          if (paths.length >= bounds.maxPaths) return { paths, truncated: true };
          paths.push(unroll(here));
        } else if (hops + distance[node]! <= maxHops) next.push(here);
      }
    }
    level = next;
  }
  return { paths, truncated: false };
}

/** The fewest edges from every node to some node of the target framework: what cannot reach it is not walked. */
function distances(graph: Graph, target: number, mask: number): number[] {
  const distance = graph.nodes.map((_, node) =>
    graph.frameworkOf[node] === target ? 0 : Number.POSITIVE_INFINITY,
  );
  let level = distance.flatMap((value, node) => (value === 0 ? [node] : []));
  for (let hops = 1; level.length > 0; hops++) {
    const next: number[] = [];
    for (const node of level) {
      for (const { node: neighbor, status } of graph.neighbors[node]!) {
        if (((1 << status) & mask) === 0 || distance[neighbor]! <= hops) continue;
        distance[neighbor] = hops;
        next.push(neighbor);
      }
    }
    level = next;
  }
  return distance;
}

function isOn(step: Step, node: number): boolean {
  for (let each: Step | null = step; each !== null; each = each.parent) if (each.node === node) return true;
  return false;
}

function unroll(end: Step): WalkedPath {
  const nodes: number[] = [];
  const codes: number[] = [];
  for (let each = end; each.parent !== null; each = each.parent) {
    nodes.unshift(each.node);
    codes.unshift(each.status);
  }
  return { nodes, statuses: codes };
}
