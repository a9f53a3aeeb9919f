import { parentPort } from 'node:worker_threads';
import type { Ask } from '../../base/ask.ts';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { emassWork } from '../../checklists/emass-upload.ts';
import { uploadJobs } from '../../checklists/jobs.ts';
import { referencesWork } from '../../checklists/reference-upload.ts';
import { fromResultsWork, inspectWork } from '../../checklists/results-upload.ts';
import { gunzipped } from '../../checklists/unzip.ts';
import { type ApiTask, type Upgraded, upgradeWork } from '../../checklists/upload.ts';
import { readForm } from '../../http/form.ts';
import type { PageFrame } from '../parts/view.ts';
import { citedWork, citingTexts, refusedTexts } from './references-form.ts';
import type { StigChoice, UploadTool } from './upgrade-form.tsx';
import { formWork, readUploaded, refusedForm, typedIn, type UploadedFiles } from './upload-form.ts';

/** A job of `uploadJobs` by its name. */
export interface JobRequest {
  name: string;
  args: unknown[];
}

/** A raw body of the API or of a page, with everything that its answer depends on. */
export type Upload = { bytes: Uint8Array<ArrayBuffer> } & (
  | ApiTask
  | { from: 'page'; tool: UploadTool; type: string; frame: PageFrame; stigs: StigChoice[] }
  | { from: 'references'; type: string; frame: PageFrame }
);

interface Refused {
  code: ErrorCode;
  message: string;
  field: string | undefined;
}

/**
 * A message to the thread: an upload, then the answer to each of its questions or the reason against it. `ended` releases the
 * state of an upload.
 */
export type ThreadRequest = Upload | { value: unknown } | { ended: true } | { refused: Refused };

/**
 * A message of the thread: a question to the catalog, the result or the refusal; `fault` is a programming error. `page`
 * shows a refused form again.
 */
export type ThreadAnswer =
  | { wanted: JobRequest }
  | { upgraded: Upgraded }
  | { refused: Refused; page: Uint8Array<ArrayBuffer> | null }
  | { fault: string };

/** The current upload's open question to the catalog, and the function that shows its form again after a refusal. */
let asked: { resolve: (value: never) => void; reject: (error: AppError) => void } | null = null;
let formAgain: ((problem: string) => Uint8Array<ArrayBuffer>) | null = null;

/** Asks the thread that has the catalog. */
const ask: Ask = (job, ...args) =>
  new Promise<never>((resolve, reject) => {
    asked = { resolve, reject };
    const [name] = Object.entries(uploadJobs).find(([, each]) => Object.is(each, job))!;
    send({ wanted: { name, args } });
  });

async function answerTo(given: Upload): Promise<Upgraded> {
  if (given.from === 'api') {
    const bytes = gunzipped(given.bytes);
    if (given.task === 'upgrade') return upgradeWork(ask, bytes, given.query);
    if (given.task === 'emass') return emassWork(ask, bytes, given.banner);
    if (given.task === 'references') return referencesWork(ask, bytes, given.isText);
    return given.task === 'inspect' ? inspectWork(ask, bytes) : fromResultsWork(ask, bytes, given.query);
  }
  const { frame } = given;
  const fields = await readForm(given.bytes, given.type);
  if (given.from === 'references') {
    formAgain = (problem) => refusedTexts(fields.get('text'), problem, frame);
    return citedWork(ask, citingTexts(fields), fields, frame);
  }
  const { stigs, tool } = given;
  const form = typedIn(fields);
  let uploaded: UploadedFiles | null = null;
  formAgain = (problem) => refusedForm(tool, form, problem, uploaded, stigs, frame);
  uploaded = await readUploaded(fields, tool);
  return formWork(ask, uploaded, fields, tool, frame);
}

function refusal({ code, message, field }: Refused): ThreadAnswer {
  const isOfForm = code === 'BAD_REQUEST' || code === 'NOT_FOUND';
  return { refused: { code, message, field }, page: (isOfForm && formAgain?.(message)) || null };
}

function send(answer: ThreadAnswer): void {
  const made = 'upgraded' in answer ? answer.upgraded.bytes : 'refused' in answer ? answer.page : null;
  parentPort!.postMessage(answer, made === null ? [] : [made.buffer]);
}

/** Sends the answer of an upload and releases its state. */
function finish(answer: ThreadAnswer): void {
  [asked, formAgain] = [null, null];
  send(answer);
}

async function read(upload: Upload): Promise<void> {
  try {
    finish({ upgraded: await answerTo(upload) });
  } catch (error) {
    finish(error instanceof AppError ? refusal(error) : { fault: (error as Error).stack ?? String(error) });
  }
}

// The entry of the thread that reads uploads. The main thread sends one at a time.
parentPort?.on('message', (request: ThreadRequest) => {
  if ('bytes' in request) void read(request);
  else if ('value' in request) asked?.resolve(request.value as never);
  else if ('ended' in request) [asked, formAgain] = [null, null];
  // A form is refused as a whole, whichever of its files asked.
  else if (formAgain !== null) finish(refusal(request.refused));
  else asked?.reject(new AppError(request.refused.code, request.refused.message, {}, request.refused.field));
});
