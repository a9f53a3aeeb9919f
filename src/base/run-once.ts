import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { programFolder } from './root.ts';

/** Milliseconds that a worker may take, and megabytes of its heap. */
const longest = 60_000;
const maxOldGenerationSizeMb = 1024;

/**
 * Runs a program in a worker of its own: `program` is its path below `src` without extension, `input` its `workerData`.
 * Gives the first message of the program. Throws an `Error` when the worker fails, ends without a message, or takes
 * longer than a minute.
 */
export function runOnce<Answer>(program: string, input: unknown): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const worker = new Worker(join(programFolder, `${program}${extname(import.meta.url)}`), {
    workerData: input,
    // Without the options of this process: its preloaded modules must not run again.
    execArgv: [],
    argv: [],
    resourceLimits: { maxOldGenerationSizeMb },
  });
  const timer = setTimeout(() => void worker.terminate(), longest);
  worker.on('message', resolve);
  worker.on('error', reject);
  worker.on('exit', () => {
    clearTimeout(timer);
    reject(new Error('the worker ended without an answer'));
  });
  return promise;
}
