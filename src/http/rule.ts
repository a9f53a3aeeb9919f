import type { Context, MiddlewareHandler } from 'hono';
import type { Entitlement } from '../auth/viewer.ts';
import type { Env } from './env.ts';

/** What a route says about who may call it; spread into its definition, so that OpenAPI shows it. */
export interface Rule {
  security: Record<string, string[]>[];
  /** The rule in one word, as `x-access` of the route shows it. */
  'x-access': string;
  /** Never limited: it answers no 429. */
  'x-unlimited'?: true;
  /** The event that each call leaves in the audit stream. */
  'x-audit'?: string;
  middleware: MiddlewareHandler<Env>[];
}

/** What a route needs otherwise than most. */
export interface RouteOptions {
  /** Bytes that the body of a request may have. */
  maxBody?: number;
  /** Its body is the form of a page. */
  form?: boolean;
  /** Its body is large and goes to a thread as it is: such requests are worked through one after the other. */
  upload?: boolean;
  /** Costs much more than a look-up: it has a smaller rate limit, and few run at once. */
  expensive?: boolean | ((c: Context<Env>) => boolean);
  /** Never limited, as health must answer when nothing else does. */
  unlimited?: boolean;
  /** What its answers to GET depend on, beside the URL: then they are kept as bytes, but where each call leaves an event. */
  kept?: 'catalog' | 'users' | null;
  /** Each call leaves this event, as `list.create`; `objectId` gives the object where no parameter `id` of the path does. */
  audited?: { action: string; objectId?: ((c: Context<Env>) => string | undefined) | undefined };
  /** The entitlement without which it answers less: that is an event, and no refusal. */
  product?: Entitlement;
}

/** Whether a request is one of the expensive ones of its route. */
export function isExpensive(c: Context<Env>, expensive: RouteOptions['expensive']): boolean {
  return typeof expensive === 'function' ? expensive(c) : expensive === true;
}
