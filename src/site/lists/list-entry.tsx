import type { Child } from 'hono/jsx';
import { path } from '../parts/components.tsx';
import { FieldsForm, Input, TextArea } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';

/** The title of a STIG; a link while the catalog has it. */
export function NamedStig({ of, isGone }: { of: { slug: string; title: string }; isGone: boolean }): Child {
  return isGone ? (
    <>
      {of.title} <span class="quiet">(no longer in the catalog)</span>
    </>
  ) : (
    <a href={path('stigs', of.slug)}>{of.title}</a>
  );
}

/** The form for the notes and the position of one entry. */
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
