import type { Child } from 'hono/jsx';
import { programName } from '../../../base/installation.ts';
import { count } from '../../../base/text.ts';
import {
  type AutomationTotals,
  type ListAutomation,
  reportFormats,
  type StigAutomation,
} from '../../../catalog/crosswalk/reports-schema.ts';
import { type AutomationState, automationStates } from '../../../catalog/stigs/rule-automation.ts';
import { Automation, automationPath, stateNames } from '../checked-by.tsx';
import { Day, Downloads, Empty, Lines, link, Severity, shortTitle, Table } from '../components.tsx';
import { listView, partPath, type ShownList } from '../list-frame.tsx';
import { pinnedOf, type ShownStig, stigPath, stigView } from '../stig-frame.tsx';
import type { View } from '../view.ts';

type Content = StigAutomation['content'][number];

/** The plan of work of a list: what a scan answers, and what is left for people (rule D38.2). */
export function planOfWorkPage({ list, isOwn, ...planned }: ShownList & Planned): View {
  const { plan } = planned;
  const home = partPath(list.id, 'automation');
  return listView({
    ...{ list, isOwn, part: 'automation' },
    actions: <Downloads of={home} formats={reportFormats} />,
    body:
      plan.stigs.length === 0 ? (
        <Empty>
          This list is empty. <a href="/stigs">Browse STIGs</a>
        </Empty>
      ) : (
        <Plan {...planned} />
      ),
  });
}

interface Planned {
  plan: ListAutomation;
  /** Those that are kept with the list; one without `stigs` gets all. */
  hosts: { stigs?: string[] | undefined }[];
  /** The names of files that an older version skipped. */
  readAgain: string[];
}

function Plan({ plan, hosts, readAgain }: Planned): Child {
  const { stigs, totals, severities, families } = plan;
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
          own,
        ])}
      />
      <OnHosts plan={plan} hosts={hosts} />
      <Counts
        id="severities"
        heading="By severity"
        head="Severity"
        rows={(['high', 'medium', 'low'] as const).map((level) => [
          <Severity level={level} />,
          severities[level],
        ])}
      />
      <Counts
        id="families"
        heading="By control family"
        head="Family"
        note="A rule whose CCIs lead to several families counts in each of them."
        rows={families.map(({ family, totals: own }) => [
          family === '' ? <span class="quiet">no control of NIST SP 800-53</span> : family,
          own,
        ])}
      />
      <Contents of={distinct(stigs.flatMap(({ content }) => content))} readAgain={readAgain} />
    </>
  );
}

/** The rules of each STIG times the hosts that get it: what there is to check in all (rule D36.6). */
function OnHosts({ plan: { stigs }, hosts }: Pick<Planned, 'plan' | 'hosts'>): Child {
  if (hosts.length === 0) return null;
  const rows = stigs.map(({ slug, title, totals }): [Child, AutomationTotals] => {
    const number = hosts.filter((host) => host.stigs === undefined || host.stigs.includes(slug)).length;
    return [
      <>
        <span title={title}>{shortTitle(title)}</span> <span class="quiet">{count(number, 'host')}</span>
      </>,
      times(totals, number),
    ];
  });
  const all = rows.reduce((sum, [, totals]) => plus(sum, totals), times(rows[0]![1], 0));
  return (
    <Counts
      id="hosts"
      heading="On the hosts of this list"
      head="STIG"
      note="Each rule counts once for each host that gets its STIG."
      rows={[...rows, [<b>All {count(hosts.length, 'host')}</b>, all]]}
    />
  );
}

const combined = (of: (name: keyof AutomationTotals) => number): AutomationTotals => ({
  ...{ rules: of('rules'), automated: of('automated'), stale: of('stale') },
  ...{ manual: of('manual'), none: of('none') },
});
const times = (totals: AutomationTotals, number: number) => combined((name) => totals[name] * number);
const plus = (a: AutomationTotals, b: AutomationTotals) => combined((name) => a[name] + b[name]);

const distinct = (contents: Content[]) => [
  ...new Map(contents.map((each) => [JSON.stringify(each), each])).values(),
];

/** What machines check of a release of a STIG; each number leads to its rules. */
export function stigAutomationPage(props: {
  automation: StigAutomation;
  stig: ShownStig;
  readAgain: string[];
}): View {
  const { automation, stig, readAgain } = props;
  const { slug, content, totals, rules } = automation;
  const pinned = pinnedOf(stig);
  return stigView({
    stig,
    part: 'automation',
    actions: <Downloads of={automationPath(slug)} formats={reportFormats} version={pinned} />,
    body: (
      <>
        <Table
          caption="Rules by how they are checked"
          head={['Checked by', 'CAT I', 'CAT II', 'CAT III', 'Rules', 'Share', 'Means']}
          rows={automationStates.map((state) => {
            const of = (level: string) =>
              rules.filter((rule) => rule.state === state && rule.severity === level).length;
            return [
              <a href={link(stigPath(slug, 'rules'), { version: pinned, checked: state })}>
                <Automation state={state} />
              </a>,
              ...[of('high'), of('medium'), of('low'), totals[state]],
              `${shareOf(totals[state], totals.rules)} %`,
              meanings[state],
            ];
          })}
        />
        <Contents of={content} readAgain={readAgain} />
      </>
    ),
  });
}

const shareOf = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 100));

const meanings: Record<AutomationState, string> = {
  automated: 'Imported SCAP content tests this very revision of the rule.',
  stale: 'Content tests an older text: look at what changed before you trust its result.',
  manual: 'Content has the rule, but no test for it.',
  none: 'No imported content has the rule.',
};

/** The plan in one sentence, and what the states mean. */
function Totals({ totals }: { totals: AutomationTotals }): Child {
  const { rules, automated, stale, manual, none } = totals;
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

function Counts(props: {
  id: string;
  heading: string;
  head: string;
  note?: string;
  rows: [Child, AutomationTotals][];
}): Child {
  const { id, heading, head, note, rows } = props;
  const { automated, stale, manual, none } = stateNames;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{heading}</h2>
      {note === undefined ? null : <p class="quiet">{note}</p>}
      <Table
        caption={heading}
        class="plan"
        head={[head, 'Rules', automated, stale, manual, none]}
        rows={rows.map(([name, totals]) => [
          name,
          ...[totals.rules, totals.automated, totals.stale, totals.manual, totals.none],
        ])}
      />
    </section>
  );
}

/** The names that a page shows. */
const mostNames = 20;

function Contents({ of, readAgain }: { of: Content[]; readAgain: string[] }): Child {
  return (
    <section aria-labelledby="content">
      <h2 id="content">SCAP content</h2>
      {readAgain.length === 0 ? null : (
        <div class="warning">
          <p>An older version skipped {count(readAgain.length, 'file')} that this one reads. Import again:</p>
          <Lines
            of={[
              ...readAgain.slice(0, mostNames),
              ...(readAgain.length > mostNames ? ['... (gapstone status lists all)'] : []),
            ]}
          />
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
