import type { Child } from 'hono/jsx';
import type { List, ListEntry } from '../../collections/lists-schema.ts';
import type { Pagination } from '../../http/schema.ts';
import { type CollectionForm, CollectionInputs, DeleteForm, Swatch, Tags } from './collection-form.tsx';
import {
  Downloads,
  Empty,
  Facts,
  link,
  Moment,
  Nothing,
  Pager,
  PostButton,
  Problem,
  path,
  SeverityCounts,
  Table,
} from './parts.tsx';
import type { View } from './view.ts';

/** The lists that the reader sees, those that may be restored, and the form for a new one. */
export function listsPage(page: {
  lists: List[];
  deleted: { id: string; name: string; deletedAt: string }[];
  subject: string;
  form: CollectionForm;
  problem: string | null;
}): View {
  const { lists, deleted, subject, form, problem } = page;
  return {
    title: 'Lists',
    section: 'lists',
    body: (
      <>
        <h1>Lists</h1>
        <p class="lead">Lists of STIGs: your own, and those that your organization shares.</p>
        {lists.length === 0 ? (
          <Empty>No lists yet. Create one below, then add STIGs from their pages.</Empty>
        ) : (
          <Table
            caption="Lists"
            head={['Name', 'STIGs', 'Visibility', 'Created by', 'Created']}
            rows={lists.map((list) => [
              <>
                <Swatch color={list.color} />
                <a href={path('lists', list.id)}>{list.name}</a> <Tags tags={list.tags} />
              </>,
              list.stigCount,
              list.visibility === 'SHARED' ? 'Organization' : 'Private',
              list.createdById === subject ? 'you' : (list.createdByEmail ?? list.createdById),
              <Moment at={list.createdAt} />,
            ])}
          />
        )}
        <h2 id="new">New list</h2>
        <form class="fields" method="post" action="/lists">
          <CollectionInputs form={form} problem={problem} submit="Create list" />
        </form>
        {deleted.length === 0 ? null : (
          <>
            <h2 id="deleted">Deleted lists</h2>
            <p class="quiet">You can restore a list for 30 days after you delete it.</p>
            <Table
              caption="Your deleted lists"
              head={['Name', 'Deleted', 'Actions']}
              rows={deleted.map((list) => [
                list.name,
                <Moment at={list.deletedAt} />,
                <PostButton
                  action={path('lists', list.id, 'restore')}
                  label="Restore"
                  about={list.name}
                  quiet
                />,
              ])}
            />
          </>
        )}
      </>
    ),
  };
}

export interface ListPage {
  list: List;
  entries: ListEntry[];
  pagination: Pagination;
  isOwn: boolean;
  /** What was typed to be added, and why it was not. */
  adding: { text: string; problem: string | null };
}

export function listPage({ list, entries, pagination, isOwn, adding }: ListPage): View {
  const home = path('lists', list.id);
  const href = (page: number) => link(home, { page });
  return {
    title: list.name,
    section: 'lists',
    body: (
      <>
        <p class="crumbs">
          <a href="/lists">Lists</a>
        </p>
        <h1>
          <Swatch color={list.color} />
          {list.name}
        </h1>
        {list.description === '' ? null : <p class="lead prose">{list.description}</p>}
        <Tags tags={list.tags} />
        <Facts
          of={[
            ['STIGs', list.stigCount],
            ['Visibility', list.visibility === 'SHARED' ? 'Organization' : 'Private'],
            ['Created by', isOwn ? 'you' : (list.createdByEmail ?? list.createdById)],
            ['Updated', <Moment at={list.updatedAt} />],
          ]}
        />
        <div class="actions">
          <Downloads
            href={(format) => link(`/api/v1/lists/${list.id}/export`, { format })}
            formats={['json', 'csv']}
          />
          <PostButton action={`${home}/duplicate`} label="Duplicate" quiet />
          {isOwn ? (
            <a class="button quiet" href={`${home}/edit`}>
              Edit
            </a>
          ) : null}
        </div>
        {isOwn ? <AddStigs home={home} adding={adding} /> : null}
        {entries.length === 0 ? (
          <Nothing pagination={pagination} href={href}>
            This list is empty. <a href="/stigs">Browse STIGs</a>
          </Nothing>
        ) : (
          <Table
            caption={`STIGs of ${list.name}`}
            key={1}
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
          />
        )}
        <Pager pagination={pagination} href={href} />
        {isOwn ? <DeleteForm action={`${home}/delete`} what="list" /> : null}
      </>
    ),
  };
}

function row(home: string, entry: ListEntry, isOwn: boolean): Child[] {
  const gone = entry.version === '';
  return [
    entry.position,
    gone ? (
      <>
        {entry.title} <span class="quiet">(no longer in the catalog)</span>
      </>
    ) : (
      <a href={path('stigs', entry.slug)}>{entry.title}</a>
    ),
    entry.version,
    gone ? '' : entry.findingCount,
    gone ? '' : <SeverityCounts counts={{ high: entry.catI, medium: entry.catII, low: entry.catIII }} />,
    entry.notes === '' ? '' : <span class="prose">{entry.notes}</span>,
    ...(isOwn
      ? [
          <>
            <a href={path(...home.slice(1).split('/'), 'stigs', entry.slug)}>
              Edit<span class="hidden"> the entry {entry.title}</span>
            </a>{' '}
            <PostButton
              action={`${home}/stigs/remove`}
              label="Remove"
              about={entry.title}
              fields={{ slug: entry.slug }}
              quiet
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
      <form class="fields" method="post" action={`${home}/stigs`}>
        <Problem text={adding.problem} />
        <div>
          <label for="slugs">Slugs</label>
          <textarea id="slugs" name="slugs" class="mono" required aria-describedby="slugs-hint">
            {adding.text}
          </textarea>
          <p class="hint" id="slugs-hint">
            One per line. The slug is the last part of a STIG’s address: /stigs/SLUG
          </p>
        </div>
        <div>
          <button type="submit">Add STIGs</button>
        </div>
      </form>
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
    body: (
      <>
        <p class="crumbs">
          <a href="/lists">Lists</a> / <a href={home}>{list.name}</a>
        </p>
        <h1>{entry.title}</h1>
        <form class="fields" method="post" action={path('lists', list.id, 'stigs', entry.slug)}>
          <Problem text={problem} />
          <div>
            <label for="notes">Notes</label>
            <textarea id="notes" name="notes" maxlength={4000}>
              {form.notes}
            </textarea>
          </div>
          <div>
            <label for="position">Position</label>
            <input id="position" name="position" inputmode="numeric" value={form.position} required />
          </div>
          <div>
            <button type="submit">Save</button>
          </div>
        </form>
      </>
    ),
  };
}
