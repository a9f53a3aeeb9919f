import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { createControlLookup } from '../controls/find-control.ts';
import { createMappingDecisions } from './decisions.ts';
import {
  createGraph,
  endsOfPaths,
  type GraphNode,
  type MappingStatus,
  type NamedEdge,
  type Neighbor,
  nameOfEdge,
  statuses,
  statusMask,
  type Walk,
  walkPaths,
} from './graph.ts';
import { createPins } from './pins.ts';
import type { Path } from './schema.ts';

/** The most hops of the closure table; questions with more are live searches (rule D7.3). */
export const closureDepth = 4;

/** The bounds of D7.3 for one answer, which then stays under 16 MB and a second. */
const mostPaths = 10_000;
const mostPathBytes = 12 * 1024 * 1024;
const pairMilliseconds = 250;
/** The rest of a second is for writing the answer. */
const requestMilliseconds = 750;

export const defaultStatuses: Set<MappingStatus> = new Set(['auto', 'verified']);

/** The question of the CCI lookup (rule D7.5), without its CCI. */
export const cciQuestion = {
  framework: 'cci',
  to: 'nist-800-53',
  statuses: defaultStatuses,
  maxHops: closureDepth,
} as const;

/** A question to the crosswalk: a source control, its identifier in the published form, and a target framework. */
export interface PathQuestion extends GraphNode, Omit<Walk, 'source' | 'first'> {
  version?: string | undefined;
}

/** The paths of a question. */
interface FoundPaths {
  paths: Path[];
  /** A limit was reached: there may be more. */
  truncated: boolean;
  /** Bytes of the paths as JSON, and whether their limit was reached. */
  bytes: number;
  isFull: boolean;
}

export type CrosswalkService = ReturnType<typeof createCrosswalkService>;

/** Resolves controls over the crosswalk (rule D7). */
export function createCrosswalkService(db: Database, clock: () => number = () => performance.now()) {
  const { publishedForm } = createControlLookup(db);
  const pins = createPins(db);
  const current = createCurrentGraph(db);
  const graph = () => current().graph;
  const closure = db.sqlite
    .prepare<[number, number, number, number], [number, ...(number | null)[]]>(
      `SELECT statuses, n1, n2, n3, n4 FROM crosswalk_paths
        WHERE source = ? AND target = ? AND hops <= ? AND mask & ? = mask ORDER BY ordinal`,
    )
    .raw();

  /** The walk of a question. Under a version pin its first edges are those of the version (rule D7.4). */
  function walkOf(question: PathQuestion): Walk {
    const source = graph().nodeOf(question);
    const { version } = question;
    const first = version === undefined ? source.neighbors : pins.firstSteps(graph(), source, version);
    return { ...question, source, first };
  }

  /** Finds the paths of a question: of the closure table, unless a pin, a decision or the hops ask for a walk. */
  function search(question: PathQuestion, milliseconds: number, mostBytes: number): FoundPaths {
    const { graph, isDecided } = current();
    const { to, statuses: accepted, maxHops, version } = question;
    const { found, take } = createPathList(mostBytes);
    const takeSteps = (steps: Neighbor[]) => take(toPath(question, steps));
    const isDeep = maxHops > closureDepth;
    if (isDeep || isDecided || version !== undefined) {
      const end = clock() + (isDeep ? milliseconds : Number.POSITIVE_INFINITY);
      found.truncated = !walkPaths(graph, walkOf(question), takeSteps, () => clock() > end);
      return found;
    }
    const source = graph.nodeOf(question).id;
    const target = graph.frameworks.indexOf(to);
    for (const [codes, ...ids] of closure.iterate(source, target, maxHops, statusMask(accepted))) {
      const nodes = ids.filter((id) => id !== null).map((id) => graph.nodes[id]!);
      if (!takeSteps(nodes.map((node, hop) => ({ node, status: statuses[(codes >> (2 * hop)) & 3]! }))))
        break;
    }
    return found;
  }

  /**
   * All controls at which paths of a question end, in catalog order. It visits each node once, so it needs no bound, whatever
   * `maxHops` is.
   */
  const endsOf = (question: PathQuestion): string[] =>
    endsOfPaths(walkOf(question)).map(({ identifier }) => identifier);

  /** The published form of an identifier in any usual spelling; the text itself where it has none. */
  const canonical = (framework: string, identifier: string): string =>
    publishedForm(framework, identifier) ?? identifier.trim();

  return {
    graph,
    endsOf,
    canonical,

    /** Every path of one question, within the bounds of D7.3. */
    resolve: (question: PathQuestion): FoundPaths => search(question, pairMilliseconds, mostPathBytes),

    /**
     * The answers to many questions in order. They share the bytes and the time of one answer (D7.3): each gets an equal
     * part of the bytes; then those that need more share what the others left, until none needs more, nothing is left or
     * the time is over.
     */
    resolveAll(questions: PathQuestion[]): FoundPaths[] {
      const end = clock() + requestMilliseconds;
      const answers: FoundPaths[] = [];
      let open = [...questions.keys()];
      let left = mostPathBytes;
      for (;;) {
        const part = Math.floor(left / open.length);
        for (const [turn, index] of open.entries()) {
          const known = answers[index];
          if (known && clock() > end) return answers;
          const milliseconds = Math.min(pairMilliseconds, (end - clock()) / (open.length - turn));
          const found = search(questions[index]!, milliseconds, part);
          // A search that ran out of time may find less than the one before.
          if (!known || found.bytes >= known.bytes) answers[index] = found;
        }
        const full = open.filter((index) => answers[index]!.isFull);
        if (full.length === 0 || full.length === open.length) return answers;
        for (const index of open) if (!answers[index]!.isFull) left -= answers[index]!.bytes;
        open = full;
      }
    },
  };
}

