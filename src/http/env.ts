import type { User, Viewer } from '../auth/viewer.ts';
import type { Message } from '../base/json-rpc.ts';
import type { RequestRecord } from './record.ts';

/** The fields and files of a form that a page sends. */
export interface Form {
  /** The first value of a field, or the empty text. */
  get(name: string): string;
  all(name: string): string[];
  texts(): [name: string, value: string][];
  files(name: string): { name: string; bytes: Uint8Array }[];
}

export interface Env {
  Bindings: { record: RequestRecord };
  Variables: {
    requestId: string;
    record: RequestRecord;
    user: User;
    /** Set on routes that an integration token may read as well. */
    viewer: Viewer;
    /** Set on every page and for programs: the user of a valid session or token, or null. */
    visitor: User | null;
    form: Form;
    /** Set on routes that take a JSON-RPC message: it, parsed and bounded. */
    message: Message;
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
