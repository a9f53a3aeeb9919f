import type { User, Viewer } from '../auth/viewer.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { StigService } from '../catalog/stigs/queries.ts';
import { type MadeJson, madeJson } from '../http/answer.ts';
import type { ControlCollectionService } from './control-collections.ts';
import type { ListService } from './lists.ts';
import { type Pasted, readPasted } from './pasted-stigs.ts';

/** The answer with the lists that a viewer sees; `withSlugs` adds their STIGs. All of an organization may be 80 MB. */
export function listsJson({ lists }: { lists: ListService }, viewer: Viewer, withSlugs: boolean): MadeJson {
  return madeJson(`{"lists":[${lists.texts(viewer, withSlugs).join(',')}]}`);
}

/** The answer with the collections of controls that a user sees. */
export function collectionsJson(
  { collections }: { collections: ControlCollectionService },
  user: User,
): MadeJson {
  const texts = collections.texts(user);
  return madeJson(`{"total":${texts.length},"collections":[${texts.join(',')}]}`);
}

/** The STIGs that a pasted text names. Throws as `readPasted`. */
export function pastedStigs(
  { stigs, stigNames }: { stigs: StigService; stigNames: StigNameIndex },
  text: string,
): Pasted {
  return readPasted(text, {
    called: stigNames.calledOrFile,
    like: (name) => stigs.list({ called: stigNames.listed(name.slice(0, 200)), page: 1, limit: 8 }).stigs,
    versions: (slug) => stigs.versions(slug).versions.map(({ version }) => version),
  });
}
