import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Ask } from '../base/ask.ts';
import { type AppError, unavailable } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { programFolder } from '../base/root.ts';
import { type JobAnswer, type JobRequest, jobs, longerLimits, valueOfAnswer } from './jobs.ts';
import type { WorkerSetup } from './worker.ts';

const program = join(programFolder, 'work', `worker${extname(import.meta.url)}`);

/** By default a worker takes 48 MB before it collects what it no longer uses. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

export interface PoolOptions {
  /** The program of a worker, and the jobs that it knows; tests replace both. */
  entry?: string | URL;
  known?: Record<string, unknown>;
  workers?: number;
  /** Milliseconds that a job may compute; time in the queue does not count. */
  limit?: number;
  /** Jobs that may wait: in all, and those of one caller. */
  mostWaiting?: number;
  waitingPerCaller?: number;
  /** For whom a job is asked: callers take turns. */
  callerOf?: () => string;
}

interface Pool {
  ask: Ask;
  /** Ends the workers; jobs that wait or run are rejected with a 503. */
  stop(): Promise<void>;
}

interface WaitingJob {
  caller: string;
  request: JobRequest;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
}

const isLong = ({ request }: WaitingJob) => request.name in longerLimits;
const noAnswer = () => unavailable('The question could not be answered. Try again', 5);

/**
 * Starts workers that answer questions about the catalog, each one job at a time, in the order in which they are asked;
 * those of callers who were not served last go first.
 */
export function createPool(
  setup: WorkerSetup,
  log: Pick<Log, 'error'>,
  {
    entry = program,
    known = jobs,
    workers = 2,
    limit = 10_000,
    mostWaiting = 2000,
    waitingPerCaller = 500,
    callerOf = () => '',
  }: PoolOptions = {},
): Pool {
  const nameOf = new Map(Object.entries(known).map(([name, job]) => [job, name]));
  const waiting: WaitingJob[] = [];
  const running = new Set<WaitingJob>();
  let lastCaller = '';
  let stopped = false;
  const members = Array.from({ length: workers }, () => createMember());

  /** The job that is next. At most one worker runs jobs with a longer limit: another one stays free for short ones. */
  function takeNext(): WaitingJob | undefined {
    const served = new Set([lastCaller, ...Array.from(running, ({ caller }) => caller)]);
    const isLongRunning = [...running].some(isLong);
    const next = waiting.filter((job) => !isLongRunning || !isLong(job));
    const job = next.find(({ caller }) => !served.has(caller)) ?? next[0];
    if (job === undefined) return undefined;
    waiting.splice(waiting.indexOf(job), 1);
    lastCaller = job.caller;
    return job;
  }

  function createMember() {
    let worker: Worker | null = null;
    let isReady = false;
    let current: WaitingJob | null = null;
    let timer: NodeJS.Timeout | undefined;

    function start(): void {
      isReady = false;
      const started = new Worker(entry, { workerData: setup, execArgv: [], argv: [], resourceLimits });
      worker = started;
      started.unref();
      started.on('message', (message: JobAnswer | 'ready') => {
        if (worker !== started) return;
        if (message === 'ready') isReady = true;
        else finish(({ resolve }) => resolve(valueOfAnswer(message) as never));
        next();
      });
      started.on('error', (error) => {
        log.error('a query worker failed', { error: error.stack ?? error.message });
        end(started, noAnswer());
      });
      started.on('exit', () => end(started, noAnswer()));
    }

    function finish(settle: (job: WaitingJob) => void): void {
      clearTimeout(timer);
      const job = current;
      current = null;
      if (job !== null) running.delete(job);
      worker?.unref();
      try {
        if (job !== null) settle(job);
      } catch (error) {
        job!.reject(error);
      }
    }

    /** Ends a worker for good; another one is started for the next job. */
    function end(ended: Worker, reason: AppError): void {
      if (worker !== ended) return;
      worker = null;
      void ended.terminate();
      // Where no worker can start, none is started for ever.
      if (!isReady && !members.some((member) => member.isReady())) waiting.shift()?.reject(reason);
      finish(({ reject }) => reject(reason));
      next();
    }

    /** Begins the next job, where this member is free. */
    function next(): void {
      if (current !== null || stopped || waiting.length === 0) return;
      if (worker === null) start();
      if (!isReady) return;
      const job = takeNext();
      if (job === undefined) return;
      const used = worker!;
      current = job;
      running.add(job);
      used.ref();
      timer = setTimeout(() => {
        log.error('a job took too long, and its worker was ended', { job: job.request.name });
        end(used, unavailable('The question takes too long to answer. Narrow it', 60));
      }, longerLimits[job.request.name] ?? limit);
      try {
        used.postMessage(job.request);
      } catch (error) {
        // Its arguments are no plain values.
        finish(({ reject }) => reject(error));
        next();
      }
    }

    start();
    return {
      next,
      isReady: () => worker !== null && isReady,
      async stop(): Promise<void> {
        const last = worker;
        if (last === null) return;
        end(last, unavailable('The service is stopping', 5));
        await last.terminate();
      },
    };
  }

  return {
    ask(job, ...args) {
      const name = nameOf.get(job);
      if (name === undefined) throw new Error(`${job.name} is not listed in jobs.ts`);
      return new Promise<never>((resolve, reject) => {
        const caller = callerOf();
        const own = waiting.filter((each) => each.caller === caller).length;
        if (stopped || waiting.length >= mostWaiting || own >= waitingPerCaller)
          return reject(unavailable('The service has too many questions to answer. Try again', 5));
        waiting.push({ caller, request: { name, args }, resolve, reject });
        for (const member of members) member.next();
      });
    },
    async stop() {
      stopped = true;
      for (const { reject } of waiting.splice(0)) reject(unavailable('The service is stopping', 5));
      await Promise.all(members.map((member) => member.stop()));
    },
  };
}
