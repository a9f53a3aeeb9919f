import type { Child } from 'hono/jsx';
import type { Assets } from './assets.ts';

/** The entries of the main navigation; a page belongs to one of them or to none. */
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

/** What a page shows: its title, where it belongs, its body. */
export interface View {
  title: string;
  section?: Section;
  /** The pages above it, from the outermost on. */
  crumbs?: [label: string, href: string][];
  /** Its heading where that is not the title; null where the body has one. */
  heading?: Child;
  body: Child;
  /** Whether its body has the search box itself. */
  findsItself?: boolean;
  /** Whether it talks to the API by itself (`/docs`). */
  tryIt?: boolean;
}

/** How pages look: as the system is set, or as the reader chose. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** What every page has around its body. */
export interface PageFrame {
  /** Where they are, without what they are: a page may be made in a thread. */
  assets: Omit<Assets, 'find'>;
  banner: string | null;
  theme: Theme;
  /** Who looks at it: a name, and the products that the token is entitled to. */
  visitor: { name: string; entitlements: ReadonlySet<string> } | null;
  /** What is searched for now, to stand in the search box. */
  query: string;
  /** What was just done, in words. */
  notice: string | null;
  /** Where signing in leads back to. */
  here: string;
}
