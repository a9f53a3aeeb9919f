import type { Context } from 'hono';
import type { Env } from './env.ts';

/** Whether a browser says that one of our own pages sends the request; what says nothing is not believed. */
export function isSameOrigin(c: Context<Env>): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = c.req.header('Origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  // The host alone: behind a proxy that ends TLS the schemes differ.
  return new URL(origin).host === (c.req.header('Host') ?? new URL(c.req.url).host);
}
