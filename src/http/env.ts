import type { User, Viewer } from '../auth/viewer.ts';
import type { Message } from '../base/json-rpc.ts';
import type { Call, RequestRecord } from './record.ts';

/** The fields and files of a form that a page sends. */
export interface Form {
  /** The first value of a field, or the empty text. */
  get(name: string): string;
  all(name: string): string[];
  texts(): [name: string, value: string][];
  files(name: string): { name: string; bytes: Uint8Array }[];
}

/** The user of a valid token; an invalid one counts only where a tool needs it. */
export interface ProgramCaller {
  user: User | null;
  /** Counts and audits the refusal as a 401. */
  refused(): void;
  /** Counts the call as expensive. Throws 429. */
  costly(): void;
}

export interface Env {
  /** Set by the server; absent where there is no server, as in most tests. */
  Bindings: { record?: RequestRecord };
  Variables: {
    requestId: string;
    /** Set on every route with an access rule. */
    call: Call;
    record: RequestRecord;
    user: User;
    /** Set on routes that an integration token may read as well. */
    viewer: Viewer;
    /** Set on every page: the user of a valid session, or null. */
    visitor: User | null;
    form: Form;
    /** Set on routes that take a JSON-RPC message: it, parsed and bounded. */
    message: Message;
    /** Set on the route for programs: who calls, and what to do where a tool needs more (rule D41.2). */
    program: ProgramCaller;
    /** Set on routes that take an upload: its raw body. */
    upload: Uint8Array<ArrayBuffer>;
    /** The classification banner for exports, or null. */
    banner: string | null;
    /** The revision that the tag of the answer begins with (rule D36.4). */
    revision?: number;
    /** Set for an answer with a tag: its bytes, which a response gives back only as copies. */
    bytes?: Uint8Array<ArrayBuffer>;
    /** Set for a streamed answer: the bytes of memory that it holds until it is sent. */
    held?: number;
  };
}
