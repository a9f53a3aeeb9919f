import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import {
  type ChangeClass,
  type ChangedRule,
  type DiffFilter,
  ruleKinds,
  type StigDiff,
} from '../../catalog/stigs/diff-schema.ts';
import { changeClasses } from '../../catalog/stigs/match.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import { Downloads, Facts, link, Nothing, Pager, path, shortTitle } from '../parts/components.tsx';
import { classNames, type Marker } from '../parts/diff-text.tsx';
import { Boxes, Filters, Select, SeverityBoxes } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';
import { anchorsOf, Changed, Contents, Renumbered, type ShownRules } from './diff-rules.tsx';

const changesPerPage = 60;

export interface DiffPage {
  /** Filtered, but its counts are of all rules. */
  diff: StigDiff;
  filter: DiffFilter;
  versions: string[];
  part: DiffPart;
  /** Has marked the changed rules of this part. */
  marker: Marker;
}

export interface DiffPart {
  page: number;
  rules: ChangedRule[];
  rule: string;
}

const pageOf = (index: number) => Math.floor(index / changesPerPage) + 1;

/** The changed rules of a page, or of the page that contains `rule`. */
export function partOf({ changed }: StigDiff, page: number, rule: string): DiffPart {
  const asked = changed.findIndex((each) => each.new.groupId === rule);
  const wanted = { page: asked < 0 ? page : pageOf(asked), limit: changesPerPage };
  return { page: wanted.page, rules: slice(changed, wanted), rule };
}

/** The comparison of two releases of a STIG. */
export function diffPage({ diff, filter, versions, part, marker }: DiffPage): View {
  const { slug, title, from, to, changed } = diff;
  const home = path('stigs', slug, 'diff');
  const query = { from: from.version, to: to.version, ...wordsOf(filter) };
  const pagination = paginationOf({ page: part.page, limit: changesPerPage }, changed.length);
  const anchors = anchorsOf(changed);
  const places = new Map(changed.map((each, index) => [each, pageOf(index)]));
  const shown: ShownRules = {
    diff,
    marker,
    whole: part.rule,
    href: (each) => {
      const other = places.get(each)!;
      return `${other === part.page ? '' : link(home, { ...query, page: other })}#${anchors.get(each)}`;
    },
    wholeHref: (each) => link(home, { ...query, rule: each.new.groupId }),
  };
  const pages = {
    pagination,
    href: (number: number) => `${link(home, { ...query, page: number })}#changed`,
  };
  return {
    title: `${shortTitle(title)}: ${from.version} and ${to.version}`,
    section: 'stigs',
    help: 'compare-two-releases',
    crumbs: [
      ['STIGs', '/stigs'],
      [shortTitle(title), path('stigs', slug)],
    ],
    printed: `${title}, ${from.version} (${from.releaseDate ?? 'no date'}) and ${to.version} (${to.releaseDate ?? 'no date'})`,
    heading: `Changes from ${from.version} to ${to.version}`,
    actions: <Downloads of={path('stigs', slug, 'diff')} formats={['csv', 'xlsx', 'json']} query={query} />,
    body: (
      <>
        <Filters action={home}>
          <Select name="from" label="From" of={versions} selected={from.version} />
          <Select name="to" label="To" of={versions} selected={to.version} />
          <Boxes name="kind" legend="Rules" of={ruleKinds} selected={query.kind} />
          <Boxes
            name="class"
            legend="What changed"
            of={changeClasses}
            selected={query.class}
            show={(each) => classNames[each]}
          />
          <SeverityBoxes selected={query.severity} />
        </Filters>
        <Summary diff={diff} />
        <h2 id="contents">Contents</h2>
        <Contents {...shown} />
        <h2 id="changed">Changed</h2>
        {part.rules.length === 0 ? (
          <Nothing pages={pages}>
            {diff.summary.changed === 0
              ? 'No rule changed between these releases.'
              : 'No changed rule matches these filters.'}
          </Nothing>
        ) : (
          <>
            <Legend of={diff} />
            {part.rules.map((each) => (
              <Changed rule={each} anchor={anchors.get(each)!} of={shown} />
            ))}
            <Pager {...pages} />
          </>
        )}
        <Renumbered {...shown} />
      </>
    ),
  };
}

function wordsOf(filter: DiffFilter) {
  return {
    kind: [...(filter.kind ?? [])],
    class: [...(filter.class ?? [])],
    severity: [...(filter.severity ?? [])],
  };
}

function Summary({ diff: { summary } }: { diff: StigDiff }): Child {
  return (
    <Facts
      of={[
        ['Added', summary.added],
        ['Removed', summary.removed],
        ['Changed', summary.changed],
        ['Renumbered', summary.renumbered],
        ['Unchanged', summary.unchanged],
        [
          'Changed, by main kind of change',
          Object.entries(summary.classes)
            .filter(([, number]) => number > 0)
            .map(([name, number]) => (
              <span class="tag">
                {classNames[name as ChangeClass]}: {number}
              </span>
            )),
        ],
      ]}
    />
  );
}

function Legend({ of }: { of: StigDiff }): Child {
  return (
    <p class="quiet">
      {count(of.changed.length, 'rule')}. Each change shows {of.from.version} first, then {of.to.version}.
      Removed words are struck out, added words are underlined. […] stands for text that is left out.
    </p>
  );
}
