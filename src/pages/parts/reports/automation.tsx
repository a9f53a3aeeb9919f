import type { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Ask } from '../../../base/ask.ts';
import { programName } from '../../../base/installation.ts';
import { count } from '../../../base/text.ts';
import { listAutomation, stigAutomation } from '../../../catalog/crosswalk/reports.ts';
import {
  type AutomationTotals,
  type ListAutomation,
  reportFormats,
  type StigAutomation,
} from '../../../catalog/crosswalk/reports-schema.ts';
import { type AutomationState, automationStates } from '../../../catalog/stigs/rule-automation.ts';
import type { Env } from '../../../http/env.ts';
import type { Services } from '../../../services.ts';
import {
  Automation,
  automationPath,
  Day,
  Downloads,
  EmptySystem,
  Lines,
  link,
  Severity,
  severityLevels,
  shortTitle,
  stateNames,
  Table,
} from '../components.tsx';
import type { PageSupport } from '../page.ts';
import { stigPath } from '../stig-frame.tsx';
import { reportPages } from './report-place.ts';

/** What machines check (rule D38.2): the rules of a release of a STIG, and the plan of work of a system. */
export function automationPages(
  app: Hono<Env>,
  support: PageSupport,
  services: Pick<Services, 'stigs' | 'lists' | 'listHosts' | 'ledger'> & { ask: Ask },
): void {
  const { ask, listHosts, ledger } = services;
  reportPages(app, support, services, 'automation', async (c, { scope, home, version, view }) => {
    const readAgain = ledger.readAgain('scap');
    const body =
      'list' in scope ? (
        <Plan
          plan={await ask(listAutomation, scope)}
          hosts={listHosts.get(scope.user, scope.list).hosts}
          readAgain={readAgain}
        />
      ) : (
        <RulesByState automation={await ask(stigAutomation, scope)} version={version} readAgain={readAgain} />
      );
    const actions = <Downloads of={home} formats={reportFormats} version={version} />;
    return support.show(c, view({ actions, keep: {}, body }));
  });
}

type Content = StigAutomation['content'][number];

interface Planned {
  plan: ListAutomation;
  /** The hosts of the system; one without `stigs` gets all. */
  hosts: { stigs?: string[] | undefined }[];
  /** The names of files that an older version skipped. */
  readAgain: string[];
}

/** What a scan answers, and what is left for people. */
function Plan({ plan, hosts, readAgain }: Planned): Child {
  const { stigs, totals, severities, families } = plan;
  if (stigs.length === 0) return <EmptySystem />;
  const contents = stigs.flatMap(({ content }) => content);
  return (
    <>
      <Totals totals={totals} />
      <Counts
        id="stigs"
        heading="By STIG"
        head="STIG"
        rows={stigs.map(({ slug, title, version, totals: own }) => [
          version === null ? (
            <>
              {title} <span class="quiet">no longer in the catalog</span>
            </>
          ) : (
            <>
              <a href={automationPath(slug)} title={title}>
                {shortTitle(title)}
              </a>{' '}
              <span class="quiet">{version}</span>
            </>
          ),
          ...numbersOf(own),
        ])}
      />
      {hosts.length === 0 ? null : <OnHosts stigs={stigs} hosts={hosts} />}
      <Counts
        id="severities"
        heading="By severity"
        head="Severity"
        rows={severityLevels.map((level) => [<Severity level={level} />, ...numbersOf(severities[level])])}
      />
      <Counts
        id="families"
        heading="By control family"
        head="Family"
        note="A rule whose CCIs lead to several families counts in each of them."
        rows={families.map(({ family, totals: own }) => [
          family === '' ? <span class="quiet">no control of NIST SP 800-53</span> : family,
          ...numbersOf(own),
        ])}
      />
      <Contents
        of={[...new Map(contents.map((each) => [JSON.stringify(each), each])).values()]}
        readAgain={readAgain}
      />
    </>
  );
}

/** The columns of the tables: all rules, and those of each state. */
const numbersOf = (totals: AutomationTotals) => [
  totals.rules,
  ...automationStates.map((state) => totals[state]),
];

