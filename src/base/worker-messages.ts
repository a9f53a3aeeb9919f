import { on } from 'node:events';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { programFolder } from './root.ts';

/** Milliseconds between two messages of a worker, and megabytes of its heap. */
const longest = 60_000;
const maxOldGenerationSizeMb = 1024;

/**
 * Runs a program in a worker of its own, and calls `use` with each of its messages: `program` is its path below `src` without extension,
 * `input` its `workerData`. Throws an `Error` when the worker cannot be started or fails, when a message takes longer
 * than a minute, and when `stopped` is aborted. The worker then ends.
 */
export async function readWorkerMessages<Message>(
  program: string,
  input: unknown,
  use: (message: Message) => void,
  stopped?: AbortSignal,
): Promise<void> {
  const late = new AbortController();
  const signal = stopped ? AbortSignal.any([stopped, late.signal]) : late.signal;
  const worker = new Worker(join(programFolder, `${program}${extname(import.meta.url)}`), {
    workerData: input,
    // Without the options of this process: its preloaded modules must not run again.
    execArgv: [],
    argv: [],
    resourceLimits: { maxOldGenerationSizeMb },
  });
  const timer = setTimeout(() => late.abort(), longest);
  try {
    for await (const [message] of on(worker, 'message', { signal, close: ['exit'] })) {
      timer.refresh();
      use(message as Message);
    }
  } catch (error) {
    throw late.signal.aborted ? new Error('it took longer than a minute') : error;
  } finally {
    clearTimeout(timer);
    void worker.terminate();
  }
}
