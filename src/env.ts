import type { User, Viewer } from './auth/viewer.ts';
import type { Made } from './prepared/answers.ts';
import type { Exchange } from './watch/exchange.ts';

/** What a request carries through Hono's context. */
export interface Env {
  /** What the server hands over beside a request; absent where there is no server, as in most tests. */
  Bindings: { exchange?: Exchange };
  Variables: {
    requestId: string;
    exchange: Exchange;
    /** What the route answers to GET, as bytes. */
    made?: Made;
    /** Set on routes that need a user, before their handler runs. */
    user: User;
    /** Set on routes that an integration token may read as well. */
    viewer: Viewer;
  };
}
