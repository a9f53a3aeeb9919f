import { joined } from '../../http/columns.ts';
import type { NamedRelease } from '../stigs/queries.ts';
import type { AutomationOf, AutomationState } from '../stigs/rule-automation.ts';
import type { CoverageService } from './coverage.ts';
import type {
  AutomatedRule,
  AutomationTotals,
  ListAutomation,
  ReportRow,
  StigAutomation,
} from './reports-schema.ts';

interface AutomationServices {
  coverage: CoverageService;
  ruleAutomation: AutomationOf;
}

/** The rules of a release in document order, each with its state and its CCIs. */
function read({ coverage, ruleAutomation }: AutomationServices, stig: NamedRelease) {
  const { of } = ruleAutomation(stig.slug);
  return coverage.rulesOf(stig).map(({ title, ccis, ...ids }): { rule: AutomatedRule; ccis: string[] } => {
    const { groupId, ruleId, ruleVersion, severity } = ids;
    const { state, content } = of(ruleId);
    const rule = { groupId, ruleId, ruleVersion, ruleTitle: title, severity, state };
    return { rule: { ...rule, content: joined(content) }, ccis };
  });
}

/** What machines can check of a release (rule D38.2). */
export function automationOfStig(services: AutomationServices, stig: NamedRelease): StigAutomation {
  const rules = read(services, stig).map(({ rule }) => rule);
  const totals = noRules();
  for (const { state } of rules) add(totals, state);
  const { contents } = services.ruleAutomation(stig.slug);
  return { slug: stig.slug, version: stig.release!.version, content: contents, totals, rules };
}

/** What machines can check of the releases of a list: the plan of work for an assessment. */
export function automationOfStigs(services: AutomationServices, stigs: NamedRelease[]): ListAutomation {
  const { all, ofCcis } = services.coverage.families();
  const severities = { high: noRules(), medium: noRules(), low: noRules() };
  const families = new Map([...all, ''].map((family) => [family, noRules()]));
  const totals = noRules();
  const counted = stigs.map((stig) => {
    const own = noRules();
    for (const { rule, ccis } of read(services, stig)) {
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

function add(totals: AutomationTotals, state: AutomationState): void {
  totals.rules++;
  totals[state]++;
}

/** The columns of an automation as a file: a row for each rule. */
export const automationColumns = [
  'slug',
  'version',
  'groupId',
  'ruleId',
  'ruleVersion',
  'severity',
  'ruleTitle',
  'state',
  'content',
];

export const automationRows = (services: AutomationServices, stigs: NamedRelease[]): ReportRow[] =>
  stigs.flatMap((stig) =>
    read(services, stig).map(({ rule }) => ({ slug: stig.slug, version: stig.release!.version, ...rule })),
  );
