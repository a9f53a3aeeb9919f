import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../http/access.ts';
import { answer, answerText, download, privateHeaders } from '../http/answer.ts';
import { toCsv } from '../http/columns.ts';
import type { Env } from '../http/env.ts';
import { downloadHeaders, errors, jsonBody, jsonContent, TextFile } from '../http/schema.ts';
import { listColumns } from './export.ts';
import type { ListEntryService } from './list-entries.ts';
import type { ListService } from './lists.ts';
import * as schemas from './lists-schema.ts';
import { changeListBody, createListBody, idParam } from './schema.ts';

/** Lists of STIGs as a whole (rule D8); their entries have routes of their own. */
export function listRoutes(access: Access, lists: ListService, entries: ListEntryService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const costly = access.with({ expensive: true });
  const tags = ['Lists'];

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/lists',
      operationId: 'listLists',
      summary: 'List the lists that the caller may see, newest first',
      tags,
      ...access.listsRead,
      request: { query: schemas.listsQuery },
      responses: { 200: jsonContent(schemas.Lists, 'The lists.'), ...errors(400, 401) },
    }),
    (c) => answerText(c, lists.text(c.get('viewer'), c.req.valid('query').include !== undefined)),
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/lists',
      operationId: 'createList',
      summary: 'Create a list',
      tags,
      ...access.audited('list.create').user,
      request: { body: jsonBody(createListBody) },
      responses: { 201: jsonContent(schemas.List, 'The new list.'), ...errors(400, 401, 403, 413, 503) },
    }),
    async (c) => c.json(await lists.create(c.get('user'), c.req.valid('json')), 201, privateHeaders),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/lists/{id}',
      operationId: 'getList',
      summary: 'Get a list',
      tags,
      ...access.listsRead,
      request: { params: idParam },
      responses: { 200: jsonContent(schemas.List, 'The list.'), ...errors(400, 401, 404) },
    }),
    (c) => answer(c, lists.get(c.get('viewer'), c.req.valid('param').id)),
  );

  app.openapi(
    createRoute({
      method: 'patch',
      path: '/api/v1/lists/{id}',
      operationId: 'updateList',
      summary: 'Change a list (creator only)',
      tags,
      ...access.audited('list.update').user,
      request: { params: idParam, body: jsonBody(changeListBody) },
      responses: {
        200: jsonContent(schemas.List, 'The list as it is now.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const list = await lists.change(c.get('user'), c.req.valid('param').id, c.req.valid('json'));
      return c.json(list, 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'delete',
      path: '/api/v1/lists/{id}',
      operationId: 'deleteList',
      summary: 'Delete a list (creator only); it can be restored for 30 days',
      tags,
      ...access.audited('list.delete').user,
      request: { params: idParam },
      responses: {
        200: jsonContent(schemas.ListDeleted, 'Deleted.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      await lists.remove(c.get('user'), c.req.valid('param').id);
      const message = 'List deleted. It can be restored within 30 days.';
      return c.json({ success: true as const, message }, 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/lists/{id}/restore',
      operationId: 'restoreList',
      summary: 'Restore a deleted list (creator only, within 30 days)',
      tags,
      ...access.audited('list.restore').user,
      request: { params: idParam },
      responses: {
        200: jsonContent(schemas.List, 'The restored list.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => c.json(await lists.restore(c.get('user'), c.req.valid('param').id), 200, privateHeaders),
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/lists/{id}/duplicate',
      operationId: 'duplicateList',
      summary: 'Copy a list with its entries; the copy is private to the caller',
      tags,
      ...access.audited('list.duplicate').user,
      request: { params: idParam },
      responses: { 201: jsonContent(schemas.List, 'The copy.'), ...errors(400, 401, 403, 404, 413, 503) },
    }),
    async (c) => c.json(await lists.duplicate(c.get('user'), c.req.valid('param').id), 201, privateHeaders),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/lists/{id}/export',
      operationId: 'exportList',
      summary: 'Export a list with its STIGs as json or csv',
      tags,
      ...costly.audited('list.export').listsRead,
      request: { params: idParam, query: schemas.exportQuery },
      responses: {
        200: {
          description: 'The file.',
          headers: downloadHeaders,
          content: {
            'application/json': { schema: schemas.ListExport },
            'text/csv': { schema: TextFile },
          },
        },
        ...errors(400, 401, 404, 503),
      },
    }),
    (c) => {
      const { format, raw } = c.req.valid('query');
      const exported = entries.exported(c.get('viewer'), c.req.valid('param').id);
      const body = format === 'json' ? JSON.stringify(exported) : toCsv(listColumns, exported.stigs, raw);
      return download(c, body, format, `${exported.list.name}.${format}`);
    },
  );

  return app;
}
