import type { SincePerStig } from '../catalog/stigs/changes.ts';
import type { ListChanges } from '../catalog/stigs/jobs.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';
import { createListEntryService, type ListEntryService } from './list-entries.ts';
import { createListEntryWriter } from './list-entry-writer.ts';
import { createListHostService } from './list-hosts.ts';
import type { ListRow } from './list-rows.ts';
import { createListSeenService, type Seen } from './list-seen.ts';
import { createListService } from './lists.ts';

export type ListServices = ReturnType<typeof createListServices>;

/** All that is kept about lists: themselves, their STIGs, their hosts, what people have seen of them. */
export function createListServices(
  users: Database,
  now: () => Date,
  newId: () => string,
  stigNames: StigNameIndex,
) {
  const listSeen = createListSeenService(users, now, stigNames.slugOf);
  const listStigs = createListEntryService(users, stigNames.slugOf, listSeen);
  return {
    lists: createListService(users, now, newId),
    listStigs,
    listEntries: createListEntryWriter(users, now, stigNames),
    listHosts: createListHostService(users, now, stigNames),
    listSeen,
    listChanges: createListChanges(listStigs),
  };
}

const dayOf = (time: string) => time.slice(0, 'YYYY-MM-DD'.length);

/** From when it was added, and the release of then. */
const sinceAdded = ({ slug, addedAt, addedVersion }: ListRow): SincePerStig => ({
  slug,
  since: dayOf(addedAt),
  version: addedVersion,
});

/** From what the viewer has seen; what was not there then, from its pinned release, or from when it was added. */
function sinceSeen(entry: ListRow, { seenAt, versions }: Seen): SincePerStig {
  const { slug, release } = entry;
  const version = versions.get(slug);
  if (version !== undefined) return { slug, since: dayOf(seenAt!), version };
  return { ...sinceAdded(entry), ...(release !== null && { version: release }) };
}

/** The STIGs of a list whose changes count, each from a day or a release (rules D26, D36.7). */
function createListChanges(lists: ListEntryService): ListChanges {
  return {
    sincePerStig(viewer, id, since) {
      const { entries, seen } = lists.withSeen(viewer, id);
      // A pinned entry goes from its release to the newest, whatever is asked (rule D36.2).
      const pinned = entries.flatMap(({ slug, release: version }) =>
        version === null ? [] : [{ slug, version, since, pinned: true }],
      );
      const others = entries.filter(({ release }) => release === null);
      if (since === 'added') return [...pinned, ...others.map(sinceAdded)];
      if (since === 'seen') return [...pinned, ...others.map((entry) => sinceSeen(entry, seen))];
      return [...pinned, ...others.map(({ slug }) => ({ slug, since }))];
    },

    news(viewer, id) {
      const { entries, seen } = lists.withSeen(viewer, id);
      return entries.map((entry) => sinceSeen(entry, seen));
    },
  };
}
