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
interface ScapSummary
  extends Record<'name' | 'publisher' | 'version' | 'scapVersion', string>,
    Record<'rules' | 'automated' | 'manual', number> {
  date: string | null;
}

/** The SCAP contents of a STIG, and what they say of a rule by its id with revision. */
export interface StigAutomation {
  contents: ScapSummary[];
  of(ruleId: string): RuleAutomation;
}

/** Gives what machines can check of a STIG, by slug. */
export type AutomationOf = (slug: string) => StigAutomation;

interface ContentRow extends ScapSummary {
  /** JSON of the id of each rule, its group, and 1 where the content tests it. */
  tests: string;
}

/** Makes the function that gives the automation of a STIG; it keeps those of the latest requests. */
export function createRuleAutomation(db: Database): AutomationOf {
  // By code point: a publisher may write its name in any script.
  const contents = db.sqlite.prepare<[string], ContentRow>(
    `WITH content AS (
       SELECT s.slug, f.*, json_array_length(f.rules) AS count,
              (SELECT count(*) FROM json_each(f.rules) WHERE value ->> 2 = 1) AS automated
         FROM stigs AS s JOIN scap_contents AS c ON c.stig_id = s.id
         JOIN scap_facts AS f ON f.source_id = c.source_id AND f.ordinal = c.ordinal)
     SELECT name, publisher, version, date, scap_version AS scapVersion, count AS rules, automated,
            count - automated AS manual, rules AS tests
       FROM content WHERE slug = ? ORDER BY publisher, name, benchmark_id`,
  );
  const cacheOf = perCatalogVersion(db, () => new LRUCache<string, StigAutomation>({ max: 300 }));

  return (slug) => {
    const cache = cacheOf();
    const made = cache.get(slug) ?? automationOf(contents.all(slug));
    cache.set(slug, made);
    return made;
  };
}

function automationOf(rows: ContentRow[]): StigAutomation {
  const all = rows.flatMap(({ name, tests }) =>
    (JSON.parse(tests) as [ruleId: string, groupId: string, automated: 0 | 1][]).map(
      ([ruleId, , automated]) => ({ name, ruleId, automated }),
    ),
  );
  const byName = Map.groupBy(all, ({ ruleId }) => ruleName(ruleId));
  return {
    contents: rows.map(({ tests: _, ...content }) => content),
    of(ruleId) {
      const known = byName.get(ruleName(ruleId)) ?? [];
      const tested = known.filter(({ automated }) => automated === 1);
      const same = tested.filter((each) => each.ruleId === ruleId);
      const [state, found]: [AutomationState, typeof known] =
        same.length > 0
          ? ['automated', same]
          : tested.length > 0
            ? ['stale', tested]
            : [known.length > 0 ? 'manual' : 'none', known];
      return { state, content: [...new Set(found.map(({ name }) => name))] };
    },
  };
}
