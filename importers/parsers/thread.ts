import { performance } from 'node:perf_hooks';
import { parentPort } from 'node:worker_threads';
import { ImportError } from '../errors.ts';
import type { Parsed } from '../format.ts';
import { parseBenchmark } from '../stigs/xccdf-source.ts';

/** A benchmark for a parser thread. */
export interface ParseRequest {
  id: number;
  bytes: Uint8Array;
  strict: boolean;
}

/** What came of it: null for what is no benchmark or is refused, which the main thread then reads itself; a `fault` is an error of the program. */
export type ParseAnswer = { id: number; ms: number } & ({ parsed: Parsed | null } | { fault: string });

function parse({ bytes, strict }: ParseRequest): { parsed: Parsed | null } | { fault: string } {
  try {
    return { parsed: parseBenchmark(bytes, { strict }) };
  } catch (error) {
    return error instanceof ImportError
      ? { parsed: null }
      : { fault: (error as Error).stack ?? String(error) };
  }
}

// The entry of a parser thread: it answers one request after the other until the main thread ends it. It reads
// benchmarks alone, which are all that an import has much of: so it has little to load before it can begin.
parentPort?.on('message', (request: ParseRequest) => {
  const from = performance.now();
  const answer = parse(request);
  parentPort!.postMessage({ id: request.id, ms: performance.now() - from, ...answer } satisfies ParseAnswer);
});
