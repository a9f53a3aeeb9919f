import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError, badRequest, callerGone } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { packageRoot } from '../../base/root.ts';
import type { createCciFacts } from '../../catalog/crosswalk/cci-facts.ts';
import type { createIdentify } from '../../catalog/stigs/identify.ts';
import type { StigNameIndex } from '../../catalog/stigs/name-index.ts';
import type { StigService } from '../../catalog/stigs/queries.ts';
import { shortList } from '../../checklists/stig-names.ts';
import type { Found, Upgraded, Wanted } from '../../checklists/upload.ts';
import type { Presence } from '../../http/env.ts';
import { smallUpload } from '../../http/limits/concurrency.ts';
import type { ThreadAnswer, ThreadRequest, Upload } from './upload-thread.ts';

/** The refusal of an upload; `page` shows the form again when its content was the reason. */
export class RefusedUpload extends AppError {
  readonly page: Uint8Array<ArrayBuffer> | null;

  constructor({ code, message, headers }: AppError, page: Uint8Array<ArrayBuffer> | null) {
    super(code, message, headers);
    this.page = page;
  }
}

/** Finds what an upload needs of the catalog; a slow look-up yields to the event loop. */
export type Find = (wanted: Wanted) => Found | Promise<Found>;

export interface Uploads {
  /**
   * Processes an upload after those before it, and takes over its bytes. `find` gives each release that it needs.
   * Throws a `RefusedUpload` for an invalid upload (400, 413), for an error of `find`, and (503) when the thread stops.
   * When the caller disconnects, skips the upload or ends its thread.
   */
  upgrade(upload: Upload, find: Find, caller?: Presence): Promise<Upgraded>;
  stop(): Promise<void>;
}

export interface UploadOptions {
  entry?: string | URL;
  /** Megabytes that a thread may use for objects and texts. */
  memory?: number;
  /** Milliseconds for one upload, and until an idle thread ends. */
  patience?: number;
  idle?: number;
}

const threadProgram = join(packageRoot, 'dist', 'src', 'site', 'checklists', 'upload-thread.js');

/** Makes the reader of uploads: one thread for small ones, another for large ones (rule S2.9). */
export function createUploads(log: Log, options: UploadOptions = {}): Uploads {
  const small = createUploadThread(log, { memory: 128, patience: 20_000, ...options });
  const large = createUploadThread(log, { memory: 512, patience: 60_000, ...options });
  return {
    upgrade(upload, find, caller) {
      const thread = upload.bytes.byteLength <= smallUpload ? small : large;
      return thread.upgrade(upload, find, caller);
    },
    async stop() {
      await Promise.all([small.stop(), large.stop()]);
    },
  };
}

/**
 * Makes a thread that reads uploads, so that the main thread can answer others. It starts with the first upload, ends
 * after idle time, and a new one replaces it after a crash. It reads one upload at a time: so a crash affects only the
 * upload that caused it.
 */
