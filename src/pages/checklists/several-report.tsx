import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { UpgradedFile } from '../../checklists/upgrade-several.ts';
import { Facts, StigLink, Table } from '../parts/components.tsx';
import { createMarker } from '../parts/diff-text.tsx';
import type { View } from '../parts/view.ts';
import { type AskedReview, Review } from './review-table.tsx';
import { toolPath, toolView, type UpgradeForm, type UploadTool } from './upgrade-form.tsx';

/** The report on several checklists, file by file. */
export function upgradedSeveralPage(page: {
  done: UpgradedFile[];
  id: string;
  form: UpgradeForm;
  tool: UploadTool;
  review: AskedReview;
}): View {
  const { done, id, form, tool, review } = page;
  const made = done.filter(({ made }) => made !== null).length;
  const answers = done.flatMap(({ stigs }) => stigs.map(({ summary }) => summary.answers));
  const total = (of: keyof (typeof answers)[number]) => answers.reduce((sum, each) => sum + each[of], 0);
  const marker = createMarker();
  const rows = done.flatMap((each) => each.review.map((row) => ({ ...row, of: each.host || each.file })));
  return toolView({
    tool,
    title: tool === 'results' ? 'Checklists from scan results' : 'Upgraded checklists',
    heading: `${made} of ${count(done.length, 'checklist')} ${tool === 'results' ? 'made' : 'upgraded'}`,
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
        <p class="quiet">
          The download is one zip with the checklists and upgrade-report.csv, which has a line for each rule
          of each file and the answers that were reset or not carried over.
        </p>
        <Table
          caption="Checklists and their results"
          head={['File', 'Host', 'STIG and release', 'Answers', 'Rules']}
          rows={done.map(row)}
        />
        {made === 0 ? null : (
          <Review
            to={toolPath(tool, id)}
            rows={rows}
            asked={review}
            fields={{ ...form }}
            submit="Download checklists and report"
            marker={marker}
          />
        )}
        {done.map((each) => (
          <LeftOut of={each} />
        ))}
      </>
    ),
  });
}

function row({ file, host, stigs, problems, warnings }: UpgradedFile): Child[] {
  return [
    <span class="mono">{file}</span>,
    host,
    <>
      {stigs.map(({ from, to }) => (
        <div>
          <StigLink of={to} />, {from.version ?? from.releaseInfo} to {to.version}
        </div>
      ))}
      {[...problems, ...warnings].map((problem) => (
        <div class="warning">{problem}</div>
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

/** What a file holds that its new checklist has no place for. */
function LeftOut({ of: { file, rows } }: { of: UpgradedFile }): Child {
  const left = rows.filter(({ outcome }) => outcome === 'not-carried');
  if (left.length === 0) return null;
  return (
    <details class="more">
      <summary>
        {file}: {count(left.length, 'item')} not carried over
      </summary>
      <ul class="results">
        {left.slice(0, mostLines).map(({ groupId, ruleVersion, reason, answered }) => (
          <li>
            <span class="ids">{groupId}</span> <span class="ids">{ruleVersion}</span> {reason}{' '}
            {answered === 'yes' ? <span class="tag">answered</span> : null}
          </li>
        ))}
        {left.length > mostLines ? <li>{left.length - mostLines} more are in the report.</li> : null}
      </ul>
    </details>
  );
}