/** The rules of each STIG times the hosts that get it: what there is to check in all (rule D36.6). */
function OnHosts({ stigs, hosts }: { stigs: ListAutomation['stigs']; hosts: Planned['hosts'] }): Child {
  const rows = stigs.map(({ slug, title, totals }) => {
    const number = hosts.filter((host) => host.stigs === undefined || host.stigs.includes(slug)).length;
    const name = (
      <>
        <span title={title}>{shortTitle(title)}</span> <span class="quiet">{count(number, 'host')}</span>
      </>
    );
    return { name, numbers: numbersOf(totals).map((each) => each * number) };
  });
  const sums = rows[0]!.numbers.map((_, column) => rows.reduce((sum, row) => sum + row.numbers[column]!, 0));
  return (
    <Counts
      id="hosts"
      heading="On the hosts of this list"
      head="STIG"
      note="Each rule counts once for each host that gets its STIG."
      rows={[
        ...rows.map(({ name, numbers }) => [name, ...numbers]),
        [<b>All {count(hosts.length, 'host')}</b>, ...sums],
      ]}
    />
  );
}

/** The rules of a release by state and severity; each number leads to its rules. */
function RulesByState(props: { automation: StigAutomation; version: string; readAgain: string[] }): Child {
  const { slug, content, totals, rules } = props.automation;
  return (
    <>
      <Table
        caption="Rules by how they are checked"
        head={['Checked by', 'CAT I', 'CAT II', 'CAT III', 'Rules', 'Share', 'Means']}
        rows={automationStates.map((state) => [
          <a href={link(stigPath(slug, 'rules'), { version: props.version, checked: state })}>
            <Automation state={state} />
          </a>,
          ...severityLevels.map(
            (level) => rules.filter((rule) => rule.state === state && rule.severity === level).length,
          ),
          totals[state],
          `${shareOf(totals[state], totals.rules)} %`,
          meanings[state],
        ])}
      />
      <Contents of={content} readAgain={props.readAgain} />
    </>
  );
}

const shareOf = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 100));

const meanings: Record<AutomationState, string> = {
  automated: 'Imported SCAP content tests this very revision of the rule.',
  stale: 'Content tests an older text: look at what changed before you trust its result.',
  manual: 'Content has the rule, but no test for it.',
  none: 'No imported content has the rule.',
};

/** The plan in one sentence, and what the states mean. */
function Totals({ totals: { rules, automated, stale, manual, none } }: { totals: AutomationTotals }): Child {
  const person = manual + none;
  return (
    <>
      <p>
        Of {count(rules, 'rule')} a scan answers <b>{automated.toLocaleString('en-US')}</b> (
        {shareOf(automated, rules)} %). For <b>{stale.toLocaleString('en-US')}</b> it tests another revision.{' '}
        <b>{person.toLocaleString('en-US')}</b> {person === 1 ? 'needs' : 'need'} a person.
      </p>
      <details>
        <summary>What the columns mean</summary>
        <Lines of={automationStates.map((state) => `${stateNames[state]}: ${meanings[state]}`)} />
      </details>
    </>
  );
}

function Counts(props: { id: string; heading: string; head: string; note?: string; rows: Child[][] }): Child {
  const { id, heading, head, note, rows } = props;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{heading}</h2>
      {note === undefined ? null : <p class="quiet">{note}</p>}
      <Table
        caption={heading}
        class="plan"
        head={[head, 'Rules', ...automationStates.map((state) => stateNames[state])]}
        rows={rows}
      />
    </section>
  );
}

/** The names that a page shows. */
const mostNames = 20;

function Contents({ of, readAgain }: { of: Content[]; readAgain: string[] }): Child {
  const more = readAgain.length > mostNames ? ['... (gapstone status lists all)'] : [];
  return (
    <section aria-labelledby="content">
      <h2 id="content">SCAP content</h2>
      {readAgain.length === 0 ? null : (
        <div class="warning">
          <p>An older version skipped {count(readAgain.length, 'file')} that this one reads. Import again:</p>
          <Lines of={[...readAgain.slice(0, mostNames), ...more]} />
        </div>
      )}
      <Table
        caption="SCAP content"
        head={['Content', 'Publisher', 'Version', 'Date', 'SCAP', 'Rules', 'Tested']}
        rows={of.map((each) => [
          each.name,
          each.publisher,
          each.version,
          <Day date={each.date} />,
          each.scapVersion,
          each.rules,
          each.automated,
        ])}
      >
        No SCAP content is imported for it. Import a data stream of DISA or NIWC Atlantic with{' '}
        <code>{programName} import PATH</code>.
      </Table>
    </section>
  );
}
