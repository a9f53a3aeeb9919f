import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { AppError, badRequest, callerGone } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import type { Env } from './env.ts';
import { securityHeaders, strictTransport } from './headers.ts';
import type { BodyBudget, HeldBody } from './limits/bodies.ts';
import { type ConcurrencyLimit, smallAnswer } from './limits/concurrency.ts';
import type { Observer } from './observe/observer.ts';
import { beginRecord, callerKey } from './observe/record.ts';
import { isExpensive, type RouteOptions } from './rule.ts';

/**
 * Begins the record of a request, or takes the server's, and gives every answer its id and the headers of every
 * answer. Where no server sees the end of the request, it ends here.
 */
export function identify(observer: Observer): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method } = c.req;
    const apart = { method, remote: '', secure: false, connected: false };
    const record = c.env?.record ?? beginRecord(apart, (name) => c.req.header(name));
    c.set('record', record);
    c.set('requestId', record.requestId);
    await next();
    // Only now it is known which route took the request.
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

/** The bytes of an answer's body, where they were counted. */
function lengthOf(response: Response): number | null {
  const text = response.headers.get('Content-Length');
  return text === null ? null : Number(text);
}

/** Waits for a request's turn at the limit that `limitOf` gives, and counts its answer until the caller has taken it. */
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
      // Who hung up just now gets nothing made.
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

/** Refuses a path or query whose percent-encoding does not decode: Hono would hand it on as it is. */
export const refuseBadEncoding: MiddlewareHandler<Env> = async (c, next) => {
  const { url } = c.req;
  if (url.includes('%')) {
    let decoded: string;
    try {
      decoded = decodeURIComponent(url);
    } catch {
      throw badRequest('The URL contains a malformed percent-encoding');
    }
    if (decoded.includes('\0')) throw badRequest('The URL contains a NUL character');
  }
  await next();
};

/** What a body becomes for the handler of its request. */
type TakeBody = (c: Context<Env>, bytes: Uint8Array<ArrayBuffer>) => void | Promise<void>;

/** Reads the body of a request, at most `maxBytes` of it, and counts it in `budget` until the request is answered. */
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

/**
 * Takes a body for JSON whatever its Content-Type says (rule D2.3), and decodes it fatally: bytes that are no UTF-8 are
 * a 400, never replaced.
 */
export const takeJson: TakeBody = (c, bytes) => {
  const { raw } = c.req;
  const headers = new Headers(raw.headers);
  headers.set('Content-Type', 'application/json');
  c.req.raw = new Request(raw.url, { method: raw.method, headers, body: utf8Body(bytes) });
};

/** Takes a body as it is, for a thread to read. */
export const takeUpload: TakeBody = (c, bytes) => c.set('upload', bytes);

/** The bytes of a request's body. Throws 413 beyond the limit, unread where it declares its length, 400 when it breaks off, 503. */
async function readAtMost(
  { headers, body }: Request,
  maxBytes: number,
  held: HeldBody,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    new AppError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes`);
  if (Number(headers.get('Content-Length')) > maxBytes) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (const reader = body?.getReader(); reader; ) {
    // A client that goes away in the middle is no failure of ours.
    const read = reader.read().catch(() => {
      throw badRequest('The request body ended too early');
    });
    const { done, value } = await Promise.race([read, held.dropped]);
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) throw tooLarge();
    held.take(value.byteLength);
    parts.push(value);
  }
  held.whole();
  return Buffer.concat(parts);
}
