import type { Ask } from '../base/ask.ts';
import type { SincePerStig } from '../catalog/stigs/changes.ts';
import { changesContent, listChangesQuery } from '../catalog/stigs/changes-schema.ts';
import { changesSince, changesSinceFile, type ListChanges } from '../catalog/stigs/jobs.ts';
import type { Access } from '../http/access.ts';
import { asksForFile, fileChoice, sendFile } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import type { ListEntryService } from './list-entries.ts';
import type { ListRow } from './list-rows.ts';
import type { Seen } from './list-seen.ts';
import { idParam } from './schema.ts';

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
export function createListChanges(lists: ListEntryService): ListChanges {
  return {
    wanted(viewer, id, since) {
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

export function listChangesRoutes(access: Access, ask: Ask, lists: ListEntryService) {
  const { app, route } = createRoutes('Lists');

  route('GET /api/v1/lists/{id}/changes', access.with({ expensive: asksForFile }).user, {
    operationId: 'getListChanges',
    summary:
      'List what changed in the STIGs of a list since a day, since each was added, or since you saw it',
    params: idParam,
    query: listChangesQuery,
    response: changesContent,
    handle: async ({ user, params: { id }, query: { since, format, raw } }, c) => {
      const scope = { viewer: user, list: id };
      if (format === 'json') return ask(changesSince, scope, since);
      const { list } = lists.exported(user, id);
      const file = await ask(changesSinceFile, scope, since, fileChoice(c, { format, raw }));
      return sendFile(c, file, `${list.name}_changes_since_${since}`);
    },
  });

  return app;
}