function toPath(source: GraphNode, steps: Neighbor[]): Path {
  const controls = [{ node: source, status: 'auto' as const }, ...steps];
  return {
    hops: steps.length,
    controls: controls.map(({ node: { framework, identifier }, status }) => ({
      framework,
      identifier,
      status,
    })),
  };
}

/** Collects up to 10,000 paths that together have at most `mostBytes` of JSON; `take` gives false for one too many. */
export function createPathList(mostBytes: number = mostPathBytes) {
  const found: FoundPaths = { paths: [], truncated: false, bytes: 0, isFull: false };
  const take = (path: Path): boolean => {
    const bytes = Buffer.byteLength(JSON.stringify(path)) + ','.length;
    found.isFull = found.bytes + bytes > mostBytes;
    found.truncated = found.isFull || found.paths.length >= mostPaths;
    if (found.truncated) return false;
    found.paths.push(path);
    found.bytes += bytes;
    return true;
  };
  return { found, take };
}

/** Gives the graph of the sources with the site's decisions; `isDecided` where a decision changes an edge. */
function createCurrentGraph(db: Database) {
  const edgesOfSources = db.sqlite
    .prepare<[], string>(
      `SELECT json_object('a', json_object('framework', a.framework, 'identifier', a.identifier),
                'b', json_object('framework', b.framework, 'identifier', b.identifier), 'status', e.status)
         FROM crosswalk_edges AS e JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b`,
    )
    .pluck();
  const decisions = createMappingDecisions(db);
  return perCatalogVersion(db, () => {
    const stated = edgesOfSources.all().map((each): NamedEdge => JSON.parse(each));
    const edges = new Map(stated.map((edge) => [nameOfEdge(edge), edge]));
    // Decided edges replace those of the sources or are added to them; they may have nodes that no source maps.
    const decided = decisions.over(edges);
    for (const edge of decided) edges.set(nameOfEdge(edge), edge);
    return { graph: createGraph([...edges.values()]), isDecided: decided.length > 0 };
  });
}
