import type { Viewer } from '../auth/viewer.ts';
import type { StigChangesService } from '../catalog/stigs/changes.ts';
import { changesContent } from '../catalog/stigs/changes-api.ts';
import { changesFile } from '../catalog/stigs/changes-export.ts';
import { listChangesQuery } from '../catalog/stigs/changes-schema.ts';
import type { Access } from '../http/access.ts';
import { asksForFile, downloadFile } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import type { ListEntryService } from './list-entries.ts';
import { idParam } from './schema.ts';

export type ListChangesService = ReturnType<typeof createListChangesService>;

/** What changed in the STIGs of a list since a day, since each was added, or since the viewer saw it (rules D26, D36.7). */
export function createListChangesService(entries: ListEntryService, changes: StigChangesService) {
  // A pinned entry goes from its release to the newest, whatever is asked (rule D36.2).
  const wanted = (viewer: Viewer, id: string, since: string) => () => [
    ...entries.pinned(viewer, id).map((each) => ({ ...each, since, pinned: true })),
    ...(since === 'added'
      ? entries.additions(viewer, id)
      : since === 'seen'
        ? entries.unseen(viewer, id)
        : entries.unpinned(viewer, id).map((slug) => ({ slug, since }))),
  ];
  return {
    /** Throws 404 for a list that the viewer may not see. */
    changes: (viewer: Viewer, id: string, since: string) => changes.ofStigs(since, wanted(viewer, id, since)),
    /** What is new to the viewer, in pinned entries too: the releases that came since they marked the list as read. */
    news: (viewer: Viewer, id: string) => changes.ofStigs('seen', () => entries.unseen(viewer, id, true)),
    lines: (viewer: Viewer, id: string, since: string) => changes.linesOfStigs(wanted(viewer, id, since)),
  };
}

export function listChangesRoutes(access: Access, lists: ListEntryService, changes: ListChangesService) {
  const { app, route } = createRoutes('Lists');

  route('GET /api/v1/lists/{id}/changes', access.with({ expensive: asksForFile }).user, {
    operationId: 'getListChanges',
    summary:
      'List what changed in the STIGs of a list since a day, since each was added, or since you saw it',
    params: idParam,
    query: listChangesQuery,
    response: changesContent,
    handle: async ({ user, params: { id }, query: { since, format, raw } }, c) => {
      if (format === 'json') return changes.changes(user, id, since);
      const { list } = lists.exported(user, id);
      const name = `${list.name}_changes_since_${since}`;
      return downloadFile(c, { format, raw }, name, changesFile(await changes.lines(user, id, since)));
    },
  });

  return app;
}
