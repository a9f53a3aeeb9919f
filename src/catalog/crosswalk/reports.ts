import type { User } from '../../auth/viewer.ts';
import { pick } from '../../base/objects.ts';
import { fold } from '../../base/text.ts';
import { joined } from '../../http/columns.ts';
import { type FileChoice, narrowedName, type RenderedFile, renderFile } from '../../http/downloads.ts';
import type { ControlService } from '../controls/queries.ts';
import type { NamedRelease, StigService } from '../stigs/queries.ts';
import type { AutomationOf } from '../stigs/rule-automation.ts';
import type { CoverageService } from './coverage.ts';
import type {
  AutomatedRule,
  AutomationTotals,
  CoverageQuery,
  ListAutomation,
  ReportRow,
  StigAutomation,
  Worksheet,
  WorksheetControl,
  WorksheetQuery,
  WorksheetRule,
} from './reports-schema.ts';

/** What a report is about: a release of a STIG, by default the current one, or the STIGs of a list. */
export type ReportScope = { slug: string; version: string | undefined } | { user: User; list: string };

interface RuleServices {
  coverage: CoverageService;
  ruleAutomation: AutomationOf;
}

export interface ReportServices extends RuleServices {
  stigs: Pick<StigService, 'named'>;
  listStigs: { releases(user: User, id: string): { name: string; stigs: NamedRelease[] } };
  controls: ControlService;
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

/** The coverage of a scope as a file (rule D25): a row for each control, in the baseline or addressed outside it. */
export const coverageReport = report(
  'coverage',
  'control',
  ['section', 'identifier', 'title', 'family', 'covered', 'total', 'high', 'medium', 'low', 'stigs'],
  (services, scope, query: CoverageQuery) => {
    const { coverage } = services;
    const json = coverage.of(coverage.scopeOf(query), stigsOf(services, scope), query);
    const { framework, revision, baseline, rollup, controls, outside } = json;
    const rows: ReportRow[] = [
      ...controls.map(({ rules, stigs, ...control }) => {
        return { section: 'control', ...control, ...rules, stigs: joined(stigs) };
      }),
      ...outside.map(({ rules, ...control }) => ({ section: 'outside', ...control, total: rules })),
    ];
    const filters = {
      framework: named(framework),
      revision: query.revision && revision,
      baseline,
      rollup: rollup || undefined,
    };
    return { json, rows, filters };
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

/** The rules of a release in document order, each with its state and its CCIs. */
function automatedRules({ coverage, ruleAutomation }: RuleServices, stig: NamedRelease) {
  const { of } = ruleAutomation(stig.slug);
  return coverage.rulesOf(stig).map(({ ccis, ...rule }) => {
    const { state, content } = of(rule.ruleId);
    return { rule: { ...rule, state, content: joined(content) } satisfies AutomatedRule, ccis };
  });
}

/** What machines can check of a scope as a file (rule D38.2): a row for each rule. */
export const automationReport = report(
  'automation',
  'rule',
  ['slug', 'version', 'groupId', 'ruleId', 'ruleVersion', 'severity', 'ruleTitle', 'state', 'content'],
  (services, scope) => {
    const stigs = stigsOf(services, scope);
    const json = 'list' in scope ? automationOfStigs(services, stigs) : automationOfStig(services, stigs[0]!);
    const rows = stigs.flatMap((stig) =>
      automatedRules(services, stig).map(({ rule }) => ({
        slug: stig.slug,
        version: stig.release!.version,
        ...rule,
      })),
    );
    return { json, rows };
  },
);

/** What machines can check of a list. */
export const listAutomation = (services: ReportServices, user: User, list: string): ListAutomation =>
  automationOfStigs(services, stigsOf(services, { user, list }));

/** What machines can check of a release of a STIG. */
export const stigAutomation = (
  services: ReportServices,
  slug: string,
  version: string | undefined,
): StigAutomation => automationOfStig(services, services.stigs.named(slug, version));

/** What machines can check of a release (rule D38.2). */
export function automationOfStig(services: RuleServices, stig: NamedRelease): StigAutomation {
  const rules = automatedRules(services, stig).map(({ rule }) => rule);
  const totals = noRules();
  for (const { state } of rules) add(totals, state);
  const { contents } = services.ruleAutomation(stig.slug);
  return { slug: stig.slug, version: stig.release!.version, content: contents, totals, rules };
}

/** What machines can check of the releases of a list: the plan of work for an assessment. */
export function automationOfStigs(services: RuleServices, stigs: NamedRelease[]): ListAutomation {
  const { all, ofCcis } = services.coverage.families();
  const severities = { high: noRules(), medium: noRules(), low: noRules() };
  const families = new Map([...all, ''].map((family) => [family, noRules()]));
  const totals = noRules();
  const counted = stigs.map((stig) => {
    const own = noRules();
    for (const { rule, ccis } of automatedRules(services, stig)) {
      const named = [...ofCcis(ccis)];
      const inFamilies = (named.length === 0 ? [''] : named).map((family) => families.get(family)!);
      for (const each of [own, totals, severities[rule.severity], ...inFamilies]) add(each, rule.state);
    }
    const { slug, title, release } = stig;
    const content = release === null ? [] : services.ruleAutomation(slug).contents;
    return { slug, title, version: release?.version ?? null, content, totals: own };
  });
  const withRules = [...families].filter(([, of]) => of.rules > 0);
  return {
    stigs: counted,
    totals,
    severities,
    families: withRules.map(([family, of]) => ({ family, totals: of })),
  };
}

const noRules = (): AutomationTotals => ({ rules: 0, automated: 0, stale: 0, manual: 0, none: 0 });

function add(totals: AutomationTotals, state: AutomatedRule['state']): void {
  totals.rules++;
  totals[state]++;
}

/** The worksheet of a scope as a file (rule D37.3): a row for each objective, and one for a control without any. */
export const worksheetReport = report(
  'worksheet',
  'objective',
  [
    'identifier',
    'title',
    'family',
    'label',
    'part',
    'context',
    'objective',
    'examine',
    'interview',
    'test',
    'ccis',
    'rules',
    'result',
    'evidence',
    'assessor',
    'date',
  ],
  (services, scope, query: WorksheetQuery) => {
    const json = worksheetOf(services, scope, query);
    const { framework, baseline, family } = query;
    const filters = { framework: named(framework), baseline, family };
    return { json, rows: json.controls.flatMap(worksheetRows), filters, wrapped: true };
  },
);

/** The objects of a method of a control. */
export const objectsOf = ({ methods }: Pick<WorksheetControl, 'methods'>, name: string): string[] =>
  methods.filter(({ method }) => method === name).flatMap(({ objects }) => objects);

function worksheetRows(control: WorksheetControl): ReportRow[] {
  const { identifier, title, family, objectives } = control;
  const ofControl = {
    identifier,
    title,
    family,
    examine: joined(objectsOf(control, 'EXAMINE')),
    interview: joined(objectsOf(control, 'INTERVIEW')),
    test: joined(objectsOf(control, 'TEST')),
  };
  if (objectives.length === 0) return [ofControl];
  return objectives.map(({ label, part, context, text, ccis, rules }) => ({
    ...ofControl,
    label,
    part,
    context,
    objective: text,
    ccis: joined(ccis.map(({ cci }) => cci)),
    rules: joined(rules.map(({ slug, groupId }) => `${slug} ${groupId}`)),
  }));
}

/** What an assessor must show of each control of a scope, and the rules that are evidence. */
export function worksheetOf(services: ReportServices, scope: ReportScope, query: WorksheetQuery): Worksheet {
  const { controls, coverage } = services;
  const { framework, revision, baseline, frame, isIn } = coverage.scopeOf(query);
  const stigs = new Map(stigsOf(services, scope).map((each) => [each.slug, each]));
  const byCci = new Map<string, Set<WorksheetRule>>();
  for (const [slug, stig] of stigs)
    for (const { rule, ccis } of automatedRules(services, stig)) {
      const shown = pick(rule, 'groupId', 'ruleId', 'ruleVersion', 'severity', 'ruleTitle');
      const cited = { slug, ...shown, automation: rule.state };
      for (const cci of ccis) byCci.set(cci, (byCci.get(cci) ?? new Set()).add(cited));
    }
  const isWanted = isOf(controls, framework, revision ?? '', query.family);
  const wanted = frame.controls.filter((control) => isIn(control) && isWanted(control));
  const identifiers = wanted.map(({ identifier }) => identifier);
  const assessments = controls.assessments(framework, revision ?? '', identifiers);
  const rows = wanted.map(({ identifier, title, family }): WorksheetControl => {
    const { objectives, methods } = assessments.get(identifier)!;
    const withRules = objectives.map((objective) => {
      const rules = objective.ccis.flatMap(({ cci }) => [...(byCci.get(cci) ?? [])]);
      return { ...objective, rules: [...new Set(rules)] };
    });
    return { identifier, title, family, objectives: withRules, methods };
  });
  const objectives = rows.flatMap((control) => control.objectives);
  const objectivesWithRules = objectives.filter(({ rules }) => rules.length > 0).length;
  const totals = { controls: rows.length, objectives: objectives.length, objectivesWithRules };
  return { framework, revision, baseline, controls: rows, totals };
}

/** Whether a control is of a family, by name or code in any case; always, where none is asked for. */
function isOf(controls: ControlService, framework: string, revision: string, family: string | undefined) {
  const word = fold((family ?? '').trim());
  if (word === '') return () => true;
  const names = controls.familyNames(framework, revision);
  return ({ identifier }: { identifier: string }) => names.get(identifier)?.includes(word) ?? false;
}
