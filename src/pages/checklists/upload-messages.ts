import { AppError, type ErrorCode } from '../../base/errors.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import type { ApiTask, Upgraded } from '../../checklists/upload.ts';
import type { PageFrame } from '../parts/view.ts';
import type { StigChoice, UploadTool } from './upgrade-form.tsx';

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
  /** The id of the files that the server stored for the page of the form, or ''. */
  id: string;
  /** Those files; null where they have expired. */
  stored: NamedFile[] | null;
}

/** A raw body of the API or of a page, with everything that its answer depends on. */
export type Upload = { bytes: Uint8Array<ArrayBuffer> } & (ApiTask | PageUpload);

/** An `AppError` as a message. */
interface Refusal {
  code: ErrorCode;
  message: string;
  headers: Record<string, string>;
  field: string | undefined;
}

export const refusalOf = ({ code, message, headers, field }: AppError): Refusal => ({
  code,
  message,
  headers,
  field,
});
export const errorOf = ({ code, message, headers, field }: Refusal) =>
  new AppError(code, message, headers, field);

/** A message to the thread: an upload, then the answer to each of its questions or the reason against it. */
export type ThreadRequest = Upload | { value: unknown } | { refused: Refusal };

/** Files that the server is to store, under the id by which the forms of their page name them. */
export interface StoredFiles {
  id: string;
  files: NamedFile[];
}

/**
 * A message of the thread: a question to the catalog, the result with the files that the server is to store for its page,
 * or a refusal; `fault` is a programming error.
 */
export type ThreadAnswer =
  | { question: JobRequest }
  | { upgraded: Upgraded; stored?: StoredFiles | undefined }
  | { refused: Refusal }
  | { fault: string };
