import { splitByProduct } from './benchmark-products.ts';
import type { Printing } from './printing.ts';
import { slugOf } from './slug.ts';

/** The printings of one product under one benchmark id, the newest first. */
export interface Unit {
  idKey: string;
  kind: 'stig' | 'srg';
  printings: Printing[];
  newest: Printing;
  /** The slugs of all its titles, the newest first. */
  titles: Set<string>;
}

/** Groups printings by benchmark id and product, the newest first in and among the groups. */
export function unitsOf(printings: Printing[]): Unit[] {
  const newest = [...printings].sort((a, b) => compare(b.releaseOrder, a.releaseOrder));
  return [...Map.groupBy(newest, ({ idKey }) => idKey)]
    .flatMap(([idKey, list]) => splitByProduct(list).map((part) => unitOf(idKey, part)))
    .sort((a, b) => newestReleaseFirst(a.newest, b.newest));
}

function unitOf(idKey: string, printings: Printing[]): Unit {
  return {
    idKey,
    kind: idKey.startsWith('srg:') ? 'srg' : 'stig',
    printings,
    newest: printings[0]!,
    titles: new Set([...new Set(printings.map(({ title }) => title))].map(slugOf)),
  };
}

/** Orders releases of any STIGs: by date, version, size and id, the newer and larger first; at last by hash. */
export function newestReleaseFirst(a: Printing, b: Printing): number {
  return (
    compare(b.releaseDate ?? '', a.releaseDate ?? '') ||
    compare(dated(b), dated(a)) ||
    b.stigIds.length - a.stigIds.length ||
    compare(a.idKey, b.idKey) ||
    compare(b.sha256, a.sha256)
  );
}

/** Orders printings of one version: the newer by date, then the larger, then the greater hash. */
export function newestFirst(a: Printing, b: Printing): number {
  return (
    compare(dated(b), dated(a)) ||
    b.evidence().rules.length - a.evidence().rules.length ||
    compare(b.sha256, a.sha256)
  );
}

/** The releaseOrder without the file's hash. */
export function dated({ releaseOrder }: Printing): string {
  return releaseOrder.slice(0, releaseOrder.lastIndexOf(' '));
}

/** Compares ASCII: versions, dates and hashes. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
