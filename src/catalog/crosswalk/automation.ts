import { joined } from '../../http/columns.ts';
import type { NamedRelease } from '../stigs/queries.ts';
import type { AutomationOf, AutomationState } from '../stigs/rule-automation.ts';
import type { CoverageService } from './coverage.ts';
import type { ReportRow } from './reports.ts';
import type { AutomatedRule, AutomationTotals, ListAutomation, StigAutomation } from './reports-schema.ts';

export type AutomationService = ReturnType<typeof createAutomationService>;

/** What machines can check of releases (rule D38.2): the plan of work for an assessment. */
export function createAutomationService(
  automationOf: AutomationOf,
  { rulesOf, familiesOf }: Pick<CoverageService, 'rulesOf' | 'familiesOf'>,
) {
  /** The rules of a release in document order, each with its state and its CCIs. */
  function read(stig: NamedRelease): { rule: AutomatedRule; ccis: string[] }[] {
    const { of } = automationOf(stig.slug);
    return rulesOf(stig).map(({ title, ccis, ...ids }) => {
      const { groupId, ruleId, ruleVersion, severity } = ids;
      const { state, content } = of(ruleId);
      const rule = { groupId, ruleId, ruleVersion, ruleTitle: title, severity, state };
      return { rule: { ...rule, content: joined(content) }, ccis };
    });
  }

  return {
    /** Of a release that the catalog has. */
    ofStig(stig: NamedRelease): StigAutomation {
      const rules = read(stig).map(({ rule }) => rule);
      const totals = noRules();
      for (const { state } of rules) add(totals, state);
      const { contents } = automationOf(stig.slug);
      return { slug: stig.slug, version: stig.release!.version, content: contents, totals, rules };
    },

    /** Of the releases of a list. */
    ofList(stigs: NamedRelease[]): ListAutomation {
      const familiesOfCcis = familiesOf();
      const severities = { high: noRules(), medium: noRules(), low: noRules() };
      const families = new Map([...familiesOfCcis.all, ''].map((family) => [family, noRules()]));
      const totals = noRules();
      const counted = stigs.map((stig) => {
        const own = noRules();
        for (const { rule, ccis } of read(stig)) {
          const of = familiesOfCcis(ccis);
          const inFamilies = (of.length === 0 ? [''] : of).map((family) => families.get(family)!);
          for (const each of [own, totals, severities[rule.severity], ...inFamilies]) add(each, rule.state);
        }
        const { slug, title, release } = stig;
        const content = release === null ? [] : automationOf(slug).contents;
        return { slug, title, version: release?.version ?? null, content, totals: own };
      });
      const withRules = [...families].filter(([, of]) => of.rules > 0);
      return {
        stigs: counted,
        totals,
        severities,
        families: withRules.map(([family, of]) => ({ family, totals: of })),
      };
    },

    /** The rules of releases, as a file has them. */
    rows: (stigs: NamedRelease[]): ReportRow<typeof automationColumns>[] =>
      stigs.flatMap((stig) =>
        read(stig).map(({ rule }) => ({ slug: stig.slug, version: stig.release!.version, ...rule })),
      ),
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
] as const;
