import type { Child } from 'hono/jsx';
import { path, StigLink, shortTitle } from '../parts/components.tsx';
import { FieldsForm, Input, Labelled, TextArea } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';

/** The title of a STIG; a link while the catalog has it. */
export function NamedStig({ of, isGone }: { of: { slug: string; title: string }; isGone: boolean }): Child {
  return isGone ? (
    <>
      {of.title} <span class="quiet">(no longer in the catalog)</span>
    </>
  ) : (
    <StigLink of={of} />
  );
}

/** What is typed about an entry; no release means the newest. */
export interface EntryForm {
  notes: string;
  position: string;
  release: string;
}

/** The form for the notes, the position and the release of one entry. */
export function editEntryPage(page: {
  list: { id: string; name: string };
  entry: { slug: string; title: string };
  versions: { version: string; releaseDate: string | null }[];
  form: EntryForm;
  problem: string | null;
}): View {
  const { list, entry, versions, form, problem } = page;
  // A pinned release that the catalog lacks stays until another is chosen.
  const isLacking = form.release !== '' && versions.every(({ version }) => version !== form.release);
  const home = path('systems', list.id);
  return {
    title: `Edit ${entry.title}`,
    section: 'systems',
    crumbs: [
      ['Lists', '/systems'],
      [list.name, home],
    ],
    heading: shortTitle(entry.title),
    body: (
      <FieldsForm action={`${home}${path('stigs', entry.slug)}`} problem={problem} submit="Save">
        {versions.length === 0 ? null : (
          <Labelled id="release" label="Release">
            <select id="release" name="release">
              <option value="" selected={form.release === ''}>
                The newest, whatever it is
              </option>
              {isLacking ? (
                <option value={form.release} selected>
                  {form.release} (not in the catalog)
                </option>
              ) : null}
              {versions.map(({ version, releaseDate }) => (
                <option value={version} selected={version === form.release}>
                  {version} {releaseDate ?? ''}
                </option>
              ))}
            </select>
          </Labelled>
        )}
        <TextArea name="notes" label="Notes" text={form.notes} maxlength={4000} />
        <Input name="position" label="Position" inputmode="numeric" value={form.position} required />
      </FieldsForm>
    ),
  };
}
