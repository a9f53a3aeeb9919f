import { AppError } from '../../base/errors.ts';
import { pick } from '../../base/objects.ts';
import { compareRules } from './compare.ts';
import type { DiffFilter, DiffQuery, ruleKinds, StigDiff } from './diff-schema.ts';
import type { FullRelease, StigService } from './queries.ts';
import type { RuleHead } from './rule-head.ts';

export type StigDiffService = ReturnType<typeof createStigDiffService>;

/** Compares retained releases of a STIG. */
export function createStigDiffService(stigs: StigService) {
  function versionBelow(slug: string, version: string): string {
    const versions = stigs.retained(slug);
    const below = versions[versions.indexOf(version) + 1];
    if (below === undefined)
      throw new AppError('NOT_FOUND', `Version not found: no release before ${version} is retained`);
    return below;
  }

  return {
    /** Compares two retained releases, in any order; by default the current one with the one before. Throws NOT_FOUND. */
    diff(slug: string, { from, to }: DiffQuery): StigDiff {
      const after = stigs.full(slug, to, { version: 'to' });
      const below = from ?? versionBelow(slug, after.release.version);
      const before = stigs.full(slug, below, { version: 'from' });
      return {
        ...pick(after.release, 'slug', 'title'),
        from: headOf(before),
        to: headOf(after),
        ...compareRules(before.findings, after.findings),
      };
    },
  };
}

const headOf = ({ release }: FullRelease): StigDiff['from'] =>
  pick(release, 'version', 'releaseDate', 'findingCount');

/** Removes rules of other kinds, classes and severities (of the newer release) from a comparison; its counts stay whole. */
export function filterDiff(diff: StigDiff, { kind, class: classes, severity }: DiffFilter): StigDiff {
  const isWanted = (of: (typeof ruleKinds)[number]) => (rule: Pick<RuleHead, 'severity'>) =>
    (kind?.has(of) ?? true) && (severity?.has(rule.severity) ?? true) && (!classes || of === 'changed');
  return {
    ...diff,
    added: diff.added.filter(isWanted('added')),
    removed: diff.removed.filter(isWanted('removed')),
    changed: diff.changed
      .filter(isWanted('changed'))
      .filter((rule) => rule.classes.some((each) => classes?.has(each) ?? true)),
    renumbered: diff.renumbered.filter(isWanted('renumbered')),
  };
}
