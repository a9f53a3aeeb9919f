import { atOnce, runInSlices, yieldToEventLoop } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { createPublishedForm } from '../controls/find-control.ts';
import { endsOfPaths, type MappingStatus } from './graph.ts';
import { closureDepth, createSearches, type PathQuestion, placeOf, searching } from './path-search.ts';
import { createPins, type FirstStep } from './pins.ts';
import type { Path } from './schema.ts';
import { mostPathBytes, shareBytes, type Taken } from './share.ts';
import { createWalkedGraph } from './walked-graph.ts';

const pairMilliseconds = 250;
/** The rest of a second is for writing the answer. */
const requestMilliseconds = 750;

/** The paths of a question; `texts` has each as JSON. */
export type Answered = Pick<Taken<Path>, 'paths' | 'texts' | 'truncated'>;

export const defaultStatuses: Set<MappingStatus> = new Set(['auto', 'verified']);

/** The question of the CCI lookup (rule D7.5), without its CCI. */
export const cciQuestion = {
  framework: 'cci',
  to: 'nist-800-53',
  statuses: defaultStatuses,
  maxHops: closureDepth,
} as const;

export type CrosswalkService = ReturnType<typeof createCrosswalkService>;

/** Resolves controls over the crosswalk (rule D7). */
export function createCrosswalkService(db: Database, clock: () => number = () => performance.now()) {
  const publishedForm = createPublishedForm(db);
  /** The published form of an identifier in any usual spelling; the text itself where it has none. */
  const canonical = (framework: string, identifier: string): string =>
    publishedForm(framework, identifier) ?? identifier.trim();
  const pins = createPins(db);
  const current = createWalkedGraph(db);
  const begin = createSearches(db, pins, current, clock);
  const inTurn = createTurns();
  const graph = () => current().graph;

  /** All controls at which paths of a question end, in catalog order. The question has no version. */
  function endsOf(question: Omit<PathQuestion, 'version'>): string[] {
    return db.read(() => {
      const { graph: walk, source, target, mask } = placeOf(graph(), question);
      const ends = endsOfPaths(walk, source, target, question.maxHops, mask);
      return ends.map((node) => walk.nodes[node]!.identifier);
    });
  }

  return {
    graph,
    endsOf,
    canonical,

    /** The controls of 800-53 that a rule's CCIs map to, each once. */
    mapped: (ccis: readonly string[]): string[] => [
      ...new Set(
        ccis.flatMap((cci) => endsOf({ ...cciQuestion, maxHops: 1, identifier: canonical('cci', cci) })),
      ),
    ],

    /** Gives a function from a control to the controls that a version of its framework maps it to (rule D7.4). */
    statedEnds(framework: string, to: string, version: string): (control: string) => string[] {
      const stepsOf = pins.firstStepsTo(graph(), framework, to, version);
      const isUsed = (step: FirstStep) => step.node.framework === to && defaultStatuses.has(step.status);
      return (control) =>
        stepsOf(control)
          .filter(isUsed)
          .map(({ node }) => node.identifier);
    },

    /** The controls of a framework that a control reaches in the fewest hops, at most those of the closure table. */
    nearest(framework: string, identifier: string, to: string): string[] {
      for (let maxHops = 1; maxHops <= closureDepth; maxHops++) {
        const ends = endsOf({ framework, identifier, to, statuses: defaultStatuses, maxHops });
        if (ends.length > 0) return ends;
      }
      return [];
    },

    /** Every path of one question, within the bounds of D7.3. */
    resolve: (question: PathQuestion): Answered =>
      db.read(() => atOnce(searching(begin(question), clock, pairMilliseconds, mostPathBytes))),

    /** The same in slices, yielding to other requests in between. */
    async resolveInSlices(question: PathQuestion): Promise<Answered> {
      const answer = () => {
        const search = db.read(() => begin(question));
        return runInSlices(searching(search, clock, pairMilliseconds, mostPathBytes), clock);
      };
      return question.maxHops > closureDepth ? inTurn(answer) : answer();
    },

    /** The answers to many questions in order, in slices. They share the bytes and the time of one answer (D7.3). */
    resolveAll(questions: PathQuestion[]): Promise<Answered[]> {
      const end = clock() + requestMilliseconds;
      const resolved = (index: number, mostBytes: number, waiting: number) =>
        inTurn(async () => {
          await yieldToEventLoop();
          const search = db.read(() => begin(questions[index]!));
          const part = Math.min(pairMilliseconds, (end - clock()) / waiting);
          return runInSlices(searching(search, clock, part, mostBytes), clock);
        });
      return shareBytes(questions.length, mostPathBytes, resolved, () => clock() > end);
    },

    /** Whether a question has a path. It visits each node once, so it needs no bound, whatever `maxHops` is. */
    hasPath: (question: PathQuestion): boolean =>
      db.read(() => {
        const search = { ...question, maxHops: Math.max(question.maxHops, closureDepth + 1) };
        const { graph: walk, source, target, mask, known, edges } = begin(search);
        if (known.some(({ hops }) => hops <= question.maxHops)) return true;
        return endsOfPaths(walk, source, target, question.maxHops, mask, edges).length > 0;
      }),
  };
}

/** Runs searches one after the other: each may use 40 MB until its paths are found. */
function createTurns() {
  let searches: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = searches.then(work);
    searches = done.catch(() => undefined);
    return done;
  };
}