function createUploadThread(
  log: Log,
  {
    entry = threadProgram,
    memory,
    patience,
    idle = 20_000,
  }: UploadOptions & Required<Pick<UploadOptions, 'memory' | 'patience'>>,
): Uploads {
  let thread: Worker | null = null;
  let waiting: { resolve: (answer: ThreadAnswer) => void; reject: (error: AppError) => void } | null = null;
  /** Why the current upload ended; set also while the main thread works for it. */
  let ended: AppError | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let ending: Promise<void> = Promise.resolve();
  let idling: NodeJS.Timeout | undefined;

  function start(): Worker {
    // Without the options of this process: its preloaded modules must not run again.
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
      refuse(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? new AppError('PAYLOAD_TOO_LARGE', 'The checklist needs more memory than one upload may use')
          : unavailable('The checklist could not be read. Try again'),
      );
    };
    worker.on('message', (answer: ThreadAnswer) => waiting?.resolve(answer));
    worker.on('messageerror', stopped);
    worker.on('error', stopped);
    worker.on('exit', (code) => stopped(new Error(`exit code ${code}`)));
    return worker;
  }

  function refuse(why: AppError): void {
    ended = why;
    waiting?.reject(why);
  }

  async function end(why: AppError): Promise<void> {
    const worker = thread;
    thread = null;
    refuse(why);
    // `undefined`, not the value: each promise would keep that of the one before it alive, as long as the service runs.
    ending = Promise.all([ending, worker?.terminate()]).then(() => undefined);
    await ending;
  }

  function ask(worker: Worker, request: ThreadRequest, transfer: ArrayBuffer[] = []): Promise<ThreadAnswer> {
    return new Promise((resolve, reject) => {
      if (ended !== null) return reject(ended);
      waiting = { resolve, reject };
      worker.postMessage(request, transfer);
    });
  }

  async function one(upload: Upload, find: Find, caller: Presence): Promise<Upgraded> {
    // Two threads at once would take twice the memory.
    await ending;
    if (caller.closed) throw callerGone();
    clearTimeout(idling);
    ended = null;
    thread ??= start();
    const worker = thread;
    worker.ref();
    const overdue = setTimeout(
      () => void end(unavailable('The checklist took too long to process. Try again')),
      patience,
    );
    // Work in a thread cannot be interrupted; a new thread costs less than work that nobody waits for.
    caller.onClose = () => void end(callerGone());
    try {
      const bytes = owned(upload.bytes);
      let said = await ask(worker, { ...upload, bytes }, [bytes.buffer]);
      while ('wanted' in said) said = await ask(worker, await found(worker, find, said.wanted, upload.from));
      if (!('upgraded' in said)) throw failureOf(said);
      return said.upgraded;
    } catch (error) {
      if (error instanceof RefusedUpload || !(error instanceof AppError)) throw error;
      throw new RefusedUpload(error, null);
    } finally {
      waiting = null;
      caller.onClose = null;
      clearTimeout(overdue);
      // A thread that is about to end keeps the process alive until it has ended.
      if (thread === worker) worker.unref();
      idling = setTimeout(() => void end(unavailable('The service is stopping')), idle).unref();
    }
  }

  /** Finds a release for the thread. On failure, a page shows the form again; for the API, the upload ends. */
  async function found(
    worker: Worker,
    find: Find,
    wanted: Wanted,
    from: Upload['from'],
  ): Promise<ThreadRequest> {
    try {
      return { release: await find(wanted) };
    } catch (error) {
      if (from === 'page' && error instanceof AppError)
        return { refused: { code: error.code, message: error.message } };
      worker.postMessage({ ended: true } satisfies ThreadRequest);
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
      await end(unavailable('The service is stopping'));
    },
  };
}

export type WorkOnUpload = ReturnType<typeof createUploadWork>;

/** Makes the function that processes an upload with the releases of the catalog. It stores nothing. */
export function createUploadWork(
  uploads: Uploads,
  stigs: StigService,
  stigNames: StigNameIndex,
  identify: ReturnType<typeof createIdentify>,
  cciFacts: ReturnType<typeof createCciFacts>,
) {
  const releaseOf = (slug: string, names: string[], version?: string) => {
    return { target: stigs.full(slug, version), names: stigNames.namesOf(slug, names) };
  };
  return (upload: Upload, caller: Presence): Promise<Upgraded> =>
    uploads.upgrade(
      upload,
      (wanted) => {
        if ('stated' in wanted) return identify(wanted.stated);
        if ('ccis' in wanted) return cciFacts(wanted.ccis, wanted.revision);
        if ('maybe' in wanted) {
          const [only, ...more] = stigNames.ofBenchmarks([wanted.maybe]);
          return only === undefined || more.length > 0 ? null : releaseOf(only.slug, [wanted.maybe]);
        }
        const { slug, names, version } = wanted;
        return releaseOf(slug ?? onlyOne(names, stigNames), names, version);
      },
      caller,
    );
}

function onlyOne(stated: string[], stigNames: StigNameIndex): string {
  const known = stigNames.ofBenchmarks(stated);
  if (known.length === 1) return known[0]!.slug;
  if (known.length > 1)
    throw badRequest(
      `The checklist names more than one STIG in the catalog: ${shortList(known.map(({ title }) => title))}. Choose the one to upgrade`,
    );
  throw badRequest(
    stated.length === 0
      ? 'The checklist does not name its STIG: choose the STIG'
      : `The checklist names ${shortList(stated)}, which is not in the catalog. Choose its STIG, or import that STIG first`,
  );
}

function unavailable(message: string): AppError {
  return new AppError('UNAVAILABLE', message, { 'Retry-After': '5' });
}

/** Copies bytes that share their buffer: a transfer moves the whole buffer, and small ones share one. */
function owned(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function failureOf(answer: ThreadAnswer): Error {
  if ('refused' in answer)
    return new RefusedUpload(new AppError(answer.refused.code, answer.refused.message), answer.page ?? null);
  return new Error(
    `the thread that reads uploads failed: ${'fault' in answer ? answer.fault : 'out of turn'}`,
  );
}
