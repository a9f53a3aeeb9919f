import { atOnce, runInSlices, yieldToEventLoop } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { compareFrameworks } from '../controls/frameworks.ts';
import { canonicalIdentifier, sortKey } from '../controls/identifier.ts';
import { createMappingDecisions } from './decisions.ts';
import {
  createGraph,
  endsOfPaths,
  type Graph,
  type GraphNode,
  type MappingStatus,
  type NamedEdge,
  type Neighbor,
  type NumberedEdge,
  nameOfEdge,
  numberEdges,
  statuses,
  statusMask,
  type WalkedPath,
  walkPaths,
} from './graph.ts';
import { createPins, type FirstStep } from './pins.ts';
import type { Path } from './schema.ts';
import { createTaker, mostPathBytes, shareBytes, type Taken } from './share.ts';

/** How deep the closure table goes; deeper questions are walked (rule D7.3). */
export const closureDepth = 4;

const pairMilliseconds = 250;
/** What a second leaves for walking, when the answer has to be written too. */
const requestMilliseconds = 750;

/** The one query of a question of up to 4 hops: source, target framework, hops. */
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

/** The paths of a question; `texts` has each as JSON. */
export type Answered = Pick<Taken<Path>, 'paths' | 'texts' | 'truncated'>;

interface PathRow {
  hops: number;
  mask: number;
  statuses: number;
  n1: number;
  n2: number | null;
  n3: number | null;
  n4: number | null;
}

/** A question over one graph: paths that are known, and the edges that the others begin with (undefined: those of the source). */
interface PathSearch {
  question: PathQuestion;
  graph: Graph;
  source: number;
  target: number;
  mask: number;
  known: Path[];
  edges: Neighbor[] | undefined;
}

export const defaultStatuses: Set<MappingStatus> = new Set(['auto', 'verified']);

export type CrosswalkService = ReturnType<typeof createCrosswalkService>;

