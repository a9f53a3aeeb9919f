import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { badRequest } from '../base/errors.ts';
import type { Env } from './env.ts';
import { commonHeaders } from './headers.ts';
import { beginRecord, currentRecord, type Observer } from './record.ts';

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

export function lengthOf(response: Response): number | null {
  const text = response.headers.get('Content-Length');
  return text === null ? null : Number(text);
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
