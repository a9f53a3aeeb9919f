import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { User } from '../../auth/viewer.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { items } from '../../base/text.ts';
import type { CollectionChange } from '../../collections/collection-writer.ts';
import { type OverviewSort, overviewColumns } from '../../collections/collections.ts';
import type { Env } from '../../http/env.ts';
import type { Page } from '../../http/paging.ts';
import { check, type Pagination, positiveInteger, sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { Facts, Moment, path, Swatch, Tabs } from '../parts/components.tsx';
import { Fields, FieldsForm, type FormField, typedFields } from '../parts/forms.tsx';
import { listing } from '../parts/listing.tsx';
import { goTo, type PageSupport, readQuery } from '../parts/page.ts';
import type { View } from '../parts/view.ts';

/** Eight colors that differ in light and dark. */
const colors: [color: string, name: string][] = [
  ['', 'None'],
  ['#2a6fdb', 'Blue'],
  ['#0f8a8a', 'Teal'],
  ['#2f8a3a', 'Green'],
  ['#8a7a00', 'Olive'],
  ['#c2570c', 'Orange'],
  ['#c0303a', 'Red'],
  ['#8a3fc0', 'Purple'],
  ['#6b7480', 'Grey'],
];

/** The fields that a creator sets (rule D8.2). */
const fields = [
  { name: 'name', label: 'Name', attributes: { required: true, maxlength: 200 } },
  { name: 'description', label: 'Description', isLong: true, attributes: { maxlength: 2000 } },
  {
    name: 'visibility',
    label: 'Visibility',
    choices: [
      ['PRIVATE', 'Private'],
      ['SHARED', 'Organization'],
    ],
  },
  { name: 'tags', label: 'Tags', hint: 'Separated by commas, at most 20' },
  { name: 'color', label: 'Color', input: (chosen) => <Colors chosen={chosen} /> },
] as const satisfies FormField[];

type CollectionForm = Partial<Record<(typeof fields)[number]['name'], string>>;

/** One of eight colors, none, or the one that a program set. */
function Colors({ chosen }: { chosen: string }): Child {
  const isKnown = colors.some(([color]) => color === chosen.toLowerCase());
  const of: typeof colors = isKnown ? colors : [...colors, [chosen, chosen]];
  return (
    <fieldset>
      <legend>Color</legend>
      {of.map(([color, name]) => (
        <label>
          <input
            type="radio"
            name="color"
            value={color}
            checked={color.toLowerCase() === chosen.toLowerCase()}
          />
          <Swatch color={/^#[0-9a-f]{6}$/i.test(color) ? color : ''} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/** The form of a list or collection. */
export function CollectionFields(props: {
  action: string;
  form: CollectionForm;
  problem: string | null;
  submit: string;
}): Child {
  const { form, ...others } = props;
  return (
    <FieldsForm {...others}>
      <Fields of={fields} typed={form} />
    </FieldsForm>
  );
}

interface Shown {
  id: string;
  name: string;
  description: string;
  tags: string[];
  color: string;
  visibility: string;
  createdById: string;
  createdByEmail?: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The form of an existing list or collection. */
export function formOf(of: Pick<Shown, 'name' | 'description' | 'tags' | 'color' | 'visibility'>) {
  const { name, description, color } = of;
  return { name, description, color, tags: of.tags.join(', '), visibility: of.visibility.toUpperCase() };
}

/** How the pages of lists differ from those of collections: the words, the service and the bodies of the API. */
interface CollectionPages {
  section: 'systems' | 'collections';
  name: string;
  one: 'list' | 'collection';
  lead: string;
  none: string;
  members: string;
  /** The object in the names of audited actions. */
  audited: string;
  service: Pick<Services['lists' | 'collections'], 'create' | 'change' | 'remove' | 'get'>;
  createBody: z.ZodType<Parameters<Services['lists']['create']>[1]>;
  changeBody: z.ZodType<CollectionChange>;
  /** The end of the address of the form that changes an object. */
  editing: 'edit' | 'settings';
  /** The page of that form; `typed` is a refused one. */
  editPage(c: Context<Env>, id: string, typed: CollectionForm | null, problem: string | null): View;
  /** The page that a change leads to. */
  next(id: string): string;
  /** One page of the objects, and what stands below them. */
  page(
    user: User,
    query: Page & { sort?: OverviewSort | undefined },
  ): { rows: (Shown & { size: number })[]; pagination: Pagination; after?: Child };
}

const perPage = 100;
const overviewQuery = z.object({ page: positiveInteger('page').default(1), ...sorting(overviewColumns) });

/** The pages of lists and collections: overview, and forms to create, change and delete. */
export function collectionFormPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  pages: CollectionPages,
): void {
  const { section, name, one, audited, service, editing } = pages;
  const home = `/${section}` as const;
  const bodyOf = (form: CollectionForm) => ({ ...form, tags: items(form.tags ?? '', ',') });

  function overview(c: Context<Env>, form: CollectionForm = {}, problem: string | null = null): Response {
    const { subject } = c.get('user');
    const { sort, page } = readQuery(c, overviewQuery);
    const { rows, pagination, after } = pages.page(c.get('user'), { page, limit: perPage, sort });
    const body = (
      <>
        <SavedTabs at={section} />
        <p class="lead">{pages.lead}</p>
        {listing({
          caption: section === 'systems' ? 'Systems' : 'Collections of controls',
          columns: [
            [
              'Name',
              (each) => (
                <>
                  <Swatch color={each.color} />
                  <a href={path(section, each.id)}>{each.name}</a> <Tags tags={each.tags} />
                </>
              ),
              'name',
            ],
            [pages.members, ({ size }) => size, 'size'],
            ['Visibility', visibilityOf],
            ['Created by', (each) => creatorOf(each, each.createdById === subject), 'creator'],
            ['Created', ({ createdAt }) => <Moment at={createdAt} />, 'created'],
          ],
          rows,
          home,
          query: { sort },
          sort: sort ?? '-created',
          pagination,
          empty: pages.none,
        })}
        <h2 id="new">New {one}</h2>
        <CollectionFields action={home} form={form} problem={problem} submit={`Create ${one}`} />
        {after}
      </>
    );
    return show(c, { title: name, section: 'systems', body }, problem === null ? 200 : 400);
  }

  app.get(home, guard.user, (c) => overview(c));

  app.post(home, guard.audited(`${audited}.create`, { size: 'notes' }), (c) => {
    const form = typedFields(c.get('form'), fields);
    return withFormErrors(
      async () => {
        const { id } = await service.create(c.get('user'), check(pages.createBody, bodyOf(form)));
        return goTo(c, `${home}/${id}`, { code: 'created' });
      },
      (problem) => overview(c, form, problem),
    );
  });

  app.get(`${home}/:id/${editing}`, guard.user, (c) =>
    show(c, pages.editPage(c, c.req.param('id'), null, null)),
  );

  app.post(`${home}/:id/${editing}`, guard.audited(`${audited}.update`, { size: 'notes' }), (c) => {
    const id = c.req.param('id');
    const form = typedFields(c.get('form'), fields);
    return withFormErrors(
      async () => {
        await service.change(c.get('user'), id, check(pages.changeBody, bodyOf(form)));
        return goTo(c, pages.next(id), { code: 'changed' });
      },
      (problem) => {
        service.get(c.get('user'), id);
        return show(c, pages.editPage(c, id, form, problem), 400);
      },
    );
  });

  app.post(`${home}/:id/delete`, guard.audited(`${audited}.delete`), async (c) => {
    await service.remove(c.get('user'), c.req.param('id'));
    return goTo(c, home, { code: `${one}-deleted` });
  });
}

/** The lists, collections and favorites of a reader are one section. */
export function SavedTabs({ at }: { at: 'systems' | 'collections' | 'favorites' }): Child {
  const tabs = [
    ['systems', 'Systems'],
    ['collections', 'Collections'],
    ['favorites', 'Favorites'],
  ] as const;
  return <Tabs label="Yours" of={tabs.map(([each, label]) => [label, path(each), each === at])} />;
}

/** Visibility, creator and dates of a list or collection; `first` precedes them. */
export function FactsOf(props: {
  shown: Pick<Shown, 'visibility' | 'createdById' | 'createdByEmail' | 'updatedAt'>;
  isOwn: boolean;
  first?: [string, Child];
}): Child {
  const { shown, isOwn, first } = props;
  return (
    <Facts
      of={[
        ...(first === undefined ? [] : [first]),
        ['Visibility', visibilityOf(shown)],
        ['Created by', creatorOf(shown, isOwn)],
        ['Updated', <Moment at={shown.updatedAt} />],
      ]}
    />
  );
}

/** Collections store visibility in lower case (rule D8.1), lists in upper case. */
const visibilityOf = ({ visibility }: Pick<Shown, 'visibility'>) =>
  visibility.toUpperCase() === 'SHARED' ? 'Organization' : 'Private';

const creatorOf = (of: Pick<Shown, 'createdByEmail' | 'createdById'>, isOwn: boolean) =>
  isOwn ? 'you' : (of.createdByEmail ?? of.createdById);

export function Tags({ tags }: { tags: string[] }): Child {
  return tags.map((tag) => <span class="tag">{tag}</span>);
}

/** Asks for confirmation without script: a reader must open the section to see the button. */
export function DeleteForm({ action, what }: { action: string; what: string }): Child {
  return (
    <details class="more">
      <summary>Delete this {what}</summary>
      <form class="actions" method="post" action={action}>
        <button type="submit" class="danger">
          Delete {what}
        </button>
      </form>
    </details>
  );
}

/** Runs the handler of a form; shows a bad request in the form. Other errors get pages of their own. */
export async function withFormErrors(
  take: () => Promise<Response>,
  again: (problem: string) => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await take();
  } catch (error) {
    if (error instanceof AppError && error.code === 'BAD_REQUEST') return again(error.message);
    throw error;
  }
}

/** Throws a 400 that names what is not in the catalog; everything else was added. */
export function mustBeInCatalog(notFound: string[] | undefined): void {
  if (notFound === undefined) return;
  const [first = '', ...others] = notFound;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw badRequest(`Not in the catalog: ${first.slice(0, 64)}${more}. Everything else was added`);
}
