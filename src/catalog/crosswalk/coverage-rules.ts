import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';

/** The fields of a rule that coverage needs. */
export interface CoverageRule {
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  title: string;
  severity: 'high' | 'medium' | 'low';
  ccis: string[];
}

/** Gives the rules of a release. */
export type ReleaseRules = (release: number) => CoverageRule[];

/** About 10 MB of rules. */
const mostRules = 30_000;

/** Gives the rules of a release in document order, and caches those of the latest requests until the catalog changes. */
export function createReleaseRules(db: Database): ReleaseRules {
  const rows = db.sqlite
    .prepare<[number], [string, string, string, string, CoverageRule['severity'], string]>(
      'SELECT group_id, rule_id, rule_version, rule_title, severity, ccis FROM findings WHERE release_id = ? ORDER BY ordinal',
    )
    .raw();
  const cache = perGeneration(db, () => {
    return new LRUCache<number, CoverageRule[]>({
      maxSize: mostRules,
      sizeCalculation: (rules) => Math.max(1, rules.length),
    });
  });

  return (release: number): CoverageRule[] => {
    const known = cache().get(release);
    if (known) return known;
    const rules = rows
      .all(release)
      .map(([groupId, ruleId, ruleVersion, title, severity, ccis]): CoverageRule => {
        return { groupId, ruleId, ruleVersion, title, severity, ccis: JSON.parse(ccis) as string[] };
      });
    cache().set(release, rules);
    return rules;
  };
}
