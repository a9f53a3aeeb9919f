import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type {
  Leftover,
  NotCarried as NotCarriedItem,
  RuleAnswer,
  UpgradedRule,
  UpgradeReport,
} from '../../checklists/schema.ts';
import { Empty, Facts, path, Severity } from './components.tsx';
import { createMarker, Field, type Marker } from './diff-text.tsx';
import { Hidden, Input, Labelled, Problem, Select } from './forms.tsx';
import { ruleHref } from './rule.tsx';
import type { View } from './view.ts';

export interface UpgradeForm {
  slug: string;
  version: string;
  hostName: string;
  onChange: string;
  /** `true`, or empty. */
  overwrite: string;
  format: string;
}

export const emptyUpgrade: UpgradeForm = {
  slug: '',
  version: '',
  hostName: '',
  onChange: 'keep',
  overwrite: '',
  format: 'cklb',
};

/** Files that were sent with a form, base64: nothing is stored, so a page brings them back. */
export type AttachedFiles = Partial<Record<'checklist' | 'results', string>>;
export const noFiles: AttachedFiles = {};

/** A STIG that a checklist may be upgraded to. */
export interface StigChoice {
  slug: string;
  title: string;
  version: string;
}

/** Bringing an old checklist to a release of the catalog. */
export function upgradePage(page: {
  form: UpgradeForm;
  stigs: StigChoice[];
  problem: string | null;
  /** What was sent with a form that was refused: it need not be selected again. */
  files: AttachedFiles;
}): View {
  const { form, stigs, problem, files } = page;
  const attached = [
    ...(files.checklist === undefined ? [] : ['checklist']),
    ...(files.results === undefined ? [] : ['scan results']),
  ];
  return {
    title: 'Upgrade a checklist',
    section: 'stigs',
    crumbs: [['STIGs', '/stigs']],
    body: (
      <>
        <p class="lead">
          Bring a .ckl or .cklb of an older release to a release in the catalog. Each answer is carried over,
          carried over with a warning because its check or fix changed, or reset. The report gives the reason
          for each. Choose several checklists to upgrade them at once, with one report. Choose scan results
          (XCCDF or ARF) to make a checklist of them, or both to merge the results into the checklist.
          Gapstone does not store the files.
        </p>
        <form class="fields" method="post" action="/upgrade" enctype="multipart/form-data">
          <Problem text={problem} />
          <Labelled
            id="file"
            label="Checklist or scan results"
            hint={
              attached.length === 0
                ? undefined
                : `Your ${attached.join(' and ')} ${attached.join().endsWith('s') ? 'are' : 'is'} still attached. Choose another file to replace ${attached.join().endsWith('s') ? 'them' : 'it'}.`
            }
          >
            <input
              id="file"
              name="file"
              type="file"
              accept=".ckl,.cklb,.xml,.json"
              multiple
              required={attached.length === 0}
              aria-describedby={attached.length === 0 ? undefined : 'file-hint'}
            />
            <Hidden fields={{ ...files }} />
          </Labelled>
          <Select
            name="slug"
            label="Target STIG"
            none="The STIG named in the checklist"
            of={stigs.map(({ slug, title, version }) => [slug, `${title} ${version}`])}
            selected={form.slug}
          />
          <Input
            name="version"
            label="Release"
            value={form.version}
            hint="Such as V2R8. Leave empty for the latest release."
          />
          <Labelled
            id="hostName"
            label="Host name"
            hint="Replaces the host name in the checklist. Leave empty to keep it."
            hintId="host-hint"
          >
            <input
              id="hostName"
              name="hostName"
              value={form.hostName}
              aria-describedby="host-hint"
              maxlength={255}
            />
          </Labelled>
          <Select
            name="onChange"
            label="When a check or fix changed"
            of={[
              ['keep', 'Keep the answer, with a warning'],
              ['reset', 'Reset the answer'],
            ]}
            selected={form.onChange === 'reset' ? 'reset' : 'keep'}
          />
          <Select
            name="overwrite"
            label="Answers that scan results contradict"
            of={[
              ['', 'Keep the answer in the checklist'],
              ['true', 'Replace it by the result'],
            ]}
            selected={form.overwrite}
          />
          <Select
            name="format"
            label="Format of the upgraded checklist"
            of={[
              ['cklb', '.cklb (STIG Viewer 3, STIG Manager)'],
              ['ckl', '.ckl (STIG Viewer 2)'],
            ]}
            selected={form.format === 'ckl' ? 'ckl' : 'cklb'}
          />
          <div class="actions">
            <button type="submit">Preview upgrade</button>
            <button type="submit" name="as" value="inspect">
              Inspect
            </button>
          </div>
        </form>
      </>
    ),
  };
}

const outcomeNames: Record<UpgradedRule['outcome'], string> = {
  reset: 'Reset',
  'carried-with-warning': 'Carried over with a warning',
  new: 'New rules to answer',
  carried: 'Carried over unchanged',
};

/** What became of a checklist: rule by rule, and what had no place. The file comes by the form again, unseen. */
export function upgradedPage(page: {
  report: UpgradeReport;
  form: UpgradeForm;
  /** Whether the STIG was taken from the checklist, as none was selected. */
  isNamed: boolean;
  files: AttachedFiles;
  /** What was noticed while it was decoded. */
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
        {warnings.map((warning) => (
          <p class="notice">The checklist is {warning}.</p>
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
        <form class="actions" method="post" action="/upgrade" enctype="multipart/form-data">
          <Hidden fields={{ ...form, ...files, as: 'file' }} />
          <button type="submit">Download upgraded checklist</button>
        </form>
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

/** What an assessor wrote and the new checklist does not hold: all of it, as it may be written there again. */
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

/** What an old checklist holds and the new one does not. */
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

/** The fields that were not carried, those of one name and reason together: a writer puts the same ones into every rule. */
function kindsOf(notCarried: NotCarriedItem[]): Map<string, [Leftover, ...Leftover[]]> {
  const kinds = new Map<string, [Leftover, ...Leftover[]]>();
  for (const each of notCarried) {
    if (each.kind !== 'field') continue;
    const kind = each.path.replace(/\[\d+\]/g, '[]');
    const there = kinds.get(kind);
    if (there) there.push(each);
    else kinds.set(kind, [each]);
  }
  return kinds;
}

function LeftField({ field: { path, reason, value } }: { field: Leftover }): Child {
  return (
    <li>
      <span class="mono">{path}</span>: {reason}
      <p class="prose">{typeof value === 'string' ? value : JSON.stringify(value)}</p>
    </li>
  );
}
