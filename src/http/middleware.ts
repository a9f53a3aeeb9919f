import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { AppError, badRequest, callerGone, unavailable } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { notServed, readMessage, wrongParams } from '../base/json-rpc.ts';
import { isExpensive, type RouteOptions } from './access.ts';
import type { Env } from './env.ts';
import { commonHeaders } from './headers.ts';
import { type ByteBudget, type Queue, type Rejected, smallAnswer } from './limits.ts';
import { beginRecord, callerKey, currentRecord, type Observer } from './record.ts';

interface IdentifyOptions {
  observer: Observer;
  banner: string | null;
}

/**
 * Begins the record of a request, or uses the server's, and sets the request id and the common headers on every answer.
 * Without a server (as in tests) the record ends here.
 */
export function identify({ observer, banner }: IdentifyOptions): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method } = c.req;
    const apart = { method, remote: '', secure: false, connected: false };
    const record = c.env?.record ?? beginRecord(apart, (name) => c.req.header(name));
    c.set('record', record);
    c.set('requestId', record.requestId);
    c.set('banner', banner);
    await currentRecord.run(record, next);
    // The matched route is known only after the handler.
    const path = routePath(c);
    record.route = path.endsWith('*') ? null : path;
    const { headers } = c.res;
    headers.set('X-Request-Id', record.requestId);
    for (const [name, value] of Object.entries(commonHeaders(record.secure)))
      if (!headers.has(name)) headers.set(name, value);
    if (!record.connected) observer.end(record, c.res.status, lengthOf(c.res));
  };
}

function lengthOf(response: Response): number | null {
  const text = response.headers.get('Content-Length');
  return text === null ? null : Number(text);
}

/**
 * Lets an expensive request wait for its turn in the queue that `queueOf` gives, and counts large answers until the
 * client has received them. Throws 503 when too many wait, and for a caller who does not read its answers.
 */
export function queueRequests(
  queueOf: (c: Context<Env>) => Queue,
  expensive: RouteOptions['expensive'],
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const record = c.get('record');
    const caller = callerKey(record);
    const queue = queueOf(c);
    const isQueued = isExpensive(c, expensive);
    if (isQueued) await queue.enter(caller, record);
    else if (!queue.hasRoom(caller)) throw queue.busy();
    try {
      // The client has disconnected while the request waited.
      if (record.closed) throw callerGone();
      await next();
      const bytes = c.get('held') ?? lengthOf(c.res) ?? 0;
      if (bytes >= smallAnswer && record.connected && !record.closed) {
        queue.hold(caller, bytes);
        record.onClose = () => queue.release(caller, bytes);
      }
    } finally {
      if (isQueued) queue.leave();
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

/** Reads a body of at most `maxBytes`, and counts it in `budget` until the request is answered. Throws 413 and 503. */
export function readBodies(
  maxBytes: number,
  budget: ByteBudget,
  rejected: Rejected,
  take: TakeBody,
): MiddlewareHandler<Env> {
  const tooLarge = () =>
    new AppError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes`);
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
    const caller = callerKey(c.get('record'));
    let size = 0;
    const count = (bytes: number) => {
      if (size + bytes > maxBytes) throw tooLarge();
      if (!budget.hasRoom(caller, bytes)) {
        rejected('bodies');
        throw unavailable('Too many request bodies are being received. Try again', 5);
      }
      budget.add(caller, bytes);
      size += bytes;
    };
    try {
      if (Number(c.req.header('Content-Length')) > maxBytes) throw tooLarge();
      await take(c, await readBody(c.req.raw, count));
      await next();
    } finally {
      budget.add(caller, -size);
    }
  };
}

const smallBody = 64 * 1024;

/** The bytes of a body; `count` is called for those that have arrived. Throws 400 when it ends too early. */
async function readBody(request: Request, count: (bytes: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  // A client that disconnects is not an internal error.
  const endedEarly = () => {
    throw badRequest('The request body ended too early');
  };
  // The adapter reads a small body without making streams.
  if (Number(request.headers.get('Content-Length') ?? Number.NaN) <= smallBody) {
    const bytes = new Uint8Array(await request.arrayBuffer().catch(endedEarly));
    count(bytes.byteLength);
    return bytes;
  }
  const parts: Uint8Array[] = [];
  for (const reader = request.body?.getReader(); reader; ) {
    const { done, value } = await reader.read().catch(endedEarly);
    if (done) break;
    count(value.byteLength);
    parts.push(value);
  }
  return Buffer.concat(parts);
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
