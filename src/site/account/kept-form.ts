import type { Context, MiddlewareHandler } from 'hono';
import { AppError } from '../../base/errors.ts';
import type { Env } from '../../http/env.ts';
import { isSameOrigin } from '../../http/same-origin.ts';

/** What was typed into a form that came without a session: its fields, URL-encoded. */
export interface KeptForm {
  fields: string;
}

/**
 * Reads a form that is refused for want of a session, so that its sender loses nothing by signing in. Null for what is not
 * to be kept: what another site sent, which a reader must never be led to send; a file; what is too large; signing in.
 */
export async function keptForm(c: Context<Env>, read: MiddlewareHandler<Env>): Promise<KeptForm | null> {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(c.req.header('Content-Type') ?? '');
  if (c.req.method !== 'POST' || !isForm || !isSameOrigin(c)) return null;
  if (['/signin', '/signout'].includes(c.req.path)) return null;
  try {
    await read(c, async () => {});
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
  return { fields: new URLSearchParams(c.get('form').texts()).toString() };
}
