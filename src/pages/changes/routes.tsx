import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Ask } from '../../base/ask.ts';
import { count } from '../../base/text.ts';
import { changedRules } from '../../catalog/stigs/changes.ts';
import {
  type ChangesSince,
  changesQuery,
  listChangesQuery,
  type StigChanges,
} from '../../catalog/stigs/changes-schema.ts';
import { changesSince } from '../../catalog/stigs/jobs.ts';
import { changeClasses } from '../../catalog/stigs/match.ts';
import type { Env } from '../../http/env.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import { positiveInteger } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { Bar } from '../parts/bars.tsx';
import { Downloads, link, path, StigLink, shortTitle } from '../parts/components.tsx';
import { classNames, SeverityMove } from '../parts/diff-text.tsx';
import { Filters, Input, PostButton } from '../parts/forms.tsx';
import { diffHref, ruleInDiff } from '../parts/links.tsx';
import { listView, partPath, shownList } from '../parts/list-frame.tsx';
import { listing } from '../parts/listing.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';

const stigsPerPage = 50;
const page = positiveInteger('page').default(1);

/** What changed since a day: in the whole catalog, and in the STIGs of a system. */
export function changePages(
  app: Hono<Env>,
  { guard, show, now }: PageSupport,
  { ask, lists }: Pick<Services, 'lists'> & { ask: Ask },
): void {
  app.get('/changes', guard.user, async (c) => {
    const since = changesQuery.shape.since.default(quarterOf(now()));
    const query = readQuery(c, changesQuery.extend({ page, since }));
    const changes = await ask(changesSince, undefined, query.since);
    const body = (
      <>
        <Period home="/changes" since={changes.since} now={now()} />
        <Changes
          changes={changes}
          page={query.page}
          home="/changes"
          none="No STIG has a release from this day on."
        />
      </>
    );
    return show(c, {
      title: `Changes since ${changes.since}`,
      section: 'stigs',
      help: 'compare-two-releases',
      crumbs: [['STIGs', '/stigs']],
      actions: <Files of={path('stigs', 'changes')} since={changes.since} />,
      body,
    });
  });

  app.get('/systems/:id/changes', guard.user, async (c: Context<Env>) => {
    const shown = shownList(c, lists);
    const { id } = shown.list;
    const home = partPath(id, 'changes');
    const since = listChangesQuery.shape.since.default('added');
    const query = readQuery(c, listChangesQuery.extend({ page, since }));
    const changes = await ask(changesSince, { viewer: c.get('user'), list: id }, query.since);
    const isOfDay = /^\d/.test(changes.since);
    const actions = (
      <>
        <Files of={home} since={changes.since} />
        {changes.since === 'seen' ? (
          <PostButton
            action={path('systems', id, 'seen')}
            label="Mark as read"
            fields={{ next: link(home, { since: 'seen' }) }}
          />
        ) : null}
      </>
    );
    const body = (
      <>
        <Period home={home} since={changes.since} now={now()}>
          <a href={link(home, { since: 'added' })}>Since each STIG was added</a> ·{' '}
          <a href={link(home, { since: 'seen' })}>Since you read it</a> ·{' '}
        </Period>
        <Changes
          changes={changes}
          page={query.page}
          home={home}
          none={
            isOfDay
              ? 'No STIG of this list has a release from this day on.'
              : 'No STIG of this list has a newer release since then. Choose an earlier day above.'
          }
        />
      </>
    );
    return show(c, listView({ ...shown, part: 'changes', actions, body }));
  });
}

function Files({ of, since }: { of: string; since: string }): Child {
  return <Downloads of={of} formats={['csv', 'xlsx', 'json']} query={{ since }} />;
}

/** The first day of a quarter: DISA publishes quarterly. `before` counts quarters back. */
function quarterOf(now: Date, before = 0): string {
  const month = 3 * (Math.floor(now.getUTCMonth() / 3) - before);
  return new Date(Date.UTC(now.getUTCFullYear(), month, 1)).toISOString().slice(0, 10);
}

/** The choice of a day; the children are links to others. */
function Period(props: { home: string; since: string; now: Date; children?: Child }): Child {
  const { home, since, now, children } = props;
  const days: [string, string][] = [
    ['this quarter', quarterOf(now)],
    ['the quarter before', quarterOf(now, 1)],
    ['a year', quarterOf(now, 4)],
  ];
  return (
    <>
      <Filters action={home}>
        <Input name="since" label="Since" type="date" value={/^\d/.test(since) ? since : ''} required />
      </Filters>
      <p>
        {children}
        {days.map(([label, day], index) => (
          <>
            {index === 0 ? '' : ' · '}
            <a href={link(home, { since: day })}>
              {label} <span class="quiet">({day})</span>
            </a>
          </>
        ))}
      </p>
    </>
  );
}

