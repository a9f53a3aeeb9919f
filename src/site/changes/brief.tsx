import type { Child } from 'hono/jsx';
import { count, spoken } from '../../base/text.ts';
import type { Brief, BriefRule, ComparedStig } from '../../catalog/stigs/brief.ts';
import type { ChangedRule } from '../../catalog/stigs/diff-schema.ts';
import { type Page, paginationOf } from '../../http/paging.ts';
import { Day, Facts, Ids, link, Pager, path, Severity, shortTitle, Table } from '../parts/components.tsx';
import type { Marker } from '../parts/diff-text.tsx';
import { PostButton } from '../parts/forms.tsx';
import { htmlFile } from '../parts/html-file.tsx';
import { diffHref, ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';
import { Changed, type ShownRules } from './diff-rules.tsx';

/** All changes of a list from the pinned releases, or else from what its reader saw, the severest first. */
export interface ListBrief extends Brief {
  list: { id: string; name: string };
  seenAt: string | null;
  digest: string;
  now: Date;
}

/** The brief as a page, with a part of its rules. */
export function briefPage(brief: ListBrief, part: Page, marker: Marker): View {
  const { list, total } = brief;
  const home = path('lists', list.id, 'brief');
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
        <Rules brief={brief} marker={marker} isFile={false} />
        <Pager
          pagination={paginationOf(part, total)}
          href={(number) => `${link(home, { page: number })}#rules`}
        />
      </>
    ),
  };
}

/** The brief as one HTML file to carry away, with all rules. */
export function briefFile(brief: ListBrief, marker: Marker, style: string, banner: string | null): string {
  const body = (
    <>
      <h1>Change brief: {brief.list.name}</h1>
      <Head brief={brief} isFile />
      <Rules brief={brief} marker={marker} isFile />
    </>
  );
  return htmlFile({ title: `Change brief: ${brief.list.name}`, style, banner, body });
}

function Head({ brief, isFile }: { brief: ListBrief; isFile: boolean }): Child {
  const { seenAt, diffs, total, raised, others, digest, now } = brief;
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
          ['Rules raised to CAT I', raised],
          ['Rules changed, added or removed', total],
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

function Rules(props: { brief: Brief; marker: Marker; isFile: boolean }): Child {
  const { brief, marker, isFile } = props;
  const { rules, total } = brief;
  if (rules.length === 0) return null;
  return (
    <>
      <h2 id="rules">Rules</h2>
      <p class="quiet">
        {count(total, 'rule')}, CAT I first. Each change shows the former release first, then the new one;
        removed words are struck out, added words are underlined.
      </p>
      {rules.map((each) => (
        <section class="brief">
          <p class="quiet">
            {shortTitle(each.diff.title)}, {each.diff.from.version} to {each.diff.to.version}
          </p>
          {each.kind === 'changed' ? (
            <Changed
              rule={each.rule}
              anchor={anchorOf(each.diff, each.rule.new)}
              of={shownOf(each.diff, marker, isFile)}
            />
          ) : (
            <Heading {...each} isFile={isFile} />
          )}
        </section>
      ))}
    </>
  );
}

const anchorOf = ({ slug }: ComparedStig, { groupId }: { groupId: string }) => `${slug}-${groupId}`;

const noRules = { added: [], removed: [], changed: [], renumbered: [] };

function shownOf(diff: ComparedStig, marker: Marker, isFile: boolean): ShownRules {
  const href = ({ new: { groupId } }: ChangedRule) =>
    link(path('stigs', diff.slug, 'diff'), { from: diff.from.version, to: diff.to.version, rule: groupId });
  return { diff: { ...diff, ...noRules }, marker, isFile, whole: '', href, wholeHref: href };
}

function Heading(props: BriefRule & { kind: 'added' | 'removed'; isFile: boolean }): Child {
  const { diff, rule, kind, isFile } = props;
  const { version } = kind === 'added' ? diff.to : diff.from;
  return (
    <article class="change" id={anchorOf(diff, rule)}>
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
