import { parentPort } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../errors.ts';
import { readForm } from '../forms/read.ts';
import type { UpgradeForm } from '../web/upgrade.tsx';
import type { Frame } from '../web/view.ts';
import { readFormUpload, typedIn } from './form.ts';
import { type ReadUpload, type Release, readBody, type Upgraded } from './read.ts';

/** A body as it came, of the API or of the page, and what its answer depends on besides. */
export type Upload = { bytes: Uint8Array<ArrayBuffer> } & (
  | { from: 'api'; download: boolean }
  | { from: 'page'; type: string; frame: Frame }
);

/** What the thread is told: an upload, then the release that it asked for; null where there is none. */
export type ThreadRequest = Upload | { release: Release | null };

/** What it answers: the release that it needs, or what it made, or why not; a `fault` is an error of the program. */
export type ThreadAnswer = { form: UpgradeForm | null } & (
  | { wanted: ReadUpload['wanted'] }
  | { upgraded: Upgraded }
  | { refused: { code: ErrorCode; message: string } }
  | { fault: string }
);

/** The upload under way: what was typed beside it, and what was read. */
let form: UpgradeForm | null = null;
let upload: ReadUpload | null = null;

async function read(given: Upload): Promise<ReadUpload> {
  form = null;
  if (given.from === 'api') return readBody(given.bytes, given.download);
  const fields = await readForm(given.bytes, given.type);
  form = typedIn(fields);
  return readFormUpload(fields, given.frame);
}

async function answer(request: ThreadRequest): Promise<ThreadAnswer | null> {
  try {
    if (!('release' in request)) {
      upload = await read(request);
      return { form, wanted: upload.wanted };
    }
    // What was read is let go of, whatever becomes of it.
    const { make } = upload!;
    upload = null;
    return request.release === null ? null : { form, upgraded: make(request.release) };
  } catch (error) {
    if (error instanceof AppError) return { form, refused: { code: error.code, message: error.message } };
    return { form, fault: (error as Error).stack ?? String(error) };
  }
}

// The entry of the thread that reads uploads: one at a time, as the main thread hands them over.
parentPort?.on('message', async (request: ThreadRequest) => {
  const answered = await answer(request);
  if (answered === null) return;
  const transfer = 'upgraded' in answered ? [answered.upgraded.bytes.buffer] : [];
  parentPort!.postMessage(answered, transfer);
});
