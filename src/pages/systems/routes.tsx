import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { changesSince } from '../../catalog/stigs/jobs.ts';
import { mostDeletedShown } from '../../collections/collections.ts';
import { listRowColumns } from '../../collections/list-rows.ts';
import { listStigBody } from '../../collections/lists-schema.ts';
import { pastedStigs } from '../../collections/pasted.ts';
import { changeListBody, createListBody, notes, slugsBody } from '../../collections/schema.ts';
import type { Env } from '../../http/env.ts';
import { check, positiveInteger, sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import {
  CollectionFields,
  collectionFormPages,
  DeleteForm,
  FactsOf,
  formOf,
  mustBeInCatalog,
  Tags,
  withFormErrors,
} from '../collections/collection-pages.tsx';
import { Moment, path, shortTitle } from '../parts/components.tsx';
import { Fields, FieldsForm, type FormField, lines, PostButton } from '../parts/forms.tsx';
import { listView, partPath, shownList } from '../parts/list-frame.tsx';
import { listing } from '../parts/listing.tsx';
import { goTo, type PageSupport, readQuery, safePath } from '../parts/page.ts';
import { comparePasted, describePasted, textLeft } from './list-adding.ts';
import { type ListOverview, listOverviewPage } from './list-page.tsx';

const entriesPerPage = 100;

/** The fields of one entry, beside its release. */
const entryFields: FormField<'notes' | 'position'>[] = [
  { name: 'notes', label: 'Notes', isLong: true, attributes: { maxlength: 4000 } },
  { name: 'position', label: 'Position', attributes: { inputmode: 'numeric', required: true } },
];

/** What is typed about an entry; no release means the newest. */
type EntryForm = Record<'notes' | 'position' | 'release', string>;

const overviewQuery = z.object({ page: positiveInteger('page').default(1), ...sorting(listRowColumns) });

/** The pages of lists, and the forms that create, change, fill, copy, delete and restore them. */
export function listPages(
  app: Hono<Env>,
  support: PageSupport,
  services: Pick<Services, 'lists' | 'listSeen' | 'listStigs' | 'listEntries' | 'stigs' | 'stigNames'> & {
    ask: Ask;
  },
): void {
  const { lists, listSeen, listStigs, listEntries, stigs, stigNames, ask } = services;
  const { guard, show, now } = support;

  collectionFormPages(app, support, {
    section: 'systems',
    name: 'Systems',
    one: 'list',
    lead: 'Lists of STIGs that stand for systems: your own, and those that your organization shares.',
    none: 'No lists yet. Create one below, then add STIGs from their pages.',
    members: 'STIGs',
    audited: 'list',
    service: lists,
    createBody: createListBody,
    changeBody: changeListBody,
    editing: 'settings',
    editPage(c, id, typed, problem) {
      const shown = shownList(c, lists);
      const { list, isOwn } = shown;
      const home = path('systems', id);
      const form = typed ?? (isOwn ? formOf(list) : null);
      return listView({
        ...shown,
        part: 'settings',
        actions: <PostButton action={`${home}/duplicate`} label="Duplicate" />,
        body: (
          <>
            <Tags tags={list.tags} />
            <FactsOf shown={list} isOwn={isOwn} />
            {form === null ? (
              <p class="quiet">
                Only its creator may change this list. You may duplicate it: the copy is yours.
              </p>
            ) : (
              <>
                <CollectionFields
                  action={partPath(id, 'settings')}
                  form={form}
                  problem={problem}
                  submit="Save"
                />
                <DeleteForm action={`${home}/delete`} what="list" />
              </>
            )}
          </>
        ),
      });
    },
    next: (id) => `/systems/${id}/settings`,
    page(user, query) {
      const { rows, pagination } = lists.page(user, query);
      return {
        rows: rows.map((each) => ({ ...each, size: each.stigCount })),
        pagination,
        after: <DeletedLists lists={lists.deleted(user)} />,
      };
    },
  });

  // A former address of the settings: links to it must still work.
  app.get('/systems/:id/edit', guard.user, (c) =>
    goTo(c, `/systems/${encodeURIComponent(c.req.param('id'))}/settings`),
  );

  app.post('/systems/:id/restore', guard.audited('list.restore'), async (c) => {
    const { id } = await lists.restore(c.get('user'), c.req.param('id'));
    return goTo(c, `/systems/${id}`, { code: 'restored' });
  });

  app.post('/systems/:id/seen', guard.audited('list.mark-seen'), async (c) => {
    await listSeen.mark(c.get('user'), c.req.param('id'), now().toISOString());
    return goTo(c, safePath(c.get('form').get('next'), '/'), { code: 'seen' });
  });

  app.post('/systems/:id/duplicate', guard.audited('list.duplicate'), async (c) => {
    const { id } = await lists.duplicate(c.get('user'), c.req.param('id'));
    return goTo(c, `/systems/${id}`, { code: 'copied' });
  });

  const nothing = { text: '', problem: null, unclear: [] };

  async function one(
    c: Context<Env>,
    adding: ListOverview['adding'] = nothing,
    isWrong = adding !== nothing,
  ) {
    const shown = shownList(c, lists);
    const { page, sort } = readQuery(c, overviewQuery);
    const requested = { page, limit: entriesPerPage, sort };
    const overview = listStigs.overview(c.get('user'), shown.list.id, requested);
    const outdated = overview.entries
      .filter(({ release, state }) => release !== null && state === 'outdated')
      .map(({ slug, version }) => ({ slug, version, since: '', pinned: true }));
    const { stigs: news } = await ask(changesSince, outdated, '');
    const laterOf = new Map(overview.entries.map(({ slug }) => [slug, stigNames.laterByTitle(slug)]));
    const newsOf = new Map(news.map((each) => [each.slug, each]));
    const list = { ...shown, ...overview, sort, adding, newsOf, laterOf, now: now() };
    return show(c, listOverviewPage(list), isWrong ? 400 : 200);
  }

  async function add(
    c: Context<Env>,
    id: string,
    slugs: string[],
    seen: Parameters<Services['listEntries']['add']>[3],
  ) {
    const named = check(slugsBody, { slugs }).slugs;
    const { added, notFound } = await listEntries.add(c.get('user'), id, named, seen);
    mustBeInCatalog(notFound);
    return added;
  }

  /** Adds the STIGs that a text names; shows the other names again with suggestions. */
  async function addPasted(c: Context<Env>, id: string, typed: string): Promise<Response> {
    lists.own(c.get('user'), id);
    const pasted = await ask(pastedStigs, typed);
    const { named, unclear } = pasted;
    const notesOf = new Map(named.map((each) => [each.slug, check(notes, each.notes.join('\n'))]));
    const releases = new Map(named.map(({ slug, release }) => [slug, release]));
    const before = new Map(listStigs.sheet(c.get('user'), id).map((each) => [each.slug, each]));
    const result = comparePasted(pasted, notesOf, before);
    // With no name at all, the API's validation gives the message.
    const isNothing = named.length === 0 && unclear.length > 0;
    const slugs = named.map(({ slug }) => slug);
    const added = isNothing ? 0 : await add(c, id, slugs, { notes: notesOf, releases });
    const problem = describePasted(result, added);
    if (problem === null) return goTo(c, `/systems/${id}`, { code: 'added', count: added });
    const text = textLeft(result);
    const isLeft = unclear.length + result.there.length + result.otherwise.length > 0;
    return one(c, { text, problem, unclear }, isLeft);
  }

  // For a STIG's page or check boxes: the list is a field of the form.
  app.post('/systems/add', guard.audited('list.add-stigs', { field: 'list', size: 'notes' }), async (c) => {
    const id = c.get('form').get('list');
    const slugs = c.get('form').all('slug');
    const release = c.get('form').get('release');
    const releases = new Map(release === '' ? [] : slugs.map((slug) => [slug, release]));
    const added = await add(c, id, slugs, { releases });
    return goTo(c, `/systems/${id}`, { code: 'added', count: added });
  });

  app.get('/systems/:id', guard.user, (c) => one(c));

  app.post('/systems/:id/stigs', guard.audited('list.add-stigs', { size: 'pasted' }), (c) => {
    const id = c.req.param('id');
    const text = lines(c.get('form').all('slugs').join('\n'));
    return withFormErrors(
      () => addPasted(c, id, text),
      (problem) => one(c, { text, problem, unclear: [] }),
    );
  });

  app.post('/systems/:id/stigs/remove', guard.audited('list.remove-stigs', { size: 'notes' }), async (c) => {
    const id = c.req.param('id');
    const user = c.get('user');
    const { slugs } = check(slugsBody, { slugs: c.get('form').all('slug') });
    lists.own(user, id);
    const titles = listStigs.sheet(user, id).filter(({ slug }) => slugs.includes(slug));
    await listEntries.remove(user, id, slugs);
    return goTo(c, `/systems/${id}`, { code: 'removed', count: titles.length });
  });

  function edit(c: Context<Env>, typed: Partial<EntryForm> = {}, problem: string | null = null) {
    const { id = '', slug = '' } = c.req.param();
    const list = lists.own(c.get('user'), id);
    const entry = listStigs.entry(c.get('user'), id, slug);
    const { notes, position, release, newest } = entry;
    const form = { notes, position: String(position), release: release ?? '', ...typed };
    const home = path('systems', id);
    const versions = newest === '' ? [] : stigs.versions(entry.slug).versions;
    const choices = versions.map((each): [string, string] => [
      each.version,
      `${each.version} ${each.releaseDate ?? ''}`,
    ]);
    // A pinned release that the catalog lacks stays until another is chosen.
    const isKnown = form.release === '' || versions.some(({ version }) => version === form.release);
    if (!isKnown) choices.unshift([form.release, `${form.release} (not in the catalog)`]);
    const releaseField: FormField = {
      name: 'release',
      label: 'Release',
      choices: [['', 'The newest, whatever it is'], ...choices],
    };
    const view = {
      title: `Edit ${entry.title}`,
      section: 'systems' as const,
      crumbs: [
        ['Systems', '/systems'],
        [list.name, home],
      ] as [string, string][],
      heading: shortTitle(entry.title),
      body: (
        <FieldsForm action={`${home}${path('stigs', entry.slug)}`} problem={problem} submit="Save">
          <Fields of={[...(versions.length === 0 ? [] : [releaseField]), ...entryFields]} typed={form} />
        </FieldsForm>
      ),
    };
    return show(c, view, problem === null ? 200 : 400);
  }

  app.get('/systems/:id/stigs/:slug', guard.user, (c) => edit(c));

  app.post('/systems/:id/stigs/:slug', guard.audited('list.update-stig', { size: 'notes' }), (c) => {
    const { id, slug } = c.req.param();
    const user = c.get('user');
    // The button that takes the newest release has that field alone; the form of notes has none for it.
    const given = (name: string) => c.get('form').all(name)[0];
    const [notes, position, release] = [given('notes'), given('position')?.trim(), given('release')];
    const form = { notes: notes === undefined ? notes : lines(notes), position, release };
    const typed = Object.fromEntries(Object.entries(form).filter(([, value]) => value !== undefined));
    return withFormErrors(
      async () => {
        const number = /^\d{1,10}$/.test(position ?? '') ? Number(position) : position;
        const before = listStigs.entry(user, id, slug);
        const stays = number === before.position;
        const change = check(listStigBody, {
          notes: form.notes,
          position: stays ? undefined : number,
          release: release === '' ? null : release,
        });
        await listEntries.update(user, id, slug, change, { makesRoom: true });
        return goTo(c, safePath(c.get('form').get('next'), `/systems/${id}`), { code: 'changed' });
      },
      (problem) => edit(c, typed, problem),
    );
  });
}

/** The lists that a reader may restore. */
function DeletedLists({ lists }: { lists: { id: string; name: string; deletedAt: string }[] }) {
  if (lists.length === 0) return null;
  return (
    <>
      <h2 id="deleted">Deleted lists</h2>
      <p class="quiet">
        You can restore a list for 30 days after you delete it.
        {lists.length < mostDeletedShown ? '' : ` The ${mostDeletedShown} last deleted are shown.`}
      </p>
      {listing({
        caption: 'Your deleted lists',
        columns: [
          ['Name', ({ name }) => name],
          ['Deleted', ({ deletedAt }) => <Moment at={deletedAt} />],
          [
            'Actions',
            ({ id, name }) => (
              <PostButton action={path('systems', id, 'restore')} label="Restore" about={name} />
            ),
          ],
        ],
        rows: lists,
      })}
    </>
  );
}
