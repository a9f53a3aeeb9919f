import type { Context, Hono } from 'hono';
import { listStigBody, listStigsQuery } from '../collections/lists-schema.ts';
import { changeListBody, createListBody, slugsBody } from '../collections/schema.ts';
import type { Env } from '../http/env.ts';
import { check } from '../http/schema.ts';
import {
  collectionFormPages,
  formOf,
  items,
  lines,
  mustBeInCatalog,
  withFormErrors,
} from './collection-pages.ts';
import { listSettingsPage } from './html/list-settings.tsx';
import { DeletedLists, editEntryPage, type ListPage, listKind, listPage } from './html/lists.tsx';
import { shownList } from './list-frame.ts';
import { goTo, type PageDeps, type PageSupport, readQuery } from './page.ts';

/** The pages of lists: seen, made, changed, filled, deleted and restored, by forms. */
export function listPages(app: Hono<Env>, support: PageSupport, { lists, listStigs }: PageDeps): void {
  const { guard, show } = support;

  function one(c: Context<Env>, id: string, adding: ListPage['adding']): Response {
    const user = c.get('user');
    const shown = shownList(c, lists);
    const { page, limit } = readQuery(c, listStigsQuery);
    const { stigs: entries, pagination } = listStigs.page(user, id, { page, limit }, { include: false });
    const status = adding.problem === null ? 200 : 400;
    return show(c, listPage({ ...shown, entries, pagination, adding }), status);
  }

  async function add(c: Context<Env>, id: string, given: string[]): Promise<Response> {
    const { slugs } = check(slugsBody, { slugs: given });
    const { added, notFound } = await listStigs.add(c.get('user'), id, slugs);
    mustBeInCatalog(notFound);
    return goTo(c, `/lists/${id}`, { code: 'added', count: added });
  }

  collectionFormPages(app, support, {
    kind: listKind,
    audited: 'list',
    service: lists,
    createBody: createListBody,
    changeBody: changeListBody,
    editing: {
      at: 'settings',
      page: (c, _, typed, problem) => {
        const shown = shownList(c, lists);
        return listSettingsPage({
          ...shown,
          form: typed ?? (shown.isOwn ? formOf(shown.list) : null),
          problem,
        });
      },
      next: (id) => `/lists/${id}/settings`,
    },
    all: (user) => ({
      all: lists.all(user).lists.map((each) => ({ ...each, size: each.stigCount })),
      after: DeletedLists({ lists: lists.deleted(user) }),
    }),
  });

  // From a STIG's page: the list is selected in the form.
  app.post('/lists/add', guard.audited('list.add-stigs', 'list'), (c) =>
    add(c, c.get('form').get('list'), [c.get('form').get('slug')]),
  );

  app.get('/lists/:id', guard.user, (c) => one(c, c.req.param('id'), { text: '', problem: null }));

  app.post('/lists/:id/restore', guard.audited('list.restore'), async (c) => {
    const { id } = await lists.restore(c.get('user'), c.req.param('id'));
    return goTo(c, `/lists/${id}`, { code: 'restored' });
  });

  app.post('/lists/:id/duplicate', guard.audited('list.duplicate'), async (c) => {
    const { id } = await lists.duplicate(c.get('user'), c.req.param('id'));
    return goTo(c, `/lists/${id}`, { code: 'copied' });
  });

  app.post('/lists/:id/stigs', guard.audited('list.add-stigs'), (c) => {
    const id = c.req.param('id');
    const text = lines(c.get('form').get('slugs'));
    return withFormErrors(
      () => add(c, id, items(text, /[\s,]+/)),
      (problem) => one(c, id, { text, problem }),
    );
  });

  app.post('/lists/:id/stigs/remove', guard.audited('list.remove-stigs'), async (c) => {
    const id = c.req.param('id');
    const { slugs } = check(slugsBody, { slugs: c.get('form').all('slug') });
    const count = await listStigs.remove(c.get('user'), id, slugs);
    return goTo(c, `/lists/${id}`, { code: 'removed', count });
  });

  app.get('/lists/:id/stigs/:slug', guard.user, (c) => {
    const { id, slug } = c.req.param();
    const list = lists.own(c.get('user'), id);
    const entry = listStigs.entry(c.get('user'), id, slug);
    const form = { notes: entry.notes, position: String(entry.position) };
    return show(c, editEntryPage({ list, entry, form, problem: null }));
  });

  app.post('/lists/:id/stigs/:slug', guard.audited('list.update-stig'), (c) => {
    const { id, slug } = c.req.param();
    const user = c.get('user');
    const form = { notes: lines(c.get('form').get('notes')), position: c.get('form').get('position').trim() };
    return withFormErrors(
      async () => {
        const position = /^\d{1,10}$/.test(form.position) ? Number(form.position) : form.position;
        await listStigs.update(user, id, slug, check(listStigBody, { notes: form.notes, position }));
        return goTo(c, `/lists/${id}`, { code: 'changed' });
      },
      (problem) => {
        const page = { list: lists.get(user, id), entry: listStigs.entry(user, id, slug), form, problem };
        return show(c, editEntryPage(page), 400);
      },
    );
  });
}
