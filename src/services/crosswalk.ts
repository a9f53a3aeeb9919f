import { compareFrameworks } from '../crosswalk/frameworks.ts';
import {
  createGraph,
  type Graph,
  type GraphNode,
  type MappingStatus,
  statuses,
  statusMask,
  walkPaths,
} from '../crosswalk/graph.ts';
import { canonicalIdentifier, sortKey } from '../crosswalk/identifier.ts';
import type { Database } from '../db/database.ts';
import type { Path } from '../schemas/crosswalk.ts';
import { compareCodePoints } from '../text.ts';
import { createPins, type FirstStep } from './crosswalk-pins.ts';

/** How deep the closure table goes; deeper questions are walked (DECISIONS D7.3). */
export const closureDepth = 4;

const maxPaths = 10_000;
const pairMilliseconds = 250;
const requestMilliseconds = 1000;

/** The one query of a question of up to 4 hops: source, target framework, hops. */
export const closureQuery = `SELECT hops, mask, statuses, n1, n2, n3, n4 FROM crosswalk_paths
  WHERE source = ? AND target = ? AND hops <= ? ORDER BY ordinal`;

/** A question to the crosswalk: one source control, one target framework. */
export interface Question {
  framework: string;
  /** In the published form, as `canonical` gives it. */
  identifier: string;
  to: string;
  version?: string | undefined;
  statuses: Set<MappingStatus>;
  maxHops: number;
}

export interface Answered {
  paths: Path[];
  truncated: boolean;
}

interface PathRow {
  hops: number;
  mask: number;
  statuses: number;
  n1: number;
  n2: number | null;
  n3: number | null;
  n4: number | null;
}

export const defaultStatuses: Set<MappingStatus> = new Set(['auto', 'verified']);

export type CrosswalkService = ReturnType<typeof createCrosswalkService>;

/** Resolves controls over the crosswalk (specification, "Crosswalk"; DECISIONS D7). */
export function createCrosswalkService(db: Database, clock: () => number = () => performance.now()) {
  const { sqlite } = db;
  const closure = sqlite.prepare<[number, number, number], PathRow>(closureQuery);
  const nodeRows = sqlite.prepare<[], GraphNode>(
    'SELECT framework, identifier FROM crosswalk_nodes ORDER BY id',
  );
  const edgeRows = sqlite.prepare<[], { a: number; b: number; status: MappingStatus }>(
    'SELECT a, b, status FROM crosswalk_edges',
  );
  const pins = createPins(db);
  let loaded: { graph: Graph; generation: number } | null = null;

  function graph(): Graph {
    const generation = db.generation();
    if (loaded?.generation !== generation) {
      loaded = { graph: createGraph(nodeRows.all(), edgeRows.iterate()), generation };
    }
    return loaded.graph;
  }

  /** The nodes and statuses of the paths of the closure table from a node to a framework, in its order. */
  function stored(source: number, target: number, maxHops: number, mask: number) {
    return closure
      .all(source, target, Math.min(maxHops, closureDepth))
      .filter((row) => (row.mask & ~mask) === 0)
      .map((row) => {
        const nodes = [row.n1, row.n2, row.n3, row.n4].slice(0, row.hops) as number[];
        return { nodes, statuses: nodes.map((_, hop) => (row.statuses >> (2 * hop)) & 3) };
      });
  }

  function toPath(question: Question, steps: { node: GraphNode; status: MappingStatus }[]): Path {
    const source = {
      framework: question.framework,
      identifier: question.identifier,
      status: 'auto' as const,
    };
    const rest = steps.map(({ node, status }) => ({
      framework: node.framework,
      identifier: node.identifier,
      status,
    }));
    return { hops: steps.length, controls: [source, ...rest] };
  }

  function walked(question: Question, path: { nodes: number[]; statuses: number[] }): Path {
    const { nodes } = graph();
    return toPath(
      question,
      path.nodes.map((node, hop) => ({ node: nodes[node]!, status: statuses[path.statuses[hop]!]! })),
    );
  }

  /** Answers one question, stopping the live search at a deadline of the clock. */
  function answer(question: Question, deadline: number): Answered {
    const walk = graph();
    const source = walk.idOf(question.framework, question.identifier);
    const target = walk.frameworks.indexOf(question.to);
    const mask = statusMask(question.statuses);
    if (question.version !== undefined) return pinned(question, source, target, mask, deadline);
    if (source === undefined || target < 0) return { paths: [], truncated: false };
    if (question.maxHops <= closureDepth) {
      return {
        paths: stored(source, target, question.maxHops, mask).map((path) => walked(question, path)),
        truncated: false,
      };
    }
    const bounds = { maxPaths, deadline, now: clock };
    const { paths, truncated } = walkPaths(walk, source, target, question.maxHops, mask, bounds);
    return { paths: paths.map((path) => walked(question, path)), truncated };
  }

  /** Under a version pin the first edge must be stated for that version of the source (D7.4). */
  function pinned(
    question: Question,
    source: number | undefined,
    target: number,
    mask: number,
    deadline: number,
  ): Answered {
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
    let truncated = false;
    let longer: Path[];
    if (question.maxHops <= closureDepth) {
      longer = onward.flatMap((step) =>
        stored(step.id, target, question.maxHops - 1, mask)
          .filter((path) => !path.nodes.includes(source ?? -1))
          .map((path) => {
            const rest = path.nodes.map((node, hop) => ({
              node: walk.nodes[node]!,
              status: statuses[path.statuses[hop]!]!,
            }));
            return toPath(question, [step, ...rest]);
          }),
      );
    } else {
      const edges = onward.map((step) => ({ node: step.id, status: statuses.indexOf(step.status) }));
      const result = walkPaths(
        walk,
        source ?? -1,
        target,
        question.maxHops,
        mask,
        { maxPaths, deadline, now: clock },
        edges,
      );
      truncated = result.truncated;
      longer = result.paths.map((path) => walked(question, path));
    }
    return { paths: inOrder([...direct, ...longer]), truncated };
  }

  return {
    graph,

    /** The published form of an identifier in any usual spelling; the text itself where it has none. */
    canonical: (framework: string, identifier: string): string =>
      canonicalIdentifier(framework, identifier) ?? identifier.trim(),

    /** The distinct ends of paths, in catalog order. */
    endsOf(paths: Path[]): string[] {
      const ends = new Map(paths.map((path) => [path.controls.at(-1)!.identifier, path.controls.at(-1)!]));
      const keyed = [...ends.values()].map((end) => ({ end, key: sortKey(end.framework, end.identifier) }));
      return keyed.sort((a, b) => compareCodePoints(a.key, b.key)).map(({ end }) => end.identifier);
    },

    /** Every path of one question, within the bounds of D7.3. */
    resolve: (question: Question): Answered => db.read(() => answer(question, clock() + pairMilliseconds)),

    /** The answers to many questions, in their order, giving way to other requests between deep ones (D7.3). */
    async resolveAll(questions: Question[]): Promise<Answered[]> {
      const end = clock() + requestMilliseconds;
      const answers: Answered[] = [];
      for (const question of questions) {
        const deep = question.maxHops > closureDepth;
        if (deep) await new Promise((resolve) => setImmediate(resolve));
        answers.push(db.read(() => answer(question, Math.min(end, clock() + pairMilliseconds))));
      }
      return answers;
    },
  };
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
