import type { Hono } from 'hono';
import type { Env } from '../http/env.ts';
import { goTo, type PageSupport } from './parts/page.ts';

/**
 * The addresses that only take forms, each with the page that its form stands on, or one that is there in any case; and
 * one where a form stood.
 */
const pageOf = {
  '/lists/add': '/lists',
  '/lists/:id/edit': '/lists/:id/settings',
  '/lists/:id/stigs': '/lists/:id',
  '/lists/:id/stigs/remove': '/lists/:id',
  '/lists/:id/duplicate': '/lists/:id',
  '/lists/:id/delete': '/lists/:id',
  '/lists/:id/restore': '/lists',
  '/collections/add': '/collections',
  '/collections/:id/controls': '/collections/:id',
  '/collections/:id/controls/remove': '/collections/:id',
  '/collections/:id/delete': '/collections/:id',
  '/favorites/stigs': '/favorites',
  '/favorites/stigs/remove': '/favorites',
  '/favorites/controls': '/favorites',
  '/favorites/controls/remove': '/favorites',
};

/**
 * Leads who loads the address of a form again on to its page, and changes nothing: a refused form is shown under that
 * address, which a browser keeps when it is loaded anew, comes back after signing in or is marked.
 */
export function formOnlyPages(app: Hono<Env>, { guard }: PageSupport): void {
  for (const [address, page] of Object.entries(pageOf))
    app.get(address, guard.user, (c) => {
      const id = c.req.param('id');
      return goTo(c, id === undefined ? page : page.replace(':id', () => encodeURIComponent(id)));
    });
  for (const address of ['/signout', '/theme']) app.get(address, guard.visitor, (c) => goTo(c, '/'));
}
