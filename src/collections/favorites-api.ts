import type { Access } from '../http/access.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import { frameworkQuery } from './control-collections-schema.ts';
import { removedAnswer } from './entries.ts';
import type { FavoriteService } from './favorites.ts';
import * as schemas from './favorites-schema.ts';
import { Removed, StigsAdded, slugsBody } from './schema.ts';

/** A user's favorites (rule D8). */
export function favoriteRoutes(access: Access, favorites: FavoriteService) {
  const { app, route } = createRoutes('Favorites');

  route('GET /api/v1/my-stigs', access.user, {
    operationId: 'listFavoriteStigs',
    summary: 'List favorite STIGs, newest first',
    response: jsonContent(schemas.FavoriteStigs, 'The favorites.'),
    handle: ({ user }) => favorites.stigs(user),
  });

  route('POST /api/v1/my-stigs', access.audited('favorite-stigs.add').user, {
    operationId: 'addFavoriteStigs',
    summary: 'Add STIGs to the favorites',
    body: slugsBody,
    response: jsonContent(StigsAdded, 'How many were added.'),
    handle: ({ user, body }) => favorites.addStigs(user, body.slugs),
  });

  route('DELETE /api/v1/my-stigs', access.audited('favorite-stigs.remove').user, {
    operationId: 'removeFavoriteStigs',
    summary: 'Remove STIGs from the favorites',
    body: slugsBody,
    response: jsonContent(Removed, 'How many were removed.'),
    handle: async ({ user, body }) => removedAnswer(await favorites.removeStigs(user, body.slugs)),
  });

  route('GET /api/v1/my-controls', access.user, {
    operationId: 'listFavoriteControls',
    summary: 'List favorite controls, newest first',
    query: frameworkQuery,
    response: jsonContent(schemas.FavoriteControls, 'The favorites.'),
    handle: ({ user, query }) => favorites.controls(user, query.framework),
  });

  route('POST /api/v1/my-controls', access.audited('favorite-controls.add').user, {
    operationId: 'addFavoriteControl',
    summary: 'Add a control to the favorites',
    body: schemas.favoriteControlBody,
    response: jsonContent(schemas.FavoriteControlAdded, 'Added.'),
    notFound: true,
    handle: ({ user, body }) => favorites.addControl(user, body.framework, body.controlId),
  });

  route('DELETE /api/v1/my-controls', access.audited('favorite-controls.remove').user, {
    operationId: 'removeFavoriteControl',
    summary: 'Remove a control from the favorites',
    body: schemas.favoriteControlBody,
    response: jsonContent(schemas.FavoriteControlRemoved, 'Removed.'),
    handle: ({ user, body }) => favorites.removeControl(user, body.framework, body.controlId),
  });

  return app;
}
