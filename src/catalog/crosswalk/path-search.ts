import { atOnce } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { compareFrameworks, isPublished } from '../controls/frameworks.ts';
import { sortKey } from '../controls/identifier.ts';
import {
  type Graph,
  type GraphNode,
  type MappingStatus,
  type Neighbor,
  statuses,
  statusMask,
  type WalkedPath,
  walkPaths,
} from './graph.ts';
import type { FirstStep, Pins } from './pins.ts';
import type { Path } from './schema.ts';
import { createTaker, type Taken } from './share.ts';
import type { createWalkedGraph } from './walked-graph.ts';

/** The most hops of the closure table; questions with more are live searches (rule D7.3). */
export const closureDepth = 4;

/** Answers a question of up to 4 hops: source, target framework, hops. */
export const closureQuery = `SELECT hops, mask, statuses, n1, n2, n3, n4 FROM crosswalk_paths
  WHERE source = ? AND target = ? AND hops <= ? ORDER BY ordinal`;

/** A question to the crosswalk: one source control, one target framework. */
export interface PathQuestion {
  framework: string;
  /** In the published form, as `canonical` gives it. */
  identifier: string;
  to: string;
  version?: string | undefined;
  statuses: Set<MappingStatus>;
  maxHops: number;
}

/** The place of a question in a graph; -1 for a control or framework that it lacks. */
interface Place {
  graph: Graph;
  source: number;
  target: number;
  mask: number;
}

/** A search has the paths that need no walk, and the first edges of the others (undefined: all of the source). */
interface PathSearch extends Place {
  question: PathQuestion;
  known: Path[];
  edges: Neighbor[] | undefined;
}

/** Gives the function that begins a search from one state of the database; the search then needs the graph alone. */
export function createSearches(
  { sqlite }: Database,
  pins: Pins,
  current: ReturnType<typeof createWalkedGraph>,
  clock: () => number,
) {
  const closure = sqlite
    .prepare<[number, number, number], [number, number, number, ...(number | null)[]]>(closureQuery)
    .raw();

  /** The paths of up to 4 hops, in order: of the closure table, unless a decision changes some. */
  function shortPaths({ graph, source, target, mask }: Place, maxHops: number): WalkedPath[] {
    const paths: WalkedPath[] = [];
    if (current().isDecided) {
      const take = (path: WalkedPath) => paths.push(path) > 0;
      const bounds = { take, milliseconds: Infinity, now: clock };
      atOnce(walkPaths(graph, source, target, maxHops, mask, bounds));
      return paths;
    }
    for (const [hops, rowMask, codes, ...ids] of closure.all(source, target, maxHops)) {
      if ((rowMask & ~mask) !== 0) continue;
      const nodes = ids.slice(0, hops) as number[];
      paths.push({ nodes, statuses: nodes.map((_, hop) => (codes >> (2 * hop)) & 3) });
    }
    return paths;
  }

  /** Under a version pin the first edge must be stated for that version of the source (D7.4). */
  function pinned(question: PathQuestion, place: Place): Pick<PathSearch, 'known' | 'edges'> {
    const { graph, source } = place;
    const first = pins
      .firstSteps(graph, question.framework, question.identifier, question.version!)
      .filter((step) => question.statuses.has(step.status));
    const direct = first
      .filter((step) => step.node.framework === question.to)
      .map((step) => toPath(question, [step]));
    const onward = first.filter(
      (step): step is FirstStep & { id: number } =>
        step.id !== undefined && step.node.framework !== question.to && isPublished(step.node.framework),
    );
    if (question.maxHops > closureDepth) {
      const edges = onward.map((step) => ({ node: step.id, status: statuses.indexOf(step.status) }));
      return { known: inOrder(direct), edges: edges.sort((a, b) => a.node - b.node) };
    }
    const longer = onward.flatMap((step) =>
      shortPaths({ ...place, source: step.id }, question.maxHops - 1)
        .filter((path) => !path.nodes.includes(source))
        .map((path) => toPath(question, [step, ...stepsOf(graph, path)])),
    );
    return { known: inOrder([...direct, ...longer]), edges: [] };
  }

  return (question: PathQuestion): PathSearch => {
    const place = placeOf(current().graph, question);
    const search = { ...place, question };
    if (question.version !== undefined) return { ...search, ...pinned(question, place) };
    if (place.source < 0 || place.target < 0) return { ...search, known: [], edges: [] };
    if (question.maxHops > closureDepth) return { ...search, known: [], edges: undefined };
    const known = shortPaths(place, question.maxHops);
    return { ...search, known: known.map((path) => toPath(question, stepsOf(place.graph, path))), edges: [] };
  };
}

/** Finds the place of a question in a graph. */
export function placeOf(graph: Graph, question: Omit<PathQuestion, 'version'>): Place {
  const source = graph.idOf(question.framework, question.identifier) ?? -1;
  return {
    graph,
    source,
    target: graph.frameworks.indexOf(question.to),
    mask: statusMask(question.statuses),
  };
}

function stepsOf({ nodes }: Graph, path: WalkedPath) {
  return path.nodes.map((node, hop) => ({ node: nodes[node]!, status: statuses[path.statuses[hop]!]! }));
}

function toPath(question: PathQuestion, steps: { node: GraphNode; status: MappingStatus }[]): Path {
  const control = ({ framework, identifier }: GraphNode, status: MappingStatus) => {
    return { framework, identifier, status };
  };
  const rest = steps.map(({ node, status }) => control(node, status));
  return { hops: steps.length, controls: [control(question, 'auto'), ...rest] };
}

/** Finds the paths of a search within bytes of JSON and milliseconds of work. */
export function* searching(
  { question, known, edges, graph, source, target, mask }: PathSearch,
  now: () => number,
  milliseconds: number,
  mostBytes: number,
): Generator<void, Taken<Path>> {
  const { taken, take } = createTaker<Path>(mostBytes);
  for (const [index, path] of known.entries()) {
    if (!take(path)) return taken;
    if ((index & 255) === 255) yield;
  }
  const takeWalked = (path: WalkedPath) => take(toPath(question, stepsOf(graph, path)));
  const bounds = { take: takeWalked, milliseconds, now };
  taken.truncated = !(yield* walkPaths(graph, source, target, question.maxHops, mask, bounds, edges));
  return taken;
}

/** Paths in the order of D7.2: hops, then node by node by framework and catalog order. */
function inOrder(paths: Path[]): Path[] {
  const keyed = paths.map((path) => ({
    path,
    steps: path.controls
      .slice(1)
      .map(({ framework, identifier }) => ({ framework, key: sortKey(framework, identifier) })),
  }));
  keyed.sort((a, b) => {
    if (a.steps.length !== b.steps.length) return a.steps.length - b.steps.length;
    for (const [index, left] of a.steps.entries()) {
      const right = b.steps[index]!;
      const order =
        compareFrameworks(left.framework, right.framework) ||
        (left.key < right.key ? -1 : Number(left.key > right.key));
      if (order !== 0) return order;
    }
    return 0;
  });
  return keyed.map(({ path }) => path);
}
