import { parentPort } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../base/errors.ts';
import { type ReadUpload, type Release, readBody, type Upgraded, type Wanted } from '../checklists/upload.ts';
import { readForm } from '../http/form.ts';
import type { StigChoice } from './html/upgrade.tsx';
import type { PageFrame } from './html/view.ts';
import { readFormUpload, readUploaded, refusedForm, typedIn, type UploadedChecklist } from './upload-form.ts';

/** A body as it came, of the API or of the page, and what its answer depends on besides. */
export type Upload = { bytes: Uint8Array<ArrayBuffer> } & (
  | { from: 'api'; download: boolean }
  | { from: 'page'; type: string; frame: PageFrame; stigs: StigChoice[] }
);

interface Refused {
  code: ErrorCode;
  message: string;
}

/** What the thread is sent: an upload, then the release that it asked for, or why there is none; null ends the upload. */
export type ThreadRequest = Upload | { release: Release | null } | { refused: Refused };

/**
 * What it answers: the release that it needs, or what it made, or why not; a `fault` is an error of the program. A form
 * that is refused for what stands in it is a page again.
 */
export type ThreadAnswer =
  | { wanted: Wanted }
  | { upgraded: Upgraded }
  | { refused: Refused; page: Uint8Array<ArrayBuffer> | null }
  | { fault: string };

/** The upload under way: what was read, and what makes the page of a form that is refused. */
let upload: ReadUpload | null = null;
let formAgain: ((problem: string) => Uint8Array<ArrayBuffer>) | null = null;

async function read(given: Upload): Promise<ReadUpload> {
  if (given.from === 'api') return readBody(given.bytes, given.download);
  const { stigs, frame } = given;
  const fields = await readForm(given.bytes, given.type);
  const form = typedIn(fields);
  let uploaded: UploadedChecklist | null = null;
  formAgain = (problem) => refusedForm(form, problem, uploaded, stigs, frame);
  uploaded = readUploaded(fields);
  return readFormUpload(uploaded, fields, frame);
}

function refusal({ code, message }: Refused): ThreadAnswer {
  const isOfForm = code === 'BAD_REQUEST' || code === 'NOT_FOUND';
  return { refused: { code, message }, page: (isOfForm && formAgain?.(message)) || null };
}

async function answer(request: ThreadRequest): Promise<ThreadAnswer | null> {
  try {
    if ('bytes' in request) {
      formAgain = null;
      upload = await read(request);
      return { wanted: upload.wanted };
    }
    if ('refused' in request) return refusal(request.refused);
    const { make } = upload!;
    // What was read is let go of, whatever becomes of it.
    upload = null;
    return request.release === null ? null : { upgraded: make(request.release) };
  } catch (error) {
    if (error instanceof AppError) return refusal(error);
    return { fault: (error as Error).stack ?? String(error) };
  }
}

// The entry of the thread that reads uploads: one at a time, as the main thread hands them over.
parentPort?.on('message', async (request: ThreadRequest) => {
  const answered = await answer(request);
  // Whoever is answered so asks no more: what was read is let go of.
  if (answered === null || !('wanted' in answered)) [upload, formAgain] = [null, null];
  if (answered === null) return;
  const made =
    'upgraded' in answered ? answered.upgraded.bytes : 'refused' in answered ? answered.page : null;
  parentPort!.postMessage(answered, made === null ? [] : [made.buffer]);
});
