import { AppError } from '../../base/errors.ts';
import { pick } from '../../base/objects.ts';
import { compareRules } from './compare.ts';
import {
  type ChangeClass,
  type DiffFilter,
  type DiffQuery,
  ruleKinds,
  type StigDiff,
} from './diff-schema.ts';
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
export function filterDiff(diff: StigDiff, { kind: kinds, class: classes, severity }: DiffFilter): StigDiff {
  const matchesFilter = (
    kind: (typeof ruleKinds)[number],
    rule: Pick<RuleHead, 'severity'> & { classes?: ChangeClass[] },
  ) =>
    (kinds?.has(kind) ?? true) &&
    (severity?.has(rule.severity) ?? true) &&
    (!classes || rule.classes?.some((each) => classes.has(each)));
  const rules = ruleKinds.map((kind) => [kind, diff[kind].filter((rule) => matchesFilter(kind, rule))]);
  return { ...diff, ...Object.fromEntries(rules) };
}
