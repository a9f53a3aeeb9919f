import type { Context, Hono } from 'hono';
import { AppError, badRequest } from '../base/errors.ts';
import type { ListEntryService } from '../collections/list-entries.ts';
import type { ListService } from '../collections/lists.ts';
import { listStigBody, listStigsQuery } from '../collections/lists-schema.ts';
import { changeListBody, createListBody, slugsBody } from '../collections/schema.ts';
import type { Env } from '../http/env.ts';
import { check } from '../http/schema.ts';
import { collectionBody, collectionForm, formOf, items, lines } from './collection-form.ts';
import { type CollectionForm, editCollectionPage, emptyForm } from './html/collection-form.tsx';
import { editEntryPage, listPage, listsPage } from './html/lists.tsx';
import { goTo, type PageSupport, readQuery } from './page.ts';

export interface ListPageServices {
  lists: ListService;
  listStigs: ListEntryService;
}

/** The pages of lists: seen, made, changed, filled, deleted and restored, by forms. */
export function listPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { lists, listStigs }: ListPageServices,
): void {
  const rule = guard.user;

  function all(c: Context<Env>, form: CollectionForm, problem: string | null): Response {
    const user = c.get('user');
    const page = {
      lists: lists.all(user).lists,
      deleted: lists.deleted(user),
      subject: user.subject,
      form,
      problem,
    };
    return show(c, listsPage(page), problem === null ? 200 : 400);
  }

  function one(c: Context<Env>, id: string, adding: { text: string; problem: string | null }): Response {
    const user = c.get('user');
    const list = lists.get(user, id);
    const { page, limit } = readQuery(c, listStigsQuery);
    const { stigs, pagination } = listStigs.page(user, id, { page, limit }, { include: false });
    const isOwn = list.createdById === user.subject;
    return show(
      c,
      listPage({ list, entries: stigs, pagination, isOwn, adding }),
      adding.problem === null ? 200 : 400,
    );
  }

  const unfilled = { ...emptyForm, icon: '' };
  const nothing = { text: '', problem: null };

  app.get('/lists', rule, (c) => all(c, unfilled, null));

  app.post('/lists', guard.audited('list.create'), (c) => {
    const form = collectionForm(c.get('form'), true);
    return withFormErrors(
      async () => {
        const { id } = await lists.create(c.get('user'), check(createListBody, collectionBody(form)));
        return goTo(c, `/lists/${id}`, { code: 'created' });
      },
      (problem) => all(c, form, problem),
    );
  });

  // From a STIG's page: the list is selected in the form.
  app.post('/lists/add', guard.audited('list.add-stigs', 'list'), async (c) => {
    const id = c.get('form').get('list');
    const { slugs } = check(slugsBody, { slugs: [c.get('form').get('slug')] });
    const { added, notFound } = await listStigs.add(c.get('user'), id, slugs);
    if (notFound) throw notInCatalog(notFound);
    return goTo(c, `/lists/${id}`, { code: 'added', count: added });
  });

  app.get('/lists/:id', rule, (c) => one(c, c.req.param('id'), nothing));

  app.get('/lists/:id/edit', rule, (c) => {
    const id = c.req.param('id');
    const list = lists.own(c.get('user'), id);
    return show(c, editCollectionPage({ kind: 'lists', id, form: formOf(list), problem: null }));
  });

  app.post('/lists/:id/edit', guard.audited('list.update'), (c) => {
    const id = c.req.param('id');
    const form = collectionForm(c.get('form'), true);
    return withFormErrors(
      async () => {
        await lists.change(c.get('user'), id, check(changeListBody, collectionBody(form)));
        return goTo(c, `/lists/${id}`, { code: 'changed' });
      },
      (problem) => {
        lists.get(c.get('user'), id);
        return show(c, editCollectionPage({ kind: 'lists', id, form, problem }), 400);
      },
    );
  });

  app.post('/lists/:id/delete', guard.audited('list.delete'), async (c) => {
    await lists.remove(c.get('user'), c.req.param('id'));
    return goTo(c, '/lists', { code: 'list-deleted' });
  });

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
      async () => {
        const { slugs } = check(slugsBody, { slugs: items(text, /[\s,]+/) });
        const { added, notFound } = await listStigs.add(c.get('user'), id, slugs);
        if (notFound) throw notInCatalog(notFound);
        return goTo(c, `/lists/${id}`, { code: 'added', count: added });
      },
      (problem) => one(c, id, { text, problem }),
    );
  });

  app.post('/lists/:id/stigs/remove', guard.audited('list.remove-stigs'), async (c) => {
    const id = c.req.param('id');
    const { slugs } = check(slugsBody, { slugs: c.get('form').all('slug') });
    const count = await listStigs.remove(c.get('user'), id, slugs);
    return goTo(c, `/lists/${id}`, { code: 'removed', count });
  });

  app.get('/lists/:id/stigs/:slug', rule, (c) => {
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

/** Runs what takes a form; what is wrong with the form is shown in it. Other refusals are pages of their own. */
export async function withFormErrors(
  take: () => Promise<Response>,
  again: (problem: string) => Response,
): Promise<Response> {
  try {
    return await take();
  } catch (error) {
    if (error instanceof AppError && error.code === 'BAD_REQUEST') return again(error.message);
    throw error;
  }
}

/** What was to be added and is not there: the rest is in. */
export function notInCatalog(names: string[]): AppError {
  const [first = '', ...others] = names;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return badRequest(`Not in the catalog: ${first.slice(0, 64)}${more}. Everything else was added`);
}
