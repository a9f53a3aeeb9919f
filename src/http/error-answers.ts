import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError, badRequest, statusOf, unavailable } from '../base/errors.ts';
import { type StorageFault, storageFault } from '../db/faults.ts';
import type { Env } from './env.ts';
import type { ErrorBody } from './schema.ts';

/** The message and the Retry-After of each storage fault; a damaged file is a 500. */
const ofStorage: Partial<Record<StorageFault, [message: string, seconds: number]>> = {
  busy: ['The database is busy. Try again', 5],
  full: ['Changes cannot be saved now: the disk is full', 30],
  readonly: ['Changes cannot be saved now', 30],
  io: ['The database cannot be read or written', 30],
};

/** The error that the caller gets for any thrown error. */
export function toAppError(error: Error): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400)
    return badRequest('The request body is not valid JSON');
  const fault = storageFault(error);
  const answer = fault === null ? undefined : ofStorage[fault];
  if (answer) return unavailable(...answer);
  return new AppError(
    'INTERNAL_ERROR',
    'Something went wrong. The server log has the details under this request ID',
  );
}

/** Whether a client wants HTML; paths under `/api/` always get errors as JSON. */
export function wantsPage(c: Context<Env>): boolean {
  return !c.req.path.startsWith('/api/') && /\btext\/html\b/.test(c.req.header('Accept') ?? '');
}

/** An error in the form of rule D2.1. */
export function refusal(c: Context<Env>, { code, message, headers, field }: AppError): Response {
  const body: ErrorBody = {
    error: { code, message, requestId: c.get('requestId'), ...(field === undefined ? {} : { field }) },
  };
  const text = JSON.stringify(body);
  return c.body(text, statusOf[code] as ContentfulStatusCode, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
  });
}
