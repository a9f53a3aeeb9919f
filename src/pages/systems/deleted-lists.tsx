import type { Child } from 'hono/jsx';
import { mostDeletedShown } from '../../collections/collections.ts';
import type { Kind } from '../collections/collection-pages.tsx';
import { Moment, path, Table } from '../parts/components.tsx';
import { PostButton } from '../parts/forms.tsx';

export const listKind: Kind = {
  section: 'systems',
  name: 'Lists',
  one: 'list',
  lead: 'Lists of STIGs: your own, and those that your organization shares.',
  none: 'No lists yet. Create one below, then add STIGs from their pages.',
  caption: 'Lists',
  members: 'STIGs',
};

/** The lists that a reader may restore. */
export function DeletedLists({ lists }: { lists: { id: string; name: string; deletedAt: string }[] }): Child {
  if (lists.length === 0) return null;
  return (
    <>
      <h2 id="deleted">Deleted lists</h2>
      <p class="quiet">
        You can restore a list for 30 days after you delete it.
        {lists.length < mostDeletedShown ? '' : ` The ${mostDeletedShown} last deleted are shown.`}
      </p>
      <Table
        caption="Your deleted lists"
        head={['Name', 'Deleted', 'Actions']}
        rows={lists.map((list) => [
          list.name,
          <Moment at={list.deletedAt} />,
          <PostButton action={path('systems', list.id, 'restore')} label="Restore" about={list.name} />,
        ])}
      />
    </>
  );
}
