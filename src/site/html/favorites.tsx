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
            No favorite STIGs yet. Open a STIG and choose “Add to favorites”.{' '}
            <a href="/stigs">Browse STIGs</a>
          </Empty>
        ) : (
          <Table
            caption="Favorite STIGs"
            head={['STIG', 'Release', 'Added', 'Actions']}
            rows={stigs.map((stig) => [
              stig.version === null ? (
                <>
                  {stig.title} <span class="quiet">(no longer in the catalog)</span>
                </>
              ) : (
                <a href={path('stigs', stig.slug)}>{stig.title}</a>
              ),
              stig.version ?? '',
              <Moment at={stig.addedAt} />,
              <PostButton
                action="/favorites/stigs/remove"
                label="Remove"
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
            No favorite controls yet. Open a control and choose “Add to favorites”.{' '}
            <a href="/controls">Browse controls</a>
          </Empty>
        ) : (
          <Table
            caption="Favorite controls"
            head={['Control', 'Title', 'Family', 'Added', 'Actions']}
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
                label="Remove"
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
