import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

/** The headers of every answer (rule S3.3). A page may set its own policy. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The headers of every answer; over TLS strict transport for two years, as browsers recommend. */
export const commonHeaders = (secure: boolean): Readonly<Record<string, string>> =>
  secure ? { ...securityHeaders, 'Strict-Transport-Security': 'max-age=63072000' } : securityHeaders;

/** What a browser lets a page of another origin read, beside `Content-Type` and the like. */
const exposed =
  'Allow Content-Disposition ETag Location Retry-After WWW-Authenticate X-Classification X-Not-In-Catalog X-Warnings X-Request-Id';
const accepted =
  'Authorization Content-Type If-Match If-None-Match X-Request-Id MCP-Protocol-Version Mcp-Method Mcp-Name';

/**
 * CORS for the exact configured origins, without cookies: there is no `Allow-Credentials`. Hono would answer every
 * OPTIONS; all but the preflights of these origins go to the router.
 */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: accepted.split(' '),
    exposeHeaders: exposed.split(' '),
    maxAge: 600,
  });
  return async (c, next) => {
    const { req } = c;
    const isPreflight =
      req.method === 'OPTIONS' &&
      req.header('Access-Control-Request-Method') !== undefined &&
      origins.includes(req.header('Origin') ?? '');
    if (isPreflight) return allow(c, next);
    await next();
    // After the handler, or the cache would store the headers of one origin.
    if (req.method !== 'OPTIONS') await allow(c, async () => undefined);
  };
}
