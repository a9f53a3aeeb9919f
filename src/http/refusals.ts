import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, statusOf } from '../base/errors.ts';
import { securityHeaders, strictTransport } from './headers.ts';
import type { RequestRecord } from './observe/record.ts';

/** An error for a request that never reached the router. */
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

/** The refusal for an error code of Node's HTTP parser, with the reason phrase of the status line. */
export function parserRefusal(errorCode: string | undefined): Refusal & { reason: string } {
  return ofParser[errorCode ?? ''] ?? { reason: 'Bad Request', ...notHttp };
}

/** The error format of rule D2.1: body and headers. The connection closes after it. */
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

/** A refusal as raw HTTP, for a connection without a response object. */
export function refusalText(record: RequestRecord, refusal: Refusal & { reason: string }): string {
  const { body, headers } = problem(record, refusal);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusOf[refusal.code]} ${refusal.reason}\r\n${head.join('')}\r\n${body}`;
}

/** Answers a request with a refusal, discards its body and closes the connection. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  record: RequestRecord,
  refusal: Refusal,
): void {
  const { body, headers } = problem(record, refusal);
  response.writeHead(statusOf[refusal.code], headers);
  response.end(body);
  // Unread data would reset the connection before the client reads the answer.
  request.resume();
}
