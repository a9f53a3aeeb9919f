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
import { Facts, link, Nothing, Pager, path, Severity, Table } from './parts.tsx';
import { ruleHref } from './rule.tsx';
import type { View } from './view.ts';

const classNames: Record<ChangeClass, string> = {
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
  const href = (page: number) =>
    `${link(home, { from: from.version, to: to.version, class: shown, page })}#changed`;
  return {
    title: `${title}: ${from.version} and ${to.version}`,
    section: 'stigs',
    body: (
      <>
        <p class="crumbs">
          <a href="/stigs">STIGs</a> / <a href={path('stigs', slug)}>{title}</a>
        </p>
        <h1>
          Changes from {from.version} to {to.version}
        </h1>
        <form class="filters" action={home}>
          <Choice name="from" label="From" versions={versions} selected={from.version} />
          <Choice name="to" label="To" versions={versions} selected={to.version} />
          <div>
            <label for="class">Kind of change</label>
            <select id="class" name="class">
              <option value="">all</option>
              {Object.entries(classNames).map(([value, name]) => (
                <option value={value} selected={value === shown}>
                  {name}
                </option>
              ))}
            </select>
          </div>
          <div>
            <button type="submit">Compare</button>
          </div>
        </form>
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
          <Nothing pagination={pagination} href={href}>
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
            <Pager pagination={pagination} href={href} />
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

function Choice(props: { name: string; label: string; versions: string[]; selected: string }): Child {
  const { name, label, versions, selected } = props;
  return (
    <div>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {versions.map((version) => (
          <option value={version} selected={version === selected}>
            {version}
          </option>
        ))}
      </select>
    </div>
  );
}

function Headings(props: { name: string; rules: RuleHeading[]; slug: string; version: string }): Child {
  const { name, rules, slug, version } = props;
  if (rules.length === 0) return null;
  return (
    <>
      <h2>{name}</h2>
      <Table
        caption={`${name} rules`}
        key={2}
        head={['Severity', 'ID', 'Rule']}
        rows={rules.map((rule) => [
          <Severity level={rule.severity} />,
          <span class="ids">
            {rule.groupId}
            <br />
            {rule.ruleVersion}
          </span>,
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
    <article class="change">
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

type SeverityLevel = ChangedRule['severity'];

/** One field that differs: the old text left, the new one right, with what went and came marked. */
export function Field(props: { field: FieldChange; from: string; to: string; marker: Marker }): Child {
  const { field, from, to, marker } = props;
  if (field.field === 'severity')
    return (
      <div class="sides">
        <div>
          <h4>severity, {from}</h4>
          <p class="text">
            <Severity level={field.old as SeverityLevel} />
          </p>
        </div>
        <div>
          <h4>severity, {to}</h4>
          <p class="text">
            <Severity level={field.new as SeverityLevel} />
          </p>
        </div>
      </div>
    );
  const [before, after] =
    field.field === 'ccis' ? [field.old.join('\n'), field.new.join('\n')] : [field.old, field.new];
  const segments = marker(before, after);
  const name = `${field.field === 'ccis' ? 'CCIs' : field.field}${segments === null ? ' (changes not marked)' : ''}`;
  return (
    <div class="sides">
      <div>
        <h4>
          {name}, {from}
        </h4>
        <p class="text">
          {segments === null
            ? before
            : segments
                .filter(({ kind }) => kind !== 'added')
                .map(({ kind, text }) => (kind === 'removed' ? <del>{text}</del> : text))}
        </p>
      </div>
      <div>
        <h4>
          {name}, {to}
        </h4>
        <p class="text">
          {segments === null
            ? after
            : segments
                .filter(({ kind }) => kind !== 'removed')
                .map(({ kind, text }) => (kind === 'added' ? <ins>{text}</ins> : text))}
        </p>
      </div>
    </div>
  );
}
