import type { MiddlewareHandler } from 'hono';
import type { Env } from '../env.ts';
import { readAtMost } from '../middleware.ts';
import { readForm } from './read.ts';

/** Reads the form that a page sends. Anything else is a 400. */
export function formBodies(maxBytes: number): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { raw } = c.req;
    if (raw.method !== 'POST') return next();
    const bytes = await readAtMost(raw, maxBytes);
    c.set('form', await readForm(bytes, raw.headers.get('Content-Type') ?? ''));
    return next();
  };
}
