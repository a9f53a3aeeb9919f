import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { OldChecklist } from '../../checklists/cklb-reader.ts';
import type { MadeChecklist } from '../../checklists/results.ts';
import type { Inspection } from '../../checklists/results-schema.ts';
import { reviewOfResults } from '../../checklists/upgrade-several.ts';
import { Empty, Facts, path, shortTitle, Table } from '../parts/components.tsx';
import { createMarker } from '../parts/diff-text.tsx';
import type { View } from '../parts/view.ts';
import { type AskedReview, Review } from './review-table.tsx';
import { SendAgain, toolPath, toolView, type UpgradeForm, type UploadTool } from './upgrade-form.tsx';
import { NotCarried } from './upgrade-report.tsx';

/** The report on scan results, rule by rule. */
export function fromResultsPage(page: {
  made: MadeChecklist;
  old: OldChecklist | null;
  id: string;
  form: UpgradeForm;
  tool: UploadTool;
  review: AskedReview;
}): View {
  const { made, old, id, form, tool, review } = page;
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
          to={toolPath(tool, id)}
          rows={reviewOfResults(made, old)}
          asked={review}
          fields={{ ...form }}
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

/** A file with what an inspection found in each of its STIGs, or why it cannot be read. */
export interface InspectedFile {
  /** Empty for a single file. */
  name: string;
  stigs: Inspection['stigs'];
  problem: string | null;
}

/** The problems that an inspection found, with advice. */
export function inspectionPage(page: { inspected: InspectedFile[]; id: string; form: UpgradeForm }): View {
  const { inspected, id, form } = page;
  return toolView({
    tool: 'inspect',
    title: 'Inspection',
    body: (
      <>
        <SendAgain to="upgrade" id={id} fields={{ ...form }} submit="Preview upgrade" />
        {inspected.map(({ name, stigs, problem }) => (
          <>
            {problem === null ? null : (
              <p class="problem">
                {name}: {problem}
              </p>
            )}
            {stigs.map((stig) => (
              <InspectedStig of={stig} file={name} />
            ))}
          </>
        ))}
      </>
    ),
  });
}

function InspectedStig({ of: stig, file }: { of: Inspection['stigs'][number]; file: string }): Child {
  const { title, version, current, rules, answered, findings } = stig;
  return (
    <section>
      <h2>
        {file === '' ? '' : `${file}: `}
        {title === null ? 'a STIG that is not in the catalog' : `${shortTitle(title)} ${version}`}
      </h2>
      <Facts
        of={[
          ['Current release', current ?? 'unknown'],
          ['Rules', rules],
          ['Answered', answered],
          ['Problems', findings.length],
        ]}
      />
      {findings.length === 0 ? (
        <Empty>No problems found.</Empty>
      ) : (
        <Table
          caption="Problems"
          headColumn={2}
          head={['Kind', 'ID', 'Problem', 'Advice']}
          rows={findings
            .toSorted((a, b) => severityOrder[a.severity] - severityOrder[b.severity])
            .map(({ severity, groupId, message, advice }) => [
              <span class={`status ${severity === 'error' ? 'rejected' : 'auto'}`}>
                <span aria-hidden="true">{severity === 'error' ? '✕' : '!'}</span> {severity}
              </span>,
              groupId ?? '',
              `${message}.`,
              advice,
            ])}
        />
      )}
    </section>
  );
}
