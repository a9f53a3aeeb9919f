import type { User } from '../../auth/viewer.ts';
import { type FileChoice, narrowedName, type RenderedFile, renderFile } from '../../http/downloads.ts';
import type { ControlService } from '../controls/queries.ts';
import type { NamedRelease, StigService } from '../stigs/queries.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import { automationColumns, automationOfStig, automationOfStigs, automationRows } from './automation.ts';
import { type CoverageService, coverageColumns, coverageRows } from './coverage.ts';
import type {
  CoverageQuery,
  ListAutomation,
  ReportRow,
  StigAutomation,
  Worksheet,
  WorksheetQuery,
} from './reports-schema.ts';
import { worksheetColumns, worksheetOf, worksheetRows } from './worksheet.ts';

/** What a report is about: a release of a STIG, by default the current one, or the STIGs of a list. */
export type ReportScope = { slug: string; version: string | undefined } | { user: User; list: string };

export interface ReportServices {
  stigs: Pick<StigService, 'named'>;
  listStigs: { releases(user: User, id: string): { name: string; stigs: NamedRelease[] } };
  controls: ControlService;
  coverage: CoverageService;
  ruleAutomation: AutomationOf;
}

interface Report {
  json: object;
  rows: ReportRow[];
  /** The filters that the name of the file has. */
  filters?: object;
  /** xlsx: long texts wrap in their cells. */
  wrapped?: boolean;
}

export interface ReportFile extends RenderedFile {
  /** The name of the file without its extension. */
  name: string;
}

/** The STIGs of a scope. Throws NOT_FOUND for what the caller may not see. */
const stigsOf = ({ stigs, listStigs }: ReportServices, scope: ReportScope): NamedRelease[] =>
  'list' in scope
    ? listStigs.releases(scope.user, scope.list).stigs
    : [stigs.named(scope.slug, scope.version)];

function fileName({ stigs, listStigs }: ReportServices, scope: ReportScope, report: string): string {
  if ('list' in scope) return `${listStigs.releases(scope.user, scope.list).name} ${report}`;
  const { slug, release } = stigs.named(scope.slug, scope.version);
  return `${slug}_${release!.version}_${report}`;
}

/** Makes the job that renders a report of a scope: `compute` gives it as json and as rows. */
function report<Query>(
  name: string,
  element: string,
  columns: string[],
  compute: (services: ReportServices, scope: ReportScope, query: Query) => Report,
) {
  const ofRow = columns.map((column) => ({
    name: column,
    value: (row: ReportRow) => row[column] ?? null,
  }));
  return (services: ReportServices, scope: ReportScope, query: Query, choice: FileChoice): ReportFile => {
    const { filters = {}, ...made } = compute(services, scope, query);
    const file = renderFile(choice, { ...made, root: name, element, columns: ofRow });
    return { ...file, name: narrowedName(fileName(services, scope, name), filters) };
  };
}

/** No filter names the framework that is asked about by default. */
const named = (framework: string) => (framework === 'nist-800-53' ? undefined : framework);

/** The coverage of a scope as a file (rule D25). */
export const coverageReport = report(
  'coverage',
  'control',
  coverageColumns,
  (services, scope, query: CoverageQuery) => {
    const { coverage } = services;
    const json = coverage.of(coverage.scopeOf(query), stigsOf(services, scope), query);
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
export const automationReport = report('automation', 'rule', automationColumns, (services, scope) => {
  const stigs = stigsOf(services, scope);
  const json = 'list' in scope ? automationOfStigs(services, stigs) : automationOfStig(services, stigs[0]!);
  return { json, rows: automationRows(services, stigs) };
});

/** The worksheet of a scope. */
export const shownWorksheet = (
  services: ReportServices,
  scope: ReportScope,
  query: WorksheetQuery,
): Worksheet => {
  const asked = services.coverage.scopeOf(query);
  return worksheetOf(services, asked, stigsOf(services, scope), query.family);
};

/** The worksheet of a scope as a file (rule D37.3). */
export const worksheetReport = report(
  'worksheet',
  'objective',
  worksheetColumns,
  (services, scope, query: WorksheetQuery) => {
    const json = shownWorksheet(services, scope, query);
    const filters = { framework: named(query.framework), baseline: query.baseline, family: query.family };
    return { json, rows: worksheetRows(json), filters, wrapped: true };
  },
);

/** The coverage of a scope with what its page shows beside it: of the rules that a scan answers, and those of a control. */
export function shownCoverage(
  services: ReportServices,
  scope: ReportScope,
  query: CoverageQuery & { isAutomatedOnly: boolean; control: string | undefined },
) {
  const { coverage, ruleAutomation } = services;
  const { isAutomatedOnly, control, rollup } = query;
  const isAutomated = (slug: string, ruleId: string) => ruleAutomation(slug).of(ruleId).state === 'automated';
  const counting = { rollup, counts: isAutomatedOnly ? isAutomated : undefined };
  const asked = coverage.scopeOf(query);
  const stigs = stigsOf(services, scope);
  const rules = control === undefined ? null : coverage.rulesOfControl(asked, stigs, control, counting);
  return {
    coverage: coverage.of(asked, stigs, counting),
    chosen: rules && { identifier: control!, ...rules },
    beginnings: coverage.beginnings(asked),
  };
}

/** What machines can check of a list. */
export const listAutomation = (services: ReportServices, user: User, list: string): ListAutomation =>
  automationOfStigs(services, stigsOf(services, { user, list }));

/** What machines can check of a release of a STIG. */
export const stigAutomation = (
  services: ReportServices,
  slug: string,
  version: string | undefined,
): StigAutomation => automationOfStig(services, services.stigs.named(slug, version));
