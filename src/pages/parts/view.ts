import type { Child } from 'hono/jsx';
import type { Assets } from './assets.ts';

export type Section =
  | 'stigs'
  | 'controls'
  | 'checklists'
  | 'systems'
  | 'content'
  | 'documents'
  | 'roles'
  | 'docs'
  | 'help'
  | 'account';

export interface View {
  title: string;
  section?: Section;
  /** The pages above it, outermost first. */
  crumbs?: [label: string, href: string][];
  /** What a printed page is of, such as a release with its date. */
  printed?: string;
  /** By default the title; null where the body has a heading. */
  heading?: Child;
  /** What to do with what the page is about, beside its heading. */
  actions?: Child;
  body: Child;
  /** The heading of the guide that explains it; by default that of its section. */
  help?: string | undefined;
  /** Whether its body contains the search box. */
  findsItself?: boolean;
  /** An address that the browser goes to by itself. */
  leadsTo?: string;
}

export interface PageFrame {
  /** Without `find`: a thread may make the page, and functions cannot be sent to it. */
  assets: Omit<Assets, 'find'>;
  banner: string | null;
  /** The digest of the catalog, for who is signed in, and the day: a printed page shows them. */
  digest: string | null;
  day: string;
  /** The reader, null without a session: a name, permissions, and how long the session lasts. */
  visitor: {
    name: string;
    entitlements: ReadonlySet<string>;
    /** Under which the browser keeps what this reader typed. */
    key: string;
    idleSeconds: number;
    secondsLeft: number;
    makesTokens: boolean;
  } | null;
  query: string;
  notice: string | null;
  here: string;
}
