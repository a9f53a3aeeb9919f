import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { User } from '../../auth/viewer.ts';
import { AppError, badRequest } from '../../base/errors.ts';
import { items } from '../../base/text.ts';
import type { CollectionChange } from '../../collections/collection-writer.ts';
import { type OverviewSort, overviewColumns } from '../../collections/collections.ts';
import type { Env, Form } from '../../http/env.ts';
import type { Page } from '../../http/paging.ts';
import { check, positiveInteger, sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { goTo, type PageSupport, readQuery } from '../parts/page.ts';
import { lines } from '../parts/typed-text.ts';
import type { View } from '../parts/view.ts';
import {
  type CollectionForm,
  emptyForm,
  type Kind,
  type OverviewPage,
  overviewPage,
} from './collection-pages.tsx';

interface Fields {
  name: string;
  description: string;
  tags: string[];
  color: string;
  visibility: string;
}

/** How the pages of lists differ from those of collections: the service and the bodies of the API. */
interface CollectionPages {
  kind: Kind;
  /** The object in the names of audited actions. */
  audited: string;
  service: Pick<Services['lists' | 'collections'], 'create' | 'change' | 'remove' | 'get'>;
  createBody: z.ZodType<Parameters<Services['lists']['create']>[1]>;
  changeBody: z.ZodType<CollectionChange>;
  /** The page with the form that changes an object: the end of its address; `typed` is a refused form. */
  editing: {
    at: 'edit' | 'settings';
    page(c: Context<Env>, id: string, typed: CollectionForm | null, problem: string | null): View;
    next(id: string): string;
  };
  page(
    user: User,
    wanted: Page & { sort?: OverviewSort | undefined },
  ): Pick<OverviewPage, 'rows' | 'pagination' | 'after'>;
}

const perPage = 100;

const overviewQuery = z.object({ page: positiveInteger('page').default(1), ...sorting(overviewColumns) });

/** The pages of lists and collections: overview, and forms to create, change and delete. */
export function collectionFormPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { kind, audited, service, createBody, changeBody, editing, page: pageOf }: CollectionPages,
): void {
  const home = `/${kind.section}` as const;

  function overview(c: Context<Env>, form: CollectionForm, problem: string | null): Response {
    const user = c.get('user');
    const { sort, page: number } = readQuery(c, overviewQuery);
    const shown = pageOf(user, { page: number, limit: perPage, sort });
    const page = overviewPage(kind, { ...shown, subject: user.subject, form, problem, sort });
    return show(c, page, problem === null ? 200 : 400);
  }

  app.get(home, guard.user, (c) => overview(c, emptyForm, null));

  app.post(home, guard.audited(`${audited}.create`, { size: 'notes' }), (c) => {
    const form = typedIn(c.get('form'));
    return withFormErrors(
      async () => {
        const { id } = await service.create(c.get('user'), check(createBody, bodyOf(form)));
        return goTo(c, `${home}/${id}`, { code: 'created' });
      },
      (problem) => overview(c, form, problem),
    );
  });

  app.get(`${home}/:id/${editing.at}`, guard.user, (c) =>
    show(c, editing.page(c, c.req.param('id'), null, null)),
  );

  app.post(`${home}/:id/${editing.at}`, guard.audited(`${audited}.update`, { size: 'notes' }), (c) => {
    const id = c.req.param('id');
    const form = typedIn(c.get('form'));
    return withFormErrors(
      async () => {
        await service.change(c.get('user'), id, check(changeBody, bodyOf(form)));
        return goTo(c, editing.next(id), { code: 'changed' });
      },
      (problem) => {
        service.get(c.get('user'), id);
        return show(c, editing.page(c, id, form, problem), 400);
      },
    );
  });

  app.post(`${home}/:id/delete`, guard.audited(`${audited}.delete`), async (c) => {
    await service.remove(c.get('user'), c.req.param('id'));
    return goTo(c, home, { code: `${kind.one}-deleted` });
  });
}

function typedIn(form: Form): CollectionForm {
  return {
    name: form.get('name'),
    description: lines(form.get('description')),
    tags: form.get('tags'),
    color: form.get('color').trim(),
    visibility: form.get('visibility'),
  };
}

function bodyOf(form: CollectionForm): Record<string, unknown> {
  return { ...form, tags: items(form.tags, ',') };
}

/** The form of an existing list or collection. */
export function formOf({ name, description, tags, color, visibility }: Fields): CollectionForm {
  return {
    name,
    description,
    tags: tags.join(', '),
    color,
    visibility: visibility.toUpperCase(),
  };
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
