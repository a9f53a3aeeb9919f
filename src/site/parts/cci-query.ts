import type { Context } from 'hono';
import { canonicalIdentifier } from '../../catalog/controls/identifier.ts';
import type { Env } from '../../http/env.ts';

/** The CCI that a page is asked for: as it was typed, and as it is published. */
export function cciOf(c: Context<Env>) {
  const typed = (c.req.query('cci') ?? '').trim();
  return { typed, canonical: typed === '' ? undefined : (canonicalIdentifier('cci', typed) ?? typed) };
}
