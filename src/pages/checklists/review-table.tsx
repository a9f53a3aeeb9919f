import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { RuleAnswer } from '../../checklists/schema.ts';
import type { ReviewRow } from '../../checklists/upgrade-several.ts';
import type { Form } from '../../http/env.ts';
import { slice } from '../../http/paging.ts';
import { Empty, Facts, Severity, Table } from '../parts/components.tsx';
import { createMarker, Field, type Marker } from '../parts/diff-text.tsx';
import { Boxes, Hidden, Select, SeverityBoxes } from '../parts/forms.tsx';
import { ruleHref } from '../parts/links.tsx';
import { toolPath, type UpgradeForm, type UploadTool } from './upgrade-form.tsx';

const kinds: Record<ReviewRow['kind'], string> = {
  reset: 'Reset',
  'carried-with-warning': 'Carried over with a warning',
  new: 'New rule',
  carried: 'Carried over',
  open: 'Open',
  not_reviewed: 'Not reviewed',
  not_a_finding: 'Not a finding',
  not_applicable: 'Not applicable',
};
const statuses: Record<ReviewRow['now'], string> = kinds;

/** Nobody needs to decide on these: a page shows them only where somebody asks. */
const settled: readonly string[] = ['carried', 'not_a_finding', 'not_applicable'];

const orders = [
  ['severity', 'CAT I first'],
  ['id', 'By ID'],
  ['status', 'By new status'],
] as const;

const rowsPerPage = 100;

/** What a reader asked to see of a report. */
interface ReviewFilters {
  severity: string[];
  kind: string[];
  order: string;
  page: number;
}

/** What the page of a report is about, beside its content. */
export interface Report {
  tool: UploadTool;
  form: UpgradeForm;
  /** The id under which the server stores the files of the form. */
  id: string;
  review: ReviewFilters;
}

/** The filters of a report, as its form sends them; empty ones show what needs a decision. */
export function filtersOf(form: Form): ReviewFilters {
  const known = (names: string[], from: readonly string[]) => from.filter((each) => names.includes(each));
  const page = form.get('view').match(/^page-(\d{1,6})$/)?.[1] ?? 1;
  return {
    severity: known(form.all('severity'), ['high', 'medium', 'low']),
    kind: known(form.all('kind'), Object.keys(kinds)),
    order: orders.find(([each]) => each === form.get('order'))?.[0] ?? 'severity',
    page: Math.max(1, Number(page)),
  };
}

/** A rule to review, and the host or the file that it is of where there are several. */
type ShownReview = ReviewRow & { of?: string };

/** The rules of a made checklist: the download, counts by severity, filters, and a table, all in one form. */
export function Review({ of, rows, submit }: { of: Report; rows: ShownReview[]; submit: string }): Child {
  const { tool, id, form, review: filters } = of;
  const marker = createMarker();
  const present = (Object.keys(kinds) as ReviewRow['kind'][]).filter((kind) =>
    rows.some((row) => row.kind === kind),
  );
  const open = present.filter((kind) => !settled.includes(kind));
  const shown = filters.kind.length > 0 ? filters.kind : open.length > 0 ? open : present;
  const chosen = rows
    .filter((row) => shown.includes(row.kind))
    .filter(({ severity }) => filters.severity.length === 0 || filters.severity.includes(severity))
    .sort(comparing(filters.order));
  const part = { page: filters.page, limit: rowsPerPage };
  const isOfSeveral = rows.some(({ of }) => of !== undefined);
  const hasOld = rows.some(({ was }) => was !== null);
  return (
    <form method="post" action={toolPath(tool, id)} enctype="multipart/form-data">
      <Hidden fields={{ ...form, as: 'file' }} />
      <div class="actions">
        <button type="submit">{submit}</button>
      </div>
      <Counts rows={rows} kinds={present} />
      <div class="filters">
        <SeverityBoxes selected={filters.severity} />
        <Boxes name="kind" legend="Show" of={present} selected={shown} show={(kind) => kinds[kind]} />
        <Select
          name="order"
          label="Order"
          of={orders.map(([value, text]) => [value, text])}
          selected={filters.order}
        />
        <div>
          <button type="submit" name="view" value="report" class="quiet">
            Apply filters
          </button>
        </div>
      </div>
      {chosen.length === 0 ? (
        <Empty>No rule matches these filters.</Empty>
      ) : (
        <Table
          class="review"
          caption="Rules to review"
          headColumn={3}
          head={[
            'Severity',
            'V-ID',
            'STIG ID',
            'Rule',
            ...(isOfSeveral ? ['Of'] : []),
            ...(hasOld ? ['Was'] : []),
            'Now',
            'Why',
          ]}
          rows={slice(chosen, part).map((row) => cells(row, { isOfSeveral, hasOld }, marker))}
        />
      )}
      <Pages page={filters.page} of={Math.ceil(chosen.length / rowsPerPage)} total={chosen.length} />
    </form>
  );
}

