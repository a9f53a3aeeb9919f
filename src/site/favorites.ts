import type { Hono } from 'hono';
import type { FavoriteService } from '../collections/favorites.ts';
import { favoriteControlBody } from '../collections/favorites-schema.ts';
import { slugsBody } from '../collections/schema.ts';
import type { Env } from '../http/env.ts';
import { check } from '../http/schema.ts';
import { favoritesPage } from './html/favorites.tsx';
import { notInCatalog } from './lists.ts';
import { goTo, type PageSupport, safePath } from './page.ts';

/** A reader's favorites. */
export function favoritePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  favorites: FavoriteService,
): void {
  const rule = guard.user;

  app.get('/favorites', rule, (c) => {
    const user = c.get('user');
    const { controls } = favorites.controls(user, undefined);
    return show(c, favoritesPage({ stigs: favorites.stigCards(user), controls }));
  });

  app.post('/favorites/stigs', guard.audited('favorite-stigs.add'), async (c) => {
    const form = c.get('form');
    const { slugs } = check(slugsBody, { slugs: form.all('slug') });
    const { notFound } = await favorites.addStigs(c.get('user'), slugs);
    if (notFound) throw notInCatalog(notFound);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'favorite' });
  });

  app.post('/favorites/stigs/remove', guard.audited('favorite-stigs.remove'), async (c) => {
    const form = c.get('form');
    const { slugs } = check(slugsBody, { slugs: form.all('slug') });
    await favorites.removeStigs(c.get('user'), slugs);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'unfavorite' });
  });

  app.post('/favorites/controls', guard.audited('favorite-controls.add'), async (c) => {
    const form = c.get('form');
    const body = { framework: form.get('framework'), controlId: form.get('controlId') };
    const { framework, controlId } = check(favoriteControlBody, body);
    await favorites.addControl(c.get('user'), framework, controlId);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'favorite' });
  });

  app.post('/favorites/controls/remove', guard.audited('favorite-controls.remove'), async (c) => {
    const form = c.get('form');
    const body = { framework: form.get('framework'), controlId: form.get('controlId') };
    const { framework, controlId } = check(favoriteControlBody, body);
    await favorites.removeControl(c.get('user'), framework, controlId);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'unfavorite' });
  });
}
