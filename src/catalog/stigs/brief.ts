import { pick } from '../../base/objects.ts';
import { type Page, slice } from '../../http/paging.ts';
import { severityBefore } from './changes-export.ts';
import type { ChangesSince } from './changes-schema.ts';
import type { ChangedRule, StigDiff } from './diff-schema.ts';
import type { RuleHead } from './rule-head.ts';

/** The STIGs of one brief: each is compared in full. */
const mostStigs = 100;

export type ComparedStig = Pick<StigDiff, 'slug' | 'title' | 'from' | 'to' | 'summary'>;

/** A rule that a new release brought, removed or changed. */
export type BriefRule = { diff: ComparedStig } & (
  | { kind: 'changed'; rule: ChangedRule }
  | { kind: 'added' | 'removed'; rule: RuleHead }
);

/** All changes of some STIGs, the severest first. */
export interface Brief {
  diffs: ComparedStig[];
  /** STIGs without a release to compare with, or beyond the most. */
  others: ChangesSince['stigs'];
  total: number;
  /** Rules that were raised to CAT I. */
  raised: number;
  rules: BriefRule[];
}

const rank = { high: 0, medium: 1, low: 2 };

/** Compares the releases of each STIG, and gives a page of their rules, or all. Throws what `diffOf` throws. */
export function briefOf(
  { stigs }: ChangesSince,
  diffOf: (slug: string, releases: { from: string; to: string }) => StigDiff,
  page: Page | null,
): Brief {
  const earlier = stigs.filter(({ from }) => from !== null).slice(0, mostStigs);
  const diffs = earlier.map(({ slug, from, to }) => diffOf(slug, { from: from!, to }));
  const rules = diffs.flatMap(rulesOf).sort((a, b) => rank[a.rule.severity] - rank[b.rule.severity]);
  const isRaised = (rule: ChangedRule) => rule.severity === 'high' && severityBefore(rule) !== 'high';
  return {
    diffs: diffs.map(headOf),
    others: stigs.filter((stig) => !earlier.includes(stig)),
    total: rules.length,
    raised: diffs.flatMap(({ changed }) => changed.filter(isRaised)).length,
    rules: page === null ? rules : slice(rules, page),
  };
}

const headOf = (diff: StigDiff): ComparedStig => pick(diff, 'slug', 'title', 'from', 'to', 'summary');

const rulesOf = (diff: StigDiff) =>
  (['changed', 'added', 'removed'] as const).flatMap((kind) =>
    diff[kind].map((rule) => ({ kind, diff: headOf(diff), rule }) as BriefRule),
  );
