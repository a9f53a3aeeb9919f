import type { Access } from '../http/access.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import type { ListEntryService } from './list-entries.ts';
import type { ListEntryWriter } from './list-entry-writer.ts';
import * as schemas from './lists-schema.ts';
import { idParam, Removed, StigsAdded, slugsBody } from './schema.ts';

/** The entries of lists (rule D8). */
export function listEntryRoutes(access: Access, entries: ListEntryService, writer: ListEntryWriter) {
  const { app, route } = createRoutes('Lists');

  route('GET /api/v1/lists/{id}/stigs', access.listsRead, {
    operationId: 'listListStigs',
    summary: 'List the STIGs of a list, paged, optionally with their findings',
    params: idParam,
    query: schemas.listStigsQuery,
    response: jsonContent(schemas.ListStigs, 'A page of entries.'),
    handle: ({ viewer, params, query }) => {
      const { include, severity, page, limit } = query;
      const choice = { include: include !== undefined, severity };
      return entries.page(viewer, params.id, { page, limit }, choice);
    },
  });

  route('POST /api/v1/lists/{id}/stigs', access.audited('list.add-stigs').user, {
    operationId: 'addListStigs',
    summary: 'Add STIGs to a list (creator only)',
    params: idParam,
    body: slugsBody,
    response: jsonContent(StigsAdded, 'How many were added.'),
    handle: ({ user, params, body }) => writer.add(user, params.id, body.slugs),
  });

  route('DELETE /api/v1/lists/{id}/stigs', access.audited('list.remove-stigs').user, {
    operationId: 'removeListStigs',
    summary: 'Remove STIGs from a list (creator only)',
    params: idParam,
    body: slugsBody,
    response: jsonContent(Removed, 'How many were removed.'),
    handle: async ({ user, params, body }) => {
      const removed = await writer.remove(user, params.id, body.slugs);
      return { success: true as const, removed };
    },
  });

  route('PUT /api/v1/lists/{id}/stigs/{stigSlug}', access.audited('list.update-stig').user, {
    operationId: 'updateListStig',
    summary: 'Set the notes or the position of an entry (creator only)',
    params: schemas.listStigParam,
    body: schemas.listStigBody,
    response: jsonContent(schemas.ListStigUpdate, 'The entry as it is now.'),
    handle: ({ user, params, body }) => writer.update(user, params.id, params.stigSlug, body),
  });

  return app;
}
