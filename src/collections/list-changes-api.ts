import type { Ask } from '../base/ask.ts';
import { changesContent, listChangesQuery } from '../catalog/stigs/changes-schema.ts';
import { changesSince, changesSinceFile, type ListChanges } from '../catalog/stigs/jobs.ts';
import type { Access } from '../http/access.ts';
import { asksForFile, fileChoice, sendFile } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import type { ListEntryService } from './list-entries.ts';
import { idParam } from './schema.ts';

/** The STIGs of a list whose changes count, each from a day or a release (rules D26, D36.7). */
export function createListChanges(entries: ListEntryService): ListChanges {
  return {
    // A pinned entry goes from its release to the newest, whatever is asked (rule D36.2).
    wanted: (viewer, id, since) => [
      ...entries.pinned(viewer, id).map((each) => ({ ...each, since, pinned: true })),
      ...(since === 'added'
        ? entries.additions(viewer, id)
        : since === 'seen'
          ? entries.unseen(viewer, id)
          : entries.unpinned(viewer, id).map((slug) => ({ slug, since }))),
    ],
    news: (viewer, id) => entries.unseen(viewer, id, true),
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
