import type { Context, Hono } from 'hono';
import { items } from '../../base/text.ts';
import { addControlsBody, removeControlsBody } from '../../collections/control-collections-schema.ts';
import { changeCollectionBody, createCollectionBody } from '../../collections/schema.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { goTo, type PageSupport } from '../parts/page.ts';
import {
  type CollectionPage,
  collectionKind,
  collectionPage,
  editCollectionPage,
} from './collected-controls.tsx';
import { collectionFormPages, formOf, mustBeInCatalog, withFormErrors } from './collection-forms.ts';

type CollectionServices = Pick<Services, 'collections'>;

/** The pages of control collections. */
export function collectionPages(app: Hono<Env>, support: PageSupport, services: CollectionServices): void {
  settingsPages(app, support, services);
  entryPages(app, support, services);
}

function settingsPages(app: Hono<Env>, support: PageSupport, { collections }: CollectionServices): void {
  collectionFormPages(app, support, {
    kind: collectionKind,
    audited: 'control-collection',
    service: collections,
    createBody: createCollectionBody,
    changeBody: changeCollectionBody,
    editing: {
      at: 'edit',
      page: (c, id, typed, problem) => {
        const form = typed ?? formOf(collections.own(c.get('user'), id));
        return editCollectionPage(id, form, problem);
      },
      next: (id) => `/collections/${id}`,
    },
    page(user, wanted) {
      const { rows, pagination } = collections.page(user, wanted);
      return { rows: rows.map((each) => ({ ...each, size: each.controlCount })), pagination };
    },
  });
}

function entryPages(app: Hono<Env>, support: PageSupport, { collections }: CollectionServices): void {
  const { guard, show } = support;

  function one(c: Context<Env>, id: string, adding: CollectionPage['adding']): Response {
    const user = c.get('user');
    const collection = collections.get(user, id);
    const { controls } = collections.controls(user, id, undefined);
    const isOwn = collection.createdById === user.subject;
    const status = adding.problem === null ? 200 : 400;
    const known = collections.knownControls(controls);
    return show(c, collectionPage({ collection, controls, isOwn, adding, known }), status);
  }

  async function add(c: Context<Env>, id: string, given: object[]): Promise<Response> {
    const { controls } = check(addControlsBody, { controls: given });
    const { added, notFound } = await collections.add(c.get('user'), id, controls);
    mustBeInCatalog(notFound?.map((each) => each.controlId));
    return goTo(c, `/collections/${id}`, { code: 'added', count: added });
  }

  // For a control's page: the collection is a field of the form.
  app.post(
    '/collections/add',
    guard.audited('control-collection.add-controls', { field: 'collection' }),
    (c) => {
      const form = c.get('form');
      const entry = { framework: form.get('framework'), controlId: form.get('controlId') };
      return add(c, form.get('collection'), [entry]);
    },
  );

  app.get('/collections/:id', guard.user, (c) =>
    one(c, c.req.param('id'), { framework: 'nist-800-53', controlIds: '', notes: '', problem: null }),
  );

  app.post(
    '/collections/:id/controls',
    guard.audited('control-collection.add-controls', { size: 'pasted' }),
    (c) => {
      const id = c.req.param('id');
      const form = c.get('form');
      const framework = form.get('framework');
      const controlIds = form.get('controlIds');
      const notes = form.get('notes');
      const entries = items(controlIds, /[\n,]/).map((controlId) => ({ controlId, framework, notes }));
      return withFormErrors(
        () => add(c, id, entries),
        (problem) => one(c, id, { framework, controlIds, notes, problem }),
      );
    },
  );

  app.post(
    '/collections/:id/controls/remove',
    guard.audited('control-collection.remove-controls'),
    async (c) => {
      const id = c.req.param('id');
      const form = c.get('form');
      const entry = { framework: form.get('framework'), controlId: form.get('controlId') };
      const { controls } = check(removeControlsBody, { controls: [entry] });
      await collections.removeControls(c.get('user'), id, controls);
      return goTo(c, `/collections/${id}`, { code: 'removed' });
    },
  );
}
