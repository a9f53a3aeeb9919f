import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Env } from './env.ts';
import { AppError, badRequest } from './errors.ts';
import type { Log } from './log.ts';

const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Gives every request an id (its own `X-Request-Id` where that is sane) and every answer the security headers. */
export const identify: MiddlewareHandler<Env> = async (c, next) => {
  const given = c.req.header('X-Request-Id');
  const requestId = given !== undefined && /^[A-Za-z0-9_.-]{1,64}$/.test(given) ? given : randomUUID();
  c.set('requestId', requestId);
  await next();
  c.res.headers.set('X-Request-Id', requestId);
  for (const [name, value] of Object.entries(securityHeaders)) c.res.headers.set(name, value);
};

/** One log line a request: the route's template, never its path, query or token (SECURITY D). */
export function logRequests(log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const start = performance.now();
    await next();
    const durationMs = Math.round((performance.now() - start) * 10) / 10;
    const path = routePath(c);
    const route = path.endsWith('*') ? null : path;
    const { method } = c.req;
    log.info('request', { requestId: c.get('requestId'), method, route, status: c.res.status, durationMs });
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
      throw badRequest('The URL holds a malformed percent-encoding');
    }
    if (decoded.includes('\0')) throw badRequest('The URL holds a NUL character');
  }
  await next();
};

/** Refuses a request while so many others are under way: each may hold a body many times the usual size in memory. */
export function atMost(limit: number): MiddlewareHandler<Env> {
  let underWay = 0;
  return async (_, next) => {
    if (underWay >= limit)
      throw new AppError('UNAVAILABLE', 'Too many large requests at once', { 'Retry-After': '5' });
    underWay++;
    try {
      await next();
    } finally {
      underWay--;
    }
  };
}

/**
 * Takes every request body for JSON whatever its Content-Type says (DECISIONS D2.3), within the limit in bytes, and
 * decodes it fatally: bytes that are no UTF-8 are a 400, never replaced. `check` may refuse the text before it is parsed.
 */
export function jsonBodies(maxBytes: number, check?: (text: string) => void): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { raw } = c.req;
    if (raw.method === 'GET' || raw.method === 'HEAD') return next();
    const bytes = raw.body === null ? new Uint8Array() : await readAtMost(raw.body, maxBytes);
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw badRequest('The request body is not valid UTF-8');
    }
    check?.(text);
    const headers = new Headers(raw.headers);
    headers.set('Content-Type', 'application/json');
    c.req.raw = new Request(raw.url, { method: raw.method, headers, body: text });
    return next();
  };
}

async function readAtMost(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    // A client that goes away in the middle is no failure of ours.
    const { done, value } = await reader.read().catch(() => {
      throw badRequest('The request body ended before its time');
    });
    if (done) return Buffer.concat(parts);
    size += value.byteLength;
    if (size > maxBytes)
      throw new AppError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes`);
    parts.push(value);
  }
}
