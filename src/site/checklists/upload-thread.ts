import { parentPort } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import { emassWork } from '../../checklists/emass-upload.ts';
import { fromResultsWork, inspectWork } from '../../checklists/results-upload.ts';
import {
  type ApiTask,
  type Found,
  type Upgraded,
  upgradeWork,
  type Wanted,
  type Work,
} from '../../checklists/upload.ts';
import { readForm } from '../../http/form.ts';
import type { PageFrame } from '../parts/view.ts';
import type { StigChoice } from './upgrade-form.tsx';
import { formWork, readUploaded, refusedForm, typedIn, type UploadedFiles } from './upload-form.ts';

/** A body as it came, of the API or of the page, and what its answer depends on besides. */
export type Upload = { bytes: Uint8Array<ArrayBuffer> } & (
  | ApiTask
  | { from: 'page'; type: string; frame: PageFrame; stigs: StigChoice[] }
);

interface Refused {
  code: ErrorCode;
  message: string;
}

/** What the thread is sent: an upload, then what was found for it, or why that is refused; `ended` lets go of it. */
export type ThreadRequest = Upload | { release: Found } | { ended: true } | { refused: Refused };

/**
 * What it answers: the release that it needs, as often as it needs one, then what it made, or why not; a `fault` is an error of the program. A form
 * that is refused for what stands in it is a page again.
 */
export type ThreadAnswer =
  | { wanted: Wanted }
  | { upgraded: Upgraded }
  | { refused: Refused; page: Uint8Array<ArrayBuffer> | null }
  | { fault: string };

/** The upload under way, and what makes the page of a form that is refused. */
let work: Work | null = null;
let formAgain: ((problem: string) => Uint8Array<ArrayBuffer>) | null = null;

async function begin(given: Upload): Promise<Work> {
  if (given.from === 'api') {
    if (given.task === 'upgrade') return upgradeWork(given.bytes, given.download);
    if (given.task === 'emass') return emassWork(given.bytes, given.banner);
    return given.task === 'inspect' ? inspectWork(given.bytes) : fromResultsWork(given.bytes, given.query);
  }
  const { stigs, frame } = given;
  const fields = await readForm(given.bytes, given.type);
  const form = typedIn(fields);
  let uploaded: UploadedFiles | null = null;
  formAgain = (problem) => refusedForm(form, problem, uploaded, stigs, frame);
  uploaded = readUploaded(fields);
  return formWork(uploaded, fields, frame);
}

function refusal({ code, message }: Refused): ThreadAnswer {
  const isOfForm = code === 'BAD_REQUEST' || code === 'NOT_FOUND';
  return { refused: { code, message }, page: (isOfForm && formAgain?.(message)) || null };
}

async function answer(request: ThreadRequest): Promise<ThreadAnswer | null> {
  try {
    if ('refused' in request) return refusal(request.refused);
    let step: IteratorResult<Wanted, Upgraded | Promise<Upgraded>>;
    if ('bytes' in request) {
      formAgain = null;
      work = await begin(request);
      step = work.next(null);
    } else if ('ended' in request) return null;
    else step = work!.next(request.release);
    return step.done ? { upgraded: await step.value } : { wanted: step.value };
  } catch (error) {
    if (error instanceof AppError) return refusal(error);
    return { fault: (error as Error).stack ?? String(error) };
  }
}

// The entry of the thread that reads uploads: one at a time, as the main thread hands them over.
parentPort?.on('message', async (request: ThreadRequest) => {
  const answered = await answer(request);
  // Whoever is answered so asks no more: what was read is let go of.
  if (answered === null || !('wanted' in answered)) [work, formAgain] = [null, null];
  if (answered === null) return;
  const made =
    'upgraded' in answered ? answered.upgraded.bytes : 'refused' in answered ? answered.page : null;
  parentPort!.postMessage(answered, made === null ? [] : [made.buffer]);
});
