import type { Context } from 'hono';
import type { User } from '../../auth/viewer.ts';
import type { Env } from '../../http/env.ts';

/** The list of `:id` in the address. Throws the same 404 for a missing list and for one that the reader may not see. */
export function shownList<List extends { createdById: string }>(
  c: Context<Env>,
  lists: { get(user: User, id: string): List },
) {
  const user = c.get('user');
  const list = lists.get(user, c.req.param('id') ?? '');
  return { list, isOwn: list.createdById === user.subject };
}

/** The reader's own lists, to add STIGs to. */
export function ownLists<Choice>(c: Context<Env>, lists: { ownChoices(user: User): Choice }): Choice {
  return lists.ownChoices(c.get('user'));
}
