import type { Context, Hono } from 'hono';
import type { ControlCollectionService } from '../collections/control-collections.ts';
import { addControlsBody, removeControlsBody } from '../collections/control-collections-schema.ts';
import { changeCollectionBody, createCollectionBody } from '../collections/schema.ts';
import type { Env } from '../http/env.ts';
import { check } from '../http/schema.ts';
import { collectionBody, collectionForm, formOf, items } from './collection-form.ts';
import { type CollectionForm, editCollectionPage, emptyForm } from './html/collection-form.tsx';
import { type CollectionPage, collectionPage, collectionsPage } from './html/collections.tsx';
import { notInCatalog, withFormErrors } from './lists.ts';
import { goTo, type PageSupport } from './page.ts';

/** The pages of control collections. */
export function collectionPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  collections: ControlCollectionService,
): void {
  const rule = guard.user;

  function all(c: Context<Env>, form: CollectionForm, problem: string | null): Response {
    const user = c.get('user');
    const page = { collections: collections.all(user).collections, subject: user.subject, form, problem };
    return show(c, collectionsPage(page), problem === null ? 200 : 400);
  }

  function one(c: Context<Env>, id: string, adding: CollectionPage['adding']): Response {
    const user = c.get('user');
    const collection = collections.get(user, id);
    const { controls } = collections.controls(user, id, undefined);
    const isOwn = collection.createdById === user.subject;
    const status = adding.problem === null ? 200 : 400;
    return show(c, collectionPage({ collection, controls, isOwn, adding }), status);
  }

  app.get('/collections', rule, (c) => all(c, emptyForm, null));

  app.post('/collections', guard.audited('control-collection.create'), (c) => {
    const form = collectionForm(c.get('form'), false);
    return withFormErrors(
      async () => {
        const { id } = await collections.create(
          c.get('user'),
          check(createCollectionBody, collectionBody(form)),
        );
        return goTo(c, `/collections/${id}`, { code: 'created' });
      },
      (problem) => all(c, form, problem),
    );
  });

  // From a control's page: the collection is selected in the form.
  app.post('/collections/add', guard.audited('control-collection.add-controls', 'collection'), async (c) => {
    const form = c.get('form');
    const id = form.get('collection');
    const entry = { framework: form.get('framework'), controlId: form.get('controlId') };
    const { controls } = check(addControlsBody, { controls: [entry] });
    const { added, notFound } = await collections.add(c.get('user'), id, controls);
    if (notFound) throw notInCatalog(notFound.map((each) => each.controlId));
    return goTo(c, `/collections/${id}`, { code: 'added', count: added });
  });

  app.get('/collections/:id', rule, (c) =>
    one(c, c.req.param('id'), { framework: 'nist-800-53', controlIds: '', notes: '', problem: null }),
  );

  app.get('/collections/:id/edit', rule, (c) => {
    const id = c.req.param('id');
    const form = formOf(collections.own(c.get('user'), id));
    return show(c, editCollectionPage({ kind: 'collections', id, form, problem: null }));
  });

  app.post('/collections/:id/edit', guard.audited('control-collection.update'), (c) => {
    const id = c.req.param('id');
    const form = collectionForm(c.get('form'), false);
    return withFormErrors(
      async () => {
        await collections.change(c.get('user'), id, check(changeCollectionBody, collectionBody(form)));
        return goTo(c, `/collections/${id}`, { code: 'changed' });
      },
      (problem) => {
        collections.get(c.get('user'), id);
        return show(c, editCollectionPage({ kind: 'collections', id, form, problem }), 400);
      },
    );
  });

  app.post('/collections/:id/delete', guard.audited('control-collection.delete'), async (c) => {
    await collections.remove(c.get('user'), c.req.param('id'));
    return goTo(c, '/collections', { code: 'collection-deleted' });
  });

  app.post('/collections/:id/controls', guard.audited('control-collection.add-controls'), (c) => {
    const id = c.req.param('id');
    const form = c.get('form');
    const adding = {
      framework: form.get('framework'),
      controlIds: form.get('controlIds'),
      notes: form.get('notes'),
    };
    return withFormErrors(
      async () => {
        const entries = items(adding.controlIds, /[\n,]/).map((controlId) => ({
          controlId,
          framework: adding.framework,
          notes: adding.notes,
        }));
        const { controls } = check(addControlsBody, { controls: entries });
        const { added, notFound } = await collections.add(c.get('user'), id, controls);
        if (notFound) throw notInCatalog(notFound.map((each) => each.controlId));
        return goTo(c, `/collections/${id}`, { code: 'added', count: added });
      },
      (problem) => one(c, id, { ...adding, problem }),
    );
  });

  app.post(
    '/collections/:id/controls/remove',
    guard.audited('control-collection.remove-controls'),
    async (c) => {
      const id = c.req.param('id');
      const form = c.get('form');
      const entry = { framework: form.get('framework'), controlId: form.get('controlId') };
      const { controls } = check(removeControlsBody, { controls: [entry] });
      const count = await collections.removeControls(c.get('user'), id, controls);
      return goTo(c, `/collections/${id}`, { code: 'removed', count });
    },
  );
}
