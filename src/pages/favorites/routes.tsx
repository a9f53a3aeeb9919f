import type { Context, Hono } from 'hono';
import { favoriteControlBody } from '../../collections/favorites-schema.ts';
import { slugsBody } from '../../collections/schema.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { mustBeInCatalog, SavedTabs } from '../collections/collection-pages.tsx';
import { controlIn, NamedControl } from '../collections/routes.tsx';
import { Moment, NamedStig } from '../parts/components.tsx';
import { PostButton } from '../parts/forms.tsx';
import { listing } from '../parts/listing.tsx';
import { goTo, type PageSupport, safePath } from '../parts/page.ts';

const home = '/favorites';

/** The page of a reader's favorites, and the forms that change them. */
export function favoritePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { favorites }: Pick<Services, 'favorites'>,
): void {
  const slugsOf = (c: Context<Env>) => check(slugsBody, { slugs: c.get('form').all('slug') }).slugs;
  const controlOf = (c: Context<Env>) => check(favoriteControlBody, controlIn(c.get('form')));
  const back = (c: Context<Env>, code: string) =>
    goTo(c, safePath(c.get('form').get('next'), home), { code });

  app.get(home, guard.user, (c) => {
    const { controls } = favorites.controls(c.get('user'), undefined);
    const known = favorites.knownControls(controls);
    const body = (
      <>
        <SavedTabs at="favorites" />
        <h2>STIGs</h2>
        {listing({
          caption: 'Favorite STIGs',
          columns: [
            ['STIG', (stig) => <NamedStig of={stig} isGone={stig.version === null} />],
            ['Release', ({ version }) => version ?? ''],
            ['Added', ({ addedAt }) => <Moment at={addedAt} />],
            [
              'Actions',
              ({ slug, title }) => (
                <PostButton
                  action="/favorites/stigs/remove"
                  label="Remove"
                  about={title}
                  fields={{ slug, next: home }}
                />
              ),
            ],
          ],
          rows: favorites.stigCards(c.get('user')),
          empty: (
            <>
              No favorite STIGs yet. Open a STIG and choose “Add to favorites”.{' '}
              <a href="/stigs">Browse STIGs</a>
            </>
          ),
        })}
        <h2>Controls</h2>
        {listing({
          caption: 'Favorite controls',
          columns: [
            ['Control', (control) => <NamedControl of={control} isGone={!known.has(control)} />],
            ['Title', ({ title }) => title],
            ['Family', ({ family }) => family],
            ['Added', ({ addedAt }) => <Moment at={addedAt} />],
            [
              'Actions',
              ({ framework, identifier }) => (
                <PostButton
                  action="/favorites/controls/remove"
                  label="Remove"
                  about={identifier}
                  fields={{ framework, controlId: identifier, next: home }}
                />
              ),
            ],
          ],
          rows: controls,
          empty: (
            <>
              No favorite controls yet. Open a control and choose “Add to favorites”.{' '}
              <a href="/controls">Browse controls</a>
            </>
          ),
        })}
      </>
    );
    return show(c, { title: 'Favorites', section: 'systems', body });
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
