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
import {
  errorOf,
  type JobRequest,
  type PageUpload,
  refusalOf,
  type StoredFiles,
  type ThreadAnswer,
  type ThreadRequest,
  type Upload,
} from './upload-messages.ts';

export interface Uploads {
  /**
   * Processes an upload after those before it, and takes over its bytes; `store` gets the new files of a form and their id,
   * when its answer is a page about them. Throws an `AppError` for an invalid upload (400, 413), what `ask` throws, and a 503 when the
   * thread stops or the caller disconnects.
   */
  upgrade(upload: Upload, ask: Ask, caller?: Presence, store?: StoreFiles): Promise<Upgraded>;
  stop(): Promise<void>;
}

type StoreFiles = (stored: StoredFiles) => void;

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
  let thread: Worker | null = null;
  let waiting: { resolve: (answer: ThreadAnswer) => void; reject: (error: AppError) => void } | null = null;
  /** Why the current upload ended; set also while the main thread works for it. */
  let ended: AppError | null = null;
  let ending: Promise<void> = Promise.resolve();
  let last: Promise<unknown> = Promise.resolve();
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

  /** Sends a request and waits for its answer. Rejects with the reason when the thread ends or crashes. */
  function askThread(request: ThreadRequest, transfer: ArrayBuffer[] = []): Promise<ThreadAnswer> {
    return new Promise((resolve, reject) => {
      if (ended !== null) return reject(ended);
      waiting = { resolve, reject };
      thread?.postMessage(request, transfer);
    });
  }

  async function end(why: AppError): Promise<void> {
    const worker = thread;
    thread = null;
    refuse(why);
    // `undefined`, not the value: each promise would keep that of the one before it alive, as long as the service runs.
    ending = Promise.all([ending, worker?.terminate()]).then(() => undefined);
    await ending;
  }

  async function one(upload: Upload, ask: Ask, caller: Presence, store?: StoreFiles): Promise<Upgraded> {
    // Two threads at once would take twice the memory.
    await ending;
    if (caller.closed) throw callerGone();
    clearTimeout(idling);
    ended = null;
    thread ??= start();
    // It keeps the process alive while it works, and while it is about to end.
    thread.ref();
    const late = tryAgain('The upload took too long to process. Try again');
    const overdue = setTimeout(() => void end(late), patience);
    // Work in a thread cannot be interrupted; a new thread costs less than work that nobody waits for.
    caller.onClose = () => void end(callerGone());
    try {
      const bytes = owned(upload.bytes);
      let answer = await askThread({ ...upload, bytes }, [bytes.buffer]);
      while ('question' in answer) answer = await askThread(await answerTo(ask, answer.question));
      if ('refused' in answer) throw errorOf(answer.refused);
      if (!('upgraded' in answer)) throw new Error(`the thread that reads uploads failed: ${answer.fault}`);
      if (answer.stored) store?.(answer.stored);
      return answer.upgraded;
    } finally {
      caller.onClose = null;
      clearTimeout(overdue);
      waiting = null;
      thread?.unref();
      idling = setTimeout(() => void end(stopping()), idle).unref();
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
      await end(stopping());
    },
  };
}

async function answerTo(ask: Ask, { name, args }: JobRequest): Promise<ThreadRequest> {
  try {
    return { value: await ask(jobs[name]!, ...(args as never[])) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { refused: refusalOf(error) };
  }
}

/** Bytes of files in memory. A character of a name takes up to two. */
const sizeOf = (files: NamedFile[]) =>
  files.reduce((sum, { name, bytes }) => sum + 2 * name.length + bytes.length, 0);

const mebibyte = 1024 * 1024;

/** Bytes of the files that are stored for pages, in all and of one user; those used least recently make room. */
const storedLimits = { total: 192 * mebibyte, perOwner: 96 * mebibyte };

export type UploadWork = ReturnType<typeof createUploadWork>;

/**
 * Makes the functions that process uploads with what the catalog has of them. Only the files of forms are stored: in memory,
 * for their sender, under a random id by which the forms of the answer name them.
 */
export function createUploadWork(uploads: Uploads, ask: Ask, { total, perOwner } = storedLimits) {
  const stored = new LRUCache<string, { owner: string; files: NamedFile[] }>({
    maxSize: total,
    sizeCalculation: ({ files }) => sizeOf(files) + 1,
    ttl: storedMinutes * 60_000,
    ttlAutopurge: true,
  });

  /** Stores files; the older ones of their owner make room first, so that nobody fills the memory of all alone. */
  function store(owner: string, { id, files }: StoredFiles): void {
    let left = perOwner - sizeOf(files);
    // The one used last comes first.
    for (const [other, each] of [...stored]) {
      if (each.owner !== owner) continue;
      left -= sizeOf(each.files);
      if (left < 0) stored.delete(other);
    }
    stored.set(id, { owner, files });
  }

  return {
    /** Bytes of the files that are stored for an owner under an id. */
    storedSize({ id, owner }: { id: string | undefined; owner: string }): number {
      const known = id === undefined ? undefined : stored.peek(id);
      return known?.owner === owner ? sizeOf(known.files) : 0;
    },
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
      const upload: Upload = { ...form, from: 'page', id: id ?? '', stored: files };
      return uploads.upgrade(upload, ask, caller, (made) => store(owner, made));
    },
  };
}

const tryAgain = (message: string) => unavailable(message, 5);
const stopping = () => tryAgain('The service is stopping');
