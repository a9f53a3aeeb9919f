import type { Ask } from '../base/ask.ts';
import { badRequest } from '../base/errors.ts';
import { listHostsBody } from '../catalog/stigs/host-schema.ts';
import type { Access } from '../http/access.ts';
import { answerMade } from '../http/answer.ts';
import { columnsOf } from '../http/columns.ts';
import { downloadFile, fileContent } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import { removedAnswer } from './entries.ts';
import { listFindingsJson } from './jobs.ts';
import type { ListEntryService } from './list-entries.ts';
import type { ListEntryWriter } from './list-entry-writer.ts';
import type { ListHostService } from './list-hosts.ts';
import * as schemas from './lists-schema.ts';
import { idParam, Removed, StigsAdded, slugsBody } from './schema.ts';

interface ListServices {
  listStigs: ListEntryService;
  listEntries: ListEntryWriter;
  listHosts: ListHostService;
}

/** The entries of lists (rule D8), and the hosts that are kept with them (rule D36.6). */
export function listEntryRoutes(
  access: Access,
  ask: Ask,
  { listStigs: entries, listEntries: writer, listHosts: hosts }: ListServices,
) {
  const { app, route } = createRoutes('Lists');
  const columns = columnsOf(schemas.ListSheetRow);
  const costly = access.with({ expensive: true });
  const withFindings = access.with({ expensive: (c) => c.req.query('include') !== undefined });

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
