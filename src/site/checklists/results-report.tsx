import { count } from '../../base/text.ts';
import type { OldChecklist } from '../../checklists/cklb-reader.ts';
import type { Inspection } from '../../checklists/results-schema.ts';
import type { MadeChecklist } from '../../checklists/results-upload.ts';
import { reviewOfResults } from '../../checklists/review.ts';
import { Empty, Facts, path, shortTitle, Table } from '../parts/components.tsx';
import { createMarker } from '../parts/diff-text.tsx';
import type { View } from '../parts/view.ts';
import { type AskedReview, Review } from './review-table.tsx';
import {
  type AttachedFiles,
  SendAgain,
  toolPath,
  toolView,
  type UpgradeForm,
  type UploadTool,
} from './upgrade-form.tsx';
import { NotCarried } from './upgrade-report.tsx';

/** The report on scan results, rule by rule. */
export function fromResultsPage(page: {
  made: MadeChecklist;
  old: OldChecklist | null;
  form: UpgradeForm;
  files: AttachedFiles;
  tool: UploadTool;
  review: AskedReview;
}): View {
  const { made, old, form, files, tool, review } = page;
  const { release, unknown, target, tool: scanner, notCarried, warnings } = made.report;
  return toolView({
    tool,
    title: 'Checklist from scan results',
    body: (
      <>
        <p class="lead">
          <a href={path('stigs', release.slug)}>{release.title}</a> {release.version}
          {target.hostName === '' ? '' : `, ${target.hostName}`}
          {scanner === null ? '' : `, scanned by ${scanner}`}
        </p>
        {warnings.map((warning) => (
          <p class="warning">{warning}.</p>
        ))}
        <Review
          to={toolPath(tool)}
          rows={reviewOfResults(made, old)}
          asked={review}
          fields={{ ...form, ...files }}
          submit="Download checklist"
          marker={createMarker()}
        />
        {unknown.length === 0 ? null : (
          <details class="more" open>
            <summary>
              Not in {release.version}: {count(unknown.length, 'result')}
            </summary>
            <ul class="results">
              {unknown.map(({ id, result }) => (
                <li>
                  <span class="ids">{id}</span> {result}
                </li>
              ))}
            </ul>
          </details>
        )}
        {notCarried.length === 0 ? null : <NotCarried notCarried={notCarried} />}
      </>
    ),
  });
}

const severityOrder = { error: 0, warning: 1 };

/** The problems that an inspection found, with advice. */
export function inspectionPage(page: {
  inspection: Inspection;
  form: UpgradeForm;
  files: AttachedFiles;
}): View {
  const { inspection, form, files } = page;
  return toolView({
    tool: 'inspect',
    title: 'Inspection',
    body: (
      <>
        <SendAgain to={toolPath('upgrade')} fields={{ ...form, ...files }} submit="Preview upgrade" />
        {inspection.stigs.map((stig) => (
          <section>
            <h2>
              {stig.title === null
                ? 'A STIG that is not in the catalog'
                : `${shortTitle(stig.title)} ${stig.version}`}
            </h2>
            <Facts
              of={[
                ['Current release', stig.current ?? 'unknown'],
                ['Rules', stig.rules],
                ['Answered', stig.answered],
                ['Problems', stig.findings.length],
              ]}
            />
            {stig.findings.length === 0 ? (
              <Empty>No problems found.</Empty>
            ) : (
              <Table
                caption="Problems"
                headColumn={2}
                head={['Kind', 'ID', 'Problem', 'Advice']}
                rows={stig.findings
                  .toSorted((a, b) => severityOrder[a.severity] - severityOrder[b.severity])
                  .map((finding) => [
                    <span class={`status ${finding.severity === 'error' ? 'rejected' : 'auto'}`}>
                      <span aria-hidden="true">{finding.severity === 'error' ? '✕' : '!'}</span>{' '}
                      {finding.severity}
                    </span>,
                    finding.groupId ?? '',
                    `${finding.message}.`,
                    finding.advice,
                  ])}
              />
            )}
          </section>
        ))}
      </>
    ),
  });
}
