import type { Child } from 'hono/jsx';
import type { RuleAnswer, UpgradedRule, UpgradeReport } from '../schemas/checklist-upgrade.ts';
import { createMarker, Field, type Marker } from './diff.tsx';
import { count, Empty, Facts, Hidden, Problem, path } from './parts.tsx';
import { ruleHref } from './rule.tsx';
import type { View } from './view.ts';

export interface UpgradeForm {
  slug: string;
  version: string;
  hostName: string;
  onChange: string;
}

export const emptyUpgrade: UpgradeForm = { slug: '', version: '', hostName: '', onChange: 'keep' };

/** Bringing an old checklist to a release of the catalog. */
export function upgradePage(page: {
  form: UpgradeForm;
  stigs: { slug: string; title: string; version: string }[];
  problem: string | null;
}): View {
  const { form, stigs, problem } = page;
  return {
    title: 'Upgrade a checklist',
    section: 'stigs',
    body: (
      <>
        <p class="crumbs">
          <a href="/stigs">STIGs</a>
        </p>
        <h1>Upgrade a checklist</h1>
        <p class="lead">
          A .ckl or .cklb of an older release becomes a .cklb of a release in the catalog. Every answer is
          carried, carried with a warning where its check or fix changed, or reset, each with its reason.
          Nothing is stored here.
        </p>
        <form class="fields" method="post" action="/upgrade" enctype="multipart/form-data">
          <Problem text={problem} />
          <div>
            <label for="file">Checklist</label>
            <input id="file" name="file" type="file" accept=".ckl,.cklb,.xml,.json" required />
          </div>
          <div>
            <label for="slug">To the STIG</label>
            <select id="slug" name="slug" required>
              {stigs.map((stig) => (
                <option value={stig.slug} selected={stig.slug === form.slug}>
                  {stig.title} {stig.version}
                </option>
              ))}
            </select>
          </div>
          <div>
            <label for="version">Release</label>
            <input id="version" name="version" value={form.version} aria-describedby="version-hint" />
            <p class="hint" id="version-hint">
              As V2R8; empty for the newest
            </p>
          </div>
          <div>
            <label for="hostName">Name of the target</label>
            <input
              id="hostName"
              name="hostName"
              value={form.hostName}
              aria-describedby="host-hint"
              maxlength={255}
            />
            <p class="hint" id="host-hint">
              In place of the one in the checklist; empty leaves that
            </p>
          </div>
          <div>
            <label for="onChange">Where check or fix changed</label>
            <select id="onChange" name="onChange">
              <option value="keep" selected={form.onChange !== 'reset'}>
                keep the answer, with a warning
              </option>
              <option value="reset" selected={form.onChange === 'reset'}>
                reset the answer
              </option>
            </select>
          </div>
          <div class="actions">
            <button type="submit">Show what becomes of it</button>
          </div>
        </form>
      </>
    ),
  };
}

const outcomeNames: Record<UpgradedRule['outcome'], string> = {
  reset: 'Reset',
  'carried-with-warning': 'Carried with a warning',
  new: 'New rules, to be answered',
  carried: 'Carried as they were',
};

/** What became of a checklist: rule by rule, and what had no place. The file comes by the form again, unseen. */
export function upgradedPage(page: {
  report: UpgradeReport;
  form: UpgradeForm;
  /** The old checklist, base64: nothing is stored, so the page brings it back for the download. */
  checklist: string;
}): View {
  const { report, form, checklist } = page;
  const { from, to, summary } = report;
  const marker = createMarker();
  return {
    title: 'Upgraded checklist',
    section: 'stigs',
    body: (
      <>
        <p class="crumbs">
          <a href="/upgrade">Upgrade a checklist</a>
        </p>
        <h1>
          {from.version ?? from.releaseInfo} to {to.version}
        </h1>
        <p class="lead">
          <a href={path('stigs', to.slug)}>{to.title}</a>
        </p>
        <Facts
          of={[
            ['Rules', summary.rules],
            ['Answers carried', summary.answers.carried],
            ['Carried with a warning', summary.answers.carriedWithWarning],
            ['Reset', summary.answers.reset],
            ['New rules', summary.new],
            ['Rules no longer there', summary.removed],
          ]}
        />
        <form class="actions" method="post" action="/upgrade" enctype="multipart/form-data">
          <Hidden fields={{ ...form, checklist, as: 'file' }} />
          <button type="submit">Download the upgraded checklist</button>
        </form>
        {(['reset', 'carried-with-warning', 'new', 'carried'] as const).map((outcome) => (
          <Outcome outcome={outcome} report={report} marker={marker} />
        ))}
        <NotCarried report={report} />
        {report.otherStigs.length === 0 ? null : (
          <p>
            The other STIGs of the checklist are in the new one as they were:{' '}
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
  const texts: [name: string, text: string][] = [
    ['Status', status],
    ['Severity', overrides.severity?.severity ?? ''],
    ['Reason', overrides.severity?.reason ?? ''],
    ['Finding details', finding_details],
    ['Comments', comments],
  ];
  return (
    <Facts
      of={texts
        .filter(([, text]) => text !== '')
        .map(([name, text]) => [name, <span class="prose">{text}</span>])}
    />
  );
}

function NotCarried({ report: { notCarried } }: { report: UpgradeReport }): Child {
  if (notCarried.length === 0)
    return <Empty>Everything in the old checklist has a place in the new one.</Empty>;
  return (
    <details class="more" open>
      <summary>Not carried: {notCarried.length}</summary>
      <ul class="results">
        {notCarried.map((each) =>
          each.kind === 'rule' ? (
            <li>
              <span class="ids">{each.groupId}</span> {each.ruleTitle}{' '}
              <span class="quiet">({each.reason})</span>
              {each.answered ? <Answer answer={each.answer} /> : null}
            </li>
          ) : (
            <li>
              <span class="mono">{each.path}</span>: {each.reason}
              <p class="prose">{typeof each.value === 'string' ? each.value : JSON.stringify(each.value)}</p>
            </li>
          ),
        )}
      </ul>
    </details>
  );
}
