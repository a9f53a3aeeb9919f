import { performance } from 'node:perf_hooks';
import { setImmediate as tick } from 'node:timers/promises';
import { ImportError } from '../errors.ts';
import type { Parsed } from '../format.ts';
import { parseGroup, parseSource } from '../parse.ts';
import type { Found } from '../read/discover.ts';
import { looksLikeBenchmark } from '../stigs/xccdf-source.ts';
import { createParserPool, type ParserPool } from './pool.ts';

const mega = 1024 * 1024;
/** How far reading and parsing may run ahead of writing, in bytes of sources. */
const aheadBytes = 16 * mega;
/** What is parsed before the first source is given out. */
const firstBytes = 4 * mega;
/** From how much there is to parse at once it pays to start threads, which need some 50 ms each to be ready. */
const threadsFrom = 3 * mega;
/** What a thread has at hand, so that it does not stand still while the main thread writes. */
const backlogBytes = 3 * mega;

/** What parsing gave: what a source is and holds, or why it is refused. */
export type ParseOutcome = Parsed | ImportError;

/** A source on its way. */
export interface Ahead {
  found: Found;
  /** Bytes of the file or files; of an archive none, its members count. */
  size: number;
  /** Milliseconds that parsing took so far, on whichever thread. */
  ms: number;
}

export interface PipelineOptions {
  strict: boolean;
  /** How many threads may parse beside this one; 0 parses all here. */
  threads: number;
  /** Whether the bytes with this SHA-256 need no parsing, as it looks now. */
  isKnown(sha256: string): boolean;
  /** Told of the time that this thread spent on `read` and on `parse`, waiting included. */
  onSpent(phase: 'read' | 'parse', ms: number): void;
}

/** Sources in the order in which they are found, read and parsed ahead of whoever takes them. */
export interface Pipeline {
  /** The next source; null at the end. */
  next(): Promise<Ahead | null>;
  /** What a source that was taken parses to; it is parsed now where that was not done ahead. */
  outcomeOf(source: Ahead): Promise<ParseOutcome>;
  close(): Promise<void>;
}

interface Source extends Ahead {
  isBenchmark: boolean;
  outcome: ParseOutcome | null;
  /** While a thread has it. */
  answer: Promise<void> | null;
}

/**
 * Makes a pipeline over what a walk finds. Before the first source is given out, the first ones are parsed: the
 * transaction of a run begins late, and a run of up to `firstBytes` has parsed everything by then. Little work is done
 * on this thread alone; otherwise threads help, and this one parses too wherever it would wait for them. What is read
 * and not yet taken stays bounded by `aheadBytes`.
 */
export function createPipeline(walk: AsyncGenerator<Found>, options: PipelineOptions): Pipeline {
  const { strict, threads, isKnown, onSpent } = options;
  const queue: Source[] = [];
  /** Those of the queue that are worth parsing ahead and that nobody has begun. */
  const pending: Source[] = [];
  const hashes = new Set<string>();
  let held = 0;
  let isOver = false;
  let isFirst = true;
  let pool: ParserPool | null = null;

  async function spent<T>(phase: 'read' | 'parse', work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await work();
    } finally {
      onSpent(phase, performance.now() - from);
    }
  }

  async function readAhead(): Promise<void> {
    while (!isOver && (queue.length === 0 || held < aheadBytes)) {
      const { value: found, done } = await spent('read', () => walk.next());
      isOver = done === true;
      if (isOver) return;
      const source = toSource(found);
      queue.push(source);
      held += source.size;
      const isParsed = found.type === 'bytes' || found.type === 'group';
      // The same bytes once more are parsed only if the first ones are not stored.
      if (isParsed && !hashes.has(found.sha256) && !isKnown(found.sha256)) {
        hashes.add(found.sha256);
        pending.push(source);
        handOut();
      }
    }
  }

  /** Gives the threads what they can do, and starts them once there is enough of it. */
  function handOut(): void {
    const benchmarks = pending.filter(({ isBenchmark }) => isBenchmark);
    if (threads > 0 && pool === null && benchmarks.length > 1) {
      const waiting = benchmarks.reduce((sum, source) => sum + source.size, 0);
      if (waiting >= threadsFrom) pool = createParserPool(threads);
    }
    for (const source of benchmarks) {
      if (pool === null || pool.backlog() >= backlogBytes) return;
      pending.splice(pending.indexOf(source), 1);
      source.answer = parseThere(source, pool);
      // Whoever takes the source hears of a failure: until then it is not an unhandled one.
      source.answer.catch(() => {});
    }
  }

  async function parseThere(source: Source, pool: ParserPool): Promise<void> {
    const { parsed, ms } = await pool.parse((source.found as { bytes: Buffer }).bytes, strict);
    source.ms = ms;
    source.outcome = parsed;
    source.answer = null;
  }

  function parseHere(source: Source): ParseOutcome {
    const from = performance.now();
    source.outcome = parse(source.found, strict);
    source.ms += performance.now() - from;
    return source.outcome;
  }

  /** Waits until a source is parsed, and parses others meanwhile. */
  async function settle(source: Source): Promise<ParseOutcome> {
    // The answers of the threads come between two turns of the event loop.
    if (pool !== null) await tick();
    handOut();
    const at = pending.indexOf(source);
    if (at >= 0) pending.splice(at, 1);
    while (source.answer !== null) {
      const other = pending.shift();
      if (other === undefined) await source.answer;
      else {
        parseHere(other);
        await tick();
        handOut();
      }
    }
    return source.outcome ?? parseHere(source);
  }

  async function parseFirst(): Promise<void> {
    let size = 0;
    for (const source of [...queue]) {
      size += source.size;
      if (size > firstBytes) return;
      if (source.answer !== null || pending.includes(source)) await settle(source);
    }
  }

  return {
    async next() {
      await readAhead();
      if (isFirst) {
        isFirst = false;
        await spent('parse', parseFirst);
      }
      const source = queue.shift() ?? null;
      if (source !== null) held -= source.size;
      return source;
    },
    outcomeOf: (source) => spent('parse', () => settle(source as Source)),
    close: async () => {
      await pool?.close();
    },
  };
}

function toSource(found: Found): Source {
  const size =
    found.type === 'bytes'
      ? found.bytes.length
      : found.type === 'group'
        ? found.files.reduce((sum, { bytes }) => sum + bytes.length, 0)
        : 0;
  const isBenchmark = found.type === 'bytes' && looksLikeBenchmark(found.bytes);
  return { found, size, ms: 0, isBenchmark, outcome: null, answer: null };
}

function parse(found: Found, strict: boolean): ParseOutcome {
  try {
    if (found.type === 'group') return parseGroup(found, { strict });
    if (found.type === 'bytes') return parseSource(found.bytes, { strict });
    throw new Error(`a source of type ${found.type} is not parsed`);
  } catch (error) {
    if (error instanceof ImportError) return error;
    throw error;
  }
}
