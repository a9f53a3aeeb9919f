import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Presence } from '../env.ts';
import { AppError, callerGone } from '../errors.ts';
import type { Log } from '../log.ts';
import { packageRoot } from '../root.ts';
import type { StigService } from '../services/stigs.ts';
import type { UpgradeForm } from '../web/upgrade.tsx';
import type { ReadUpload, Release, Upgraded } from './read.ts';
import type { ThreadAnswer, ThreadRequest, Upload } from './thread.ts';

/** Why an upload was refused, with what was typed beside it where that was read. */
export class RefusedUpload extends AppError {
  readonly form: UpgradeForm | null;

  constructor({ code, message, headers }: AppError, form: UpgradeForm | null) {
    super(code, message, headers);
    this.form = form;
  }
}

/** The thread that reads uploads. */
export interface Uploads {
  /**
   * Reads and upgrades one, after those before it; its bytes are gone then. `find` gives the release that it asks for.
   * Throws a `RefusedUpload` for what cannot be taken (400, 413), for what `find` refuses, and (503) when the thread stops.
   * One whose caller is gone is left out, and ended where it is under way.
   */
  upgrade(
    upload: Upload,
    find: (wanted: ReadUpload['wanted']) => Release,
    caller?: Presence,
  ): Promise<Upgraded>;
  /** Ends the thread. */
  stop(): Promise<void>;
}

export interface UploadOptions {
  /** What the thread runs. */
  entry?: string | URL;
  /** Megabytes that it may have for objects and texts. */
  memory?: number;
  /** Milliseconds that one upload may take, and that the thread waits for another. */
  patience?: number;
  idle?: number;
}

const threadProgram = join(packageRoot, 'dist', 'src', 'uploads', 'thread.js');

/**
 * Makes what reads uploads in a thread, so that others are heard meanwhile. The thread starts with the first upload, ends
 * when none came for a while, and is replaced when it died. One at a time: what it dies of is the fault of one.
 */
export function createUploads(log: Log, options: UploadOptions = {}): Uploads {
  const { entry = threadProgram, memory = 512, patience = 60_000, idle = 60_000 } = options;
  let thread: Worker | null = null;
  let waiting: { resolve: (answer: ThreadAnswer) => void; reject: (error: AppError) => void } | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let ending: Promise<void> = Promise.resolve();
  let idling: NodeJS.Timeout | undefined;

  function start(): Worker {
    // Without the arguments of this process: what they load has run here already.
    const worker = new Worker(entry, {
      execArgv: [],
      argv: [],
      resourceLimits: { maxOldGenerationSizeMb: memory },
    });
    const stopped = (error: Error & { code?: string }) => {
      if (thread !== worker) return;
      thread = null;
      void worker.terminate();
      log.error('the thread that reads uploads stopped', { reason: error.message });
      waiting?.reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? new AppError('PAYLOAD_TOO_LARGE', 'The checklist takes more memory than there is for one')
          : unavailable('The checklist could not be read'),
      );
    };
    worker.on('message', (answer: ThreadAnswer) => waiting?.resolve(answer));
    worker.on('messageerror', stopped);
    worker.on('error', stopped);
    worker.on('exit', (code) => stopped(new Error(`exit code ${code}`)));
    return worker;
  }

  /** Ends the thread; an upload that it has is refused. */
  async function end(why: AppError): Promise<void> {
    const worker = thread;
    thread = null;
    waiting?.reject(why);
    // Nothing is handed on: each would keep what the one before it gave, for as long as the service runs.
    ending = Promise.all([ending, worker?.terminate()]).then(() => undefined);
    await ending;
  }

  function ask(worker: Worker, request: ThreadRequest, transfer: ArrayBuffer[] = []): Promise<ThreadAnswer> {
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      worker.postMessage(request, transfer);
    });
  }

  async function one(
    upload: Upload,
    find: (wanted: ReadUpload['wanted']) => Release,
    caller: Presence,
  ): Promise<Upgraded> {
    // Two threads at once would take twice the memory.
    await ending;
    if (caller.closed) throw callerGone();
    clearTimeout(idling);
    thread ??= start();
    const worker = thread;
    worker.ref();
    const overdue = setTimeout(() => void end(unavailable('The checklist took too long')), patience);
    // What it does cannot be interrupted; another thread costs less than the work that nobody waits for.
    caller.onClose = () => void end(callerGone());
    let form: UpgradeForm | null = null;
    try {
      const bytes = owned(upload.bytes);
      const read = await ask(worker, { ...upload, bytes }, [bytes.buffer]);
      form = read.form;
      if (!('wanted' in read)) throw failureOf(read);
      const made = await ask(worker, { release: found(worker, find, read.wanted) });
      if (!('upgraded' in made)) throw failureOf(made);
      return made.upgraded;
    } catch (error) {
      throw error instanceof AppError ? new RefusedUpload(error, form) : error;
    } finally {
      waiting = null;
      caller.onClose = null;
      clearTimeout(overdue);
      // One that is being ended is waited for.
      if (thread === worker) worker.unref();
      idling = setTimeout(() => void end(unavailable('The service stops')), idle).unref();
    }
  }

  /** The release that an upload asks for; where there is none the thread need not keep what it read. */
  function found(
    worker: Worker,
    find: (wanted: ReadUpload['wanted']) => Release,
    wanted: ReadUpload['wanted'],
  ) {
    try {
      return find(wanted);
    } catch (error) {
      worker.postMessage({ release: null } satisfies ThreadRequest);
      throw error;
    }
  }

  return {
    upgrade(upload, find, caller = { closed: false, onClose: null }) {
      const turn = last.then(() => one(upload, find, caller));
      last = turn.catch(() => undefined);
      return turn;
    },
    async stop() {
      clearTimeout(idling);
      await end(unavailable('The service stops'));
    },
  };
}

/** Makes the function that upgrades what was uploaded to a release of the catalog. It stores nothing. */
export function createUpgrade(uploads: Uploads, stigs: StigService) {
  return (upload: Upload, caller: Presence): Promise<Upgraded> =>
    uploads.upgrade(
      upload,
      ({ slug, version }) => ({
        target: stigs.full(slug, version),
        benchmarkIds: stigs.benchmarkIds(slug),
      }),
      caller,
    );
}

function unavailable(message: string): AppError {
  return new AppError('UNAVAILABLE', message, { 'Retry-After': '5' });
}

/** Bytes in a buffer of their own: it is handed over whole, and small ones share theirs. */
function owned(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** What the thread says went wrong, as it is thrown here. */
function failureOf(answer: ThreadAnswer): Error {
  if ('refused' in answer) return new AppError(answer.refused.code, answer.refused.message);
  return new Error(
    `the thread that reads uploads failed: ${'fault' in answer ? answer.fault : 'out of turn'}`,
  );
}
