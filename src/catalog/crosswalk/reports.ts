import type { User } from '../../auth/viewer.ts';
import {
  type FileChoice,
  type FlatFile,
  narrowedName,
  type RenderedFile,
  renderFile,
} from '../../http/downloads.ts';
import type { NamedRelease, StigService } from '../stigs/queries.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import { type AutomationService, automationFile } from './automation.ts';
import type { ListAutomation, StigAutomation } from './automation-schema.ts';
import { type CoverageService, coverageFile } from './coverage.ts';
import type { CoverageQuery } from './coverage-schema.ts';
import { type WorksheetService, worksheetFile } from './worksheet.ts';
import type { Worksheet, WorksheetQuery } from './worksheet-schema.ts';

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

/** Makes the job that renders a report of a scope: `make` gives the file, and the filters that its name has. */
function report<Query, Row>(
  name: string,
  make: (
    services: ReportServices,
    find: () => NamedRelease[],
    query: Query,
    scope: ReportScope,
  ) => FlatFile<Row> & { filters?: object },
) {
  return (services: ReportServices, scope: ReportScope, query: Query, choice: FileChoice): ReportFile => {
    let found: ReturnType<typeof findStigs> | undefined;
    const find = () => {
      found = findStigs(services, scope);
      return found.stigs;
    };
    const { filters = {}, ...file } = make(services, find, query, scope);
    return { ...renderFile(choice, file), name: narrowedName(found!.fileName(name), filters) };
  };
}

/** No filter names the framework that is asked about by default. */
const named = (framework: string) => (framework === 'nist-800-53' ? undefined : framework);

/** The coverage of a scope as a file (rule D25). */
export const coverageReport = report('coverage', ({ coverage }, find, query: CoverageQuery) => {
  const json = coverage.of(find, query);
  const filters = {
    framework: named(json.framework),
    revision: query.revision === undefined ? undefined : json.revision,
    baseline: json.baseline,
    rollup: json.rollup || undefined,
  };
  return { ...coverageFile(json), filters };
});

/** What machines can check of a scope as a file (rule D38.2). */
export const automationReport = report('automation', ({ automation }, find, _query: object, scope) => {
  const stigs = find();
  const json = 'list' in scope ? automation.ofList(stigs) : automation.ofStig(stigs[0]!);
  return automationFile(json, automation.rows(stigs));
});

/** The worksheet of a scope as a file (rule D37.3). */
export const worksheetReport = report('worksheet', ({ worksheet }, find, query: WorksheetQuery) => {
  const filters = { framework: named(query.framework), baseline: query.baseline, family: query.family };
  return { ...worksheetFile(worksheet.of(find, query)), filters };
});

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
