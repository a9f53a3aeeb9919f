import { randomUUID } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { Ask } from '../../base/ask.ts';
import { owned } from '../../base/bytes.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { emassWork } from '../../checklists/emass.ts';
import { inspectWork } from '../../checklists/inspect.ts';
import { uploadJobs } from '../../checklists/jobs.ts';
import { referencesWork } from '../../checklists/references.ts';
import { fromResultsWork } from '../../checklists/results.ts';
import { gunzipped, unzipped } from '../../checklists/unzip.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import { bytesOf, type Upgraded, upgradeWork } from '../../checklists/upload.ts';
import type { Form } from '../../http/env.ts';
import { readForm } from '../../http/form.ts';
import { renderPage } from '../parts/layout.tsx';
import type { View } from '../parts/view.ts';
import { citedWork, citingTexts, referencesPage } from './references.tsx';
import { toolPage } from './upgrade-form.tsx';
import { fieldsOf, formWork, mostUploaded, readFiles } from './upload-form.ts';
import {
  errorOf,
  type PageUpload,
  refusalOf,
  type StoredFiles,
  type ThreadAnswer,
  type ThreadRequest,
  type Upload,
} from './upload-messages.ts';

/** The state of the current upload. */
interface State {
  /** Its open question to the catalog. */
  question: { resolve: (value: never) => void; reject: (error: AppError) => void } | null;
  /** Makes the page of its form again after a refusal. */
  formAgain: ((problem: string) => Uint8Array<ArrayBuffer>) | null;
  /** The readable files that it brought, under a new id: a page about earlier ones must not become one about them. */
  stored: StoredFiles | undefined;
}

const nothing: State = { question: null, formAgain: null, stored: undefined };
let state: State = nothing;

/** Asks the thread that has the catalog. */
const ask: Ask = (job, ...args) =>
  new Promise<never>((resolve, reject) => {
    state.question = { resolve, reject };
    const [name] = Object.entries(uploadJobs).find(([, each]) => Object.is(each, job))!;
    send({ question: { name, args } });
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
  const { tool, stigs, frame } = upload;
  let { id } = upload;
  const store = (files: NamedFile[]) => {
    id = randomUUID();
    state.stored = { id, files };
  };
  const form = await readForm(upload.bytes, upload.type);
  const page = (view: View) => bytesOf(renderPage(view, frame));
  if (tool === 'references') {
    state.formAgain = (problem) => page(referencesPage({ text: form.get('text'), problem }));
    const given = citingTexts(form);
    const texts = given.length > 0 ? given : storedFiles(upload);
    if (given.length > 0) store(given);
    return citedWork(ask, texts, id, form, frame);
  }
  const fields = fieldsOf(form);
  let attached = 0;
  state.formAgain = (problem) => page(toolPage({ tool, form: fields, stigs, problem, attached, id }));
  const chosen = chosenFiles(form);
  const files = chosen.length > 0 ? await unzipped(chosen, mostUploaded) : storedFiles(upload);
  const read = readFiles(files, tool);
  attached = files.length;
  if (chosen.length > 0) store(files);
  return formWork(ask, read, id, form, tool, frame);
}

const chosenFiles = (form: Form): NamedFile[] =>
  form.files('file').map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));

function storedFiles({ stored }: PageUpload): NamedFile[] {
  if (stored === null) throw badRequest('The files are no longer stored: choose them again');
  return stored.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes) }));
}

/** What to answer to an upload that failed: a form is shown again, where its content was the reason. */
function answerOfError(error: unknown): ThreadAnswer {
  if (!(error instanceof AppError)) return { fault: (error as Error).stack ?? String(error) };
  const { formAgain, stored } = state;
  const isOfContent = error.code === 'BAD_REQUEST' || error.code === 'NOT_FOUND';
  if (formAgain === null || !isOfContent) return { refused: refusalOf(error) };
  return { upgraded: { bytes: formAgain(error.message), file: null, status: 400 }, stored };
}

function send(answer: ThreadAnswer): void {
  if (!('upgraded' in answer)) {
    parentPort!.postMessage(answer);
    return;
  }
  const { upgraded, stored } = answer;
  const files = (stored?.files ?? []).map(({ name, bytes }) => ({
    name,
    bytes: owned(bytes as Buffer<ArrayBuffer>),
  }));
  const buffers = [upgraded, ...files].map(({ bytes }) => bytes.buffer);
  parentPort!.postMessage({ upgraded, stored: stored && { ...stored, files } }, [...new Set(buffers)]);
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
    finish({ upgraded, stored: upgraded.file === null ? state.stored : undefined });
  } catch (error) {
    finish(answerOfError(error));
  }
}

// The entry of the thread that reads uploads. The main thread sends one at a time.
parentPort?.on('message', (request: ThreadRequest) => {
  if ('bytes' in request) void read(request);
  else if ('value' in request) state.question?.resolve(request.value as never);
  // A form is refused as a whole, whichever of its files asked.
  else if (state.formAgain !== null) finish(answerOfError(errorOf(request.refused)));
  else state.question?.reject(errorOf(request.refused));
});
