import type { User, Viewer } from '../auth/viewer.ts';
import type { RequestRecord } from './observe/record.ts';

/** The fields and files of a form that a page sends. */
export interface Form {
  /** The one value of a field, or the empty text. */
  get(name: string): string;
  /** Every value of a field. */
  all(name: string): string[];
  /** Every field that is text, in its order. */
  texts(): [name: string, value: string][];
  /** The files that were selected. */
  files(name: string): { name: string; bytes: Uint8Array }[];
}

/** Whether who asked is still there, and what is called when they are gone. */
export type Presence = Pick<RequestRecord, 'closed' | 'onClose'>;

/** What a request carries through Hono's context. */
export interface Env {
  /** What the server hands over beside a request; absent where there is no server, as in most tests. */
  Bindings: { record?: RequestRecord };
  Variables: {
    requestId: string;
    record: RequestRecord;
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
    /** Set where the answer is made while it is sent: the bytes of memory that it holds until then. */
    held?: number;
  };
}
