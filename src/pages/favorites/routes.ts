import type { Context, Hono } from 'hono';
import { favoriteControlBody } from '../../collections/favorites-schema.ts';
import { slugsBody } from '../../collections/schema.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { mustBeInCatalog } from '../collections/collection-forms.ts';
import { goTo, type PageSupport, safePath } from '../parts/page.ts';
import { favoritesPage } from './favorite-page.tsx';

/** The pages of a reader's favorites. */
export function favoritePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { favorites }: Pick<Services, 'favorites'>,
): void {
  const slugsOf = (c: Context<Env>) => check(slugsBody, { slugs: c.get('form').all('slug') }).slugs;

  function controlOf(c: Context<Env>) {
    const form = c.get('form');
    const body = { framework: form.get('framework'), controlId: form.get('controlId') };
    return check(favoriteControlBody, body);
  }

  const back = (c: Context<Env>, code: string) =>
    goTo(c, safePath(c.get('form').get('next'), '/favorites'), { code });

  app.get('/favorites', guard.user, (c) => {
    const user = c.get('user');
    const { controls } = favorites.controls(user, undefined);
    const known = favorites.knownControls(controls);
    return show(c, favoritesPage({ stigs: favorites.stigCards(user), controls, known }));
  });

  app.post('/favorites/stigs', guard.audited('favorite-stigs.add'), async (c) => {
    const { notFound } = await favorites.addStigs(c.get('user'), slugsOf(c));
    mustBeInCatalog(notFound);
    return back(c, 'favorite');
  });

  app.post('/favorites/stigs/remove', guard.audited('favorite-stigs.remove'), async (c) => {
    await favorites.removeStigs(c.get('user'), slugsOf(c));
    return back(c, 'unfavorite');
  });

  app.post('/favorites/controls', guard.audited('favorite-controls.add'), async (c) => {
    const { framework, controlId } = controlOf(c);
    await favorites.addControl(c.get('user'), framework, controlId);
    return back(c, 'favorite');
  });

  app.post('/favorites/controls/remove', guard.audited('favorite-controls.remove'), async (c) => {
    const { framework, controlId } = controlOf(c);
    await favorites.removeControl(c.get('user'), framework, controlId);
    return back(c, 'unfavorite');
  });
}
