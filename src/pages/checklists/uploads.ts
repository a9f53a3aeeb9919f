import { randomUUID } from 'node:crypto';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { Ask } from '../../base/ask.ts';
import { owned } from '../../base/bytes.ts';
import { AppError, callerGone, unavailable } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { programFolder } from '../../base/root.ts';
import { uploadJobs } from '../../checklists/jobs.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import type { Upgraded } from '../../checklists/upload.ts';
import { type Presence, smallUpload, uploadSize } from '../../http/limits.ts';
import { storedMinutes } from './upgrade-form.tsx';
import type { JobRequest, PageUpload, ThreadAnswer, ThreadRequest, Upload } from './upload-thread.ts';

/** The refusal of an upload; `page` shows the form again when its content was the reason. */
export class RefusedUpload extends AppError {
  readonly page: Uint8Array<ArrayBuffer> | null;

  constructor({ code, message, headers, field }: AppError, page: Uint8Array<ArrayBuffer> | null) {
    super(code, message, headers, field);
    this.page = page;
  }
}

export interface Uploads {
  /**
   * Processes an upload after those before it, and takes over its bytes; `store` gets the files of a form, when its answer
   * is a page about them. Throws a `RefusedUpload` for an invalid upload
   * (400, 413), for an error of `ask`, and (503) when the thread stops or the caller disconnects.
   */
  upgrade(upload: Upload, ask: Ask, caller?: Presence, store?: StoreFiles): Promise<Upgraded>;
  stop(): Promise<void>;
}

type StoreFiles = (files: NamedFile[]) => void;

export interface UploadOptions {
  entry?: string | URL;
  /** Megabytes that a thread may use for objects and texts. */
  memory?: number;
  /** Milliseconds for one upload, and until an idle thread ends. */
  patience?: number;
  idle?: number;
}

const jobs: Record<string, (services: never, ...args: never[]) => unknown> = uploadJobs;

const threadProgram = join(programFolder, 'pages', 'checklists', `upload-thread${extname(import.meta.url)}`);

/** Makes the reader of uploads: one thread for small ones, another for large ones (rule S2.9). */
export function createUploads(log: Log, options: UploadOptions = {}): Uploads {
  const small = createUploadThread(log, { memory: 128, patience: 20_000, ...options });
  const large = createUploadThread(log, { memory: 512, patience: 60_000, ...options });
  return {
    upgrade(upload, ...others) {
      const stored = upload.from === 'page' ? sizeOf(upload.stored ?? []) : 0;
      const thread = uploadSize(upload.bytes) + stored <= smallUpload ? small : large;
      return thread.upgrade(upload, ...others);
    },
    async stop() {
      await Promise.all([small.stop(), large.stop()]);
    },
  };
}

/** Makes a reader of one upload at a time: a crash of its thread affects no other upload. */
function createUploadThread(
  log: Log,
  {
    entry = threadProgram,
    memory,
    patience,
    idle = 20_000,
  }: UploadOptions & Required<Pick<UploadOptions, 'memory' | 'patience'>>,
): Uploads {
  const thread = createThread(log, entry, memory);
  const end = (why: AppError) => void thread.end(why);
  let last: Promise<unknown> = Promise.resolve();
  let idling: NodeJS.Timeout | undefined;

  async function one(upload: Upload, ask: Ask, caller: Presence, store?: StoreFiles): Promise<Upgraded> {
    await thread.ended();
    if (caller.closed) throw callerGone();
    clearTimeout(idling);
    thread.begin();
    const overdue = setTimeout(end, patience, tryAgain('The upload took too long to process. Try again'));
    // Work in a thread cannot be interrupted; a new thread costs less than work that nobody waits for.
    caller.onClose = () => end(callerGone());
    try {
      const bytes = owned(upload.bytes);
      let said = await thread.ask({ ...upload, bytes }, [bytes.buffer]);
      while ('wanted' in said) said = await thread.ask(await answerTo(ask, said.wanted, upload.from));
      if ('files' in said && said.files !== undefined) store?.(said.files);
      if (!('upgraded' in said)) throw failureOf(said);
      return said.upgraded;
    } catch (error) {
      if (error instanceof RefusedUpload || !(error instanceof AppError)) throw error;
      throw new RefusedUpload(error, null);
    } finally {
      caller.onClose = null;
      clearTimeout(overdue);
      thread.rest();
      idling = setTimeout(end, idle, stopping()).unref();
    }
  }

  /** On failure a page shows the form again, and the reader of a body names the field; any other ends the upload. */
  async function answerTo(
    ask: Ask,
    { name, args }: JobRequest,
    from: Upload['from'],
  ): Promise<ThreadRequest> {
    try {
      return { value: await ask(jobs[name]!, ...(args as never[])) };
    } catch (error) {
      if (error instanceof AppError && (from !== 'api' || error.field !== undefined))
        return { refused: { code: error.code, message: error.message, field: error.field } };
      thread.send({ ended: true });
      throw error;
    }
  }

  return {
    upgrade(upload, ask, caller = { closed: false, onClose: null }, store) {
      const turn = last.then(() => one(upload, ask, caller, store));
      last = turn.catch(() => undefined);
      return turn;
    },
    async stop() {
      clearTimeout(idling);
      await thread.end(stopping());
    },
  };
}

