import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type {
  ChangeClass,
  ChangedRule,
  FieldChange,
  RuleHeading,
  StigDiff,
} from '../../catalog/stigs/diff-schema.ts';
import { changedWords, type TextSegment } from '../../catalog/stigs/words.ts';
import type { Pagination } from '../../http/schema.ts';
import { Facts, link, Nothing, Pager, path, Severity, Table } from './components.tsx';
import { Filters, Select } from './forms.tsx';
import { RuleIds, ruleHref } from './rule.tsx';
import type { View } from './view.ts';

/** What the classes of changes are called. */
export const classNames: Record<ChangeClass, string> = {
  check: 'check',
  fix: 'fix',
  severity: 'severity',
  mapping: 'CCIs',
  cosmetic: 'wording',
};

/** How much of a page is compared word by word, in characters and in time: what is beyond stands side by side, unmarked. */
const mostCompared = 600_000;
const mostMilliseconds = 1000;

/** Compares two texts word by word; null when the work that one page may cost is done. */
export type Marker = (before: string, after: string) => TextSegment[] | null;

/** A marker for one page. */
export function createMarker(): Marker {
  let characters = mostCompared;
  let milliseconds = mostMilliseconds;
  return (before, after) => {
    characters -= before.length + after.length;
    if (characters < 0 || milliseconds < 0) return null;
    const started = performance.now();
    const segments = changedWords(before, after);
    milliseconds -= performance.now() - started;
    return segments;
  };
}

export interface DiffPage {
  diff: StigDiff;
  /** The changed rules of this page. */
  changed: ChangedRule[];
  pagination: Pagination;
  versions: string[];
  /** The class of changes that are shown, or all. */
  shown: string;
}

/** Two releases of a STIG side by side. */
export function diffPage({ diff, changed, pagination, versions, shown }: DiffPage): View {
  const { slug, title, from, to, summary } = diff;
  const home = path('stigs', slug, 'diff');
  const marker = createMarker();
  const pages = {
    pagination,
    href: (page: number) =>
      `${link(home, { from: from.version, to: to.version, class: shown, page })}#changed`,
  };
  return {
    title: `${title}: ${from.version} and ${to.version}`,
    section: 'stigs',
    crumbs: [
      ['STIGs', '/stigs'],
      [title, path('stigs', slug)],
    ],
    heading: `Changes from ${from.version} to ${to.version}`,
    body: (
      <>
        <Filters action={home} submit="Compare">
          <Select name="from" label="From" of={versions} selected={from.version} />
          <Select name="to" label="To" of={versions} selected={to.version} />
          <Select
            name="class"
            label="Kind of change"
            none="all"
            of={Object.entries(classNames)}
            selected={shown}
          />
        </Filters>
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
        <Headings name="Added" rules={diff.added} slug={slug} version={to.version} />
        <Headings name="Removed" rules={diff.removed} slug={slug} version={from.version} />
        <h2 id="changed">Changed</h2>
        {changed.length === 0 ? (
          <Nothing pages={pages}>
            {diff.changed.length === 0
              ? 'No rule changed between these releases.'
              : 'No rule has this kind of change.'}
          </Nothing>
        ) : (
          <>
            <p class="quiet">
              {count(pagination.total, 'rule')}. Each change shows {from.version} first, then {to.version}.
              Removed words are struck out, added words are underlined.
            </p>
            {changed.map((rule) => (
              <Changed rule={rule} slug={slug} from={from.version} to={to.version} marker={marker} />
            ))}
            <Pager {...pages} />
          </>
        )}
        {diff.renumbered.length === 0 ? null : (
          <details class="more">
            <summary>{count(diff.renumbered.length, 'rule')} renumbered, with the same text</summary>
            <Table
              caption="Renumbered rules"
              head={['Rule', 'Before', 'Now']}
              rows={diff.renumbered.map((rule) => [
                <a href={ruleHref(slug, rule.new, to.version)}>{rule.ruleTitle}</a>,
                <span class="mono">{`${rule.old.groupId} ${rule.old.ruleId}`}</span>,
                <span class="mono">{`${rule.new.groupId} ${rule.new.ruleId}`}</span>,
              ])}
            />
          </details>
        )}
      </>
    ),
  };
}

function Headings(props: { name: string; rules: RuleHeading[]; slug: string; version: string }): Child {
  const { name, rules, slug, version } = props;
  if (rules.length === 0) return null;
  return (
    <>
      <h2>{name}</h2>
      <Table
        caption={`${name} rules`}
        headColumn={2}
        head={['Severity', 'ID', 'Rule']}
        rows={rules.map((rule) => [
          <Severity level={rule.severity} />,
          <RuleIds of={rule} />,
          <a href={ruleHref(slug, rule, version)}>{rule.ruleTitle}</a>,
        ])}
      />
    </>
  );
}

function Changed(props: {
  rule: ChangedRule;
  slug: string;
  from: string;
  to: string;
  marker: Marker;
}): Child {
  const { rule, slug, from, to, marker } = props;
  return (
    <article class="change" id={rule.new.groupId}>
      <h3>
        <span class="ids">{rule.new.groupId}</span>{' '}
        <a href={ruleHref(slug, rule.new, to)}>{rule.ruleTitle}</a>
      </h3>
      <p>
        <Severity level={rule.severity} />{' '}
        {rule.classes.map((each) => (
          <span class="tag">{classNames[each]}</span>
        ))}
        {rule.old.groupId === rule.new.groupId ? null : (
          <span class="quiet"> previously {rule.old.groupId}</span>
        )}
      </p>
      {rule.fields.map((field) => (
        <Field field={field} from={from} to={to} marker={marker} />
      ))}
    </article>
  );
}

/** One field that differs: the old text left, the new one right, with what went and came marked. */
export function Field(props: { field: FieldChange; from: string; to: string; marker: Marker }): Child {
  const { field, from, to, marker } = props;
  if (field.field === 'severity') {
    const side = (level: string) => <Severity level={level as ChangedRule['severity']} />;
    return <Sides name="severity" sides={[from, side(field.old), to, side(field.new)]} />;
  }
  const [before, after] =
    field.field === 'ccis' ? [field.old.join('\n'), field.new.join('\n')] : [field.old, field.new];
  const name = field.field === 'ccis' ? 'CCIs' : field.field;
  const segments = marker(before, after);
  if (segments === null)
    return <Sides name={`${name} (changes not marked)`} sides={[from, before, to, after]} />;
  const removed = segments
    .filter(({ kind }) => kind !== 'added')
    .map(({ kind, text }) => (kind === 'removed' ? <del>{text}</del> : text));
  const added = segments
    .filter(({ kind }) => kind !== 'removed')
    .map(({ kind, text }) => (kind === 'added' ? <ins>{text}</ins> : text));
  return <Sides name={name} sides={[from, removed, to, added]} />;
}

function Sides(props: { name: string; sides: [from: string, before: Child, to: string, after: Child] }) {
  const [from, before, to, after] = props.sides;
  const side = (version: string, text: Child) => (
    <div>
      <h4>
        {props.name}, {version}
      </h4>
      <p class="text">{text}</p>
    </div>
  );
  return (
    <div class="sides">
      {side(from, before)}
      {side(to, after)}
    </div>
  );
}
