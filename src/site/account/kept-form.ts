import type { Context, MiddlewareHandler } from 'hono';
import { AppError } from '../../base/errors.ts';
import type { Env } from '../../http/env.ts';
import { isSameOrigin } from '../../http/same-origin.ts';

/** The URL-encoded fields of a form that arrived without a session. */
export interface KeptForm {
  fields: string;
}

/**
 * Reads a form that the server refused because the session had ended: the reader can send it again after signing in.
 * Null for files, for a large form, for signing in or out, and for a form of another site.
 */
export async function keptForm(
  c: Context<Env>,
  read: MiddlewareHandler<Env>,
  publicUrl: string | null,
): Promise<KeptForm | null> {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(c.req.header('Content-Type') ?? '');
  if (c.req.method !== 'POST' || !isForm || !isSameOrigin(c, publicUrl)) return null;
  if (['/signin', '/signin/oidc', '/signout'].includes(c.req.path)) return null;
  try {
    await read(c, async () => {});
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
  return { fields: new URLSearchParams(c.get('form').texts()).toString() };
}
