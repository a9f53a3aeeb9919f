import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CommandError } from '../../src/base/errors.ts';
import { packageRoot } from '../../src/base/root.ts';
import type { Parsed } from '../format.ts';
import type { ParseAnswer, ParseRequest } from './thread.ts';

/** How many parser threads a run may use: the main thread has a core for itself. */
export function parserThreads(): number {
  return Math.min(3, availableParallelism() - 1);
}

/** What a thread made of a benchmark: null for what it leaves to the main thread. */
interface Answer {
  parsed: Parsed | null;
  ms: number;
}

/** Threads that parse benchmarks. */
export interface ParserPool {
  /** Bytes that wait for the thread that has least to do. */
  backlog(): number;
  /**
   * Hands a copy of a benchmark to the thread that has least to do. Rejects with a `CommandError` when the thread stops,
   * and with what the parser threw when that was no refusal.
   */
  parse(bytes: Uint8Array, strict: boolean): Promise<Answer>;
  close(): Promise<void>;
}

interface Thread {
  worker: Worker;
  backlog: number;
  waiting: Map<number, { size: number; resolve: (answer: Answer) => void; reject: (error: Error) => void }>;
  stopped: Error | null;
}

const threadProgram = join(packageRoot, 'dist', 'importers', 'parsers', 'thread.js');

/** Starts so many parser threads; `entry` is what they run. */
export function createParserPool(count: number, entry: string | URL = threadProgram): ParserPool {
  const threads = Array.from({ length: count }, () => startThread(entry));
  const idlest = () => threads.reduce((least, each) => (each.backlog < least.backlog ? each : least));
  let lastId = 0;

  return {
    backlog: () => idlest().backlog,
    parse(bytes, strict) {
      const thread = idlest();
      if (thread.stopped) return Promise.reject(thread.stopped);
      const id = ++lastId;
      const size = bytes.byteLength;
      thread.backlog += size;
      thread.worker.postMessage({ id, bytes, strict } satisfies ParseRequest);
      return new Promise((resolve, reject) => thread.waiting.set(id, { size, resolve, reject }));
    },
    async close() {
      for (const { worker } of threads) worker.removeAllListeners();
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

function startThread(entry: string | URL): Thread {
  // Without the arguments of this process: what they load has run here already.
  const worker = new Worker(entry, { execArgv: [], argv: [] });
  const thread: Thread = { worker, backlog: 0, waiting: new Map(), stopped: null };
  worker.on('message', (answer: ParseAnswer) => {
    const { size, resolve, reject } = thread.waiting.get(answer.id)!;
    thread.waiting.delete(answer.id);
    thread.backlog -= size;
    if ('fault' in answer) reject(new Error(`a parser failed: ${answer.fault}`));
    else resolve(answer);
  });
  const stop = (why: string) => {
    thread.stopped ??= new CommandError(`a parser thread stopped (${why}): nothing was changed`);
    for (const { reject } of thread.waiting.values()) reject(thread.stopped);
    thread.waiting.clear();
  };
  worker.on('error', (error) => stop(error.message));
  worker.on('messageerror', (error) => stop(error.message));
  worker.on('exit', (code) => stop(`exit code ${code}`));
  return thread;
}
