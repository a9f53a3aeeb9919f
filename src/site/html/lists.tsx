import type { Child } from 'hono/jsx';
import { mostDeletedShown } from '../../collections/collections.ts';
import type { Kind } from './collection-pages.tsx';
import { Moment, path, Table } from './components.tsx';
import { FieldsForm, Input, PostButton, TextArea } from './forms.tsx';
import type { View } from './view.ts';

export const listKind: Kind = {
  section: 'lists',
  name: 'Lists',
  one: 'list',
  lead: 'Lists of STIGs: your own, and those that your organization shares.',
  none: 'No lists yet. Create one below, then add STIGs from their pages.',
  caption: 'Lists',
  members: 'STIGs',
  api: 'lists',
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
          <PostButton action={path('lists', list.id, 'restore')} label="Restore" about={list.name} />,
        ])}
      />
    </>
  );
}

/** A STIG by its title, which leads to it while the catalog has it. */
export function NamedStig({ of, isGone }: { of: { slug: string; title: string }; isGone: boolean }): Child {
  return isGone ? (
    <>
      {of.title} <span class="quiet">(no longer in the catalog)</span>
    </>
  ) : (
    <a href={path('stigs', of.slug)}>{of.title}</a>
  );
}

/** Changing the notes and the position of one entry. */
export function editEntryPage(page: {
  list: { id: string; name: string };
  entry: { slug: string; title: string };
  form: { notes: string; position: string };
  problem: string | null;
}): View {
  const { list, entry, form, problem } = page;
  const home = path('lists', list.id);
  return {
    title: `Edit ${entry.title}`,
    section: 'lists',
    crumbs: [
      ['Lists', '/lists'],
      [list.name, home],
    ],
    heading: entry.title,
    body: (
      <FieldsForm action={`${home}${path('stigs', entry.slug)}`} problem={problem} submit="Save">
        <TextArea name="notes" label="Notes" text={form.notes} maxlength={4000} />
        <Input name="position" label="Position" inputmode="numeric" value={form.position} required />
      </FieldsForm>
    ),
  };
}
