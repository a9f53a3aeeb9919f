import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';

export type DeprecatedCcis = ReturnType<typeof createDeprecatedCcis>;

/** Gives a function that takes the CCIs of a rule and gives those that DISA deprecated, each as the rule has it. */
export function createDeprecatedCcis(db: Database) {
  const withdrawn = db.sqlite
    .prepare<[], string>(
      `SELECT c.identifier FROM controls AS c
         JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version AND v.is_newest = 1
        WHERE c.framework = 'cci' AND c.status = 'withdrawn'`,
    )
    .pluck();
  const all = perGeneration(db, () => new Set(withdrawn.all()));
  return (ccis: readonly string[]): string[] => db.read(() => ccis.filter((cci) => all().has(cci)));
}
