import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { bestCoding, namesTag } from '../coding.ts';
import type { Env } from '../env.ts';
import { isExpensive, type RouteOptions } from '../rule.ts';
import type { Answers, Made } from './answers.ts';

/** Answers from the cache and fills it, after the access checks: no cached answer bypasses them. */
export function keepAnswers(
  answers: Answers,
  { kept: source, expensive }: RouteOptions,
  access: string,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method, url } = c.req;
    if (method !== 'GET' && method !== 'HEAD') return next();
    // Path and query as the router reads them.
    const address = url.slice(url.indexOf('/', 'https://'.length));
    const viewer = source === 'catalog' ? null : (c.get('viewer') ?? c.get('user'));
    let kept = answers.find(address, viewer);
    if (kept === undefined) {
      const stamp = answers.stamp(viewer);
      await next();
      const made = madeBy(c);
      if (made === null) return;
      const checks = { route: routePath(c), access, expensive: isExpensive(c, expensive) };
      kept = answers.keep(address, viewer, stamp, made, checks);
    }
    // The access rule makes the 304 from the uncompressed answer.
    const unchanged = namesTag(c.req.header('If-None-Match'), kept.made.tag);
    const coding = unchanged ? 'identity' : bestCoding(c.req.header('Accept-Encoding'));
    const { body, headers } = await answers.written(kept, coding);
    c.res = c.body(body, 200, headers);
  };
}

/** The whole answer of a route, removed from the context; null for one that cannot be cached. */
function madeBy(c: Context<Env>): Made | null {
  const { etag, 'content-length': _, ...headers } = Object.fromEntries(c.res.headers);
  const bytes = c.get('bytes');
  if (c.res.status !== 200 || etag === undefined || bytes === undefined) return null;
  c.res = undefined;
  return { bytes, headers, tag: etag.slice(1, -1) };
}