/** Since when, where it is no day. */
const moments: Record<string, string> = {
  added: 'Since each STIG was added',
  seen: 'Since you read it',
};

function Changes(props: { changes: ChangesSince; page: number; home: string; none: string }): Child {
  const { home, none } = props;
  const { since, totals, stigs } = props.changes;
  const part = { page: props.page, limit: stigsPerPage };
  const most = Math.max(0, ...stigs.map((stig) => stig.added + stig.removed + changedRules(stig.changed)));
  return (
    <>
      <p>
        {moments[since] ?? `Since ${since}`}: {count(totals.stigs, 'STIG')} with a new release.{' '}
        {count(totals.changed, 'rule')} changed{ofWhichRaised(totals.severityRaised)}, {totals.added} added,{' '}
        {totals.removed} removed.
      </p>
      <Raised stigs={stigs} />
      <h2 id="stigs">By STIG</h2>
      {stigs.length === 0 ? null : <Legend />}
      {listing({
        caption: 'Changes of each STIG',
        columns: [
          ['STIG', (stig) => <StigLink of={stig} />],
          [
            'Releases',
            ({ slug, from, to }) =>
              from === null ? (
                `${to}, no earlier release`
              ) : (
                <a href={diffHref(slug, from, to)}>
                  {from} to {to}
                </a>
              ),
          ],
          [
            'Changes',
            (stig) => (
              <>
                <Bar parts={partsOf(stig)} of={most} width={320} />
                <InWords stig={stig} />
              </>
            ),
          ],
        ],
        rows: slice(stigs, part),
        home,
        query: { since },
        anchor: '#stigs',
        pagination: paginationOf(part, stigs.length),
        empty: none,
      })}
    </>
  );
}

const mostRaised = 200;

function Raised({ stigs }: { stigs: StigChanges[] }): Child {
  const raised = stigs.flatMap((stig) => stig.severityRaised.map((rule) => ({ stig, rule })));
  if (raised.length === 0) return null;
  return (
    <>
      <h2 id="raised">Severity raised</h2>
      {listing({
        caption: 'Rules whose severity was raised',
        class: 'lines',
        headColumn: 1,
        columns: [
          ['Severity', ({ rule }) => <SeverityMove {...rule} />],
          [
            'Rule',
            ({ stig, rule }) => (
              <a href={ruleInDiff(stig.slug, stig.from!, stig.to, rule.groupId)} title={rule.title}>
                {rule.title}
              </a>
            ),
          ],
          ['ID', ({ rule }) => <span class="ids">{rule.groupId}</span>],
          ['STIG', ({ stig }) => shortTitle(stig.title)],
        ],
        rows: raised.slice(0, mostRaised),
      })}
      {raised.length <= mostRaised ? null : (
        <p class="quiet">
          {mostRaised} of {raised.length} shown. The downloads contain all.
        </p>
      )}
    </>
  );
}

/** The parts of a bar, by the class of each. */
const partsOf = ({ severityRaised, changed, added, removed }: StigChanges): [string, number][] => [
  ['high', severityRaised.length],
  ['medium', changedRules(changed) - severityRaised.length],
  ['low', added],
  ['age', removed],
];

function Legend(): Child {
  const parts = [
    ['high', 'raised in severity'],
    ['medium', 'changed otherwise'],
    ['low', 'added'],
    ['age', 'removed'],
  ];
  return (
    <ul class="legend" aria-label="Parts of the bars, from the left">
      {parts.map(([name, words]) => (
        <li>
          <svg width="14" height="12" aria-hidden="true">
            <rect class={name} width="14" height="12" />
          </svg>
          {words}
        </li>
      ))}
    </ul>
  );
}

/** A raised rule is a changed one: it is counted once. */
const ofWhichRaised = (raised: number) => (raised === 0 ? '' : `, of which ${raised} raised in severity`);

function InWords({ stig }: { stig: StigChanges }): Child {
  const { slug, from, to, added, removed, changed, severityRaised, unchanged, renumbered } = stig;
  if (from === null) return `${count(added, 'rule')}, all new`;
  const classes = changeClasses
    .filter((each) => changed[each] > 0)
    .map((each) => `${classNames[each]} ${changed[each]}`);
  const raised = ofWhichRaised(severityRaised.length);
  const kinds: [number, kind: string, more: string][] = [
    [changedRules(changed), 'changed', `${raised} (by main change: ${classes.join(', ')})`],
    [added, 'added', ''],
    [removed, 'removed', ''],
  ];
  return (
    <>
      {kinds
        .filter(([number]) => number > 0)
        .map(([number, kind, more]) => (
          <>
            <a href={link(path('stigs', slug, 'diff'), { from, to, kind })}>
              {number} {kind}
            </a>
            {more},{' '}
          </>
        ))}
      <span class="quiet">{renumbered + unchanged} with the same text</span>
    </>
  );
}
