import type { Child } from 'hono/jsx';
import { severityBefore } from '../../catalog/stigs/changes-export.ts';
import type { ChangedRule, StigDiff } from '../../catalog/stigs/diff-schema.ts';
import type { RuleHead } from '../../catalog/stigs/rule-head.ts';
import { Severity, Table } from '../parts/components.tsx';
import { classNames, Field, isShortened, type Marker, SeverityMove } from '../parts/diff-text.tsx';
import { ruleHref } from '../parts/rule-links.tsx';

export interface ShownRules {
  diff: Omit<StigDiff, 'groupIds'>;
  marker: Marker;
  /** The V-id of the rule to show in full. */
  whole: string;
  /** The address of a changed rule, on this page or another. */
  href: (rule: ChangedRule) => string;
  wholeHref: (rule: ChangedRule) => string;
}

/** The anchor of each changed rule: its V-id, with a number where a group has several rules. */
export function anchorsOf(changed: ChangedRule[]): Map<ChangedRule, string> {
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
export function Contents({ diff, href }: ShownRules): Child {
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
      class="contents lines"
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
export function Changed({ rule, anchor, of }: { rule: ChangedRule; anchor: string; of: ShownRules }): Child {
  const { diff, marker, whole, wholeHref } = of;
  const { slug, from, to } = diff;
  const isShort = rule.new.groupId !== whole;
  const fields = (short: boolean) =>
    rule.fields.map((field) => (
      <Field field={field} from={from.version} to={to.version} marker={marker} isShort={short} />
    ));
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
      {isShort ? null : <Neighbours rule={rule} of={of} />}
      {fields(isShort)}
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
function Neighbours({ rule, of: { diff, wholeHref } }: { rule: ChangedRule; of: ShownRules }): Child {
  const at = diff.changed.indexOf(rule);
  const before = diff.changed[at - 1];
  const after = diff.changed[at + 1];
  const to = (other: ChangedRule) => `${wholeHref(other)}#${encodeURIComponent(other.new.groupId)}`;
  return (
    <nav class="pager reading" aria-label="Previous and next change">
      {before === undefined ? null : (
        <a rel="prev" href={to(before)}>
          ← {before.new.groupId}
        </a>
      )}
      <span class="quiet">
        Change {at + 1} of {diff.changed.length}
      </span>
      {after === undefined ? null : (
        <a rel="next" href={to(after)}>
          {after.new.groupId} →
        </a>
      )}
    </nav>
  );
}

/** The rules of which only the ids changed. */
export function Renumbered({ diff }: ShownRules): Child {
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
