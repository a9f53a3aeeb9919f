import { newestReleaseFirst, type Printing } from './printings.ts';
import { idKeyOf, isSlug, numbered, reservedSlugs, slugOf, slugStemOf } from './slug.ts';
import type { Stig } from './stig.ts';

/**
 * Sets each STIG's slug: the operator's, or that of its newest title (rule D24.2). Of two with one title, the one with
 * the newer release has it; the other has that of its benchmark id, or one with a number.
 */
export function assignSlugs(stigs: Stig[]): void {
  const taken = new Map<string, Stig>();
  const isFree = (slug: string) => isSlug(slug) && !reservedSlugs.has(slug) && !taken.has(slug);
  for (const stig of [...stigs].sort(inOrderOfClaims)) {
    const { current, operatorSlug } = stig;
    stig.titleSlug = slugOf(current.title);
    stig.takenBy = taken.get(stig.titleSlug) ?? null;
    stig.slug = operatorSlug ?? stig.titleSlug;
    if (operatorSlug === null && !isFree(stig.slug)) stig.slug = idKeyOf(current.benchmarkId);
    for (let n = 2; operatorSlug === null && !isFree(stig.slug); n++)
      stig.slug = numbered(slugStemOf(current), n);
    taken.set(stig.slug, stig);
  }
}

/** Those with the operator's slug first, then the newest release, those that were split off last. */
function inOrderOfClaims(a: Stig, b: Stig): number {
  return (
    Number(a.operatorSlug === null) - Number(b.operatorSlug === null) ||
    Math.sign(a.splitFrom.size) - Math.sign(b.splitFrom.size) ||
    newestReleaseFirst(a.current, b.current)
  );
}

/**
 * The aliases of STIGs, in lower case: slugs of their titles, benchmark ids, and the slugs of those ids, which give way
 * to others. Of two STIGs, the one with the newer such release has an alias. A slug is never an alias.
 */
export function aliasesOf(stigs: Stig[]): Map<string, Stig> {
  const slugs = new Set(stigs.map(({ slug }) => slug));
  const stated = claimed(stigs, ({ title, benchmarkId }) => [slugOf(title), benchmarkId.toLowerCase()]);
  const folded = claimed(stigs, ({ benchmarkId }) => [idKeyOf(benchmarkId)]);
  const all = [...new Map([...folded, ...stated])];
  return new Map(all.filter(([name]) => name !== '' && !slugs.has(name) && !reservedSlugs.has(name)));
}

/** The STIG with the newest printing of each name. */
function claimed(stigs: Stig[], namesOf: (printing: Printing) => string[]): Map<string, Stig> {
  const claims = stigs.flatMap((stig) => stig.printings.map((printing) => ({ stig, printing })));
  const newest = new Map<string, Stig>();
  for (const { stig, printing } of claims.sort((a, b) => newestReleaseFirst(b.printing, a.printing)))
    for (const name of namesOf(printing)) newest.set(name, stig);
  return newest;
}
