import { eq, sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { ruleName } from '../../base/rule-ids.ts';
import { compareCodePoints } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { scapContents, scapFacts } from '../../db/scap-tables.ts';
import { stigs } from '../../db/tables.ts';

/**
 * Whether a machine can check a rule (rule D38.2), the best first: a content tests this very revision; one tests another
 * revision; contents have the rule and none tests it; no content has it.
 */
export const automationStates = ['automated', 'stale', 'manual', 'none'] as const;
export type AutomationState = (typeof automationStates)[number];

/** The state of a rule, and the names of the contents that give it that state. */
export interface RuleAutomation {
  state: AutomationState;
  content: string[];
}

/** SCAP content of a STIG: what it is, and how many of its rules it tests. */
export interface ScapSummary {
  name: string;
  publisher: string;
  version: string;
  date: string | null;
  scapVersion: string;
  rules: number;
  automated: number;
  manual: number;
}

/** The SCAP contents of a STIG, and what they say of a rule by its id with revision. */
export interface StigAutomation {
  contents: ScapSummary[];
  of(ruleId: string): RuleAutomation;
}

/** Gives what machines can check of a STIG, by slug. */
export type AutomationOf = (slug: string) => StigAutomation;

/** About 20 MB of rules. */
const mostRules = 100_000;

/** Makes the function that gives the automation of a STIG; it keeps those of the latest requests until the catalog changes. */
export function createRuleAutomation(db: Database): AutomationOf {
  const { name, publisher, version, date, scapVersion, rules, benchmarkId } = scapFacts;
  const ofSource = sql`${scapContents.sourceId} = ${scapFacts.sourceId} AND ${scapContents.ordinal} = ${scapFacts.ordinal}`;
  const contents = db.orm
    .select({ name, publisher, version, date, scapVersion, rules, benchmarkId })
    .from(stigs)
    .innerJoin(scapContents, eq(scapContents.stigId, stigs.id))
    .innerJoin(scapFacts, ofSource)
    .where(eq(stigs.slug, sql.placeholder('slug')))
    .prepare();
  const cache = perGeneration(db, () => {
    return new LRUCache<string, StigAutomation & { size: number }>({
      maxSize: mostRules,
      sizeCalculation: ({ size }) => size,
    });
  });

  return (slug) => {
    const known = cache().get(slug);
    if (known) return known;
    const rows = contents
      .all({ slug })
      .sort(
        (a, b) =>
          compareCodePoints(a.publisher, b.publisher) ||
          compareCodePoints(a.name, b.name) ||
          compareCodePoints(a.benchmarkId, b.benchmarkId),
      );
    const made = automationOf(rows);
    cache().set(slug, made);
    return made;
  };
}

type Row = Omit<ScapSummary, 'rules' | 'automated' | 'manual'> & { rules: [string, string, 0 | 1][] };

function automationOf(rows: Row[]): StigAutomation & { size: number } {
  const contents = rows.map(({ name, publisher, version, date, scapVersion, rules }): ScapSummary => {
    const automated = rules.filter(([, , tests]) => tests === 1).length;
    const counts = { rules: rules.length, automated, manual: rules.length - automated };
    return { name, publisher, version, date, scapVersion, ...counts };
  });
  // What each content has of a rule, by the rule's id without its revision.
  const has = new Map<string, { name: string; ruleId: string; tests: boolean }[]>();
  for (const { name, rules } of rows)
    for (const [ruleId, , tests] of rules) {
      const key = ruleName(ruleId);
      const known = has.get(key);
      const one = { name, ruleId, tests: tests === 1 };
      if (known) known.push(one);
      else has.set(key, [one]);
    }
  const size = 1 + contents.reduce((sum, { rules }) => sum + rules, 0);
  return {
    size,
    contents,
    of(ruleId) {
      const all = has.get(ruleName(ruleId)) ?? [];
      const tested = all.filter(({ tests }) => tests);
      const same = tested.filter((each) => each.ruleId === ruleId);
      const names = (of: typeof all) => [...new Set(of.map(({ name }) => name))];
      if (same.length > 0) return { state: 'automated', content: names(same) };
      if (tested.length > 0) return { state: 'stale', content: names(tested) };
      return { state: all.length > 0 ? 'manual' : 'none', content: names(all) };
    },
  };
}
