import type { MiddlewareHandler } from 'hono';
import type { Env } from './env.ts';

/** What a route says about who may call it; spread into its definition, so that OpenAPI shows it. */
export interface Rule {
  security: Record<string, string[]>[];
  /** The rule in one word, as `x-access` of the route shows it. */
  'x-access': string;
  /** Never limited: it answers no 429. */
  'x-unlimited'?: true;
  middleware: MiddlewareHandler<Env>[];
}
