import type { Context } from 'hono';
import type { Env } from './env.ts';
import { readForm } from './form.ts';

/** Takes a body for the form that a page sends. Anything else is a 400. */
export async function takeForm(c: Context<Env>, bytes: Uint8Array): Promise<void> {
  c.set('form', await readForm(bytes, c.req.header('Content-Type') ?? ''));
}
