import type { User } from '../../auth/viewer.ts';
import { pick } from '../../base/objects.ts';
import { fold } from '../../base/text.ts';
import { joined } from '../../http/columns.ts';
import { type FileChoice, narrowedName, renderFile } from '../../http/downloads.ts';
import type { ControlService } from '../controls/queries.ts';
import type { NamedRelease, StigService } from '../stigs/queries.ts';
import { type AutomationOf, automationStates } from '../stigs/rule-automation.ts';
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

export interface ReportServices {
  coverage: CoverageService;
  ruleAutomation: AutomationOf;
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

/** The STIGs of a scope, and how the names of its files begin. Throws NOT_FOUND for what the caller may not see. */
function subjectOf({ stigs, listStigs }: ReportServices, scope: ReportScope) {
  if ('list' in scope) {
    const { name, stigs } = listStigs.releases(scope.user, scope.list);
    return { stigs, beginning: `${name} ` };
  }
  const stig = stigs.named(scope.slug, scope.version);
  return { stigs: [stig], beginning: `${stig.slug}_${stig.release!.version}_` };
}

/** Makes the job that renders a report of a scope, with its name: `compute` gives it as json and as rows. */
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
  return (services: ReportServices, scope: ReportScope, query: Query, choice: FileChoice) => {
    const { filters = {}, ...made } = compute(services, scope, query);
    const file = renderFile(choice, { ...made, root: name, element, columns: ofRow });
    return { ...file, name: narrowedName(subjectOf(services, scope).beginning + name, filters) };
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
    const { of, scopeOf } = services.coverage;
    const { coverage: json } = of(scopeOf(query), subjectOf(services, scope).stigs);
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
  query: CoverageQuery,
  isAutomatedOnly: boolean,
  control: string | undefined,
) {
  const { of, scopeOf } = services.coverage;
  const isAutomated = (slug: string, ruleId: string) =>
    services.ruleAutomation(slug).of(ruleId).state === 'automated';
  const counts = isAutomatedOnly ? isAutomated : undefined;
  const { rulesOfControl, ...shown } = of(scopeOf(query), subjectOf(services, scope).stigs, counts);
  return { ...shown, chosen: control === undefined ? null : rulesOfControl(control) };
}

/** The rules of a release in document order, each with its CCIs and what machines can check of it. */
function automatedRules({ coverage, ruleAutomation }: ReportServices, stig: NamedRelease) {
  const { of } = ruleAutomation(stig.slug);
  return coverage.rulesOf(stig).map((rule) => {
    const { state, content } = of(rule.ruleId);
    return { ...rule, state, content: joined(content) };
  });
}

/** What machines can check of a scope as a file (rule D38.2): a row for each rule. */
export const automationReport = report(
  'automation',
  'rule',
  ['slug', 'version', 'groupId', 'ruleId', 'ruleVersion', 'severity', 'ruleTitle', 'state', 'content'],
  (services, scope) => {
    const json = 'list' in scope ? listAutomation(services, scope) : stigAutomation(services, scope);
    const rows = subjectOf(services, scope).stigs.flatMap((stig) =>
      automatedRules(services, stig).map(({ ccis: _, ...rule }) => ({
        slug: stig.slug,
        version: stig.release!.version,
        ...rule,
      })),
    );
    return { json, rows };
  },
);

/** What machines can check of a release of a STIG. */
export function stigAutomation(services: ReportServices, scope: ReportScope): StigAutomation {
  const stig = subjectOf(services, scope).stigs[0]!;
  const rules = automatedRules(services, stig).map(({ ccis: _, ...rule }) => rule);
  const { contents } = services.ruleAutomation(stig.slug);
  return {
    slug: stig.slug,
    version: stig.release!.version,
    content: contents,
    totals: totalsOf(rules),
    rules,
  };
}

/** What machines can check of a list. */
export const listAutomation = (services: ReportServices, scope: ReportScope): ListAutomation =>
  automationOf(services, subjectOf(services, scope).stigs);

/** What machines can check of some releases: the plan of work for an assessment. */
export function automationOf(services: ReportServices, stigs: NamedRelease[]): ListAutomation {
  const { inside, frame } = services.coverage.scopeOf({ framework: 'nist-800-53' });
  const ofStigs = stigs.map((stig) => ({ stig, rules: automatedRules(services, stig) }));
  const all = ofStigs.flatMap(({ rules }) => rules);
  const ofSeverity = (level: string) => totalsOf(all.filter(({ severity }) => severity === level));
  const inFamilies = all.flatMap(({ ccis, state }) => {
    const families = new Set(ccis.flatMap(frame.controlsOf).map(({ family }) => family));
    return [...(families.size === 0 ? [''] : families)].map((family) => ({ family, state }));
  });
  const byFamily = Map.groupBy(inFamilies, ({ family }) => family);
  const families = new Set([...inside.map(({ family }) => family), '']);
  return {
    stigs: ofStigs.map(({ stig: { slug, title, release }, rules }) => {
      const content = release === null ? [] : services.ruleAutomation(slug).contents;
      return { slug, title, version: release?.version ?? null, content, totals: totalsOf(rules) };
    }),
    totals: totalsOf(all),
    severities: { high: ofSeverity('high'), medium: ofSeverity('medium'), low: ofSeverity('low') },
    families: [...families]
      .filter((family) => byFamily.has(family))
      .map((family) => ({ family, totals: totalsOf(byFamily.get(family)!) })),
  };
}

function totalsOf(rules: Pick<AutomatedRule, 'state'>[]): AutomationTotals {
  const counts = automationStates.map((state) => [
    state,
    rules.filter((rule) => rule.state === state).length,
  ]);
  return { rules: rules.length, ...Object.fromEntries(counts) } as AutomationTotals;
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
  const { framework, revision, baseline, inside } = services.coverage.scopeOf(query);
  const stigs = new Map(subjectOf(services, scope).stigs.map((each) => [each.slug, each]));
  const cited = [...stigs.values()].flatMap((stig) =>
    automatedRules(services, stig).flatMap(({ ccis, state, ...rule }) => {
      const shown = pick(rule, 'groupId', 'ruleId', 'ruleVersion', 'severity', 'ruleTitle');
      const evidence: WorksheetRule = { slug: stig.slug, ...shown, automation: state };
      return ccis.map((cci) => ({ cci, evidence }));
    }),
  );
  const byCci = Map.groupBy(cited, ({ cci }) => cci);
  const family = fold((query.family ?? '').trim());
  const requested = inside.filter(
    ({ familyNames }) => family === '' || JSON.parse(familyNames).includes(family),
  );
  const identifiers = requested.map(({ identifier }) => identifier);
  const assessments = services.controls.assessments(framework, revision ?? '', identifiers);
  const rows = requested.map(({ identifier, title, family }): WorksheetControl => {
    const { objectives, methods } = assessments.get(identifier)!;
    const withRules = objectives.map((objective) => {
      const rules = objective.ccis.flatMap(({ cci }) => byCci.get(cci) ?? []);
      return { ...objective, rules: [...new Set(rules.map(({ evidence }) => evidence))] };
    });
    return { identifier, title, family, objectives: withRules, methods };
  });
  const objectives = rows.flatMap((control) => control.objectives);
  const objectivesWithRules = objectives.filter(({ rules }) => rules.length > 0).length;
  const totals = { controls: rows.length, objectives: objectives.length, objectivesWithRules };
  return { framework, revision, baseline, controls: rows, totals };
}
