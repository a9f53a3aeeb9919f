import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { NamedFile, ReportRow, UpgradedFile } from '../../checklists/upgrade-several.ts';
import { Facts, path, Table } from '../parts/components.tsx';
import { Hidden } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';
import { SendAgain, type UpgradeForm } from './upgrade-form.tsx';

/** The report on several checklists, file by file. Hidden fields send the files again for the download. */
export function upgradedSeveralPage(page: {
  done: UpgradedFile[];
  form: UpgradeForm;
  files: NamedFile[];
}): View {
  const { done, form, files } = page;
  const made = done.filter(({ made }) => made !== null).length;
  const answers = done.flatMap(({ stigs }) => stigs.map(({ summary }) => summary.answers));
  const total = (of: keyof (typeof answers)[number]) => answers.reduce((sum, each) => sum + each[of], 0);
  return {
    title: 'Upgraded checklists',
    section: 'stigs',
    crumbs: [['Upgrade a checklist', '/upgrade']],
    heading: `${made} of ${count(done.length, 'checklist')} upgraded`,
    body: (
      <>
        <Facts
          of={[
            ['Answers carried over', total('carried')],
            ['Carried over with a warning', total('carriedWithWarning')],
            ['Reset', total('reset')],
            ['Not carried over', total('notCarried')],
          ]}
        />
        {made === 0 ? null : (
          <SendAgain fields={{ ...form, as: 'file' }} submit="Download checklists and report">
            {files.map(({ name, bytes }) => (
              <Hidden fields={{ checklistName: name, checklist: bytes.toString('base64') }} />
            ))}
          </SendAgain>
        )}
        <p class="quiet">
          One zip with the upgraded checklists and upgrade-report.csv, which has a line for each rule of each
          file and the answers that were reset or not carried over.
        </p>
        <Table
          caption="Checklists and their results"
          head={['File', 'Host', 'STIG and release', 'Answers', 'Rules']}
          rows={done.map(row)}
        />
        {done.map((each) => (
          <Changes of={each} />
        ))}
      </>
    ),
  };
}

function row({ file, host, stigs, problems }: UpgradedFile): Child[] {
  return [
    <span class="mono">{file}</span>,
    host,
    <>
      {stigs.map(({ from, to }) => (
        <div>
          <a href={path('stigs', to.slug)}>{to.title}</a>, {from.version ?? from.releaseInfo} to {to.version}
        </div>
      ))}
      {problems.map((problem) => (
        <div class="problem">{problem}</div>
      ))}
    </>,
    stigs.map(({ summary: { answers } }) => (
      <div>
        {answers.carried} carried, {answers.carriedWithWarning} with a warning, {answers.reset} reset,{' '}
        {answers.notCarried} not carried
      </div>
    )),
    stigs.map(({ summary }) => (
      <div>
        {summary.new} new, {summary.removed} removed
      </div>
    )),
  ];
}

const mostLines = 50;

/** The rules of a file that a reader should review: without those that were only carried over or are new. */
function Changes({ of: { file, rows } }: { of: UpgradedFile }): Child {
  const toSee = rows.filter(
    ({ outcome, answered }) =>
      outcome === 'reset' ||
      (outcome === 'carried-with-warning' && answered === 'yes') ||
      outcome === 'not-carried',
  );
  if (toSee.length === 0) return null;
  return (
    <details class="more">
      <summary>
        {file}: {count(toSee.length, 'rule')} to review
      </summary>
      <ul class="results">
        {toSee.slice(0, mostLines).map((each) => (
          <Line of={each} />
        ))}
        {toSee.length > mostLines ? <li>{toSee.length - mostLines} more are in the report.</li> : null}
      </ul>
    </details>
  );
}

const outcomes: Partial<Record<ReportRow['outcome'], string>> = {
  reset: 'Reset',
  'carried-with-warning': 'Carried over with a warning',
  'not-carried': 'Not carried over',
};

function Line({ of: { outcome, groupId, ruleVersion, reason, answered } }: { of: ReportRow }): Child {
  return (
    <li>
      <span class="ids">{groupId}</span> <span class="ids">{ruleVersion}</span> {outcomes[outcome]}: {reason}{' '}
      {answered === 'yes' ? <span class="tag">answered</span> : null}
    </li>
  );
}
