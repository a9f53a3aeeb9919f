import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { severityBefore } from '../../catalog/stigs/changes-export.ts';
import {
  type ChangeClass,
  type ChangedRule,
  type DiffFilter,
  ruleKinds,
  type StigDiff,
} from '../../catalog/stigs/diff-schema.ts';
import { changeClasses } from '../../catalog/stigs/match.ts';
import type { RuleHead } from '../../catalog/stigs/rule-head.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import {
  Downloads,
  Facts,
  link,
  Neighbors,
  Nothing,
  Pager,
  path,
  Severity,
  shortTitle,
  Table,
} from '../parts/components.tsx';
import { classNames, Field, isShortened, type Marker, SeverityMove } from '../parts/diff-text.tsx';
import { Boxes, Filters, Select, SeverityBoxes } from '../parts/forms.tsx';
import { ruleHref } from '../parts/links.tsx';
import type { View } from '../parts/view.ts';

const changesPerPage = 60;

interface DiffPage {
  /** Filtered, but its counts are of all rules. */
  diff: StigDiff;
  filter: DiffFilter;
  versions: string[];
  part: DiffPart;
  /** Has marked the changed rules of this part. */
  marker: Marker;
}

interface DiffPart {
  page: number;
  rules: ChangedRule[];
  rule: string;
}

const pageOf = (index: number) => Math.floor(index / changesPerPage) + 1;

/** The changed rules of a page, or of the page that contains `rule`. */
export function partOf({ changed }: StigDiff, page: number, rule: string): DiffPart {
  const asked = changed.findIndex((each) => each.new.groupId === rule);
  const requested = { page: asked < 0 ? page : pageOf(asked), limit: changesPerPage };
  return { page: requested.page, rules: slice(changed, requested), rule };
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

interface ShownRules {
  diff: Omit<StigDiff, 'groupIds'>;
  marker: Marker;
  /** The V-id of the rule to show in full. */
  whole: string;
  /** The address of a changed rule, on this page or another. */
  href: (rule: ChangedRule) => string;
  wholeHref: (rule: ChangedRule) => string;
}

/** The anchor of each changed rule: its V-id, with a number where a group has several rules. */
function anchorsOf(changed: ChangedRule[]): Map<ChangedRule, string> {
  const seen = new Map<string, number>();
  return new Map(
    changed.map((rule) => {
      const { groupId } = rule.new;
      const number = (seen.get(groupId) ?? 0) + 1;
      seen.set(groupId, number);
      return [rule, number === 1 ? groupId : `${groupId}-${number}`];
    }),
  );
}

/** The list of added, removed and changed rules. */
function Contents({ diff, href }: ShownRules): Child {
  const { slug, from, to, added, removed, changed } = diff;
  const heading = (kind: string, version: string) => (rule: RuleHead) => [
    <span class="ids">{rule.groupId}</span>,
    <span class="ids">{rule.ruleVersion}</span>,
    <a href={ruleHref(slug, rule, version)}>{rule.ruleTitle}</a>,
    <Severity level={rule.severity} />,
    kind,
  ];
  return (
    <Table
      caption="Rules that were added, removed or changed"
      class="lines"
      headColumn={2}
      head={['V-ID', 'STIG ID', 'Rule', 'Severity', 'What changed']}
      rows={[
        ...added.map(heading('added', to.version)),
        ...removed.map(heading('removed', from.version)),
        ...changed.map((rule) => [
          <span class="ids">{rule.new.groupId}</span>,
          <span class="ids">{rule.new.ruleVersion}</span>,
          <a href={href(rule)} title={rule.ruleTitle}>
            {rule.ruleTitle}
          </a>,
          <SeverityMove from={severityBefore(rule)} to={rule.severity} />,
          rule.classes.map((each) => classNames[each]).join(', '),
        ]),
      ]}
    >
      No rule that was added, removed or changed matches these filters.
    </Table>
  );
}

/** One changed rule, before and after. Shows only the text around changes, unless it is the rule to show in full. */
function Changed({ rule, anchor, of }: { rule: ChangedRule; anchor: string; of: ShownRules }): Child {
  const { diff, marker, whole, wholeHref } = of;
  const { slug, from, to } = diff;
  const isShort = rule.new.groupId !== whole;
  const leavesOut = isShort && rule.fields.some((field) => isShortened(field, marker));
  return (
    <article class="change" id={anchor}>
      <h3>
        <span class="ids">{rule.new.groupId}</span>{' '}
        <a href={ruleHref(slug, rule.new, to.version)}>{rule.ruleTitle}</a>
      </h3>
      <p>
        <SeverityMove from={severityBefore(rule)} to={rule.severity} />{' '}
        {rule.classes.map((each) => (
          <span class="tag">{classNames[each]}</span>
        ))}
        {rule.old.groupId === rule.new.groupId ? null : (
          <span class="quiet"> previously {rule.old.groupId}</span>
        )}
      </p>
      {isShort ? null : <NeighborsOf rule={rule} of={of} />}
      {rule.fields.map((field) => (
        <Field field={field} from={from.version} to={to.version} marker={marker} isShort={isShort} />
      ))}
      {leavesOut ? (
        <p>
          <a href={`${wholeHref(rule)}#${anchor}`}>
            Whole text<span class="hidden"> of {rule.new.groupId}</span>
          </a>
        </p>
      ) : null}
    </article>
  );
}

/** The changes before and after the one that is shown in full, among those that match the filters. */
function NeighborsOf({ rule, of: { diff, wholeHref } }: { rule: ChangedRule; of: ShownRules }): Child {
  const { changed } = diff;
  const at = changed.indexOf(rule);
  const neighborAt = (index: number) => {
    const other = changed[index];
    if (other === undefined) return null;
    const { groupId } = other.new;
    return { id: groupId, href: `${wholeHref(other)}#${encodeURIComponent(groupId)}` };
  };
  return (
    <Neighbors
      label="Previous and next change"
      class="reading"
      before={neighborAt(at - 1)}
      after={neighborAt(at + 1)}
    >
      <span class="quiet">
        Change {at + 1} of {changed.length}
      </span>
    </Neighbors>
  );
}

/** The rules of which only the ids changed. */
function Renumbered({ diff }: ShownRules): Child {
  const { slug, to, renumbered } = diff;
  if (renumbered.length === 0) return null;
  return (
    <details class="more">
      <summary>
        {renumbered.length === 1 ? '1 rule' : `${renumbered.length} rules`} renumbered, with the same text
      </summary>
      <Table
        caption="Renumbered rules"
        head={['Rule', 'Before', 'Now']}
        rows={renumbered.map((rule) => [
          <a href={ruleHref(slug, rule.new, to.version)}>{rule.ruleTitle}</a>,
          <span class="mono">{`${rule.old.groupId} ${rule.old.ruleId}`}</span>,
          <span class="mono">{`${rule.new.groupId} ${rule.new.ruleId}`}</span>,
        ])}
      />
    </details>
  );
}
