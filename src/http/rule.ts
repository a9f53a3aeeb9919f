import type { Context, MiddlewareHandler } from 'hono';
import type { Entitlement } from '../auth/viewer.ts';
import type { Env } from './env.ts';

/** Who may call a route; spread into its definition, so that OpenAPI shows it. */
export interface Rule {
  security: Record<string, string[]>[];
  'x-access': string;
  /** No rate limit: it never answers 429. */
  'x-unlimited'?: true;
  'x-audit'?: string;
  middleware: MiddlewareHandler<Env>[];
}

/** Optional properties of a route. */
export interface RouteOptions {
  maxBody?: number;
  form?: boolean;
  /** The body is large and goes to a thread unparsed; a thread processes one upload at a time. */
  upload?: boolean;
  /** The body is a JSON-RPC message; a batch is refused. */
  message?: boolean;
  /** Much more work than a look-up: it has a smaller rate limit, and few run at once. */
  expensive?: boolean | ((c: Context<Env>) => boolean);
  /** No rate limit, for health checks, which must always be answered. */
  unlimited?: boolean;
  /** What answers to GET depend on besides the URL: then they are cached, except on audited routes. */
  kept?: 'catalog' | 'users' | null;
  /** The audit event of each call, as `list.create`; `objectId` gives the object if the path has no parameter `id`. */
  audited?: { action: string; objectId?: ((c: Context<Env>) => string | undefined) | undefined };
  /** The entitlement for the full answer; without it the answer is shorter, and an audit event is written. */
  product?: Entitlement;
}

export function isExpensive(c: Context<Env>, expensive: RouteOptions['expensive']): boolean {
  return typeof expensive === 'function' ? expensive(c) : expensive === true;
}
