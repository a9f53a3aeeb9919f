import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { items } from '../../base/text.ts';
import { addControlsBody, removeControlsBody } from '../../collections/control-collections-schema.ts';
import { changeCollectionBody, createCollectionBody } from '../../collections/schema.ts';
import type { Env, Form } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { Downloads, path, Swatch } from '../parts/components.tsx';
import { Fields, FieldsForm, type FormField, PostButton, typedFields } from '../parts/forms.tsx';
import { controlHref, frameworkName } from '../parts/links.tsx';
import { listing } from '../parts/listing.tsx';
import { goTo, type PageSupport } from '../parts/page.ts';
import {
  CollectionFields,
  collectionFormPages,
  DeleteForm,
  FactsOf,
  formOf,
  mustBeInCatalog,
  Tags,
  withFormErrors,
} from './collection-pages.tsx';

/** The fields of the form that adds controls. */
const addingFields = [
  {
    name: 'framework',
    label: 'Catalog',
    choices: ['nist-800-53', 'nist-800-171', 'dod-8500'].map((each) => [each, frameworkName(each)]),
  },
  {
    name: 'controlIds',
    label: 'Controls',
    hint: 'One per line, such as AC-2(1) or 3.1.1',
    isLong: true,
    attributes: { class: 'mono', required: true },
  },
  { name: 'notes', label: 'Notes for these controls', attributes: { maxlength: 4000 } },
] as const satisfies FormField[];

type Adding = Partial<Record<(typeof addingFields)[number]['name'], string>>;

/** The pages of control collections. */
export function collectionPages(
  app: Hono<Env>,
  support: PageSupport,
  { collections }: Pick<Services, 'collections'>,
): void {
  const { guard, show } = support;

  collectionFormPages(app, support, {
    section: 'collections',
    name: 'Collections',
    one: 'collection',
    lead: 'Collections of controls: your own, and those that your organization shares.',
    none: 'No collections yet. Create one below, then add controls from their pages.',
    members: 'Controls',
    audited: 'control-collection',
    service: collections,
    createBody: createCollectionBody,
    changeBody: changeCollectionBody,
    editing: 'edit',
    editPage(c, id, typed, problem) {
      const form = typed ?? formOf(collections.own(c.get('user'), id));
      const home = path('collections', id);
      return {
        title: 'Edit collection',
        section: 'systems',
        crumbs: [
          ['Collections', '/collections'],
          [form.name ?? '', home],
        ],
        body: <CollectionFields action={`${home}/edit`} form={form} problem={problem} submit="Save" />,
      };
    },
    next: (id) => `/collections/${id}`,
    page(user, query) {
      const { rows, pagination } = collections.page(user, query);
      return { rows: rows.map((each) => ({ ...each, size: each.controlCount })), pagination };
    },
  });

  function one(c: Context<Env>, adding: Adding = {}, problem: string | null = null): Response {
    const user = c.get('user');
    const collection = collections.get(user, c.req.param('id')!);
    const { id, name, description, color, tags } = collection;
    const { controls } = collections.controls(user, id, undefined);
    const known = collections.knownControls(controls);
    const isOwn = collection.createdById === user.subject;
    const home = path('collections', id);
    const view = {
      title: name,
      section: 'systems' as const,
      crumbs: [['Collections', '/collections']] as [string, string][],
      heading: (
        <>
          <Swatch color={color} />
          {name}
        </>
      ),
      actions: (
        <>
          <Downloads of={path('control-collections', id, 'export')} formats={['json', 'csv', 'xlsx']} />
          {isOwn ? (
            <a class="button quiet" href={`${home}/edit`}>
              Edit
            </a>
          ) : null}
        </>
      ),
      body: (
        <>
          {description === '' ? null : <p class="lead prose">{description}</p>}
          <Tags tags={tags} />
          <FactsOf shown={collection} isOwn={isOwn} first={['Controls', collection.controlCount]} />
          <details class="more" open={problem !== null}>
            <summary>Add controls by ID</summary>
            <FieldsForm action={`${home}/controls`} problem={problem} submit="Add controls">
              <Fields of={addingFields} typed={adding} />
            </FieldsForm>
          </details>
          {listing({
            caption: `Controls of ${name}`,
            columns: [
              ['Control', (control) => <NamedControl of={control} isGone={!known.has(control)} />],
              ['Title', ({ title }) => title],
              ['Family', ({ family }) => family],
              ['Notes', ({ notes }) => (notes === '' ? '' : <span class="prose">{notes}</span>)],
              isOwn && [
                'Actions',
                ({ framework, identifier, notes }) => (
                  <PostButton
                    action={`${home}/controls/remove`}
                    label="Remove"
                    about={identifier}
                    fields={{ framework, controlId: identifier }}
                    loses={notes === '' ? null : 'Its note'}
                  />
                ),
              ],
            ],
            rows: controls,
            empty: (
              <>
                This collection is empty. <a href="/controls">Browse controls</a>
              </>
            ),
          })}
          {isOwn ? <DeleteForm action={`${home}/delete`} what="collection" /> : null}
        </>
      ),
    };
    return show(c, view, problem === null ? 200 : 400);
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
    (c) => add(c, c.get('form').get('collection'), [controlIn(c.get('form'))]),
  );

  app.get('/collections/:id', guard.user, (c) => one(c));

  app.post(
    '/collections/:id/controls',
    guard.audited('control-collection.add-controls', { size: 'pasted' }),
    (c) => {
      const typed = typedFields(c.get('form'), addingFields);
      const { framework, notes } = typed;
      const entries = items(typed.controlIds, /[\n,]/).map((controlId) => ({ controlId, framework, notes }));
      return withFormErrors(
        () => add(c, c.req.param('id'), entries),
        (problem) => one(c, typed, problem),
      );
    },
  );

  app.post(
    '/collections/:id/controls/remove',
    guard.audited('control-collection.remove-controls'),
    async (c) => {
      const id = c.req.param('id');
      const { controls } = check(removeControlsBody, { controls: [controlIn(c.get('form'))] });
      await collections.removeControls(c.get('user'), id, controls);
      return goTo(c, `/collections/${id}`, { code: 'removed' });
    },
  );
}

/** The control that the fields of a form name. */
export function controlIn(form: Form) {
  return { framework: form.get('framework'), controlId: form.get('controlId') };
}

/** A control with its catalog; a link while the catalog has it. */
export function NamedControl(props: {
  of: { framework: string; identifier: string };
  isGone: boolean;
}): Child {
  const { of, isGone } = props;
  const catalog = frameworkName(of.framework);
  return (
    <>
      {isGone ? of.identifier : <a href={controlHref(of.framework, of.identifier)}>{of.identifier}</a>}{' '}
      <span class="quiet">{isGone ? `${catalog} (no longer in the catalog)` : catalog}</span>
    </>
  );
}
