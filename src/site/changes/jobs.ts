import type { User } from '../../auth/viewer.ts';
import { briefOf } from '../../catalog/stigs/brief.ts';
import type { DiffFilter, DiffQuery } from '../../catalog/stigs/diff-schema.ts';
import { changesSince, comparedReleases, type NamedFile } from '../../catalog/stigs/jobs.ts';
import type { Page } from '../../http/paging.ts';
import type { Services } from '../../services.ts';
import { markedFields, markerOf } from '../parts/diff-text.tsx';
import { briefFile, type ListBrief } from './brief.tsx';
import { diffFile, diffFileName, partOf } from './comparison.tsx';

/** The style sheet of an HTML file, and its classification banner. */
interface FileFrame {
  style: string;
  banner: string | null;
}

const htmlNamed = (html: string, name: string): NamedFile => ({
  bytes: new TextEncoder().encode(html),
  format: 'html',
  name,
});

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

/** The same as one HTML file with all changed rules. */
export function comparisonHtml(
  services: Services,
  slug: string,
  releases: DiffQuery,
  filter: DiffFilter,
  frame: FileFrame,
): NamedFile {
  const diff = comparedReleases(services, slug, releases, filter);
  // Without a time limit: the same rules must give the same bytes.
  const marker = markerOf(markedFields(diff.changed, Number.POSITIVE_INFINITY));
  return htmlNamed(diffFile({ diff, filter, marker, ...frame }), diffFileName(diff, filter));
}

function briefOfList(services: Services, user: User, id: string, page: Page | null, now: Date) {
  const { lists, stigDiff, summary } = services;
  const list = lists.get(user, id);
  const content = briefOf(changesSince(services, { viewer: user, list: id }, 'seen'), stigDiff.diff, page);
  const brief: ListBrief = {
    ...content,
    list,
    seenAt: list.seenAt,
    digest: summary.summary().digest,
    now,
  };
  const changed = content.rules.flatMap((each) => (each.kind === 'changed' ? [each.rule] : []));
  return { brief, changed };
}

/**
 * The rules of a list that changed since the user saw them, a page of them with marked words. Throws 404 for a list that
 * the user may not see.
 */
export function changesBrief(services: Services, user: User, id: string, page: Page, now: Date) {
  const { brief, changed } = briefOfList(services, user, id, page, now);
  return { brief, marked: markedFields(changed) };
}

/** The same as one HTML file with all rules. */
export function briefHtml(
  services: Services,
  user: User,
  id: string,
  now: Date,
  frame: FileFrame,
): NamedFile {
  const { brief, changed } = briefOfList(services, user, id, null, now);
  const marker = markerOf(markedFields(changed, Number.POSITIVE_INFINITY));
  return htmlNamed(briefFile(brief, marker, frame.style, frame.banner), `${brief.list.name}_changes.html`);
}
