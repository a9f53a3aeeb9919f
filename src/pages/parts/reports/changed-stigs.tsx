import type { Child } from 'hono/jsx';
import { count } from '../../../base/text.ts';
import { changedRules } from '../../../catalog/stigs/changes.ts';
import type { ChangesSince, StigChanges } from '../../../catalog/stigs/changes-schema.ts';
import { changeClasses } from '../../../catalog/stigs/match.ts';
import { paginationOf, slice } from '../../../http/paging.ts';
import { Bar } from '../bars.tsx';
import { Downloads, link, path, StigLink, shortTitle, Table } from '../components.tsx';
import { classNames, SeverityMove } from '../diff-text.tsx';
import { Filters, Input, PostButton } from '../forms.tsx';
import { diffHref, ruleInDiff } from '../links.tsx';
import { listView, partPath, type ShownList } from '../list-frame.tsx';
import type { View } from '../view.ts';

const stigsPerPage = 50;

export interface ChangesPage {
  changes: ChangesSince;
  page: number;
  now: Date;
}

/** The changes in the whole catalog since a day. */
export function catalogChangesPage(page: ChangesPage): View {
  return {
    title: `Changes since ${page.changes.since}`,
    section: 'stigs',
    help: 'compare-two-releases',
    crumbs: [['STIGs', '/stigs']],
    actions: <Files of={path('stigs', 'changes')} since={page.changes.since} />,
    body: (
      <>
        <Changes {...page} home="/changes" none="No STIG has a release from this day on." />
      </>
    ),
  };
}

/** The changes in the STIGs of a list since a day, or since each was added. */
export function listChangesPage({ list, isOwn, ...page }: ShownList & ChangesPage): View {
  const home = partPath(list.id, 'changes');
  return listView({
    list,
    isOwn,
    part: 'changes',
    actions: (
      <>
        <Files of={home} since={page.changes.since} />
        {page.changes.since === 'seen' ? (
          <PostButton
            action={path('systems', list.id, 'seen')}
            label="Mark as read"
            fields={{ next: link(home, { since: 'seen' }) }}
          />
        ) : null}
      </>
    ),
    body: (
      <Changes
        {...page}
        home={home}
        none={
          page.changes.since === 'added' || page.changes.since === 'seen'
            ? 'No STIG of this list has a newer release since then. Choose an earlier day above.'
            : 'No STIG of this list has a release from this day on.'
        }
      >
        <a href={link(home, { since: 'added' })}>Since each STIG was added</a> ·{' '}
        <a href={link(home, { since: 'seen' })}>Since you read it</a>
      </Changes>
    ),
  });
}

function Files({ of, since }: { of: string; since: string }): Child {
  return <Downloads of={of} formats={['csv', 'xlsx', 'json']} query={{ since }} />;
}

/** The first day of a quarter: DISA publishes quarterly. `before` counts quarters back. */
export function quarterOf(now: Date, before = 0): string {
  const month = 3 * (Math.floor(now.getUTCMonth() / 3) - before);
  return new Date(Date.UTC(now.getUTCFullYear(), month, 1)).toISOString().slice(0, 10);
}

function Changes(props: ChangesPage & { home: string; none: string; children?: Child }): Child {
  const { changes, home, none, now, children } = props;
  const { since, totals, stigs } = changes;
  const part = { page: props.page, limit: stigsPerPage };
  const pagination = paginationOf(part, stigs.length);
  const most = Math.max(0, ...stigs.map(rulesOf));
  return (
    <>
      <Period home={home} since={since} now={now}>
        {children}
      </Period>
      <p>
        {since === 'added'
          ? 'Since each STIG was added'
          : since === 'seen'
            ? 'Since you read it'
            : `Since ${since}`}
        : {count(totals.stigs, 'STIG')} with a new release. {count(totals.changed, 'rule')} changed
        {ofWhichRaised(totals.severityRaised)}, {totals.added} added, {totals.removed} removed.
      </p>
      <Raised stigs={stigs} />
      <h2 id="stigs">By STIG</h2>
      {stigs.length === 0 ? null : <Legend />}
      <Table
        caption="Changes of each STIG"
        class="changes"
        head={['STIG', 'Releases', 'Changes']}
        rows={slice(stigs, part).map((stig) => [
          <StigLink of={stig} />,
          stig.from === null ? (
            `${stig.to}, no earlier release`
          ) : (
            <a href={diffHref(stig.slug, stig.from, stig.to)}>
              {stig.from} to {stig.to}
            </a>
          ),
          <>
            <ChangeBar stig={stig} of={most} />
            <InWords stig={stig} />
          </>,
        ])}
        pages={{ pagination, href: (page) => `${link(home, { since, page })}#stigs` }}
      >
        {none}
      </Table>
    </>
  );
}

function Period(props: { home: string; since: string; now: Date; children: Child }): Child {
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
        {children === undefined ? null : <>{children} · </>}
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

function Raised({ stigs }: { stigs: ChangesPage['changes']['stigs'] }): Child {
  const raised = stigs.flatMap((stig) => stig.severityRaised.map((rule) => ({ stig, rule })));
  if (raised.length === 0) return null;
  return (
    <>
      <h2 id="raised">Severity raised</h2>
      <Table
        caption="Rules whose severity was raised"
        class="lines"
        headColumn={1}
        head={['Severity', 'Rule', 'ID', 'STIG']}
        rows={raised.slice(0, mostRaised).map(({ stig, rule }) => [
          <SeverityMove {...rule} />,
          <a href={ruleInDiff(stig.slug, stig.from!, stig.to, rule.groupId)} title={rule.title}>
            {rule.title}
          </a>,
          <span class="ids">{rule.groupId}</span>,
          shortTitle(stig.title),
        ])}
      />
      {raised.length <= mostRaised ? null : (
        <p class="quiet">
          {mostRaised} of {raised.length} shown. The downloads contain all.
        </p>
      )}
    </>
  );
}

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

const mostRaised = 200;

const rulesOf = ({ added, removed, changed }: StigChanges) => added + removed + changedRules(changed);

function ChangeBar({ stig, of }: { stig: StigChanges; of: number }): Child {
  const raised = stig.severityRaised.length;
  const parts: [string, number][] = [
    ['high', raised],
    ['medium', changedRules(stig.changed) - raised],
    ['low', stig.added],
    ['age', stig.removed],
  ];
  return <Bar parts={parts} of={of} width={320} />;
}

/** A raised rule is a changed one: it is counted once. */
const ofWhichRaised = (raised: number) => (raised === 0 ? '' : `, of which ${raised} raised in severity`);

function InWords({ stig }: { stig: StigChanges }): Child {
  const { slug, from, to, added, removed, changed, severityRaised, unchanged, renumbered } = stig;
  if (from === null) return `${count(added, 'rule')}, all new`;
  const leads = (number: number, kind: string, more = '') =>
    number === 0 ? null : (
      <>
        <a href={link(path('stigs', slug, 'diff'), { from, to, kind })}>
          {number} {kind}
        </a>
        {more},{' '}
      </>
    );
  const raised = ofWhichRaised(severityRaised.length);
  const classes = changeClasses
    .filter((each) => changed[each] > 0)
    .map((each) => `${classNames[each]} ${changed[each]}`);
  return (
    <>
      {leads(changedRules(changed), 'changed', `${raised} (by main change: ${classes.join(', ')})`)}
      {leads(added, 'added')}
      {leads(removed, 'removed')}
      <span class="quiet">{renumbered + unchanged} with the same text</span>
    </>
  );
}
