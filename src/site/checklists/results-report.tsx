import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { Inspection, ReportedRule, ResultsReport } from '../../checklists/results-schema.ts';
import { Empty, Facts, path } from '../parts/components.tsx';
import { ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';
import { type AttachedFiles, SendAgain, type UpgradeForm } from './upgrade-form.tsx';
import { NotCarried } from './upgrade-report.tsx';

const statuses: [ReportedRule['status'], string][] = [
  ['open', 'Open'],
  ['not_reviewed', 'Not reviewed'],
  ['not_a_finding', 'Not a finding'],
  ['not_applicable', 'Not applicable'],
];

/** The report on scan results, rule by rule. A hidden field sends the file again for the download. */
export function fromResultsPage(page: {
  report: ResultsReport;
  form: UpgradeForm;
  files: AttachedFiles;
}): View {
  const { report, form, files } = page;
  const { release, counts, unknown, target } = report;
  return {
    title: 'Checklist from scan results',
    section: 'stigs',
    crumbs: [['Upgrade a checklist', '/upgrade']],
    body: (
      <>
        <p class="lead">
          <a href={path('stigs', release.slug)}>{release.title}</a> {release.version}
          {target.hostName === '' ? '' : `, ${target.hostName}`}
          {report.tool === null ? '' : `, scanned by ${report.tool}`}
        </p>
        {report.warnings.map((warning) => (
          <p class="notice">{warning}.</p>
        ))}
        <Facts of={statuses.map(([status, name]) => [name, counts[status]])} />
        <SendAgain fields={{ ...form, ...files, as: 'file' }} submit="Download checklist" />
        {statuses.map(([status, name]) => (
          <Rules name={name} rules={report.rules.filter((rule) => rule.status === status)} report={report} />
        ))}
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
        {report.notCarried.length === 0 ? null : <NotCarried notCarried={report.notCarried} />}
      </>
    ),
  };
}

function Rules(props: { name: string; rules: ReportedRule[]; report: ResultsReport }): Child {
  const { name, rules, report } = props;
  if (rules.length === 0) return null;
  const { slug, version } = report.release;
  return (
    <details class="more" open={name === 'Open'}>
      <summary>
        {name}: {count(rules.length, 'rule')}
      </summary>
      <ul class="results">
        {rules.map((rule) => (
          <li>
            <a class="ids" href={ruleHref(slug, rule, version)}>
              {rule.groupId}
            </a>{' '}
            {rule.result ?? ''} {rule.reason ?? ''} {rule.kept ? <span class="tag">kept</span> : null}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The problems that an inspection found, with advice. */
export function inspectionPage(page: {
  inspection: Inspection;
  form: UpgradeForm;
  files: AttachedFiles;
}): View {
  const { inspection, form, files } = page;
  return {
    title: 'Inspection',
    section: 'stigs',
    crumbs: [['Upgrade a checklist', '/upgrade']],
    body: (
      <>
        <SendAgain fields={{ ...form, ...files }} submit="Preview upgrade" />
        {inspection.stigs.map((stig) => (
          <section>
            <h2>
              {stig.title === null ? 'A STIG that is not in the catalog' : `${stig.title} ${stig.version}`}
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
              <ul class="results">
                {stig.findings.map((finding) => (
                  <li>
                    <span class="tag">{finding.severity}</span>{' '}
                    {finding.groupId === null ? null : <span class="ids">{finding.groupId} </span>}
                    {finding.message}. {finding.advice}
                  </li>
                ))}
              </ul>
            )}
          </section>
        ))}
      </>
    ),
  };
}
