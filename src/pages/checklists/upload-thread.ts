import { parentPort } from 'node:worker_threads';
import type { Ask } from '../../base/ask.ts';
import { owned } from '../../base/bytes.ts';
import { AppError, badRequest, type ErrorCode } from '../../base/errors.ts';
import { emassWork } from '../../checklists/emass.ts';
import { inspectWork } from '../../checklists/inspect.ts';
import { uploadJobs } from '../../checklists/jobs.ts';
import { referencesWork } from '../../checklists/references.ts';
import { fromResultsWork } from '../../checklists/results.ts';
import { gunzipped, unzipped } from '../../checklists/unzip.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import { type ApiTask, bytesOf, type Upgraded, upgradeWork } from '../../checklists/upload.ts';
import type { Form } from '../../http/env.ts';
import { readForm } from '../../http/form.ts';
import { renderPage } from '../parts/layout.tsx';
import type { PageFrame, View } from '../parts/view.ts';
import { citedWork, citingTexts, referencesPage } from './references.tsx';
import { type StigChoice, toolPage, type UploadTool } from './upgrade-form.tsx';
import { fieldsOf, formWork, mostUploaded, readFiles } from './upload-form.ts';

/** A job of `uploadJobs` by its name. */
export interface JobRequest {
  name: string;
  args: unknown[];
}

/** A form of a page. */
export interface PageUpload {
  from: 'page';
  tool: UploadTool | 'references';
  /** The content type of the form. */
  type: string;
  frame: PageFrame;
  stigs: StigChoice[];
  /** The id by which the forms of the answer name the files. */
  id: string;
  /** The files that the server stored for the page of the form; null where they have expired. */
  stored: NamedFile[] | null;
}

/** A raw body of the API or of a page, with everything that its answer depends on. */
export type Upload = { bytes: Uint8Array<ArrayBuffer> } & (ApiTask | PageUpload);

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
 * shows a refused form again; `files` are those that the server is to store for the page.
 */
export type ThreadAnswer =
  | { wanted: JobRequest }
  | { upgraded: Upgraded; files?: NamedFile[] | undefined }
  | { refused: Refused; page: Uint8Array<ArrayBuffer> | null; files?: NamedFile[] | undefined }
  | { fault: string };

/** The state of the current upload. */
interface State {
  /** Its open question to the catalog. */
  question: { resolve: (value: never) => void; reject: (error: AppError) => void } | null;
  /** Shows its form again after a refusal. */
  formAgain: ((problem: string) => View) | null;
  frame: PageFrame | null;
  /** The readable files that it brought. */
  files: NamedFile[] | undefined;
}

const nothing: State = { question: null, formAgain: null, frame: null, files: undefined };
let state: State = nothing;

/** Asks the thread that has the catalog. */
const ask: Ask = (job, ...args) =>
  new Promise<never>((resolve, reject) => {
    state.question = { resolve, reject };
    const [name] = Object.entries(uploadJobs).find(([, each]) => Object.is(each, job))!;
    send({ wanted: { name, args } });
  });

async function answerTo(given: Upload): Promise<Upgraded> {
  if (given.from === 'page') return answerForm(given);
  const bytes = gunzipped(given.bytes);
  if (given.task === 'upgrade') return upgradeWork(ask, bytes, given.query);
  if (given.task === 'emass') return emassWork(ask, bytes, given.banner);
  if (given.task === 'references') return referencesWork(ask, bytes, given.isText);
  return given.task === 'inspect' ? inspectWork(ask, bytes) : fromResultsWork(ask, bytes, given.query);
}

async function answerForm(upload: { bytes: Uint8Array<ArrayBuffer> } & PageUpload): Promise<Upgraded> {
  const { tool, stigs, frame, id } = upload;
  const form = await readForm(upload.bytes, upload.type);
  state.frame = frame;
  if (tool === 'references') {
    state.formAgain = (problem) => referencesPage({ text: form.get('text'), problem });
    const given = citingTexts(form);
    const texts = given.length > 0 ? given : storedFiles(upload);
    if (given.length > 0) state.files = given;
    return citedWork(ask, texts, id, form, frame);
  }
  const fields = fieldsOf(form);
  let attached = 0;
  state.formAgain = (problem) => toolPage({ tool, form: fields, stigs, problem, attached, id });
  const chosen = chosenFiles(form);
  const files = chosen.length > 0 ? await unzipped(chosen, mostUploaded) : storedFiles(upload);
  const read = readFiles(files, tool);
  attached = files.length;
  if (chosen.length > 0) state.files = files;
  return formWork(ask, read, id, form, tool, frame);
}

const chosenFiles = (form: Form): NamedFile[] =>
  form.files('file').map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));

function storedFiles({ stored }: PageUpload): NamedFile[] {
  if (stored === null) throw badRequest('The files are no longer stored: choose them again');
  return stored.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));
}

function refusal({ code, message, field }: Refused): ThreadAnswer {
  const { formAgain, frame, files } = state;
  const isOfForm = formAgain !== null && (code === 'BAD_REQUEST' || code === 'NOT_FOUND');
  const page = isOfForm ? bytesOf(renderPage(formAgain(message), frame!)) : null;
  return { refused: { code, message, field }, page, files };
}

function send(answer: ThreadAnswer): void {
  const made = 'upgraded' in answer ? answer.upgraded.bytes : 'refused' in answer ? answer.page : null;
  const files =
    'files' in answer
      ? answer.files?.map(({ name, bytes }) => ({ name, bytes: owned(bytes as Buffer<ArrayBuffer>) }))
      : undefined;
  const buffers = [made, ...(files ?? []).map(({ bytes }) => bytes)].flatMap((bytes) => bytes?.buffer ?? []);
  parentPort!.postMessage({ ...answer, files }, [...new Set(buffers)]);
}

/** Sends the answer of an upload and releases its state. */
function finish(answer: ThreadAnswer): void {
  state = nothing;
  send(answer);
}

async function read(upload: Upload): Promise<void> {
  state = { ...nothing };
  try {
    const upgraded = await answerTo(upload);
    finish({ upgraded, files: upgraded.file === null ? state.files : undefined });
  } catch (error) {
    finish(error instanceof AppError ? refusal(error) : { fault: (error as Error).stack ?? String(error) });
  }
}

// The entry of the thread that reads uploads. The main thread sends one at a time.
parentPort?.on('message', (request: ThreadRequest) => {
  if ('bytes' in request) void read(request);
  else if ('value' in request) state.question?.resolve(request.value as never);
  else if ('ended' in request) state = nothing;
  // A form is refused as a whole, whichever of its files asked.
  else if (state.formAgain !== null) finish(refusal(request.refused));
  else
    state.question?.reject(
      new AppError(request.refused.code, request.refused.message, {}, request.refused.field),
    );
});