/** Resolves controls over the crosswalk (rule D7). */
export function createCrosswalkService(db: Database, clock: () => number = () => performance.now()) {
  const { sqlite } = db;
  const closure = sqlite.prepare<[number, number, number], PathRow>(closureQuery);
  const nodeRows = sqlite.prepare<[], GraphNode>(
    'SELECT framework, identifier FROM crosswalk_nodes ORDER BY id',
  );
  const edgeRows = sqlite.prepare<[], NumberedEdge>('SELECT a, b, status FROM crosswalk_edges');
  const pins = createPins(db);
  const decisions = createMappingDecisions(db);
  let loaded: { graph: Graph; isDecided: boolean; generation: number } | null = null;

  /** The graph as it is walked: what sources make, and what the site decided of it. */
  function current() {
    const generation = db.generation();
    if (loaded?.generation === generation) return loaded;
    const [nodes, edges] = [nodeRows.all(), edgeRows.all()];
    const stated = createGraph(nodes, edges);
    const words = decisions.over(stated);
    const graph = words.length === 0 ? stated : withWords(nodes, edges, words);
    loaded = { graph, isDecided: words.length > 0, generation };
    return loaded;
  }

  const graph = () => current().graph;

  /** Live searches run one after the other: each may hold 40 MB until its paths are found. */
  let searches: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = searches.then(work);
    searches = done.catch(() => undefined);
    return done;
  }

  /** The paths of up to 4 hops from a node to a framework, in order: of the closure table, unless a decision changes some. */
  function shortPaths(source: number, target: number, maxHops: number, mask: number): WalkedPath[] {
    const paths: WalkedPath[] = [];
    if (current().isDecided) {
      const take = (path: WalkedPath) => paths.push(path) > 0;
      const bounds = { take, milliseconds: Infinity, now: clock };
      atOnce(walkPaths(graph(), source, target, maxHops, mask, bounds));
      return paths;
    }
    for (const row of closure.all(source, target, maxHops)) {
      if ((row.mask & ~mask) !== 0) continue;
      const nodes = [row.n1, row.n2, row.n3, row.n4].slice(0, row.hops) as number[];
      paths.push({ nodes, statuses: nodes.map((_, hop) => (row.statuses >> (2 * hop)) & 3) });
    }
    return paths;
  }

  function toPath(question: PathQuestion, steps: { node: GraphNode; status: MappingStatus }[]): Path {
    const control = ({ framework, identifier }: GraphNode, status: MappingStatus) => {
      return { framework, identifier, status };
    };
    const rest = steps.map(({ node, status }) => control(node, status));
    return { hops: steps.length, controls: [control(question, 'auto'), ...rest] };
  }

  /** The steps of a path that was walked on a graph. */
  function stepsOf({ nodes }: Graph, path: WalkedPath) {
    return path.nodes.map((node, hop) => ({ node: nodes[node]!, status: statuses[path.statuses[hop]!]! }));
  }

  /** What a question begins with, read from one state of the database: the search itself needs the graph alone. */
  function begin(question: PathQuestion): PathSearch {
    const walk = graph();
    const source = walk.idOf(question.framework, question.identifier);
    const target = walk.frameworks.indexOf(question.to);
    const mask = statusMask(question.statuses);
    const search = { question, graph: walk, source: source ?? -1, target, mask };
    if (question.version !== undefined) return { ...search, ...pinned(question, source, target, mask) };
    if (source === undefined || target < 0) return { ...search, known: [], edges: [] };
    if (question.maxHops > closureDepth) return { ...search, known: [], edges: undefined };
    const short = shortPaths(source, target, question.maxHops, mask);
    return { ...search, known: short.map((path) => toPath(question, stepsOf(walk, path))), edges: [] };
  }

  /** Takes the paths of a search within bytes and milliseconds of work. */
  function* searching(
    search: PathSearch,
    milliseconds: number,
    mostBytes: number,
  ): Generator<void, Taken<Path>> {
    const { question, known, edges } = search;
    const { taken, take } = createTaker<Path>(mostBytes);
    for (const [index, path] of known.entries()) {
      if (!take(path)) return taken;
      if ((index & 255) === 255) yield;
    }
    const bounds = {
      take: (path: WalkedPath) => take(toPath(question, stepsOf(search.graph, path))),
      milliseconds,
      now: clock,
    };
    const isWhole = yield* walkPaths(
      search.graph,
      search.source,
      search.target,
      question.maxHops,
      search.mask,
      bounds,
      edges,
    );
    taken.truncated = !isWhole;
    return taken;
  }

  /**
   * Under a version pin the first edge must be stated for that version of the source (D7.4): the paths that are known
   * without a search, in order, and the first edges, in order, of those that are longer than any of them.
   */
  function pinned(question: PathQuestion, source: number | undefined, target: number, mask: number) {
    const walk = graph();
    const first = pins
      .firstSteps(walk, question.framework, question.identifier, question.version!)
      .filter((step) => question.statuses.has(step.status));
    const direct = first
      .filter((step) => step.node.framework === question.to)
      .map((step) => toPath(question, [step]));
    const onward = first.filter(
      (step): step is FirstStep & { id: number } =>
        step.id !== undefined && step.node.framework !== question.to,
    );
    if (question.maxHops > closureDepth) {
      const edges = onward.map((step) => ({ node: step.id, status: statuses.indexOf(step.status) }));
      return { known: inOrder(direct), edges: edges.sort((a, b) => a.node - b.node) };
    }
    const longer = onward.flatMap((step) =>
      shortPaths(step.id, target, question.maxHops - 1, mask)
        .filter((path) => !path.nodes.includes(source ?? -1))
        .map((path) => toPath(question, [step, ...stepsOf(walk, path)])),
    );
    return { known: inOrder([...direct, ...longer]), edges: [] };
  }

  return {
    graph,

    /** The published form of an identifier in any usual spelling; the text itself where it has none. */
    canonical: (framework: string, identifier: string): string =>
      canonicalIdentifier(framework, identifier) ?? identifier.trim(),

    /** The controls at which some path of a question ends, in catalog order; without a version, and never cut. */
    endsOf: (question: Omit<PathQuestion, 'version'>): string[] =>
      db.read(() => {
        const walk = graph();
        const source = walk.idOf(question.framework, question.identifier);
        const target = walk.frameworks.indexOf(question.to);
        if (source === undefined || target < 0) return [];
        const ends = endsOfPaths(walk, source, target, question.maxHops, statusMask(question.statuses));
        return ends.map((node) => walk.nodes[node]!.identifier);
      }),

    /**
     * Gives for a control of a version of a framework the ends of what that version states of it and another framework
     * (rule D7.4), of the catalog as it is now.
     */
    statedEnds(framework: string, to: string, version: string): (control: string) => string[] {
      const stepsOf = pins.firstStepsTo(graph(), framework, to, version);
      const isUsed = (step: FirstStep) => step.node.framework === to && defaultStatuses.has(step.status);
      return (control) =>
        stepsOf(control)
          .filter(isUsed)
          .map(({ node }) => node.identifier);
    },

    /** The nodes of a framework that a node reaches with as few hops as it takes, up to those of the closure table. */
    nearest(framework: string, identifier: string, to: string): string[] {
      const walk = graph();
      const source = walk.idOf(framework, identifier);
      const target = walk.frameworks.indexOf(to);
      if (source === undefined || target < 0) return [];
      const mask = statusMask(defaultStatuses);
      for (let hops = 1; hops <= closureDepth; hops++) {
        const ends = endsOfPaths(walk, source, target, hops, mask);
        if (ends.length > 0) return ends.map((node) => walk.nodes[node]!.identifier);
      }
      return [];
    },

    /** Every path of one question, within the bounds of D7.3. */
    resolve: (question: PathQuestion): Answered =>
      db.read(() => atOnce(searching(begin(question), pairMilliseconds, mostPathBytes))),

    /** The same in slices, giving way to other requests in between. */
    async resolveInSlices(question: PathQuestion): Promise<Answered> {
      const answer = () => {
        const search = db.read(() => begin(question));
        return runInSlices(searching(search, pairMilliseconds, mostPathBytes), clock);
      };
      return question.maxHops > closureDepth ? inTurn(answer) : answer();
    },

    /**
     * The answers to many questions, in their order, giving way to other requests in between. They share the bytes of
     * one answer, and the time of one request (D7.3).
     */
    resolveAll(questions: PathQuestion[]): Promise<Answered[]> {
      const end = clock() + requestMilliseconds;
      const resolved = (index: number, mostBytes: number, waiting: number) =>
        inTurn(async () => {
          await yieldToEventLoop();
          const search = db.read(() => begin(questions[index]!));
          const part = Math.min(pairMilliseconds, (end - clock()) / waiting);
          return runInSlices(searching(search, part, mostBytes), clock);
        });
      return shareBytes(questions.length, mostPathBytes, resolved, () => clock() > end);
    },

    /**
     * Whether a question has a path. Nodes are looked at once each, so no bound is needed, whatever `maxHops` is: each
     * shortest way is a simple path.
     */
    hasPath: (question: PathQuestion): boolean =>
      db.read(() => {
        const search = { ...question, maxHops: Math.max(question.maxHops, closureDepth + 1) };
        const { graph: walk, source, target, mask, known, edges } = begin(search);
        if (known.some(({ hops }) => hops <= question.maxHops)) return true;
        return endsOfPaths(walk, source, target, question.maxHops, mask, edges).length > 0;
      }),
  };
}

/** The graph of what sources state with other edges in the place of some, or beside them; these may bring nodes of their own. */
function withWords(nodes: GraphNode[], edges: NumberedEdge[], words: NamedEdge[]): Graph {
  const stated = edges.map(({ a, b, status }): NamedEdge => ({ a: nodes[a]!, b: nodes[b]!, status }));
  const all = new Map([...stated, ...words].map((edge) => [nameOfEdge(edge), edge]));
  const numbered = numberEdges([...all.values()]);
  return createGraph(numbered.nodes, numbered.edges);
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
