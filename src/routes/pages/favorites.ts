import type { Hono } from 'hono';
import type { Env } from '../../env.ts';
import { slugsBody } from '../../schemas/bundles.ts';
import { check } from '../../schemas/common.ts';
import { favoriteControlBody } from '../../schemas/favorites.ts';
import type { FavoriteService } from '../../services/favorites.ts';
import { favoritesPage } from '../../web/favorites.tsx';
import { goTo, type Kit, safePath } from './kit.ts';
import { notInCatalog } from './lists.ts';

/** A reader's favorites. */
export function favoritePages(app: Hono<Env>, { guard, show }: Kit, favorites: FavoriteService): void {
  const rule = guard.user;

  app.get('/favorites', rule, (c) => {
    const user = c.get('user');
    const { controls } = favorites.controls(user, undefined);
    return show(c, favoritesPage({ stigs: favorites.stigCards(user), controls }));
  });

  app.post('/favorites/stigs', guard.deed('favorite-stigs.add'), (c) => {
    const form = c.get('form');
    const { slugs } = check(slugsBody, { slugs: form.all('slug') });
    const { notFound } = favorites.addStigs(c.get('user'), slugs);
    if (notFound) throw notInCatalog(notFound);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'favorite' });
  });

  app.post('/favorites/stigs/remove', guard.deed('favorite-stigs.remove'), (c) => {
    const form = c.get('form');
    const { slugs } = check(slugsBody, { slugs: form.all('slug') });
    favorites.removeStigs(c.get('user'), slugs);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'unfavorite' });
  });

  app.post('/favorites/controls', guard.deed('favorite-controls.add'), (c) => {
    const form = c.get('form');
    const body = { framework: form.get('framework'), controlId: form.get('controlId') };
    const { framework, controlId } = check(favoriteControlBody, body);
    favorites.addControl(c.get('user'), framework, controlId);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'favorite' });
  });

  app.post('/favorites/controls/remove', guard.deed('favorite-controls.remove'), (c) => {
    const form = c.get('form');
    const body = { framework: form.get('framework'), controlId: form.get('controlId') };
    const { framework, controlId } = check(favoriteControlBody, body);
    favorites.removeControl(c.get('user'), framework, controlId);
    return goTo(c, safePath(form.get('next'), '/favorites'), { code: 'unfavorite' });
  });
}
