import type { Ask } from '../base/ask.ts';
import { badRequest } from '../base/errors.ts';
import { changesContent, listChangesQuery } from '../catalog/stigs/changes-schema.ts';
import { listHostsBody } from '../catalog/stigs/host-schema.ts';
import { changesSince, changesSinceFile } from '../catalog/stigs/jobs.ts';
import type { Access } from '../http/access.ts';
import { answerMade } from '../http/answer.ts';
import { columnsOf } from '../http/columns.ts';
import { asksForFile, downloadFile, fileChoice, fileContent, sendFile } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import { removedAnswer } from './entries.ts';
import { listFindingsJson, listsJson } from './jobs.ts';
import type { ListServices } from './list-services.ts';
import * as schemas from './lists-schema.ts';
import { changeListBody, createListBody, idParam, Removed, StigsAdded, slugsBody } from './schema.ts';

/** Lists of STIGs, their entries (rule D8), and the hosts that are kept with them (rule D36.6). */
export function listRoutes(
  access: Access,
  ask: Ask,
  {
    lists,
    listSeen: seen,
    listStigs: entries,
    listEntries: writer,
    listHosts: hosts,
  }: Omit<ListServices, 'listChanges'>,
) {
  const { app, route } = createRoutes('Lists');
  const columns = columnsOf(schemas.ListSheetRow);
  const costly = access.with({ expensive: true });
  const withFindings = access.with({ expensive: (c) => c.req.query('include') !== undefined });

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

  route('GET /api/v1/lists/{id}/export', costly.audited('list.export').listsRead, {
    operationId: 'exportList',
    summary: 'Export a list with its STIGs as json, csv or xlsx',
    params: idParam,
    query: schemas.listExportQuery,
    response: fileContent(schemas.ListExport, ['text/csv']),
    handle: ({ viewer, params, query }, c) => {
      const list = entries.exported(viewer, params.id);
      const withHosts = query.include !== undefined;
      if (withHosts && query.format !== 'json')
        throw badRequest('include=hosts is for json alone', 'include');
      // Hosts are for people alone (rule D36.6).
      const json =
        withHosts && viewer.kind === 'user' ? { ...list, hosts: hosts.get(viewer, params.id).hosts } : list;
      const rows = entries.sheet(viewer, params.id);
      const file = { json, root: 'list', element: 'stig', columns, rows };
      return downloadFile(c, query, json.list.name, file);
    },
  });

  route('GET /api/v1/lists/{id}/stigs', withFindings.listsRead, {
    operationId: 'listListStigs',
    summary: 'List the STIGs of a list, paged, optionally with their findings',
    params: idParam,
    query: schemas.listStigsQuery,
    response: jsonContent(schemas.ListStigs, 'A page of entries.'),
    revision: ({ viewer, params }) => entries.revision(viewer, params.id),
    handle: async ({ viewer, params, query }, c) => {
      const { include, severity, ...page } = query;
      return include === undefined
        ? entries.page(viewer, params.id, page)
        : answerMade(c, await ask(listFindingsJson, viewer, params.id, page, severity));
    },
  });

  route('POST /api/v1/lists/{id}/stigs', access.audited('list.add-stigs').user, {
    operationId: 'addListStigs',
    conditional: true,
    summary: 'Add STIGs to a list (creator only)',
    params: idParam,
    body: schemas.listStigsBody,
    response: jsonContent(StigsAdded, 'How many were added.'),
    handle: ({ user, params, body: { slugs, releases }, match }) =>
      writer.add(user, params.id, slugs, { releases: new Map(Object.entries(releases ?? {})), match }),
  });

  route('DELETE /api/v1/lists/{id}/stigs', access.audited('list.remove-stigs').user, {
    operationId: 'removeListStigs',
    conditional: true,
    summary: 'Remove STIGs from a list (creator only)',
    params: idParam,
    body: slugsBody,
    response: jsonContent(Removed, 'How many were removed.'),
    handle: async ({ user, params, body, match }) =>
      removedAnswer(await writer.remove(user, params.id, body.slugs, match)),
  });

  route('PUT /api/v1/lists/{id}/stigs/{stigSlug}', access.audited('list.update-stig').user, {
    operationId: 'updateListStig',
    conditional: true,
    summary: 'Set the notes, the position or the release of an entry (creator only)',
    params: schemas.listStigParam,
    body: schemas.listStigBody,
    response: jsonContent(schemas.ListStigUpdate, 'The entry as it is now.'),
    handle: ({ user, params, body, match }) =>
      writer.update(user, params.id, params.stigSlug, body, { match }),
  });

  route('GET /api/v1/lists/{id}/hosts', access.user, {
    operationId: 'listListHosts',
    summary: 'List the hosts that are kept with a list',
    params: idParam,
    response: jsonContent(schemas.ListHosts, 'The hosts.'),
    revision: ({ user, params }) => entries.revision(user, params.id),
    handle: ({ user, params }) => hosts.get(user, params.id),
  });

  route('PUT /api/v1/lists/{id}/hosts', access.audited('list.set-hosts').user, {
    operationId: 'setListHosts',
    conditional: true,
    summary: 'Replace the hosts that are kept with a list (creator only)',
    params: idParam,
    body: listHostsBody,
    response: jsonContent(schemas.ListHosts, 'The hosts as they are now.'),
    handle: ({ user, params, body, match }) => hosts.put(user, params.id, body.hosts, match),
  });

  return app;
}

/** What changed in the STIGs of a list (rules D26, D36.7). */
export function listChangesRoutes(access: Access, ask: Ask, lists: ListServices['listStigs']) {
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
