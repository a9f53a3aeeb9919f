import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError, badRequest, statusOf, unavailable } from '../base/errors.ts';
import { type StorageFault, storageFault } from '../base/faults.ts';
import type { Env } from './env.ts';
import { commonHeaders } from './headers.ts';
import type { RequestRecord } from './record.ts';

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

/** The body and the headers of an error answer (rule D2.1). */
function problem({ code, message, field, headers }: AppError, requestId: string) {
  const body = JSON.stringify({ error: { code, message, requestId, field } });
  return {
    body,
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
    },
  };
}

export function refusal(c: Context<Env>, error: AppError): Response {
  const { body, headers } = problem(error, c.get('requestId'));
  return c.body(body, statusOf[error.code] as ContentfulStatusCode, headers);
}

/** The refusal for an error code of Node's HTTP parser. */
export function parserRefusal(errorCode?: string): AppError {
  if (errorCode === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new AppError('REQUEST_TIMEOUT', 'The request took too long to arrive');
  return errorCode === 'HPE_HEADER_OVERFLOW'
    ? new AppError('HEADERS_TOO_LARGE', 'The request headers are too large')
    : badRequest('The request is not valid HTTP');
}

/** The whole answer to what does not reach the router; the connection closes after it. */
function lastAnswer({ requestId, secure }: RequestRecord, error: AppError) {
  const { body, headers } = problem(error, requestId);
  return {
    body,
    headers: { ...headers, ...commonHeaders(secure), 'X-Request-Id': requestId, Connection: 'close' },
  };
}

/** Refuses a request before the router, after the answers to those before it on its connection. */
export function refuseRequest(response: ServerResponse, record: RequestRecord, error: AppError): void {
  const { body, headers } = lastAnswer(record, error);
  response.writeHead(statusOf[error.code], headers).end(body);
}

/** A refusal of what is no request, as raw HTTP. */
export function refusalText(record: RequestRecord, error: AppError): string {
  const { body, headers } = lastAnswer(record, error);
  const status = statusOf[error.code];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
