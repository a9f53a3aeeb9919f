import { parentPort } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { emassWork } from '../../checklists/emass-upload.ts';
import { referencesWork } from '../../checklists/reference-upload.ts';
import { fromResultsWork, inspectWork } from '../../checklists/results-upload.ts';
import { gunzipped } from '../../checklists/unzip.ts';
import {
  type ApiTask,
  type CatalogAnswer,
  type Upgraded,
  upgradeWork,
  type Wanted,
  type Work,
} from '../../checklists/upload.ts';
import { readForm } from '../../http/form.ts';
import type { PageFrame } from '../parts/view.ts';
import { citedWork, citingTexts, refusedTexts } from './references-form.ts';
import type { StigChoice, UploadTool } from './upgrade-form.tsx';
import { formWork, readUploaded, refusedForm, typedIn, type UploadedFiles } from './upload-form.ts';

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
 * A message to the thread: an upload, then for each request a release or the reason against it. `ended` releases the
 * state of an upload.
 */
export type ThreadRequest = Upload | { release: CatalogAnswer } | { ended: true } | { refused: Refused };

/**
 * A message of the thread: a request for a release, the result or the refusal; `fault` is a programming error. `page`
 * shows a refused form again.
 */
export type ThreadAnswer =
  | { wanted: Wanted }
  | { upgraded: Upgraded }
  | { refused: Refused; page: Uint8Array<ArrayBuffer> | null }
  | { fault: string };

/** The current upload, and the function that shows its form again after a refusal. */
let work: Work | null = null;
let formAgain: ((problem: string) => Uint8Array<ArrayBuffer>) | null = null;

async function begin(given: Upload): Promise<Work> {
  if (given.from === 'api') {
    const bytes = gunzipped(given.bytes);
    if (given.task === 'upgrade') return upgradeWork(bytes, given.query);
    if (given.task === 'emass') return emassWork(bytes, given.banner);
    if (given.task === 'references') return referencesWork(bytes, given.isText);
    return given.task === 'inspect' ? inspectWork(bytes) : fromResultsWork(bytes, given.query);
  }
  const { frame } = given;
  const fields = await readForm(given.bytes, given.type);
  if (given.from === 'references') {
    formAgain = (problem) => refusedTexts(fields.get('text'), problem, frame);
    return citedWork(citingTexts(fields), fields, frame);
  }
  const { stigs, tool } = given;
  const form = typedIn(fields);
  let uploaded: UploadedFiles | null = null;
  formAgain = (problem) => refusedForm(tool, form, problem, uploaded, stigs, frame);
  uploaded = await readUploaded(fields, tool);
  return formWork(uploaded, fields, tool, frame);
}

function refusal({ code, message, field }: Refused): ThreadAnswer {
  const isOfForm = code === 'BAD_REQUEST' || code === 'NOT_FOUND';
  return { refused: { code, message, field }, page: (isOfForm && formAgain?.(message)) || null };
}

const asError = ({ code, message, field }: Refused) => new AppError(code, message, {}, field);

async function answer(request: ThreadRequest): Promise<ThreadAnswer | null> {
  try {
    if ('refused' in request && formAgain !== null) return refusal(request.refused);
    let step: IteratorResult<Wanted, Upgraded | Promise<Upgraded>>;
    if ('bytes' in request) {
      formAgain = null;
      work = await begin(request);
      step = work.next(null);
    } else if ('ended' in request) return null;
    else if ('refused' in request) step = work!.throw(asError(request.refused));
    else step = work!.next(request.release);
    return step.done ? { upgraded: await step.value } : { wanted: step.value };
  } catch (error) {
    if (error instanceof AppError) return refusal(error);
    return { fault: (error as Error).stack ?? String(error) };
  }
}

// The entry of the thread that reads uploads. The main thread sends one at a time.
parentPort?.on('message', async (request: ThreadRequest) => {
  const answered = await answer(request);
  // The upload is finished: release its state.
  if (answered === null || !('wanted' in answered)) [work, formAgain] = [null, null];
  if (answered === null) return;
  const made =
    'upgraded' in answered ? answered.upgraded.bytes : 'refused' in answered ? answered.page : null;
  parentPort!.postMessage(answered, made === null ? [] : [made.buffer]);
});
