import type { FavoriteControls } from '../../collections/favorites-schema.ts';
import { controlHref, frameworkName } from './frameworks.ts';
import { Empty, Moment, PostButton, path, Table } from './parts.tsx';
import type { View } from './view.ts';

export interface FavoritesPage {
  stigs: { slug: string; title: string; version: string | null; addedAt: string }[];
  controls: FavoriteControls['controls'];
}

/** A reader's own favorites. */
export function favoritesPage({ stigs, controls }: FavoritesPage): View {
  return {
    title: 'Favorites',
    section: 'favorites',
    body: (
      <>
        <h1>Favorites</h1>
        <h2>STIGs</h2>
        {stigs.length === 0 ? (
          <Empty>
            None yet: a STIG’s page has a button for it. <a href="/stigs">To the STIGs</a>
          </Empty>
        ) : (
          <Table
            caption="Favorite STIGs"
            head={['STIG', 'Release', 'Since', 'Change']}
            rows={stigs.map((stig) => [
              stig.version === null ? (
                <>
                  {stig.title} <span class="quiet">(gone from the catalog)</span>
                </>
              ) : (
                <a href={path('stigs', stig.slug)}>{stig.title}</a>
              ),
              stig.version ?? '',
              <Moment at={stig.addedAt} />,
              <PostButton
                action="/favorites/stigs/remove"
                label="Take out"
                about={stig.title}
                fields={{ slug: stig.slug, next: '/favorites' }}
                quiet
              />,
            ])}
          />
        )}
        <h2>Controls</h2>
        {controls.length === 0 ? (
          <Empty>
            None yet: a control’s page has a button for it. <a href="/controls">To the controls</a>
          </Empty>
        ) : (
          <Table
            caption="Favorite controls"
            head={['Control', 'Title', 'Family', 'Since', 'Change']}
            rows={controls.map((control) => [
              <>
                <a href={controlHref(control.framework, control.identifier)!}>{control.identifier}</a>{' '}
                <span class="quiet">{frameworkName(control.framework)}</span>
              </>,
              control.title,
              control.family,
              <Moment at={control.addedAt} />,
              <PostButton
                action="/favorites/controls/remove"
                label="Take out"
                about={control.identifier}
                fields={{ framework: control.framework, controlId: control.identifier, next: '/favorites' }}
                quiet
              />,
            ])}
          />
        )}
      </>
    ),
  };
}
