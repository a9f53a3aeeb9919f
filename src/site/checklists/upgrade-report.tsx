import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type {
  Leftover,
  NotCarried as NotCarriedItem,
  RuleAnswer,
  UpgradedRule,
  UpgradeReport,
} from '../../checklists/schema.ts';
import { Empty, Facts, path, Severity } from '../parts/components.tsx';
import { createMarker, Field, type Marker } from '../parts/diff-text.tsx';
import { ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';
import { type AttachedFiles, SendAgain, type UpgradeForm } from './upgrade-form.tsx';

const outcomeNames: Record<UpgradedRule['outcome'], string> = {
  reset: 'Reset',
  'carried-with-warning': 'Carried over with a warning',
  new: 'New rules to answer',
  carried: 'Carried over unchanged',
};

/** The report on an upgrade: each rule, and what was not carried over. A download sends the file again. */
export function upgradedPage(page: {
  report: UpgradeReport;
  form: UpgradeForm;
  /** Whether the checklist named its STIG, because the reader selected none. */
  isNamed: boolean;
  files: AttachedFiles;
  warnings: string[];
}): View {
  const { report, form, isNamed, files, warnings } = page;
  const { from, to, summary } = report;
  const marker = createMarker();
  return {
    title: 'Upgraded checklist',
    section: 'stigs',
    crumbs: [['Upgrade a checklist', '/upgrade']],
    heading: `${from.version ?? from.releaseInfo} to ${to.version}`,
    body: (
      <>
        <p class="lead">
          <a href={path('stigs', to.slug)}>{to.title}</a>
          {isNamed ? ', the STIG named in the checklist' : ''}
        </p>
        {[...warnings.map((warning) => `The checklist is ${warning}`), ...report.warnings].map((warning) => (
          <p class="notice">{warning}.</p>
        ))}
        <Facts
          of={[
            ['Rules', summary.rules],
            ['Answers carried over', summary.answers.carried],
            ['Carried over with a warning', summary.answers.carriedWithWarning],
            ['Reset', summary.answers.reset],
            ['New rules', summary.new],
            ['Removed rules', summary.removed],
          ]}
        />
        <SendAgain fields={{ ...form, ...files, as: 'file' }} submit="Download upgraded checklist" />
        {(['reset', 'carried-with-warning', 'new', 'carried'] as const).map((outcome) => (
          <Outcome outcome={outcome} report={report} marker={marker} />
        ))}
        <NotCarried notCarried={report.notCarried} />
        {report.otherStigs.length === 0 ? null : (
          <p>
            The other STIGs in the checklist are unchanged:{' '}
            {report.otherStigs.map((stig) => stig.title).join(', ')}.
          </p>
        )}
      </>
    ),
  };
}

function Outcome(props: { outcome: UpgradedRule['outcome']; report: UpgradeReport; marker: Marker }): Child {
  const { outcome, report, marker } = props;
  const rules = report.rules.filter((rule) => rule.outcome === outcome);
  if (rules.length === 0) return null;
  const { from, to } = report;
  return (
    <details class="more" open={outcome === 'reset' || outcome === 'carried-with-warning'}>
      <summary>
        {outcomeNames[outcome]}: {count(rules.length, 'rule')}
      </summary>
      <ul class="results">
        {rules.map((rule) => (
          <li>
            <a class="ids" href={ruleHref(to.slug, rule, to.version)}>
              {rule.groupId}
            </a>{' '}
            <span class="ids">{rule.ruleVersion}</span> {rule.reason}{' '}
            {rule.answered ? <span class="tag">answered</span> : null}
            {rule.lost === null ? null : <Answer answer={rule.lost} />}
            {outcome === 'carried' || rule.changes.length === 0 ? null : (
              <details>
                <summary>
                  What changed<span class="hidden"> in {rule.groupId}</span>
                </summary>
                {rule.changes.map((change) => (
                  <Field field={change} from={from.version ?? 'before'} to={to.version} marker={marker} />
                ))}
              </details>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** An answer that the new checklist does not contain, in full: the assessor may copy it. */
function Answer({ answer }: { answer: RuleAnswer }): Child {
  const { status, overrides, finding_details, comments } = answer;
  const prose = (text: string) => (text === '' ? null : <span class="prose">{text}</span>);
  const facts: [name: string, value: Child][] = [
    ['Status', prose(status)],
    ['Severity', overrides.severity ? <Severity level={overrides.severity.severity} /> : null],
    ['Reason for the severity', prose(overrides.severity?.reason ?? '')],
    ['Finding details', prose(finding_details)],
    ['Comments', prose(comments)],
  ];
  return <Facts of={facts.filter(([, value]) => value !== null)} />;
}

/** The content of an old checklist that the new one does not contain. */
export function NotCarried({ notCarried }: { notCarried: NotCarriedItem[] }): Child {
  if (notCarried.length === 0)
    return <Empty>The new checklist has a place for everything in the old one.</Empty>;
  return (
    <details class="more" open>
      <summary>Not carried over: {count(notCarried.length, 'item')}</summary>
      <ul class="results">
        {notCarried.map((each) =>
          each.kind === 'rule' ? (
            <li>
              <span class="ids">{each.groupId}</span> {each.ruleTitle}{' '}
              <span class="quiet">({each.reason})</span>
              {each.answered ? <Answer answer={each.answer} /> : null}
            </li>
          ) : null,
        )}
        {[...kindsOf(notCarried)].map(([kind, [first, ...others]]) =>
          others.length === 0 ? (
            <LeftField field={first} />
          ) : (
            <li>
              <details>
                <summary>
                  <span class="mono">{kind}</span>, {others.length + 1} times: {first.reason}
                </summary>
                <ul class="results">
                  {[first, ...others].map((each) => (
                    <LeftField field={each} />
                  ))}
                </ul>
              </details>
            </li>
          ),
        )}
      </ul>
    </details>
  );
}

/** Groups the fields that were not carried over by name and reason: tools write the same ones into every rule. */
function kindsOf(notCarried: NotCarriedItem[]): Map<string, [Leftover, ...Leftover[]]> {
  const fields = notCarried.filter((each) => each.kind === 'field');
  const nameOf = ({ path }: Leftover) => path.replace(/^.*\[\d+\][./]/, '');
  return Map.groupBy(fields, nameOf) as Map<string, [Leftover, ...Leftover[]]>;
}

function LeftField({ field: { path, place = path, reason, value } }: { field: Leftover }): Child {
  return (
    <li>
      {place}: {reason}
      <p class="prose">{typeof value === 'string' ? value : JSON.stringify(value)}</p>
    </li>
  );
}
