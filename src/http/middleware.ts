import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { AppError, badRequest, callerGone } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { notServed, readMessage, wrongParams } from '../base/json-rpc.ts';
import type { Env } from './env.ts';
import { securityHeaders, strictTransport } from './headers.ts';
import type { BodyBudget, HeldBody } from './limits/bodies.ts';
import { type ConcurrencyLimit, smallAnswer } from './limits/concurrency.ts';
import type { Observer } from './observe/observer.ts';
import { beginRecord, callerKey } from './observe/record.ts';
import { isExpensive, type RouteOptions } from './rule.ts';

/**
 * Begins the record of a request, or uses the server's, and sets the request id and the common headers on every answer.
 * Without a server (as in tests) the record ends here.
 */
export function identify(observer: Observer): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method } = c.req;
    const apart = { method, remote: '', secure: false, connected: false };
    const record = c.env?.record ?? beginRecord(apart, (name) => c.req.header(name));
    c.set('record', record);
    c.set('requestId', record.requestId);
    await next();
    // The matched route is known only after the handler.
    const path = routePath(c);
    record.route = path.endsWith('*') ? null : path;
    const { headers } = c.res;
    headers.set('X-Request-Id', record.requestId);
    for (const [name, value] of Object.entries(securityHeaders))
      if (!headers.has(name)) headers.set(name, value);
    if (record.secure) for (const [name, value] of Object.entries(strictTransport)) headers.set(name, value);
    if (record.connected) return;
    observer.end(record, c.res.status, lengthOf(c.res));
  };
}

function lengthOf(response: Response): number | null {
  const text = response.headers.get('Content-Length');
  return text === null ? null : Number(text);
}

/** Waits for a turn at the limit that `limitOf` gives, and counts the answer until the client has received it. */
export function limitConcurrency(
  limitOf: (c: Context<Env>) => ConcurrencyLimit,
  expensive: RouteOptions['expensive'],
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const record = c.get('record');
    const key = callerKey(record);
    const costly = isExpensive(c, expensive);
    const concurrency = limitOf(c);
    if (record.closed) throw callerGone();
    const turn = concurrency.enter(key, costly, record);
    if (turn !== null) await turn;
    let held = 0;
    try {
      // Skip the work: the client has disconnected.
      if (record.closed) throw callerGone();
      await next();
      const bytes = c.get('held') ?? lengthOf(c.res) ?? 0;
      if (bytes >= smallAnswer && record.connected && !record.closed) {
        held = bytes;
        record.onClose = () => concurrency.release(key, bytes);
      }
    } finally {
      concurrency.leave(key, costly, held);
    }
  };
}

/** A URL, decoded. Throws a 400 for malformed percent-encoding, which Hono would pass on, and for a NUL character. */
export function decodedUrl(url: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(url);
  } catch {
    throw badRequest('The URL contains a malformed percent-encoding');
  }
  if (decoded.includes('\0')) throw badRequest('The URL contains a NUL character');
  return decoded;
}

/** Rejects a URL that cannot be decoded. */
export const refuseBadEncoding: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.url.includes('%')) decodedUrl(c.req.url);
  await next();
};

type TakeBody = (c: Context<Env>, bytes: Uint8Array<ArrayBuffer>) => void | Promise<void>;

/** Reads a body of at most `maxBytes`, and counts it in `budget` until the request is answered. */
export function readBodies(maxBytes: number, budget: BodyBudget, take: TakeBody): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
    const body = budget.hold(callerKey(c.get('record')));
    try {
      await take(c, await readAtMost(c.req.raw, maxBytes, body));
      await next();
    } finally {
      body.release();
    }
  };
}

/** Reads a body as JSON whatever its Content-Type says (rule D2.3). Invalid UTF-8 is a 400, never replaced. */
export const takeJson: TakeBody = (c, bytes) => {
  const { raw } = c.req;
  const headers = new Headers(raw.headers);
  headers.set('Content-Type', 'application/json');
  c.req.raw = new Request(raw.url, { method: raw.method, headers, body: utf8Body(bytes) });
};

/** Stores a JSON-RPC message. Throws 400 for what is none (rule D41.2). */
export const takeMessage: TakeBody = (c, bytes) => {
  const message = readMessage(bytes);
  const wrong = wrongParams(message);
  const isServed = notServed(message, c.req.header('MCP-Protocol-Version')) === null;
  if (isServed && wrong !== null) throw badRequest(wrong);
  c.set('message', message);
};

/** Stores the raw body, for a thread to read. */
export const takeUpload: TakeBody = (c, bytes) => c.set('upload', bytes);

const smallBody = 64 * 1024;

/** The bytes of a body. Throws 413 beyond the limit, 400 when it ends too early, 503 when it is dropped. */
async function readAtMost(
  request: Request,
  maxBytes: number,
  held: HeldBody,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    new AppError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes`);
  // A client that disconnects is not an internal error.
  const arrived = <T>(part: Promise<T>) =>
    Promise.race([
      part.catch(() => {
        throw badRequest('The request body ended too early');
      }),
      held.dropped,
    ]);
  const declared = Number(request.headers.get('Content-Length') ?? Number.NaN);
  if (declared > maxBytes) throw tooLarge();
  // The server reads a small body without making streams, which would outlive the request until a full collection.
  if (declared <= smallBody) {
    const bytes = new Uint8Array(await arrived(request.arrayBuffer()));
    held.take(bytes.byteLength);
    held.whole();
    return bytes;
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for (const reader = request.body?.getReader(); reader; ) {
    const { done, value } = await arrived(reader.read());
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) throw tooLarge();
    held.take(value.byteLength);
    parts.push(value);
  }
  held.whole();
  return Buffer.concat(parts);
}
