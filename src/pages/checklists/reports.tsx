import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { OldChecklist } from '../../checklists/cklb-reader.ts';
import type { MadeChecklist } from '../../checklists/results.ts';
import type { Inspection } from '../../checklists/results-schema.ts';
import type { Leftover, NotCarried as NotCarriedItem, Upgrade } from '../../checklists/schema.ts';
import {
  reportRows,
  reviewOfResults,
  reviewOfUpgrade,
  type UpgradedFile,
} from '../../checklists/upgrade-several.ts';
import { Empty, Facts, path, StigLink, shortTitle, Table } from '../parts/components.tsx';
import type { View } from '../parts/view.ts';
import { Answer, type Report, Review } from './review-table.tsx';
import { SendAgain, toolView } from './upgrade-form.tsx';

/** The report on an upgrade: each rule, and what was not carried over. */
export function upgradedPage(
  page: Report & {
    upgrade: Upgrade;
    /** Whether the checklist named its STIG, because the reader selected none. */
    isNamed: boolean;
  },
): View {
  const { upgrade, tool, isNamed } = page;
  const { report } = upgrade;
  const { from, to, summary } = report;
  return toolView({
    tool,
    title: 'Upgraded checklist',
    heading: `${shortTitle(to.title)}: ${from.version ?? from.releaseInfo} to ${to.version}`,
    body: (
      <>
        <p class="lead">
          <a href={path('stigs', to.slug)}>{to.title}</a>
          {isNamed ? ', the STIG named in the checklist' : ''}. {count(summary.removed, 'removed rule')}.
        </p>
        {report.warnings.map((warning) => (
          <p class="warning">{warning}.</p>
        ))}
        <Review of={page} rows={reviewOfUpgrade(upgrade)} submit="Download upgraded checklist" />
        <NotCarried notCarried={report.notCarried} />
        {report.otherStigs.length === 0 ? null : (
          <p>
            The other STIGs in the checklist are unchanged:{' '}
            {report.otherStigs.map((stig) => stig.title).join(', ')}.
          </p>
        )}
      </>
    ),
  });
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

/** The report on scan results, rule by rule. */
export function fromResultsPage(page: Report & { made: MadeChecklist; old: OldChecklist | null }): View {
  const { made, old, tool } = page;
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
        <Review of={page} rows={reviewOfResults(made, old)} submit="Download checklist" />
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
export function inspectionPage({ inspected, id, form }: Report & { inspected: InspectedFile[] }): View {
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

/** The report on several checklists, file by file. */
export function upgradedSeveralPage(page: Report & { done: UpgradedFile[] }): View {
  const { done, tool } = page;
  const made = done.filter(({ made }) => made !== null).length;
  const answers = done.flatMap(({ reports }) => reports.map(({ summary }) => summary.answers));
  const total = (of: keyof (typeof answers)[number]) => answers.reduce((sum, each) => sum + each[of], 0);
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
        {made === 0 ? null : <Review of={page} rows={rows} submit="Download checklists and report" />}
        {done.map((each) => (
          <LeftOut of={each} />
        ))}
      </>
    ),
  });
}

function row({ file, host, reports, problems, warnings }: UpgradedFile): Child[] {
  return [
    <span class="mono">{file}</span>,
    host,
    <>
      {reports.map(({ from, to }) => (
        <div>
          <StigLink of={to} />, {from.version ?? from.releaseInfo} to {to.version}
        </div>
      ))}
      {[...problems, ...warnings].map((problem) => (
        <div class="warning">{problem}</div>
      ))}
    </>,
    reports.map(({ summary: { answers } }) => (
      <div>
        {answers.carried} carried, {answers.carriedWithWarning} with a warning, {answers.reset} reset,{' '}
        {answers.notCarried} not carried
      </div>
    )),
    reports.map(({ summary }) => (
      <div>
        {summary.new} new, {summary.removed} removed
      </div>
    )),
  ];
}

const mostLines = 50;

/** What a file holds that its new checklist has no place for. */
function LeftOut({ of }: { of: UpgradedFile }): Child {
  const left = reportRows(of).filter(({ outcome }) => outcome === 'not-carried');
  if (left.length === 0) return null;
  return (
    <details class="more">
      <summary>
        {of.file}: {count(left.length, 'item')} not carried over
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
