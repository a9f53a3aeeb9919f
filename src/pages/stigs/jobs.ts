import type { DiffFilter, DiffQuery } from '../../catalog/stigs/diff-schema.ts';
import { comparedReleases } from '../../catalog/stigs/jobs.ts';
import type { Services } from '../../services.ts';
import { markedFields } from '../parts/diff-text.tsx';
import { partOf } from './comparison.tsx';

/** Compares two releases, and marks the words of a page of the changed rules. Throws 404. */
export function comparedPage(
  services: Services,
  slug: string,
  releases: DiffQuery,
  filter: DiffFilter,
  page: number,
  rule: string,
) {
  const diff = comparedReleases(services, slug, releases, filter);
  const part = partOf(diff, page, rule);
  return { diff, part, marked: markedFields(part.rules) };
}
