import { LRUCache } from 'lru-cache';
import { ruleName } from '../../base/rule-ids.ts';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';

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

interface ContentRow {
  name: string;
  publisher: string;
  version: string;
  date: string | null;
  scapVersion: string;
  /** JSON of the id of each rule, its group, and 1 where the content tests it. */
  rules: string;
}

/** Makes the function that gives the automation of a STIG; it keeps those of the latest requests until the catalog changes. */
export function createRuleAutomation(db: Database): AutomationOf {
  // By code point: a publisher may write its name in any script.
  const contents = db.sqlite.prepare<[string], ContentRow>(
    `SELECT f.name, f.publisher, f.version, f.date, f.scap_version AS scapVersion, f.rules
       FROM stigs AS s JOIN scap_contents AS c ON c.stig_id = s.id
       JOIN scap_facts AS f ON f.source_id = c.source_id AND f.ordinal = c.ordinal
      WHERE s.slug = ? ORDER BY f.publisher, f.name, f.benchmark_id`,
  );
  const cache = perCatalogVersion(db, () => {
    return new LRUCache<string, StigAutomation>({
      maxSize: mostRules,
      sizeCalculation: ({ contents }) => 1 + contents.reduce((sum, { rules }) => sum + rules, 0),
    });
  });

  return (slug) => {
    const made = cache().get(slug) ?? automationOf(contents.all(slug));
    cache().set(slug, made);
    return made;
  };
}

function automationOf(rows: ContentRow[]): StigAutomation {
  const contents: ScapSummary[] = [];
  // What each content has of a rule, by the rule's id without its revision.
  const has = new Map<string, { name: string; ruleId: string; isTested: boolean }[]>();
  for (const { rules: stored, ...content } of rows) {
    const rules = JSON.parse(stored) as [ruleId: string, groupId: string, automated: 0 | 1][];
    const automated = rules.filter(([, , tests]) => tests === 1).length;
    contents.push({ ...content, rules: rules.length, automated, manual: rules.length - automated });
    for (const [ruleId, , tests] of rules) {
      const one = { name: content.name, ruleId, isTested: tests === 1 };
      has.set(ruleName(ruleId), [...(has.get(ruleName(ruleId)) ?? []), one]);
    }
  }
  return {
    contents,
    of(ruleId) {
      const all = has.get(ruleName(ruleId)) ?? [];
      const tested = all.filter(({ isTested }) => isTested);
      const same = tested.filter((each) => each.ruleId === ruleId);
      const [state, found]: [AutomationState, typeof all] =
        same.length > 0
          ? ['automated', same]
          : tested.length > 0
            ? ['stale', tested]
            : [all.length > 0 ? 'manual' : 'none', all];
      return { state, content: [...new Set(found.map(({ name }) => name))] };
    },
  };
}
