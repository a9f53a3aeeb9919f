import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../http/access.ts';
import { answer, download, privateHeaders } from '../http/answer.ts';
import { toCsv } from '../http/columns.ts';
import type { Env } from '../http/env.ts';
import { downloadHeaders, errors, jsonBody, jsonContent, TextFile } from '../http/schema.ts';
import type { ControlCollectionService } from './control-collections.ts';
import * as schemas from './control-collections-schema.ts';
import { collectionColumns } from './export.ts';
import { ControlsAdded, changeCollectionBody, createCollectionBody, idParam, Removed } from './schema.ts';

/** Collections of controls (rule D8). */
export function controlCollectionRoutes(
  access: Access,
  collections: ControlCollectionService,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const costly = access.with({ expensive: true });
  const tags = ['Control collections'];
  const success = { success: true as const };

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/control-collections',
      operationId: 'listControlCollections',
      summary: 'List the collections that the caller may see, newest first',
      tags,
      ...access.user,
      responses: {
        200: jsonContent(schemas.ControlCollections, 'The collections.'),
        ...errors(400, 401, 403),
      },
    }),
    (c) => answer(c, collections.all(c.get('user'))),
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/control-collections',
      operationId: 'createControlCollection',
      summary: 'Create a collection',
      tags,
      ...access.audited('control-collection.create').user,
      request: { body: jsonBody(createCollectionBody) },
      responses: {
        201: jsonContent(schemas.ControlCollection, 'The new collection.'),
        ...errors(400, 401, 403, 413, 503),
      },
    }),
    async (c) => c.json(await collections.create(c.get('user'), c.req.valid('json')), 201, privateHeaders),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/control-collections/{id}',
      operationId: 'getControlCollection',
      summary: 'Get a collection with its entries',
      tags,
      ...access.user,
      request: { params: idParam },
      responses: {
        200: jsonContent(schemas.ControlCollectionRecord, 'The collection.'),
        ...errors(400, 401, 403, 404),
      },
    }),
    (c) => answer(c, collections.get(c.get('user'), c.req.valid('param').id)),
  );

  app.openapi(
    createRoute({
      method: 'patch',
      path: '/api/v1/control-collections/{id}',
      operationId: 'updateControlCollection',
      summary: 'Change a collection (creator only)',
      tags,
      ...access.audited('control-collection.update').user,
      request: { params: idParam, body: jsonBody(changeCollectionBody) },
      responses: {
        200: jsonContent(schemas.CollectionChanged, 'Changed.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const changed = await collections.change(c.get('user'), c.req.valid('param').id, c.req.valid('json'));
      return c.json({ ...success, ...changed }, 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'delete',
      path: '/api/v1/control-collections/{id}',
      operationId: 'deleteControlCollection',
      summary: 'Delete a collection (creator only)',
      tags,
      ...access.audited('control-collection.delete').user,
      request: { params: idParam },
      responses: {
        200: jsonContent(schemas.Success, 'Deleted.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      await collections.remove(c.get('user'), c.req.valid('param').id);
      return c.json(success, 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/control-collections/{id}/controls',
      operationId: 'listControlCollectionControls',
      summary: 'List the entries of a collection with their controls',
      tags,
      ...access.user,
      request: { params: idParam, query: schemas.frameworkQuery },
      responses: {
        200: jsonContent(schemas.CollectionControls, 'The entries.'),
        ...errors(400, 401, 403, 404),
      },
    }),
    (c) => {
      const { framework } = c.req.valid('query');
      return answer(c, collections.controls(c.get('user'), c.req.valid('param').id, framework));
    },
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/control-collections/{id}/controls',
      operationId: 'addControlCollectionControls',
      summary: 'Add controls (the creator; the organization if the collection is SHARED)',
      tags,
      ...access.audited('control-collection.add-controls').user,
      request: { params: idParam, body: jsonBody(schemas.addControlsBody) },
      responses: {
        200: jsonContent(ControlsAdded, 'How many were added.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const { controls } = c.req.valid('json');
      return c.json(
        await collections.add(c.get('user'), c.req.valid('param').id, controls),
        200,
        privateHeaders,
      );
    },
  );

  app.openapi(
    createRoute({
      method: 'delete',
      path: '/api/v1/control-collections/{id}/controls',
      operationId: 'removeControlCollectionControls',
      summary: 'Remove controls (creator only)',
      tags,
      ...access.audited('control-collection.remove-controls').user,
      request: { params: idParam, body: jsonBody(schemas.removeControlsBody) },
      responses: {
        200: jsonContent(Removed, 'How many were removed.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const { controls } = c.req.valid('json');
      const removed = await collections.removeControls(c.get('user'), c.req.valid('param').id, controls);
      return c.json({ ...success, removed }, 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/control-collections/{id}/export',
      operationId: 'exportControlCollection',
      summary: 'Export a collection with its controls as json or csv',
      tags,
      ...costly.audited('control-collection.export').user,
      request: { params: idParam, query: schemas.exportQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: downloadHeaders,
          content: {
            'application/json': { schema: schemas.CollectionExport },
            'text/csv': { schema: TextFile },
          },
        },
        ...errors(400, 401, 403, 404, 503),
      },
    }),
    (c) => {
      const { format, raw } = c.req.valid('query');
      const exported = collections.exported(c.get('user'), c.req.valid('param').id);
      const body =
        format === 'json' ? JSON.stringify(exported) : toCsv(collectionColumns, exported.controls, raw);
      return download(c, body, format, `${exported.collection.name}.${format}`);
    },
  );

  return app;
}
