import type { Ask } from '../base/ask.ts';
import type { Access } from '../http/access.ts';
import { answerMade } from '../http/answer.ts';
import { columnsOf } from '../http/columns.ts';
import { downloadFile, fileContent } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import type { ControlCollectionService } from './control-collections.ts';
import * as schemas from './control-collections-schema.ts';
import { removedAnswer } from './entries.ts';
import { collectionsJson } from './jobs.ts';
import {
  ControlsAdded,
  changeCollectionBody,
  createCollectionBody,
  exportQuery,
  idParam,
  Removed,
} from './schema.ts';

/** Collections of controls and their entries (rule D8). */
export function controlCollectionRoutes(access: Access, ask: Ask, collections: ControlCollectionService) {
  const { app, route } = createRoutes('Control collections');
  const audited = (action: string, rules = access) => rules.audited(`control-collection.${action}`).user;
  const success = { success: true as const };
  const columns = columnsOf(schemas.CollectionExport.shape.controls.element);

  route('GET /api/v1/control-collections', access.user, {
    operationId: 'listControlCollections',
    summary: 'List the collections that the caller may see, newest first',
    response: jsonContent(schemas.ControlCollections, 'The collections.'),
    handle: async ({ user }, c) => answerMade(c, await ask(collectionsJson, user)),
  });

  route('POST /api/v1/control-collections', audited('create'), {
    operationId: 'createControlCollection',
    summary: 'Create a collection',
    body: createCollectionBody,
    status: 201,
    location: ({ id }) => `/api/v1/control-collections/${id}`,
    revision: ({ user }, { id }) => collections.revision(user, id),
    response: jsonContent(schemas.ControlCollection, 'The new collection.'),
    handle: ({ user, body }) => collections.create(user, body),
  });

  route('GET /api/v1/control-collections/{id}', access.user, {
    operationId: 'getControlCollection',
    summary: 'Get a collection with its entries',
    params: idParam,
    response: jsonContent(schemas.ControlCollectionRecord, 'The collection.'),
    revision: ({ user, params }) => collections.revision(user, params.id),
    handle: ({ user, params }) => collections.get(user, params.id),
  });

  route('PATCH /api/v1/control-collections/{id}', audited('update'), {
    operationId: 'updateControlCollection',
    conditional: true,
    summary: 'Change a collection (creator only)',
    params: idParam,
    body: changeCollectionBody,
    response: jsonContent(schemas.CollectionChanged, 'Changed.'),
    handle: async ({ user, params, body, match }) => ({
      ...success,
      ...(await collections.change(user, params.id, body, match)),
    }),
  });

  route('DELETE /api/v1/control-collections/{id}', audited('delete'), {
    operationId: 'deleteControlCollection',
    conditional: true,
    summary: 'Delete a collection (creator only)',
    params: idParam,
    response: jsonContent(schemas.Success, 'Deleted.'),
    handle: async ({ user, params, match }) => {
      await collections.remove(user, params.id, match);
      return success;
    },
  });

  route('GET /api/v1/control-collections/{id}/controls', access.user, {
    operationId: 'listControlCollectionControls',
    summary: 'List the entries of a collection with their controls',
    params: idParam,
    query: schemas.frameworkQuery,
    response: jsonContent(schemas.CollectionControls, 'The entries.'),
    revision: ({ user, params }) => collections.revision(user, params.id),
    handle: ({ user, params, query }) => collections.controls(user, params.id, query.framework),
  });

  route('POST /api/v1/control-collections/{id}/controls', audited('add-controls'), {
    operationId: 'addControlCollectionControls',
    conditional: true,
    summary: 'Add controls (the creator; the organization if the collection is SHARED)',
    params: idParam,
    body: schemas.addControlsBody,
    response: jsonContent(ControlsAdded, 'How many were added.'),
    handle: ({ user, params, body, match }) => collections.add(user, params.id, body.controls, match),
  });

  route('DELETE /api/v1/control-collections/{id}/controls', audited('remove-controls'), {
    operationId: 'removeControlCollectionControls',
    conditional: true,
    summary: 'Remove controls (creator only)',
    params: idParam,
    body: schemas.removeControlsBody,
    response: jsonContent(Removed, 'How many were removed.'),
    handle: async ({ user, params, body, match }) =>
      removedAnswer(await collections.removeControls(user, params.id, body.controls, match)),
  });

  route('GET /api/v1/control-collections/{id}/export', audited('export', access.with({ expensive: true })), {
    operationId: 'exportControlCollection',
    summary: 'Export a collection with its controls as json, csv or xlsx',
    params: idParam,
    query: exportQuery,
    response: fileContent(schemas.CollectionExport, ['text/csv']),
    handle: ({ user, params, query }, c) => {
      const json = collections.exported(user, params.id);
      const file = { json, root: 'collection', element: 'control', columns, rows: json.controls };
      return downloadFile(c, query, json.collection.name, file);
    },
  });

  return app;
}
