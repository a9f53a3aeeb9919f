import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { bestCoding, namesTag } from '../coding.ts';
import type { Env } from '../env.ts';
import { isExpensive, type RouteOptions } from '../rule.ts';
import type { Answers, Made } from './answers.ts';

/**
 * Answers from what is kept, and keeps what its route makes: for routes whose answer to GET depends on the catalog alone, or on
 * users' data and the caller as well. It stands behind the checks of the caller, so that no answer passes them by.
 */
export function keepAnswers(
  answers: Answers,
  { kept: source, expensive }: RouteOptions,
  access: string,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method, url } = c.req;
    if (method !== 'GET' && method !== 'HEAD') return next();
    // Path and query as the router itself reads them.
    const address = url.slice(url.indexOf('/', 'https://'.length));
    const viewer = source === 'catalog' ? null : (c.get('viewer') ?? c.get('user'));
    let kept = answers.find(address, viewer);
    if (kept === undefined) {
      const stamp = answers.stamp(viewer);
      await next();
      const made = await madeBy(c);
      if (made === null) return;
      const checks = { route: routePath(c), access, expensive: isExpensive(c, expensive) };
      kept = answers.keep(address, viewer, stamp, made, checks);
    }
    // The rule before this makes the 304, of the answer as it is.
    const unchanged = namesTag(c.req.header('If-None-Match'), kept.made.tag);
    const coding = unchanged ? 'identity' : bestCoding(c.req.header('Accept-Encoding'));
    const { body, headers } = await answers.written(kept, coding);
    c.res = c.body(body, 200, headers);
  };
}

/** What a route answered, whole; null where it is nothing to keep. Then the context has no answer any more. */
async function madeBy(c: Context<Env>): Promise<Made | null> {
  const { etag, 'content-length': _, ...headers } = Object.fromEntries(c.res.headers);
  if (c.res.status !== 200 || etag === undefined) return null;
  const bytes = Buffer.from(await c.res.arrayBuffer());
  c.res = undefined;
  return { bytes, headers, tag: etag.slice(1, -1) };
}
