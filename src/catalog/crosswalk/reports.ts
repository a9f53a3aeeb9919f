import type { User } from '../../auth/viewer.ts';
import { type FileChoice, narrowedName, type RenderedFile, renderFile } from '../../http/downloads.ts';
import type { NamedRelease, StigService } from '../stigs/queries.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import { type AutomationService, automationColumns } from './automation.ts';
import { type CoverageService, coverageColumns, coverageRows } from './coverage.ts';
import type {
  CoverageQuery,
  ListAutomation,
  StigAutomation,
  Worksheet,
  WorksheetQuery,
} from './reports-schema.ts';
import { type WorksheetService, worksheetColumns, worksheetRows } from './worksheet.ts';

/** What a report is about: a release of a STIG, by default the current one, or the STIGs of a list. */
export type ReportScope = { slug: string; version: string | undefined } | { user: User; list: string };

export interface ReportServices {
  stigs: Pick<StigService, 'named'>;
  listStigs: { releases(user: User, id: string): { name: string; stigs: NamedRelease[] } };
  coverage: CoverageService;
  automation: AutomationService;
  worksheet: WorksheetService;
  ruleAutomation: AutomationOf;
}

export interface ReportFile extends RenderedFile {
  /** The name of the file without its extension. */
  name: string;
}

/** The STIGs of a scope, and the name of a file about them. Throws NOT_FOUND for what the caller may not see. */
function findStigs({ stigs, listStigs }: ReportServices, scope: ReportScope) {
  if ('list' in scope) {
    const list = listStigs.releases(scope.user, scope.list);
    return { stigs: list.stigs, fileName: (report: string) => `${list.name} ${report}` };
  }
  const stig = stigs.named(scope.slug, scope.version);
  return { stigs: [stig], fileName: (report: string) => `${stig.slug}_${stig.release!.version}_${report}` };
}

/** A row of a report as a file: what it lacks is an empty cell. */
export type ReportRow<Columns extends readonly string[]> = {
  [column in Columns[number]]?: string | number | boolean | null;
};

interface Report<Columns extends readonly string[]> {
  json: object;
  rows: ReportRow<Columns>[];
  /** The filters that the name of the file has. */
  filters?: object;
  /** xlsx: long texts wrap in their cells. */
  wrapped?: boolean;
}

/** Makes the job that renders a report of a scope: `compute` gives it as json and as rows. */
function report<Query, const Columns extends readonly string[]>(
  name: string,
  element: string,
  columns: Columns,
  compute: (
    services: ReportServices,
    find: () => NamedRelease[],
    query: Query,
    scope: ReportScope,
  ) => Report<Columns>,
) {
  const ofRow = columns.map((column: Columns[number]) => ({
    name: column,
    value: (row: ReportRow<Columns>) => row[column] ?? null,
  }));
  return (services: ReportServices, scope: ReportScope, query: Query, choice: FileChoice): ReportFile => {
    let fileName = '';
    const find = () => {
      const found = findStigs(services, scope);
      fileName = found.fileName(name);
      return found.stigs;
    };
    const { filters = {}, ...made } = compute(services, find, query, scope);
    const file = renderFile(choice, { ...made, root: name, element, columns: ofRow });
    return { ...file, name: narrowedName(fileName, filters) };
  };
}

/** No filter names the framework that is asked about by default. */
const named = (framework: string) => (framework === 'nist-800-53' ? undefined : framework);

/** The coverage of a scope as a file (rule D25). */
export const coverageReport = report(
  'coverage',
  'control',
  coverageColumns,
  ({ coverage }, find, query: CoverageQuery) => {
    const json = coverage.of(find, query);
    const filters = {
      framework: named(json.framework),
      revision: query.revision && json.revision,
      baseline: json.baseline,
      rollup: json.rollup || undefined,
    };
    return { json, rows: coverageRows(json), filters };
  },
);

/** What machines can check of a scope as a file (rule D38.2). */
export const automationReport = report(
  'automation',
  'rule',
  automationColumns,
  ({ automation }, find, _query: object, scope) => {
    const stigs = find();
    const json = 'list' in scope ? automation.ofList(stigs) : automation.ofStig(stigs[0]!);
    return { json, rows: automation.rows(stigs) };
  },
);

/** The worksheet of a scope as a file (rule D37.3). */
export const worksheetReport = report(
  'worksheet',
  'objective',
  worksheetColumns,
  ({ worksheet }, find, query: WorksheetQuery) => {
    const json = worksheet.of(find, query);
    const filters = { framework: named(query.framework), baseline: query.baseline, family: query.family };
    return { json, rows: worksheetRows(json), filters, wrapped: true };
  },
);

/** What the page of a coverage asks beside it. */
export interface CoveragePageQuery extends CoverageQuery {
  /** Whether only rules that a scan answers count. */
  isAutomatedOnly: boolean;
  /** The control whose rules are shown. */
  control: string | undefined;
}

/** The coverage of a scope with what its page shows beside it. */
export function shownCoverage(
  services: ReportServices,
  scope: ReportScope,
  { isAutomatedOnly, control, ...query }: CoveragePageQuery,
) {
  const { coverage, ruleAutomation } = services;
  const counts = isAutomatedOnly
    ? (slug: string, ruleId: string) => ruleAutomation(slug).of(ruleId).state === 'automated'
    : undefined;
  const find = () => findStigs(services, scope).stigs;
  const found = coverage.of(find, query, counts);
  const rules = control === undefined ? null : coverage.rulesOfControl(find(), query, control, counts);
  return {
    coverage: found,
    chosen: rules && { identifier: control!, ...rules },
    beginnings: coverage.beginnings(found),
  };
}

/** The worksheet of a scope. */
export const shownWorksheet = (
  services: ReportServices,
  scope: ReportScope,
  query: WorksheetQuery,
): Worksheet => services.worksheet.of(() => findStigs(services, scope).stigs, query);

/** What machines can check of a list. */
export const listAutomation = (services: ReportServices, user: User, list: string): ListAutomation =>
  services.automation.ofList(findStigs(services, { user, list }).stigs);

/** What machines can check of a release of a STIG. */
export const stigAutomation = (
  services: ReportServices,
  slug: string,
  version: string | undefined,
): StigAutomation => services.automation.ofStig(services.stigs.named(slug, version));
