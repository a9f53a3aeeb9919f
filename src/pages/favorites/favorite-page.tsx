import type { FavoriteControls } from '../../collections/favorites-schema.ts';
import { NamedControl } from '../collections/collected-controls.tsx';
import { SavedTabs } from '../collections/collection-pages.tsx';
import { Moment, Table } from '../parts/components.tsx';
import { PostButton } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';
import { NamedStig } from '../systems/list-entry.tsx';

export interface FavoritesPage {
  stigs: { slug: string; title: string; version: string | null; addedAt: string }[];
  controls: FavoriteControls['controls'];
  known: ReadonlySet<FavoriteControls['controls'][number]>;
}

/** The page of a reader's favorites. */
export function favoritesPage({ stigs, controls, known }: FavoritesPage): View {
  return {
    title: 'Favorites',
    section: 'systems',
    body: (
      <>
        <SavedTabs at="favorites" />
        <h2>STIGs</h2>
        <Table
          caption="Favorite STIGs"
          head={['STIG', 'Release', 'Added', 'Actions']}
          rows={stigs.map((stig) => [
            <NamedStig of={stig} isGone={stig.version === null} />,
            stig.version ?? '',
            <Moment at={stig.addedAt} />,
            <PostButton
              action="/favorites/stigs/remove"
              label="Remove"
              about={stig.title}
              fields={{ slug: stig.slug, next: '/favorites' }}
            />,
          ])}
        >
          No favorite STIGs yet. Open a STIG and choose “Add to favorites”. <a href="/stigs">Browse STIGs</a>
        </Table>
        <h2>Controls</h2>
        <Table
          caption="Favorite controls"
          head={['Control', 'Title', 'Family', 'Added', 'Actions']}
          rows={controls.map((control) => [
            <NamedControl of={control} isGone={!known.has(control)} />,
            control.title,
            control.family,
            <Moment at={control.addedAt} />,
            <PostButton
              action="/favorites/controls/remove"
              label="Remove"
              about={control.identifier}
              fields={{ framework: control.framework, controlId: control.identifier, next: '/favorites' }}
            />,
          ])}
        >
          No favorite controls yet. Open a control and choose “Add to favorites”.{' '}
          <a href="/controls">Browse controls</a>
        </Table>
      </>
    ),
  };
}
