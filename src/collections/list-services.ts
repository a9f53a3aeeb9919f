import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';
import { createListChanges } from './list-changes-api.ts';
import { createListEntryService } from './list-entries.ts';
import { createListEntryWriter } from './list-entry-writer.ts';
import { createListHostService } from './list-hosts.ts';
import { createListSeenService } from './list-seen.ts';
import { createListService } from './lists.ts';

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
    lists: createListService(users, now, newId, listSeen),
    listStigs,
    listEntries: createListEntryWriter(users, now, stigNames),
    listHosts: createListHostService(users, now, stigNames),
    listSeen,
    listChanges: createListChanges(listStigs),
  };
}
