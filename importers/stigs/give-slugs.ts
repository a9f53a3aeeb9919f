import type { Draft } from './draft.ts';
import type { Printing } from './printing.ts';
import { newestReleaseFirst } from './printings.ts';
import { idKeyOf, isSlug, numbered, reservedSlugs, slugOf, slugStemOf } from './slug.ts';

/** A draft with its served release. */
export interface Named extends Draft {
  current: Printing;
  printings: Printing[];
}

/**
 * Sets each STIG's slug: the operator's, or that of its newest title (rule D24.2). Of two with one title, the one with
 * the newer release has it; the other has that of its benchmark id, or one with a number.
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

/** Orders STIGs: the newest release first, those that were set apart last. */
export function newestStigFirst(a: Named, b: Named): number {
  return (
    Math.sign(a.apartFrom.size) - Math.sign(b.apartFrom.size) || newestReleaseFirst(a.current, b.current)
  );
}

/**
 * The aliases of STIGs, in lower case: slugs of their titles, benchmark ids, and the slugs of those ids, which give way
 * to others. Of two STIGs, the one with the newer such release has an alias. A slug is never an alias.
 */
export function aliasesOf(stigs: Named[]): Map<string, Named> {
  const slugs = new Set(stigs.map(({ slug }) => slug));
  const had = claimed(stigs, ({ title, benchmarkId }) => [slugOf(title), benchmarkId.toLowerCase()]);
  const made = claimed(stigs, ({ benchmarkId }) => [idKeyOf(benchmarkId)]);
  const all = [...new Map([...made, ...had])];
  return new Map(all.filter(([name]) => name !== '' && !slugs.has(name) && !reservedSlugs.has(name)));
}

function claimed(stigs: Named[], namesOf: (printing: Printing) => string[]): Map<string, Named> {
  const claims = new Map<string, { stig: Named; by: Printing }>();
  for (const stig of stigs) {
    // The newest release of a title and id stands for all with them.
    const seen = new Set<string>();
    for (const by of [...stig.printings].sort(newestReleaseFirst)) {
      const text = `${by.benchmarkId} ${by.title}`;
      if (seen.has(text)) continue;
      seen.add(text);
      for (const name of namesOf(by)) {
        const other = claims.get(name);
        if (other === undefined || newestReleaseFirst(by, other.by) < 0) claims.set(name, { stig, by });
      }
    }
  }
  return new Map([...claims].map(([name, { stig }]) => [name, stig]));
}
