import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, statusOf } from '../base/errors.ts';
import { securityHeaders, strictTransport } from './headers.ts';
import type { RequestRecord } from './observe/record.ts';

/** Why a request is refused before any router saw it. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  headers?: Record<string, string>;
}

export const notHttp: Refusal = { code: 'BAD_REQUEST', message: 'The request is not valid HTTP' };

const ofParser: Record<string, Refusal & { reason: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    reason: 'Request Timeout',
    code: 'REQUEST_TIMEOUT',
    message: 'The request took too long to arrive',
  },
  HPE_HEADER_OVERFLOW: {
    reason: 'Request Header Fields Too Large',
    code: 'HEADERS_TOO_LARGE',
    message: 'The request headers are too large',
  },
};

/** The refusal of what Node's HTTP parser gave up on, by the code of its error, with the words of the status line. */
export function parserRefusal(errorCode: string | undefined): Refusal & { reason: string } {
  return ofParser[errorCode ?? ''] ?? { reason: 'Bad Request', ...notHttp };
}

/** The error form of rule D2.1: the body, and the headers of every answer; the connection ends with it. */
function problem({ requestId, secure }: RequestRecord, { code, message, headers }: Refusal) {
  const body = JSON.stringify({ error: { code, message, requestId } });
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...securityHeaders,
      ...(secure ? strictTransport : {}),
      ...headers,
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    },
  };
}

/** A refusal as it is written to a connection that has no answer to write to. */
export function refusalText(record: RequestRecord, refusal: Refusal & { reason: string }): string {
  const { body, headers } = problem(record, refusal);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusOf[refusal.code]} ${refusal.reason}\r\n${head.join('')}\r\n${body}`;
}

/** Answers a request with a refusal, and closes the connection; its body is thrown away. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  record: RequestRecord,
  refusal: Refusal,
): void {
  const { body, headers } = problem(record, refusal);
  response.writeHead(statusOf[refusal.code], headers);
  response.end(body);
  // What is still on its way would reset the connection before the answer is read.
  request.resume();
}
