import type { Context } from 'hono';
import type { Env } from './env.ts';

/** Whether the browser says that a page of this server sent the request. A request without such headers fails. */
export function isSameOrigin(c: Context<Env>): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = c.req.header('Origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  // Compare hosts only: behind a proxy that ends TLS the schemes differ.
  return new URL(origin).host === (c.req.header('Host') ?? new URL(c.req.url).host);
}