/** The other pages, by buttons of the form of filters. */
function Pages({ page, of, total }: { page: number; of: number; total: number }): Child {
  if (of <= 1) return null;
  const button = (to: number, label: string) => (
    <button type="submit" name="view" value={`page-${to}`} class="quiet">
      {label}
    </button>
  );
  return (
    <div class="pager">
      {page > 1 ? button(page - 1, '← Previous') : null}
      <span>
        Page {page} of {of} <span class="quiet">({count(total, 'rule')})</span>
      </span>
      {page < of ? button(page + 1, 'Next →') : null}
    </div>
  );
}

const ranks = { high: 0, medium: 1, low: 2 };
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function comparing(order: string): (a: ReviewRow, b: ReviewRow) => number {
  const byId = (a: ReviewRow, b: ReviewRow) => byText(a.ruleVersion, b.ruleVersion);
  if (order === 'id') return byId;
  if (order === 'status') return (a, b) => byText(a.now, b.now) || byId(a, b);
  return (a, b) => ranks[a.severity] - ranks[b.severity] || byId(a, b);
}

function Counts({ rows, kinds: present }: { rows: ReviewRow[]; kinds: ReviewRow['kind'][] }): Child {
  const levels = ['high', 'medium', 'low'] as const;
  return (
    <Table
      class="plan"
      caption="Rules by severity"
      head={['', 'CAT I', 'CAT II', 'CAT III', 'Rules', 'Answered before']}
      rows={present.map((kind) => {
        const of = rows.filter((row) => row.kind === kind);
        return [
          kinds[kind],
          ...levels.map((level) => of.filter(({ severity }) => severity === level).length),
          of.length,
          of.filter(({ isAnswered }) => isAnswered).length,
        ];
      })}
    />
  );
}

function cells(
  row: ShownReview,
  { isOfSeveral, hasOld }: { isOfSeveral: boolean; hasOld: boolean },
  marker: Marker,
): Child[] {
  const { slug, version, from, severity, groupId, ruleVersion, title, was, now, kind } = row;
  return [
    <Severity level={severity} />,
    <span class="ids">{groupId}</span>,
    <span class="ids">{ruleVersion}</span>,
    <>
      <a class="one-line" href={ruleHref(slug, row, version)} title={title}>
        {title}
      </a>
      {row.lost === null ? null : <Answer answer={row.lost} />}
      {row.changes.length === 0 ? null : (
        <details>
          <summary>
            What changed<span class="hidden"> in {groupId}</span>
          </summary>
          {row.changes.map((change) => (
            <Field field={change} from={from} to={version} marker={marker} />
          ))}
        </details>
      )}
    </>,
    ...(isOfSeveral
      ? [
          <span class="one-line" title={row.of}>
            {row.of}
          </span>,
        ]
      : []),
    ...(hasOld ? [was === null ? '' : statuses[was]] : []),
    was !== null && was !== now ? <b>{statuses[now]}</b> : statuses[now],
    <>
      {row.reason === '' || kind === 'new' ? kinds[kind] : row.reason}{' '}
      {row.isAnswered ? (
        <span class="tag">{row.lost === null ? 'answer kept' : 'answer removed'}</span>
      ) : null}
    </>,
  ];
}

/** An answer that the new checklist does not contain, in full: the assessor may copy it. */
export function Answer({ answer }: { answer: RuleAnswer }): Child {
  const { status, overrides, finding_details, comments } = answer;
  const prose = (text: string) => (text === '' ? null : <span class="prose">{text}</span>);
  const facts: [name: string, value: Child][] = [
    ['Status', prose(status)],
    ['Severity', overrides.severity ? <Severity level={overrides.severity.severity} /> : null],
    ['Reason for the severity', prose(overrides.severity?.reason ?? '')],
    ['Finding details', prose(finding_details)],
    ['Comments', prose(comments)],
  ];
  return <Facts of={facts.filter(([, value]) => value !== null)} />;
}
