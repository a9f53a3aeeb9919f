import { on } from 'node:events';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { programFolder } from './root.ts';

/** Milliseconds between two messages of a worker, and megabytes of its heap. */
const longest = 60_000;
const maxOldGenerationSizeMb = 1024;

function startWorker(program: string, input: unknown): Worker {
  return new Worker(join(programFolder, `${program}${extname(import.meta.url)}`), {
    workerData: input,
    // Without the options of this process: its preloaded modules must not run again.
    execArgv: [],
    argv: [],
    resourceLimits: { maxOldGenerationSizeMb },
  });
}

/**
 * The bytes that a program makes in a worker of its own, which starts with the first read. The program answers each message
 * with the next chunk, and with null at the end. The worker ends with the stream. A worker that fails or ends too early,
 * also between two reads, makes the stream fail; `failed` is called with its error.
 */
export function streamFromWorker(
  program: string,
  input: unknown,
  failed: (error: Error) => void = () => undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let worker: Worker | null = null;
  let isOver = false;

  function start(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Worker {
    const started = startWorker(program, input);
    const fail = (error: Error) => {
      if (isOver) return;
      isOver = true;
      failed(error);
      controller.error(error);
    };
    started.on('message', (chunk: Uint8Array<ArrayBuffer> | null) => {
      if (isOver) return;
      if (chunk !== null) return controller.enqueue(chunk);
      isOver = true;
      controller.close();
      void started.terminate();
    });
    started.on('error', fail);
    started.on('exit', (code) => fail(new Error(`the worker of ${program} ended with exit code ${code}`)));
    return started;
  }

  return new ReadableStream(
    {
      pull(controller) {
        worker ??= start(controller);
        worker.postMessage('next');
      },
      cancel() {
        isOver = true;
        void worker?.terminate();
      },
    },
    { highWaterMark: 0 },
  );
}

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
  const worker = startWorker(program, input);
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
