import type { User, Viewer } from '../auth/viewer.ts';
import type { Exchange } from './observe/exchange.ts';

/** The fields and files of a form that a page sends. */
export interface Form {
  /** The one value of a field, or the empty text. */
  get(name: string): string;
  /** Every value of a field. */
  all(name: string): string[];
  /** A file that was chosen, or null. */
  file(name: string): { name: string; bytes: Uint8Array } | null;
}

/** An answer as its route made it: bytes, headers without `ETag` and length, and the tag of its bytes. */
export interface Made {
  bytes: Buffer<ArrayBuffer>;
  headers: Record<string, string>;
  tag: string;
}

/** Whether who asked is still there, and what is told when they are gone. */
export type Presence = Pick<Exchange, 'closed' | 'onClose'>;

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
    /** Set on every page: who looks at it, where a session says so. */
    visitor: User | null;
    /** Set on pages that take a form, before their handler runs. */
    form: Form;
    /** Set on routes that take an upload, before their handler runs: the body as it came. */
    upload: Uint8Array<ArrayBuffer>;
    /** The classification banner that exports are marked with, or null. */
    banner: string | null;
    /** Who showed credentials that hold, and which, also where they may not do what they ask for. */
    caller?: { viewer: Viewer; by: 'token' | 'session' | 'integration' };
    /** Set where each call leaves an event: its answer is never a kept one. */
    toldEachTime?: boolean;
    /** The list or collection that a form names, where the path does not. */
    chosen?: string;
    /** Set when an entitlement is what is lacking. */
    unentitled?: boolean;
    /** Set when the route's own audit event tells how the request ended. */
    audited?: boolean;
  };
}
