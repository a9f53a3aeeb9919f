import type { StigNameIndex } from '../catalog/stigs/name-index.ts';

/** The slug of the STIG that a name means among some; null for none or several. */
export type StigAmong = (name: string) => string | null;

/** Finds STIGs among those of a list, or those that a command names, by slug, benchmark id or title (rule D36.5). */
export function stigsAmong(
  names: Pick<StigNameIndex, 'slugOf' | 'exactly'>,
  slugs: Iterable<string>,
): StigAmong {
  const among = new Set(slugs);
  return (name) => {
    const slug = names.slugOf(name.trim());
    if (among.has(slug)) return slug;
    const found = names.exactly(name).filter((each) => among.has(each.slug));
    return found.length === 1 ? found[0]!.slug : null;
  };
}
