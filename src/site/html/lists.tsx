import type { Child } from 'hono/jsx';
import type { ListEntry } from '../../collections/lists-schema.ts';
import type { Pagination } from '../../http/schema.ts';
import { type Adding, FactsOf, type Kind, Tags } from './collection-pages.tsx';
import { Downloads, link, Moment, path, SeverityCounts, Table } from './components.tsx';
import { FieldsForm, Input, PostButton, TextArea } from './forms.tsx';
import { listView, type ShownList } from './list-frame.tsx';
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
      <p class="quiet">You can restore a list for 30 days after you delete it.</p>
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

export interface ListPage extends ShownList {
  entries: ListEntry[];
  pagination: Pagination;
  adding: Adding<{ text: string }>;
}

export function listPage({ list, entries, pagination, isOwn, adding }: ListPage): View {
  const home = path('lists', list.id);
  return listView({
    list,
    isOwn,
    part: 'overview',
    actions: <Downloads of={path('lists', list.id, 'export')} formats={['json', 'csv', 'xlsx']} />,
    body: (
      <>
        {list.description === '' ? null : <p class="lead prose">{list.description}</p>}
        <Tags tags={list.tags} />
        <FactsOf shown={list} isOwn={isOwn} first={['STIGs', list.stigCount]} />
        {isOwn ? <AddStigs home={home} adding={adding} /> : null}
        <Table
          caption={`STIGs of ${list.name}`}
          headColumn={1}
          head={[
            'Position',
            'STIG',
            'Release',
            'Rules',
            'By severity',
            'Notes',
            ...(isOwn ? ['Actions'] : []),
          ]}
          rows={entries.map((entry) => row(home, entry, isOwn))}
          pages={{ pagination, href: (page) => link(home, { page }) }}
        >
          This list is empty. <a href="/stigs">Browse STIGs</a>
        </Table>
      </>
    ),
  });
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

function row(home: string, entry: ListEntry, isOwn: boolean): Child[] {
  const isGone = entry.version === '';
  return [
    entry.position,
    <NamedStig of={entry} isGone={isGone} />,
    entry.version,
    isGone ? '' : entry.findingCount,
    isGone ? '' : <SeverityCounts counts={{ high: entry.catI, medium: entry.catII, low: entry.catIII }} />,
    entry.notes === '' ? '' : <span class="prose">{entry.notes}</span>,
    ...(isOwn
      ? [
          <>
            <a href={`${home}${path('stigs', entry.slug)}`}>
              Edit<span class="hidden"> the entry {entry.title}</span>
            </a>{' '}
            <PostButton
              action={`${home}/stigs/remove`}
              label="Remove"
              about={entry.title}
              fields={{ slug: entry.slug }}
            />
          </>,
        ]
      : []),
  ];
}

function AddStigs({ home, adding }: { home: string; adding: ListPage['adding'] }): Child {
  return (
    <details class="more" open={adding.problem !== null}>
      <summary>Add STIGs by slug</summary>
      <FieldsForm action={`${home}/stigs`} problem={adding.problem} submit="Add STIGs">
        <TextArea
          name="slugs"
          label="Slugs"
          text={adding.text}
          class="mono"
          required
          hint="One per line. The slug is the last part of a STIG’s address: /stigs/SLUG"
        />
      </FieldsForm>
    </details>
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
