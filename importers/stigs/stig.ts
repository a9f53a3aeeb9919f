import type { Printing } from './printings.ts';

/** The printings of one product under one benchmark id, the newest first. */
export interface Series {
  idKey: string;
  kind: 'stig' | 'srg';
  printings: Printing[];
  /** The slugs of all its titles, the newest first. */
  titleSlugs: Set<string>;
}

/** A STIG while it is put together. `slug`, `current` and `printings` are set by later steps. */
export interface Stig {
  kind: 'stig' | 'srg';
  slug: string;
  /** The slug of a row of `--slugs`, or null. */
  operatorSlug: string | null;
  series: Series[];
  /** By benchmark id why it belongs here. Call it when all slugs are given. */
  reasons: Map<string, () => string>;
  /** Why it did not join the STIG with its title; null where there is none. */
  obstacle: 'clash' | 'role' | 'product' | null;
  /** Its printings that another STIG lost because of their rules, each with the one of its version that stayed there. */
  splitFrom: Map<Printing, Printing>;
  /** The slug of its newest title, and the STIG that has it already. */
  titleSlug: string;
  takenBy: Stig | null;
  printings: Printing[];
  current: Printing;
}

/** A STIG without series. */
export function createStig(kind: Stig['kind'], more: Partial<Stig>): Stig {
  return {
    kind,
    slug: '',
    operatorSlug: null,
    series: [],
    reasons: new Map(),
    obstacle: null,
    splitFrom: new Map(),
    titleSlug: '',
    takenBy: null,
    printings: [],
    current: null as never,
    ...more,
  };
}

/** Adds a series to a STIG. */
export function join(stig: Stig, series: Series, reason: () => string): void {
  stig.series.push(series);
  stig.reasons.set(series.idKey, reason);
}
