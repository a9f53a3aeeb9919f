import type { Ask } from '../base/ask.ts';
import type { Access } from '../http/access.ts';
import { answerMade } from '../http/answer.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import { listsJson } from './jobs.ts';
import type { ListSeenService } from './list-seen.ts';
import type { ListService } from './lists.ts';
import * as schemas from './lists-schema.ts';
import { changeListBody, createListBody, idParam } from './schema.ts';

/** Lists of STIGs as a whole (rule D8); their entries have routes of their own. */
export function listRoutes(access: Access, ask: Ask, lists: ListService, seen: ListSeenService) {
  const { app, route } = createRoutes('Lists');

  route('GET /api/v1/lists', access.listsRead, {
    operationId: 'listLists',
    summary: 'List the lists that the caller may see, newest first',
    query: schemas.listsQuery,
    response: jsonContent(schemas.Lists, 'The lists.'),
    handle: async ({ viewer, query }, c) =>
      answerMade(c, await ask(listsJson, viewer, query.include !== undefined)),
  });

  route('POST /api/v1/lists', access.audited('list.create').user, {
    operationId: 'createList',
    summary: 'Create a list',
    body: createListBody,
    status: 201,
    location: ({ id }) => `/api/v1/lists/${id}`,
    revision: ({ user }, { id }) => lists.revision(user, id),
    response: jsonContent(schemas.List, 'The new list.'),
    handle: ({ user, body }) => lists.create(user, body),
  });

  route('GET /api/v1/lists/{id}', access.listsRead, {
    operationId: 'getList',
    summary: 'Get a list',
    params: idParam,
    response: jsonContent(schemas.List, 'The list.'),
    revision: ({ viewer, params }) => lists.revision(viewer, params.id),
    handle: ({ viewer, params }) => lists.get(viewer, params.id),
  });

  route('PATCH /api/v1/lists/{id}', access.audited('list.update').user, {
    operationId: 'updateList',
    conditional: true,
    summary: 'Change a list (creator only)',
    params: idParam,
    body: changeListBody,
    response: jsonContent(schemas.List, 'The list as it is now.'),
    handle: ({ user, params, body, match }) => lists.change(user, params.id, body, match),
  });

  route('DELETE /api/v1/lists/{id}', access.audited('list.delete').user, {
    operationId: 'deleteList',
    conditional: true,
    summary: 'Delete a list (creator only); it can be restored for 30 days',
    params: idParam,
    response: jsonContent(schemas.ListDeleted, 'Deleted.'),
    handle: async ({ user, params, match }) => {
      await lists.remove(user, params.id, match);
      const message = 'List deleted. It can be restored within 30 days.';
      return { success: true as const, message };
    },
  });

  route('POST /api/v1/lists/{id}/restore', access.audited('list.restore').user, {
    operationId: 'restoreList',
    conditional: true,
    summary: 'Restore a deleted list (creator only, within 30 days)',
    params: idParam,
    response: jsonContent(schemas.List, 'The restored list.'),
    handle: ({ user, params, match }) => lists.restore(user, params.id, match),
  });

  route('PUT /api/v1/lists/{id}/seen', access.audited('list.mark-seen').user, {
    operationId: 'markListSeen',
    summary: 'Keep, for the caller alone, the newest release of each entry as seen',
    params: idParam,
    body: schemas.seenBody,
    response: jsonContent(schemas.SeenAt, 'When it was seen.'),
    handle: ({ user, params, body }) => seen.mark(user, params.id, body.at),
  });

  route('POST /api/v1/lists/{id}/duplicate', access.audited('list.duplicate').user, {
    operationId: 'duplicateList',
    conditional: true,
    summary: 'Copy a list with its entries; the copy is private to the caller',
    params: idParam,
    status: 201,
    location: ({ id }) => `/api/v1/lists/${id}`,
    revision: ({ user }, { id }) => lists.revision(user, id),
    response: jsonContent(schemas.List, 'The copy.'),
    handle: ({ user, params, match }) => lists.duplicate(user, params.id, match),
  });

  return app;
}
