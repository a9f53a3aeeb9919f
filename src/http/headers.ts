import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';

/** The headers that every answer carries (rule S3.3). A page of the package may have a policy of its own. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Said over TLS alone: two years, as browsers ask for. */
export const strictTransport = { 'Strict-Transport-Security': 'max-age=63072000' };

/** The headers of every answer, a name and its value in turn; `cors` says whether answers depend on the header `Origin`. */
export function commonHeaders(cors: boolean): (secure: boolean) => readonly string[] {
  const common = [...Object.entries(securityHeaders).flat(), ...(cors ? ['Vary', 'Origin'] : [])];
  const overTls = [...common, ...Object.entries(strictTransport).flat()];
  return (secure) => (secure ? overTls : common);
}

/**
 * CORS for the exact origins that are configured. Cookies never: there is no `Allow-Credentials`. Hono would answer every
 * OPTIONS; what is no preflight of such an origin is left to the router.
 */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: ['Authorization', 'Content-Type', 'If-None-Match', 'X-Request-Id'],
    exposeHeaders: ['Content-Disposition', 'ETag', 'Retry-After', 'X-Request-Id'],
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
    // After the answer is made, or it would be kept with what is said to one origin.
    if (req.method !== 'OPTIONS') await allow(c, async () => undefined);
  };
}
