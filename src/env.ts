import type { User, Viewer } from './auth/viewer.ts';

/** What a request carries through Hono's context. */
export interface Env {
  Variables: {
    requestId: string;
    /** Set on routes that need a user, before their handler runs. */
    user: User;
    /** Set on routes that an integration token may read as well. */
    viewer: Viewer;
  };
}
