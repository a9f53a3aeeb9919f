import type { Context } from 'hono';
import type { Env } from './env.ts';

/**
 * Whether the browser says that a page of this server sent the request, under the host that the request names or under
 * `publicUrl`. A request without such headers fails.
 */
export function isSameOrigin(c: Context<Env>, publicUrl: string | null): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = c.req.header('Origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  // Compare hosts only: behind a proxy that ends TLS the schemes differ.
  return origin === publicUrl || new URL(origin).host === c.get('record').host;
}

/** The origin that the request was sent to, as its reader wrote it. */
export function requestOrigin(c: Context<Env>): string {
  const { secure, host } = c.get('record');
  return `${secure ? 'https' : 'http'}://${host.toLowerCase()}`;
}
