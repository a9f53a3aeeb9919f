import type { User, Viewer } from './auth/viewer.ts';
import type { Exchange } from './watch/exchange.ts';

/** What a request carries through Hono's context. */
export interface Env {
  /** What the server hands over beside a request; absent where there is no server, as in most tests. */
  Bindings: { exchange?: Exchange };
  Variables: {
    requestId: string;
    exchange: Exchange;
    /** Set on routes that need a user, before their handler runs. */
    user: User;
    /** Set on routes that an integration token may read as well. */
    viewer: Viewer;
    /** Who showed credentials that hold, and which, also where they may not do what they ask for. */
    caller?: { viewer: Viewer; by: 'token' | 'session' | 'integration' };
    /** Set when an entitlement is what is lacking. */
    unentitled?: boolean;
    /** Set when the route's own audit event tells how the request ended. */
    audited?: boolean;
  };
}
