import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import {
  type AutomationTotals,
  automationFormats,
  type ListAutomation,
  type StigAutomation,
} from '../../catalog/crosswalk/automation-schema.ts';
import { Automation, automationPath, stateNames } from '../parts/checked-by.tsx';
import { Day, Downloads, Empty, Lines, Severity, shortTitle, Table, Tiles } from '../parts/components.tsx';
import { listView, partPath, type ShownList } from '../parts/list-frame.tsx';
import { RuleIds, ruleHref } from '../parts/rule-links.tsx';
import { pinnedOf, type ShownStig, stigView } from '../parts/stig-frame.tsx';
import type { View } from '../parts/view.ts';

type Content = StigAutomation['content'][number];

/** The rules that a page shows; files have all of them. */
const mostRules = 1000;

/** The plan of work of a list: what a scan answers, and what is left for people (rule D38.2). */
export function planOfWorkPage({ list, isOwn, ...planned }: ShownList & Planned): View {
  const { plan } = planned;
  const home = partPath(list.id, 'automation');
  return listView({
    ...{ list, isOwn, part: 'automation' },
    actions: <Downloads of={home} formats={automationFormats} />,
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
      <Explained />
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
  const rows = stigs.map(({ slug, title, totals }): [string, AutomationTotals] => {
    const number = hosts.filter((host) => host.stigs === undefined || host.stigs.includes(slug)).length;
    return [`${title}, ${count(number, 'host')}`, times(totals, number)];
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

/** What machines check of a release of a STIG; `isCurrent` is false for an older one. */
export function stigAutomationPage(props: {
  automation: StigAutomation;
  stig: ShownStig;
  readAgain: string[];
}): View {
  const { automation, stig, readAgain } = props;
  const { slug, content, totals, rules } = automation;
  const { title } = stig;
  const pinned = pinnedOf(stig);
  return stigView({
    stig,
    part: 'automation',
    actions: <Downloads of={automationPath(slug)} formats={automationFormats} version={pinned} />,
    body: (
      <>
        <Totals totals={totals} />
        <Explained />
        <Contents of={content} readAgain={readAgain} />
        <section aria-labelledby="rules">
          <h2 id="rules">Rules</h2>
          {rules.length <= mostRules ? null : (
            <p class="quiet">
              The first {count(mostRules, 'rule')} of {rules.length.toLocaleString('en-US')}. The files have
              all of them.
            </p>
          )}
          <Table
            caption={`Rules of ${title}`}
            class="rules"
            headColumn={2}
            head={['Severity', 'ID', 'Rule', 'Checked by', 'SCAP content']}
            rows={rules
              .slice(0, mostRules)
              .map((rule) => [
                <Severity level={rule.severity} />,
                <RuleIds of={rule} />,
                <a href={ruleHref(slug, rule, pinned)}>{rule.ruleTitle}</a>,
                <Automation state={rule.state} />,
                <span class="quiet">{rule.content.replaceAll(';', '; ')}</span>,
              ])}
          />
        </section>
      </>
    ),
  });
}

const rules = (number: number) => (number === 1 ? 'rule' : 'rules');

function Totals({ totals: { automated, stale, manual, none } }: { totals: AutomationTotals }): Child {
  return (
    <Tiles
      of={[
        [automated, `${rules(automated)} a scan answers`],
        [stale, `${rules(stale)} whose scan is of another revision`],
        [manual + none, `${rules(manual + none)} a person must look at`],
      ]}
    />
  );
}

function Explained(): Child {
  return (
    <p class="quiet">
      {stateNames.automated}: imported SCAP content tests this very revision of the rule. {stateNames.stale}:
      content tests another revision, so look at what changed before you trust its result. {stateNames.manual}
      : content has the rule, but no test for it. {stateNames.none}: no imported content has the rule.
    </p>
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
        class="dense"
        head={[head, 'Rules', automated, stale, manual, none]}
        rows={rows.map(([name, totals]) => [
          name,
          ...([totals.rules, totals.automated, totals.stale, totals.manual, totals.none] as const).map(
            (number) => number.toLocaleString('en-US'),
          ),
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
        <div class="notice">
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
          each.rules.toLocaleString('en-US'),
          each.automated.toLocaleString('en-US'),
        ])}
      >
        No SCAP content is imported for it. Import a data stream of DISA or NIWC Atlantic with{' '}
        <code>{programName} import PATH</code>.
      </Table>
    </section>
  );
}
