import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import type { User } from '../../auth/viewer.ts';
import type { Env } from '../../http/env.ts';
import { path, Swatch, Tabs } from './components.tsx';
import type { View } from './view.ts';

/** The tabs of a list's page, in order. Each name is the end of an address; the first tab has none. */
const parts = [
  ['overview', 'Overview'],
  ['coverage', 'Coverage'],
  ['automation', 'Plan of work'],
  ['worksheet', 'Worksheet'],
  ['changes', 'Changes'],
  ['checklists', 'Checklists'],
  ['settings', 'Sharing and settings'],
] as const;
type ListPart = (typeof parts)[number][0];

export interface ShownList<List = { id: string; name: string; color: string }> {
  list: List;
  isOwn: boolean;
}

/** The headings of the guide for parts that have one. */
const helps: Partial<Record<ListPart, string>> = {
  coverage: 'what-does-a-list-cover',
  automation: 'plan-the-work',
  worksheet: 'plan-the-work',
  changes: 'compare-two-releases',
};

/** The address of a tab of a list's page. */
export function partPath(id: string, part: ListPart): string {
  return part === 'overview' ? path('systems', id) : path('systems', id, part);
}

/** One tab of a list's page; `actions` are its downloads and other links beside its name. */
export function listView(page: ShownList & { part: ListPart; actions?: Child; body: Child }): View {
  const { list, part, actions, body } = page;
  const label = new Map(parts).get(part)!;
  return {
    title: part === 'overview' ? list.name : `${label} · ${list.name}`,
    section: 'systems',
    help: helps[part],
    crumbs: [['Systems', '/systems']],
    heading: (
      <>
        <Swatch color={list.color} />
        {list.name}
      </>
    ),
    actions,
    body: (
      <>
        <Tabs
          label="Parts of this list"
          of={parts.map(([each, label]) => [label, partPath(list.id, each), each === part])}
        />
        {part === 'overview' ? null : <h2 class="hidden">{label}</h2>}
        {body}
      </>
    ),
  };
}

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
