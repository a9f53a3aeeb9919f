import type { User, Viewer } from '../auth/viewer.ts';
import { type MadeJson, madeJson } from '../http/answer.ts';
import type { Page } from '../http/paging.ts';
import type { ControlCollectionService } from './control-collections.ts';
import type { FindingChoice, ListEntryService } from './list-entries.ts';
import type { ListService } from './lists.ts';

/** The answer with the lists that a viewer sees; `withSlugs` adds their STIGs. All of an organization may be 80 MB. */
export function listsJson({ lists }: { lists: ListService }, viewer: Viewer, withSlugs: boolean): MadeJson {
  return madeJson(JSON.stringify({ lists: lists.all(viewer, withSlugs) }));
}

/** The answer with a page of a list's STIGs and their findings. Throws 404 for a list that the viewer may not see. */
export const listFindingsJson = (
  { listStigs }: { listStigs: ListEntryService },
  viewer: Viewer,
  id: string,
  page: Page,
  severity: FindingChoice['severity'],
): MadeJson => madeJson(JSON.stringify(listStigs.page(viewer, id, page, { severity })));

/** The answer with the collections of controls that a user sees. */
export function collectionsJson(
  { collections }: { collections: ControlCollectionService },
  user: User,
): MadeJson {
  const all = collections.all(user);
  return madeJson(JSON.stringify({ total: all.length, collections: all }));
}
