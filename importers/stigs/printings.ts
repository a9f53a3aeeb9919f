import type { Evidence } from './evidence.ts';
import { slugOf } from './slug.ts';

/** One printing of a release that was ever imported, with what decides where it belongs. */
export interface Printing {
  sha256: string;
  /** The folded benchmark id (`aliasKey`), which tells the kind too. */
  idKey: string;
  benchmarkId: string;
  title: string;
  version: string;
  releaseOrder: string;
  releaseDate: string | null;
  /** The hashes of its STIG IDs, sorted. */
  stigIds: Uint32Array;
  /** What few comparisons need; it may be read when it is asked for. */
  evidence(): Evidence;
}

/** The printings of one benchmark id that belong together, newest first. */
export interface Unit {
  idKey: string;
  kind: 'stig' | 'srg';
  printings: Printing[];
  newest: Printing;
  /** The slugs of all its titles, that of the newest first. */
  titles: Set<string>;
}

/** Printings by their benchmark ids, each the newest first; those with the newest release before the others. */
export function unitsOf(printings: Printing[]): Unit[] {
  const byKey = new Map<string, Printing[]>();
  for (const printing of [...printings].sort((a, b) => compare(b.releaseOrder, a.releaseOrder))) {
    const others = byKey.get(printing.idKey);
    if (others) others.push(printing);
    else byKey.set(printing.idKey, [printing]);
  }
  return [...byKey]
    .map(([idKey, list]) => unitOf(idKey, list))
    .sort((a, b) => newestReleaseFirst(a.newest, b.newest));
}

/** A unit of printings that are sorted already. */
function unitOf(idKey: string, printings: Printing[]): Unit {
  return {
    idKey,
    kind: idKey.startsWith('srg:') ? 'srg' : 'stig',
    printings,
    newest: printings[0]!,
    titles: new Set([...new Set(printings.map(({ title }) => title))].map(slugOf)),
  };
}

/** The order of two releases of any STIGs: the newer by date, then by version, the larger, by id; by a hash at the very last. */
export function newestReleaseFirst(a: Printing, b: Printing): number {
  return (
    compare(b.releaseDate ?? '', a.releaseDate ?? '') ||
    compare(dated(b), dated(a)) ||
    b.stigIds.length - a.stigIds.length ||
    compare(a.idKey, b.idKey) ||
    compare(b.sha256, a.sha256)
  );
}

/** The order of two printings of one version: the newer by date, then the larger, then the greater hash. */
export function newestFirst(a: Printing, b: Printing): number {
  return (
    compare(dated(b), dated(a)) ||
    b.evidence().rules.length - a.evidence().rules.length ||
    compare(b.sha256, a.sha256)
  );
}

/** The releaseOrder without the hash of the file. */
export function dated({ releaseOrder }: Printing): string {
  return releaseOrder.slice(0, releaseOrder.lastIndexOf(' '));
}

/** Versions, dates and hashes are ASCII. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
