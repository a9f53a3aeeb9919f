import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { AppError, badRequest, callerGone } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { isExpensive, type RouteOptions } from './access.ts';
import { type Answers, namesTag } from './cache/answers.ts';
import { bestCoding, leastCompressed } from './cache/coding.ts';
import type { Env } from './env.ts';
import { type Cors, securityHeaders, strictTransport } from './headers.ts';
import type { BodyBudget, HeldBody } from './limits/bodies.ts';
import { type Gate, smallAnswer } from './limits/gate.ts';
import { beginExchange, callerKey, type Exchange } from './observe/exchange.ts';
import type { Observer } from './observe/observer.ts';

/**
 * Begins the exchange of a request, or takes the server's, and gives every answer its id and the headers of every
 * answer. Where no server sees the end of the exchange, it ends here.
 */
export function identify(observer: Observer, cors: Cors): MiddlewareHandler<Env> {
  return async (c, next) => {
    const exchange = c.env?.exchange ?? arrived(c);
    c.set('exchange', exchange);
    c.set('requestId', exchange.requestId);
    const origin = cors.on ? c.req.header('Origin') : undefined;
    const preflight =
      cors.on && c.req.method === 'OPTIONS'
        ? cors.preflight(origin, c.req.header('Access-Control-Request-Method'))
        : null;
    if (preflight) c.res = c.body(null, 204, preflight);
    else await next();
    // Only now it is known which route took the request.
    const path = routePath(c);
    exchange.route = path.endsWith('*') ? null : path;
    const { headers } = c.res;
    headers.set('X-Request-Id', exchange.requestId);
    for (const [name, value] of Object.entries(securityHeaders))
      if (!headers.has(name)) headers.set(name, value);
    if (exchange.secure)
      for (const [name, value] of Object.entries(strictTransport)) headers.set(name, value);
    if (cors.on) {
      headers.append('Vary', 'Origin');
      for (const [name, value] of Object.entries(cors.headersFor(origin))) headers.set(name, value);
    }
    if (exchange.connected) return;
    observer.end(exchange, c.res.status, lengthOf(c.res));
  };
}

/** The exchange of a request that came through no server. */
function arrived(c: Context<Env>): Exchange {
  return beginExchange({
    method: c.req.method,
    remote: '',
    secure: false,
    requestId: c.req.header('X-Request-Id'),
    userAgent: c.req.header('User-Agent'),
    traceparent: c.req.header('traceparent'),
    connected: false,
  });
}

/** The bytes of an answer's body, where they were counted. */
function lengthOf(response: Response): number | null {
  const text = response.headers.get('Content-Length');
  return text === null ? null : Number(text);
}

/** Lets a request through the gate, and counts its answer there until the caller has taken it. */
export function passGate(gate: Gate, expensive: RouteOptions['expensive']): MiddlewareHandler<Env> {
  return async (c, next) => {
    const exchange = c.get('exchange');
    const key = callerKey(exchange);
    const costly = isExpensive(c, expensive);
    if (exchange.closed) throw callerGone();
    const turn = gate.enter(key, costly, exchange);
    if (turn !== null) await turn;
    let held = 0;
    try {
      // Who hung up just now gets nothing made.
      if (exchange.closed) throw callerGone();
      await next();
      const bytes = lengthOf(c.res) ?? 0;
      if (bytes >= smallAnswer && exchange.connected && !exchange.closed) {
        held = bytes;
        exchange.onClose = () => gate.release(key, bytes);
      }
    } finally {
      gate.leave(key, costly, held);
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
    const body = budget.hold(callerKey(c.get('exchange')));
    try {
      await take(c, await readAtMost(c.req.raw, maxBytes, body));
      await next();
    } finally {
      body.release();
    }
  };
}

/**
 * Takes a body for JSON whatever its Content-Type says (DECISIONS D2.3), and decodes it fatally: bytes that are no UTF-8 are
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
  const reader = body?.getReader();
  for (;;) {
    // A client that goes away in the middle is no failure of ours.
    const read = reader?.read().catch(() => {
      throw badRequest('The request body ended too early');
    });
    const { done, value } = read
      ? await Promise.race([read, held.dropped])
      : { done: true, value: undefined };
    if (done) break;
    size += value!.byteLength;
    if (size > maxBytes) throw tooLarge();
    held.take(value!.byteLength);
    parts.push(value!);
  }
  held.whole();
  return Buffer.concat(parts);
}

/**
 * Answers from what is kept, and keeps what is made: for routes whose answer to GET depends on the catalog alone, or on users'
 * data and the caller as well. It stands behind the checks of the caller, so that no answer passes them by.
 */
export function keepAnswers(
  answers: Answers,
  source: NonNullable<RouteOptions['kept']>,
  access: string,
  expensive: RouteOptions['expensive'],
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method, url } = c.req;
    if ((method !== 'GET' && method !== 'HEAD') || c.get('toldEachTime')) return next();
    // Path and query as the router itself reads them.
    const address = url.slice(url.indexOf('/', 'https://'.length));
    const viewer = source === 'catalog' ? null : (c.get('viewer') ?? c.get('user'));
    const coding = bestCoding(c.req.header('Accept-Encoding'));
    let kept = answers.find(address, viewer);
    if (kept === undefined) {
      const stamp = answers.stamp(viewer);
      await next();
      const made = c.get('made');
      if (!made) return;
      const about = { route: routePath(c), access, expensive: isExpensive(c, expensive) };
      kept = answers.keep(address, viewer, stamp, made, about);
      if (coding === 'identity' || c.res.status !== 200 || made.bytes.length < leastCompressed) return;
      c.res = undefined;
    }
    if (namesTag(c.req.header('If-None-Match'), kept.tag)) {
      c.res = c.body(null, 304, kept.notModified.headers);
      return;
    }
    const { body, headers } = await answers.written(kept, coding);
    c.res = c.body(body, 200, headers);
  };
}
