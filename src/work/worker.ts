import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { type Files, openReader } from '../db/database.ts';
import { createServices } from '../services.ts';
import { answerOfError, type Job, type JobAnswer, type JobRequest, jobs, runJob } from './jobs.ts';

/** What a worker is started with: the files that it reads, and the classification banner of exports. */
export interface WorkerSetup {
  files: Files;
  banner: string | null;
}

const { files, banner } = workerData as WorkerSetup;
const byName: Record<string, Job> = jobs;
const db = openReader(files);
const services = createServices({
  catalog: db,
  users: db,
  now: () => new Date(),
  newId: randomUUID,
  banner,
});

/** The memory of an answer's bytes, which is handed over instead of copied. */
function transferable(value: unknown): ArrayBuffer[] {
  const bytes = (value as { bytes?: unknown } | null)?.bytes;
  const isWhole = bytes instanceof Uint8Array && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole ? [bytes.buffer as ArrayBuffer] : [];
}

parentPort!.postMessage('ready');
parentPort!.on('message', ({ name, args }: JobRequest) => {
  try {
    const value = runJob(db, services, byName[name]!, args);
    parentPort!.postMessage({ value } satisfies JobAnswer, transferable(value));
  } catch (error) {
    parentPort!.postMessage(answerOfError(error));
  }
});
