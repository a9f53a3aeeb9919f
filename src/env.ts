import type { Viewer } from './auth/viewer.ts';

/** What a request carries through Hono's context. */
export interface Env {
  Variables: {
    requestId: string;
    /** Set on routes that need a caller, before their handler runs. */
    viewer: Viewer;
  };
}
