import type { Context, Hono } from 'hono';
import { favoriteControlBody } from '../../collections/favorites-schema.ts';
import { slugsBody } from '../../collections/schema.ts';
import type { RemovedFrom } from '../../collections/undo.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { goTo, type PageSupport, safePath } from '../parts/page.ts';
import { mustBeInCatalog } from './collection-forms.ts';
import { favoritesPage } from './favorite-page.tsx';

/** The pages of a reader's favorites. */
export function favoritePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { favorites, undo }: Pick<Services, 'favorites' | 'undo'>,
): void {
  const slugsOf = (c: Context<Env>) => check(slugsBody, { slugs: c.get('form').all('slug') }).slugs;

  function controlOf(c: Context<Env>) {
    const form = c.get('form');
    const body = { framework: form.get('framework'), controlId: form.get('controlId') };
    return check(favoriteControlBody, body);
  }

  const back = (c: Context<Env>, code: string, undo: string | null = null) =>
    goTo(c, safePath(c.get('form').get('next'), '/favorites'), { code, undo });

  const removing = (
    c: Context<Env>,
    from: RemovedFrom,
    key: string,
    label: string,
    remove: () => Promise<unknown>,
  ) => undo.removing(c.get('user'), { from, of: c.get('user').subject, keys: [key], label }, remove);

  app.post('/undo', guard.audited('undo'), async (c) => {
    await undo.undo(c.get('user'), c.get('form').get('id'));
    return goTo(c, safePath(c.get('form').get('next'), '/'), { code: 'undone' });
  });

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
    const slugs = slugsOf(c);
    const user = c.get('user');
    const label = favorites.stigCards(user).find(({ slug }) => slug === slugs[0])?.title ?? '';
    const remove = () => favorites.removeStigs(user, slugs);
    return back(c, 'unfavorite', await removing(c, 'favorite_stigs', slugs[0]!, label, remove));
  });

  app.post('/favorites/controls', guard.audited('favorite-controls.add'), async (c) => {
    const { framework, controlId } = controlOf(c);
    await favorites.addControl(c.get('user'), framework, controlId);
    return back(c, 'favorite');
  });

  app.post('/favorites/controls/remove', guard.audited('favorite-controls.remove'), async (c) => {
    const { framework, controlId } = controlOf(c);
    const remove = () => favorites.removeControl(c.get('user'), framework, controlId);
    const key = `${framework} ${controlId}`;
    return back(c, 'unfavorite', await removing(c, 'favorite_controls', key, controlId, remove));
  });
}