/** Makes a worker thread that the next `begin` replaces after its end or its crash. */
function createThread(log: Log, entry: string | URL, memory: number) {
  let thread: Worker | null = null;
  let waiting: { resolve: (answer: ThreadAnswer) => void; reject: (error: AppError) => void } | null = null;
  /** Why the current upload ended; set also while the main thread works for it. */
  let ended: AppError | null = null;
  let ending: Promise<void> = Promise.resolve();

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
          ? new AppError('PAYLOAD_TOO_LARGE', 'The upload needs more memory than one may use')
          : tryAgain('The upload could not be read. Try again'),
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

  return {
    /** Waits for the end of the former thread: two at once would take twice the memory. */
    ended: () => ending,
    /** Starts the thread where there is none; it then keeps the process alive until `rest`. */
    begin(): void {
      ended = null;
      thread ??= start();
      thread.ref();
    },
    send: (request: ThreadRequest, transfer: ArrayBuffer[] = []) => thread?.postMessage(request, transfer),
    /** Sends a request and waits for its answer. Rejects with the reason when the thread ends or crashes. */
    ask(request: ThreadRequest, transfer?: ArrayBuffer[]): Promise<ThreadAnswer> {
      return new Promise((resolve, reject) => {
        if (ended !== null) return reject(ended);
        waiting = { resolve, reject };
        this.send(request, transfer);
      });
    },
    /** The upload is finished. A thread that is about to end keeps the process alive until it has ended. */
    rest(): void {
      waiting = null;
      thread?.unref();
    },
    async end(why: AppError): Promise<void> {
      const worker = thread;
      thread = null;
      refuse(why);
      // `undefined`, not the value: each promise would keep that of the one before it alive, as long as the service runs.
      ending = Promise.all([ending, worker?.terminate()]).then(() => undefined);
      await ending;
    },
  };
}

const sizeOf = (files: NamedFile[]) => files.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** Bytes of the files that are stored for pages; those used least recently make room. */
const mostStored = 192 * 1024 * 1024;

export type WorkOnUpload = ReturnType<typeof createUploadWork>['ofApi'];
export type WorkOnForm = ReturnType<typeof createUploadWork>['ofForm'];

/**
 * Makes the functions that process uploads with what the catalog has of them. Only the files of forms are stored: in memory,
 * for their sender, under a random id by which the forms of the answer name them.
 */
export function createUploadWork(uploads: Uploads, ask: Ask) {
  const stored = new LRUCache<string, { owner: string; files: NamedFile[] }>({
    maxSize: mostStored,
    sizeCalculation: ({ files }) => sizeOf(files) + 1,
    ttl: storedMinutes * 60_000,
    ttlAutopurge: true,
  });
  return {
    ofApi: (upload: Upload, caller: Presence): Promise<Upgraded> => uploads.upgrade(upload, ask, caller),
    ofForm(
      {
        id,
        owner,
        ...form
      }: Omit<PageUpload, 'from' | 'stored' | 'id'> & {
        bytes: Upload['bytes'];
        id: string | undefined;
        owner: string;
      },
      caller: Presence,
    ): Promise<Upgraded> {
      const known = id === undefined ? undefined : stored.get(id);
      const files = id === undefined ? [] : known?.owner === owner ? known.files : null;
      const page = files?.length ? id! : randomUUID();
      const upload: Upload = { ...form, from: 'page', id: page, stored: files };
      return uploads.upgrade(upload, ask, caller, (files) => void stored.set(page, { owner, files }));
    },
  };
}

const tryAgain = (message: string) => unavailable(message, 5);
const stopping = () => tryAgain('The service is stopping');

function failureOf(answer: ThreadAnswer): Error {
  if ('refused' in answer) {
    const { code, message, field } = answer.refused;
    return new RefusedUpload(new AppError(code, message, {}, field), answer.page ?? null);
  }
  return new Error(
    `the thread that reads uploads failed: ${'fault' in answer ? answer.fault : 'out of turn'}`,
  );
}
