import { inSlices } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { inOneGeneration } from '../../db/one-generation.ts';
import { type Column, joined } from '../../http/columns.ts';
import type { FlatFile } from '../../http/downloads.ts';
import type { NamedRelease } from '../stigs/queries.ts';
import type { AutomationOf, AutomationState, ScapSummary } from '../stigs/rule-automation.ts';
import type { AutomatedRule, AutomationTotals, ListAutomation, StigAutomation } from './automation-schema.ts';
import type { CoverageService, FamiliesOf } from './coverage.ts';

export type AutomationService = ReturnType<typeof createAutomationService>;

/** A rule of a file: it names its release. */
type AutomationRow = AutomatedRule & { slug: string; version: string };

/** What machines can check of releases (rule D38.2): the plan of work for an assessment. */
export function createAutomationService(
  db: Database,
  automationOf: AutomationOf,
  { rulesOf, familiesOf }: Pick<CoverageService, 'rulesOf' | 'familiesOf'>,
) {
  /** The rules of a release in document order, each with its state and its CCIs. */
  function read({ slug, release }: NamedRelease) {
    if (release === null) return [];
    const { of } = automationOf(slug);
    return rulesOf(release.id).map(({ groupId, ruleId, ruleVersion, title, severity, ccis }) => {
      const { state, content } = of(ruleId);
      const rule = { groupId, ruleId, ruleVersion, ruleTitle: title, severity, state };
      return { rule: { ...rule, content: joined(content) }, ccis };
    });
  }

  const rowsOf = (stig: NamedRelease): AutomationRow[] =>
    read(stig).map(({ rule }) => ({ slug: stig.slug, version: stig.release!.version, ...rule }));

  /** Works on each release that `find` gives in slices, so that other requests are served in between. */
  const each = (find: () => NamedRelease[], work: (stig: NamedRelease) => void) =>
    inSlices(db.read(find), (stig) => {
      db.read(() => work(stig));
    });

  return {
    /** Of a release that the catalog has. Throws what `find` throws. */
    ofStig: (find: () => NamedRelease): StigAutomation =>
      db.read(() => {
        const stig = find();
        const rules = read(stig).map(({ rule }) => rule);
        const content = automationOf(stig.slug).contents;
        return { slug: stig.slug, version: stig.release!.version, content, totals: sumOf(rules), rules };
      }),

    /** Of the releases of a list. Throws what `find` throws, and 503 where the catalog keeps changing. */
    ofList: (find: () => NamedRelease[]): Promise<ListAutomation> =>
      inOneGeneration(db, async () => {
        const tally = createTally(db.read(familiesOf));
        await each(find, (stig) => tally.add(stig, read(stig), automationOf(stig.slug).contents));
        return tally.result();
      }),

    /** The rules of the releases of a list, as a file has them. Throws the same. */
    rows: (find: () => NamedRelease[]): Promise<AutomationRow[]> =>
      inOneGeneration(db, async () => {
        const rows: AutomationRow[] = [];
        await each(find, (stig) => {
          for (const row of rowsOf(stig)) rows.push(row);
        });
        return rows;
      }),

    rowsOf,
  };
}

const noRules = (): AutomationTotals => ({ rules: 0, automated: 0, stale: 0, manual: 0, none: 0 });

function add(totals: AutomationTotals, state: AutomationState): void {
  totals.rules++;
  totals[state]++;
}

function sumOf(rules: { state: AutomationState }[]): AutomationTotals {
  const totals = noRules();
  for (const { state } of rules) add(totals, state);
  return totals;
}

/** Counts the rules of releases, one release after the other. */
function createTally(familiesOf: FamiliesOf) {
  const severities = { high: noRules(), medium: noRules(), low: noRules() };
  const families = new Map([...familiesOf.all, ''].map((family) => [family, noRules()]));
  const totals = noRules();
  const stigs: ListAutomation['stigs'] = [];
  return {
    add(stig: NamedRelease, rules: { rule: AutomatedRule; ccis: string[] }[], contents: ScapSummary[]): void {
      const { slug, title, release } = stig;
      const own = noRules();
      for (const { rule, ccis } of rules) {
        const of = familiesOf(ccis);
        const counted = (of.length === 0 ? [''] : of).map((family) => families.get(family)!);
        for (const each of [own, totals, severities[rule.severity], ...counted]) add(each, rule.state);
      }
      const content = release === null ? [] : contents;
      stigs.push({ slug, title, version: release?.version ?? null, content, totals: own });
    },

    result(): ListAutomation {
      const withRules = [...families].filter(([, of]) => of.rules > 0);
      return {
        ...{ stigs, totals, severities },
        families: withRules.map(([family, of]) => ({ family, totals: of })),
      };
    },
  };
}

const names = [
  ...(['slug', 'version', 'groupId', 'ruleId', 'ruleVersion'] as const),
  ...(['severity', 'ruleTitle', 'state', 'content'] as const),
];
const columns: Column<AutomationRow>[] = names.map((name) => ({ name, value: (row) => row[name] }));

/** Automation as a file: json, or a row for each rule. */
export function automationFile(json: object, rows: AutomationRow[]): FlatFile<AutomationRow> {
  return { json, root: 'automation', element: 'rule', columns, rows };
}
