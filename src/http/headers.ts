/** The headers that every answer carries (rule S3.3). A page of the package may have a policy of its own. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Said over TLS alone: two years, as browsers ask for. */
export const strictTransport = { 'Strict-Transport-Security': 'max-age=63072000' };

/** What scripts of configured origins may send and read. Cookies never: there is no `Allow-Credentials`. */
const corsMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const corsRequestHeaders = 'Authorization, Content-Type, If-None-Match, X-Request-Id';
const corsAnswerHeaders = 'Content-Disposition, ETag, Retry-After, X-Request-Id';

/** CORS for the exact origins that are configured; without any, no header speaks of it. */
export interface Cors {
  /** Whether answers depend on the header `Origin` at all. */
  on: boolean;
  /** Headers of an answer to a request with this `Origin`; empty for an origin that is not configured. */
  headersFor(origin: string | undefined): Record<string, string>;
  /** Headers of the answer to a preflight, or null when the request is none or its origin is not configured. */
  preflight(origin: string | undefined, wantedMethod: string | undefined): Record<string, string> | null;
}

export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  const none = {};
  return {
    on: allowed.size > 0,
    headersFor: (origin) =>
      origin !== undefined && allowed.has(origin)
        ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': corsAnswerHeaders }
        : none,
    preflight: (origin, wantedMethod) =>
      origin !== undefined && wantedMethod !== undefined && allowed.has(origin)
        ? {
            'Access-Control-Allow-Methods': corsMethods,
            'Access-Control-Allow-Headers': corsRequestHeaders,
            'Access-Control-Max-Age': '600',
          }
        : null,
  };
}
