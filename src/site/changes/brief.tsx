import type { Child } from 'hono/jsx';
import { yieldToEventLoop } from '../../base/slices.ts';
import { count, spoken } from '../../base/text.ts';
import { severityBefore } from '../../catalog/stigs/changes-export.ts';
import type { ChangesSince } from '../../catalog/stigs/changes-schema.ts';
import type { ChangedRule, RuleHeading, StigDiff } from '../../catalog/stigs/diff-schema.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import { Day, Facts, Ids, link, Pager, path, Severity, shortTitle, Table } from '../parts/components.tsx';
import type { Marker } from '../parts/diff-text.tsx';
import { PostButton } from '../parts/forms.tsx';
import { htmlFile } from '../parts/html-file.tsx';
import { diffHref, ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';
import { Changed, type ShownRules } from './diff-rules.tsx';

/** The STIGs of one brief: each is compared in full. */
const mostStigs = 100;
const rulesPerPage = 60;

/** A rule that a new release brought, removed or changed. */
type BriefRule = { diff: StigDiff; anchor: string } & (
  | { kind: 'changed'; rule: ChangedRule }
  | { kind: 'added' | 'removed'; rule: RuleHeading }
);

/** All changes of a list from the pinned releases, or else from what its reader saw, the severest first. */
export interface Brief {
  list: { id: string; name: string };
  seenAt: string | null;
  diffs: StigDiff[];
  rules: BriefRule[];
  /** STIGs without a release to compare with, or beyond the most. */
  others: ChangesSince['stigs'];
  digest: string;
  now: Date;
}

const rank = { high: 0, medium: 1, low: 2 };

/** Compares the releases of each STIG in turns. Throws what `diffOf` throws. */
export async function readBrief(
  about: Omit<Brief, 'diffs' | 'rules' | 'others'>,
  { stigs }: ChangesSince,
  diffOf: (slug: string, releases: { from: string; to: string }) => StigDiff,
): Promise<Brief> {
  const diffs: StigDiff[] = [];
  const others: Brief['others'] = [];
  for (const stig of stigs) {
    if (stig.from === null || diffs.length === mostStigs) others.push(stig);
    else diffs.push(diffOf(stig.slug, { from: stig.from, to: stig.to }));
    await yieldToEventLoop();
  }
  const rules = diffs.flatMap(rulesOf).sort((a, b) => rank[a.rule.severity] - rank[b.rule.severity]);
  return { ...about, diffs, rules, others };
}

function rulesOf(diff: StigDiff): BriefRule[] {
  const anchor = (rule: { groupId: string }) => `${diff.slug}-${rule.groupId}`;
  return [
    ...diff.changed.map((rule) => ({ kind: 'changed' as const, diff, rule, anchor: anchor(rule.new) })),
    ...(['added', 'removed'] as const).flatMap((kind) =>
      diff[kind].map((rule) => ({ kind, diff, rule, anchor: anchor(rule) })),
    ),
  ];
}

/** The changed rules of a page, whose words are to be marked. */
export const changedOn = ({ rules }: Brief, page: number): ChangedRule[] =>
  slice(rules, { page, limit: rulesPerPage }).flatMap((each) => (each.kind === 'changed' ? [each.rule] : []));

/** The brief as a page, and sixty rules of it. */
export function briefPage(brief: Brief, page: number, marker: Marker): View {
  const { list, rules } = brief;
  const home = path('lists', list.id, 'brief');
  const part = { page, limit: rulesPerPage };
  return {
    title: `Change brief · ${list.name}`,
    section: 'saved',
    crumbs: [
      ['Lists', '/lists'],
      [list.name, path('lists', list.id)],
    ],
    heading: 'Change brief',
    actions: (
      <>
        <a class="button quiet" href={`${home}/file`} download>
          One page (.html)
        </a>
        <PostButton action={path('lists', list.id, 'seen')} label="Mark as read" fields={{ next: home }} />
      </>
    ),
    body: (
      <>
        <Head brief={brief} isFile={false} />
        <Rules brief={brief} rules={slice(rules, part)} marker={marker} isFile={false} />
        <Pager
          pagination={paginationOf(part, rules.length)}
          href={(number) => `${link(home, { page: number })}#rules`}
        />
      </>
    ),
  };
}

/** The brief as one HTML file to carry away, with all rules. */
export function briefFile(brief: Brief, marker: Marker, style: string, banner: string | null): string {
  const body = (
    <>
      <h1>Change brief: {brief.list.name}</h1>
      <Head brief={brief} isFile />
      <Rules brief={brief} rules={brief.rules} marker={marker} isFile />
    </>
  );
  return htmlFile({ title: `Change brief: ${brief.list.name}`, style, banner, body });
}

function Head({ brief, isFile }: { brief: Brief; isFile: boolean }): Child {
  const { seenAt, diffs, rules, others, digest, now } = brief;
  const raised = diffs.flatMap(({ changed }) =>
    changed.filter((rule) => rule.severity === 'high' && severityBefore(rule) !== 'high'),
  );
  return (
    <>
      <Facts
        of={[
          ['Made', <Day date={now.toISOString().slice(0, 10)} />],
          [
            'Since',
            `${seenAt === null ? 'each STIG was added' : `you read it on ${seenAt.slice(0, 10)}`}, or its pinned release`,
          ],
          ['Catalog', <span class="mono">{spoken(digest)}</span>],
          ['New releases', diffs.length + others.length],
          ['Rules raised to CAT I', raised.length],
          ['Rules changed, added or removed', rules.length],
        ]}
      />
      <Table
        caption="New releases"
        head={['STIG', 'Before', 'Now', 'Changed', 'Added', 'Removed']}
        rows={[
          ...diffs.map(({ slug, title, from, to, summary }) => [
            isFile ? (
              shortTitle(title)
            ) : (
              <a href={diffHref(slug, from.version, to.version)}>{shortTitle(title)}</a>
            ),
            `${from.version}, ${from.releaseDate ?? 'no date'}`,
            `${to.version}, ${to.releaseDate ?? 'no date'}`,
            ...[summary.changed, summary.added, summary.removed],
          ]),
          ...others.map(({ slug, title, from, to, added, removed }) => [
            isFile || from === null ? (
              shortTitle(title)
            ) : (
              <a href={diffHref(slug, from, to)}>{shortTitle(title)}</a>
            ),
            from ?? 'no earlier release',
            to,
            from === null ? '' : 'not compared here',
            ...[added, removed],
          ]),
        ]}
      >
        Nothing is new since then.
      </Table>
    </>
  );
}

function Rules(props: { brief: Brief; rules: BriefRule[]; marker: Marker; isFile: boolean }): Child {
  const { brief, rules, marker, isFile } = props;
  if (rules.length === 0) return null;
  return (
    <>
      <h2 id="rules">Rules</h2>
      <p class="quiet">
        {count(brief.rules.length, 'rule')}, CAT I first. Each change shows the former release first, then the
        new one; removed words are struck out, added words are underlined.
      </p>
      {rules.map((each) => (
        <section class="brief">
          <p class="quiet">
            {shortTitle(each.diff.title)}, {each.diff.from.version} to {each.diff.to.version}
          </p>
          {each.kind === 'changed' ? (
            <Changed rule={each.rule} anchor={each.anchor} of={shownOf(each.diff, marker, isFile)} />
          ) : (
            <Heading {...each} isFile={isFile} />
          )}
        </section>
      ))}
    </>
  );
}

function shownOf(diff: StigDiff, marker: Marker, isFile: boolean): ShownRules {
  const href = ({ new: { groupId } }: ChangedRule) =>
    link(path('stigs', diff.slug, 'diff'), { from: diff.from.version, to: diff.to.version, rule: groupId });
  return { diff, marker, isFile, whole: '', href, wholeHref: href };
}

function Heading(props: BriefRule & { kind: 'added' | 'removed'; isFile: boolean }): Child {
  const { diff, rule, kind, anchor, isFile } = props;
  const { version } = kind === 'added' ? diff.to : diff.from;
  return (
    <article class="change" id={anchor}>
      <h3>
        <Ids of={[rule.groupId]} />{' '}
        {isFile ? rule.ruleTitle : <a href={ruleHref(diff.slug, rule, version)}>{rule.ruleTitle}</a>}
      </h3>
      <p>
        <Severity level={rule.severity} /> <span class="tag">{kind}</span>
      </p>
    </article>
  );
}
