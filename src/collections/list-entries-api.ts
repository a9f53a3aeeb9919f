import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../http/access.ts';
import { answer, privateHeaders } from '../http/answer.ts';
import type { Env } from '../http/env.ts';
import { errors, jsonBody, jsonContent } from '../http/schema.ts';
import type { ListEntryService } from './list-entries.ts';
import * as schemas from './lists-schema.ts';
import { idParam, Removed, StigsAdded, slugsBody } from './schema.ts';

/** The entries of lists (rule D8). */
export function listEntryRoutes(access: Access, entries: ListEntryService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const tags = ['Lists'];

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/lists/{id}/stigs',
      operationId: 'listListStigs',
      summary: 'List the STIGs of a list, paged, optionally with their findings',
      tags,
      ...access.listsRead,
      request: { params: idParam, query: schemas.listStigsQuery },
      responses: { 200: jsonContent(schemas.ListStigs, 'A page of entries.'), ...errors(400, 401, 404) },
    }),
    (c) => {
      const { include, severity, page, limit } = c.req.valid('query');
      const choice = { include: include !== undefined, severity };
      return answer(c, entries.page(c.get('viewer'), c.req.valid('param').id, { page, limit }, choice));
    },
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/lists/{id}/stigs',
      operationId: 'addListStigs',
      summary: 'Add STIGs to a list (creator only)',
      tags,
      ...access.audited('list.add-stigs').user,
      request: { params: idParam, body: jsonBody(slugsBody) },
      responses: {
        200: jsonContent(StigsAdded, 'How many were added.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const { slugs } = c.req.valid('json');
      return c.json(await entries.add(c.get('user'), c.req.valid('param').id, slugs), 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'delete',
      path: '/api/v1/lists/{id}/stigs',
      operationId: 'removeListStigs',
      summary: 'Remove STIGs from a list (creator only)',
      tags,
      ...access.audited('list.remove-stigs').user,
      request: { params: idParam, body: jsonBody(slugsBody) },
      responses: {
        200: jsonContent(Removed, 'How many were removed.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const removed = await entries.remove(c.get('user'), c.req.valid('param').id, c.req.valid('json').slugs);
      return c.json({ success: true as const, removed }, 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'put',
      path: '/api/v1/lists/{id}/stigs/{stigSlug}',
      operationId: 'updateListStig',
      summary: 'Set the notes or the position of an entry (creator only)',
      tags,
      ...access.audited('list.update-stig').user,
      request: { params: schemas.listStigParam, body: jsonBody(schemas.listStigBody) },
      responses: {
        200: jsonContent(schemas.ListStigUpdate, 'The entry as it is now.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const { id, stigSlug } = c.req.valid('param');
      return c.json(
        await entries.update(c.get('user'), id, stigSlug, c.req.valid('json')),
        200,
        privateHeaders,
      );
    },
  );

  return app;
}
