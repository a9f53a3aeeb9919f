import type { Child } from 'hono/jsx';
import type { Assets } from './assets.ts';

export type Section =
  | 'stigs'
  | 'controls'
  | 'lists'
  | 'collections'
  | 'favorites'
  | 'catalog'
  | 'documents'
  | 'roles'
  | 'docs';

export interface View {
  title: string;
  section?: Section;
  /** The pages above it, outermost first. */
  crumbs?: [label: string, href: string][];
  /** By default the title; null where the body has a heading. */
  heading?: Child;
  body: Child;
  /** Whether its body contains the search box. */
  findsItself?: boolean;
  /** Whether its script calls the API (`/docs`). */
  tryIt?: boolean;
}

/** `system` follows the setting of the operating system. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export interface PageFrame {
  /** Without `find`: a thread may make the page, and functions cannot be sent to it. */
  assets: Omit<Assets, 'find'>;
  banner: string | null;
  theme: Theme;
  /** The reader: a name, and the products that the token entitles to; null without a session. */
  visitor: { name: string; entitlements: ReadonlySet<string> } | null;
  query: string;
  notice: string | null;
  /** What the reader has just removed, and can put back; it stands instead of the notice. */
  removed: { id: string; label: string } | null;
  here: string;
}
