import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../http/access.ts';
import { answer, privateHeaders } from '../http/answer.ts';
import type { Env } from '../http/env.ts';
import { errors, jsonBody, jsonContent } from '../http/schema.ts';
import { frameworkQuery } from './control-collections-schema.ts';
import type { FavoriteService } from './favorites.ts';
import * as schemas from './favorites-schema.ts';
import { Removed, StigsAdded, slugsBody } from './schema.ts';

/** A user's favorites (rule D8). */
export function favoriteRoutes(access: Access, favorites: FavoriteService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const tags = ['Favorites'];

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/my-stigs',
      operationId: 'listFavoriteStigs',
      summary: 'List favorite STIGs, newest first',
      tags,
      ...access.user,
      responses: { 200: jsonContent(schemas.FavoriteStigs, 'The favorites.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, favorites.stigs(c.get('user'))),
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/my-stigs',
      operationId: 'addFavoriteStigs',
      summary: 'Add STIGs to the favorites',
      tags,
      ...access.audited('favorite-stigs.add').user,
      request: { body: jsonBody(slugsBody) },
      responses: { 200: jsonContent(StigsAdded, 'How many were added.'), ...errors(400, 401, 403, 413, 503) },
    }),
    async (c) =>
      c.json(await favorites.addStigs(c.get('user'), c.req.valid('json').slugs), 200, privateHeaders),
  );

  app.openapi(
    createRoute({
      method: 'delete',
      path: '/api/v1/my-stigs',
      operationId: 'removeFavoriteStigs',
      summary: 'Remove STIGs from the favorites',
      tags,
      ...access.audited('favorite-stigs.remove').user,
      request: { body: jsonBody(slugsBody) },
      responses: { 200: jsonContent(Removed, 'How many were removed.'), ...errors(400, 401, 403, 413, 503) },
    }),
    async (c) => {
      const removed = await favorites.removeStigs(c.get('user'), c.req.valid('json').slugs);
      return c.json({ success: true as const, removed }, 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/my-controls',
      operationId: 'listFavoriteControls',
      summary: 'List favorite controls, newest first',
      tags,
      ...access.user,
      request: { query: frameworkQuery },
      responses: { 200: jsonContent(schemas.FavoriteControls, 'The favorites.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, favorites.controls(c.get('user'), c.req.valid('query').framework)),
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/my-controls',
      operationId: 'addFavoriteControl',
      summary: 'Add a control to the favorites',
      tags,
      ...access.audited('favorite-controls.add').user,
      request: { body: jsonBody(schemas.favoriteControlBody) },
      responses: {
        200: jsonContent(schemas.FavoriteControlAdded, 'Added.'),
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    async (c) => {
      const { framework, controlId } = c.req.valid('json');
      return c.json(await favorites.addControl(c.get('user'), framework, controlId), 200, privateHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'delete',
      path: '/api/v1/my-controls',
      operationId: 'removeFavoriteControl',
      summary: 'Remove a control from the favorites',
      tags,
      ...access.audited('favorite-controls.remove').user,
      request: { body: jsonBody(schemas.favoriteControlBody) },
      responses: {
        200: jsonContent(schemas.FavoriteControlRemoved, 'Removed.'),
        ...errors(400, 401, 403, 413, 503),
      },
    }),
    async (c) => {
      const { framework, controlId } = c.req.valid('json');
      return c.json(await favorites.removeControl(c.get('user'), framework, controlId), 200, privateHeaders);
    },
  );

  return app;
}
