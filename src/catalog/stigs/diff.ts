import { AppError } from '../../base/errors.ts';
import type { Database } from '../../db/database.ts';
import { type ComparableRule, compareRules } from './compare.ts';
import type { DiffQuery, StigDiff } from './diff-schema.ts';
import type { FindingRow, FullRelease, StigService } from './queries.ts';

export type StigDiffService = ReturnType<typeof createStigDiffService>;

/** Compares retained releases of a STIG. */
export function createStigDiffService(db: Database, stigs: StigService) {
  return {
    /** Compares two retained releases, in any order; by default the current one with the one before. Throws NOT_FOUND. */
    diff(slug: string, { from, to }: DiffQuery): StigDiff {
      return db.read(() => {
        const after = stigs.full(slug, to, { version: 'to' });
        const below = from ?? versionBelow(slug, after.release.version);
        const before = stigs.full(slug, below, { version: 'from' });
        return {
          slug: after.release.slug,
          title: after.release.title,
          from: headOf(before),
          to: headOf(after),
          ...compareRules(before.findings.map(toComparable), after.findings.map(toComparable)),
        };
      });
    },
  };

  function versionBelow(slug: string, version: string): string {
    const { versions } = stigs.versions(slug);
    const below = versions[versions.findIndex((each) => each.version === version) + 1];
    if (!below)
      throw new AppError('NOT_FOUND', `Version not found: no release before ${version} is retained`);
    return below.version;
  }
}

function headOf({ release }: FullRelease): StigDiff['from'] {
  const { version, releaseDate, findingCount } = release;
  return { version, releaseDate, findingCount };
}

/** A rule of a release, for comparison. */
export function toComparable(row: FindingRow): ComparableRule {
  return {
    groupId: row.groupId,
    ruleId: row.ruleId,
    ruleVersion: row.ruleVersion,
    legacyIds: row.legacyIds,
    title: row.ruleTitle,
    severity: row.severity,
    discussion: row.vulnDiscussion,
    check: row.checkContent,
    fix: row.fixText,
    ccis: row.ccis,
  };
}
