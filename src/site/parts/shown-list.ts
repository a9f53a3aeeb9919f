import type { Context } from 'hono';
import type { ListService } from '../../collections/lists.ts';
import type { Env } from '../../http/env.ts';
import type { ShownList } from './list-frame.tsx';

/** The list that an address names by `:id`, as its reader may see it. Throws the one 404 for what they may not. */
export function shownList(c: Context<Env>, lists: ListService): ShownList {
  const user = c.get('user');
  const list = lists.get(user, c.req.param('id') ?? '');
  return { list, isOwn: list.createdById === user.subject };
}

/** The reader's own lists, to add STIGs to. */
export function ownLists(c: Context<Env>, lists: ListService): { id: string; name: string }[] {
  return lists.ownChoices(c.get('user'));
}
