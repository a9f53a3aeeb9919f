import type { Draft } from './draft.ts';
import { newestReleaseFirst, type Printing } from './printings.ts';
import { idKeyOf, isSlug, numbered, reservedSlugs, slugOf, slugStemOf } from './slug.ts';

/** A draft whose served release is known. */
export interface Named extends Draft {
  current: Printing;
  printings: Printing[];
}

/**
 * Gives each STIG its slug: the operator's, or that of the title of its newest release (DECISIONS D24.2). Where two
 * have one title, the one with the newer release gets it, the other that of its benchmark id, or one with a number.
 */
export function giveSlugs(stigs: Named[]): void {
  const taken = new Map<string, Named>();
  const isFree = (slug: string) => isSlug(slug) && !reservedSlugs.has(slug) && !taken.has(slug);
  for (const stig of [...stigs].sort((a, b) => givenFirst(a, b) || newestStigFirst(a, b))) {
    const { current, given } = stig;
    stig.titleSlug = slugOf(current.title);
    stig.takenBy = taken.get(stig.titleSlug) ?? null;
    let slug = given ?? stig.titleSlug;
    if (given === null && !isFree(slug)) slug = idKeyOf(current.benchmarkId);
    for (let n = 2; given === null && !isFree(slug); n++) slug = numbered(slugStemOf(current), n);
    stig.slug = slug;
    taken.set(slug, stig);
  }
}

function givenFirst(a: Named, b: Named): number {
  return Number(a.given === null) - Number(b.given === null);
}

/** The order of STIGs: the newest release first; what was set apart comes behind all others. */
export function newestStigFirst(a: Named, b: Named): number {
  return (
    Math.sign(a.apartFrom.size) - Math.sign(b.apartFrom.size) || newestReleaseFirst(a.current, b.current)
  );
}

/**
 * What else answers for each STIG, in lower case: the slugs of its titles, its benchmark ids, and the slugs made of them.
 * Of two that claim one the STIG with the newer such release has it; what is the slug of some STIG is no alias.
 */
export function aliasesOf(stigs: Named[]): Map<string, Named> {
  const slugs = new Set(stigs.map(({ slug }) => slug));
  const claims = new Map<string, { stig: Named; by: Printing }>();
  for (const stig of stigs)
    for (const by of stig.printings) {
      const folded = idKeyOf(by.benchmarkId);
      const names = [slugOf(by.title), by.benchmarkId.toLowerCase(), ...(isSlug(folded) ? [folded] : [])];
      for (const name of names) {
        if (name === '' || slugs.has(name) || reservedSlugs.has(name)) continue;
        const claim = claims.get(name);
        if (claim === undefined || newestReleaseFirst(by, claim.by) < 0) claims.set(name, { stig, by });
      }
    }
  return new Map([...claims].map(([name, { stig }]) => [name, stig]));
}
