import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';

/** A rule as far as coverage asks about it. */
export interface CoverageRule {
  groupId: string;
  ruleId: string;
  title: string;
  severity: 'high' | 'medium' | 'low';
  ccis: string[];
}

/** Some 10 MB of rules. */
const mostRules = 30_000;

/** Reads the rules of releases, and keeps those of the releases that were asked for last until the catalog changes. */
export function createReleaseRules(db: Database) {
  const rows = db.sqlite
    .prepare<[number], [string, string, string, CoverageRule['severity'], string]>(
      'SELECT group_id, rule_id, rule_title, severity, ccis FROM findings WHERE release_id = ? ORDER BY ordinal',
    )
    .raw();
  const kept = new LRUCache<number, CoverageRule[]>({
    maxSize: mostRules,
    sizeCalculation: (rules) => Math.max(1, rules.length),
  });
  let generation = -1;

  /** The rules of a release in document order. */
  return (release: number): CoverageRule[] => {
    if (db.generation() !== generation) kept.clear();
    generation = db.generation();
    const known = kept.get(release);
    if (known) return known;
    const rules = rows.all(release).map(([groupId, ruleId, title, severity, ccis]): CoverageRule => {
      return { groupId, ruleId, title, severity, ccis: JSON.parse(ccis) as string[] };
    });
    kept.set(release, rules);
    return rules;
  };
}
