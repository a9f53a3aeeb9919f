import { CommandError } from '../../src/base/errors.ts';
import { compareCodePoints } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { excerpt } from '../read/text.ts';
import { type Choice, createChoose } from './choice.ts';
import { describeEmptied, type EmptiedSlug, emptiedSlugs } from './emptied-slugs.ts';
import { createOverlaps } from './overlap.ts';
import { aliasKey, kindOf } from './slug.ts';
import type { StagedRelease } from './stage-release.ts';
import { createStigStore, type GivenUp, type StigRow, type StoredRelease } from './store.ts';

/** What became of a staged release: the slug it went to (none when it was rejected), why, and whether it was kept. */
export interface Decision {
  slug: string | null;
  reason: string | null;
  outcome: 'imported' | 'superseded' | 'rejected';
}

/** What came of a run's releases. */
export interface Identity {
  decisions: Map<number, Decision>;
  /** How many releases an override moved to another STIG. */
  moved: number;
  /** The STIGs that may have another current release or title now, by their ids. */
  touched: Set<number>;
  /** The benchmark ids of overrides that no benchmark bears, neither of this run nor of the catalog. */
  unmet: string[];
  /** The slugs that overrides left without a release while users' data refers to them. */
  left: EmptiedSlug[];
}

const sameReleaseFrom = 0.95;
const samePrintingFrom = 0.5;

/**
 * Decides to which STIG every staged release belongs (rules F2.3 and F2.4) and stores the release rows. Known
 * benchmark ids and the operator's overrides (benchmark id to slug) come first, then the rest, newest first, so that
 * the slug comes from the newest title and the order of the files never matters.
 */
export function decideIdentity(
  db: Database,
  staged: StagedRelease[],
  overrides: Map<string, string>,
): Identity {
  const store = createStigStore(db);
  const overlaps = createOverlaps(db);
  const choose = createChoose(store, overlaps, clashes);
  const decisions = new Map<number, Decision>();
  const groups = groupByKey(staged);
  // An id is meant as it is written; only where nothing bears it, whatever folds to the same key is meant.
  const keysOf = (benchmarkId: string): string[] => {
    const keys = (['stig', 'srg'] as const).map((kind) => aliasKey(benchmarkId, kind));
    const bears = (key: string) =>
      store.aliasOf(key) === benchmarkId ||
      groups.get(key)?.some((release) => release.benchmarkId === benchmarkId);
    const exact = keys.filter(bears);
    return exact.length > 0 ? exact : keys;
  };
  const slugByKey = new Map(
    [...overrides].flatMap(([benchmarkId, slug]) =>
      keysOf(benchmarkId).map((key) => [key, { benchmarkId, slug }] as const),
    ),
  );

  /** Notes what became of a release that was put under a STIG, and of the one that it met there. */
  const settle = (
    { id, version }: { id: number; version: string },
    lost: GivenUp | null,
    { stig: { slug }, decision }: Choice,
  ) => {
    const kept: Decision = { slug, reason: decision, outcome: 'imported' };
    const isKept = lost?.id !== id;
    const former = lost && (isKept ? decisions.get(lost.id) : kept);
    decisions.set(id, kept);
    if (lost && former)
      decisions.set(lost.id, { slug, reason: keptInstead(version, lost, former), outcome: 'superseded' });
  };

  const attach = (group: StagedRelease[], choice: Choice) => {
    for (const release of group) {
      const other = otherProduct(release, choice.stig);
      if (other !== null) {
        store.reject(release);
        decisions.set(release.id, {
          slug: null,
          reason: refusal(release, other, choice.stig),
          outcome: 'rejected',
        });
        continue;
      }
      settle(release, store.attach(release, choice.stig.id), choice);
    }
  };

  // What was stored comes first: nothing takes its place because it is read anew.
  for (const [key, group] of groups) {
    const stig = store.alias(key);
    const stored = stig ? group.filter((release) => release.wasStored) : [];
    if (stored.length === 0) continue;
    attach(stored, { stig: stig!, decision: knownId(stig!) });
    groups.set(
      key,
      group.filter((release) => !release.wasStored),
    );
  }
  const plan = [...slugByKey].flatMap(([key, { benchmarkId, slug }]) => {
    const group = groups.get(key) ?? [];
    const alias = store.alias(key);
    const kind = group[0] ? kindOf(group[0].title) : alias?.kind;
    return kind === undefined ? [] : [{ key, benchmarkId, slug, group, alias, kind }];
  });
  const met = new Set(plan.map(({ benchmarkId }) => benchmarkId));
  const leaving = plan.flatMap(({ key, slug, alias }) =>
    alias && alias.slug !== slug ? [{ key, slug: alias.slug }] : [],
  );
  // All rows are meant at once: whatever leaves a STIG has left it before anything comes.
  const onTheWay = new Map(leaving.map(({ key }) => [key, store.detach(key)]));
  for (const { key, slug, group, alias, kind } of plan) {
    const decision = `operator override: ${slug}`;
    const stig = store.bySlug(slug) ?? store.create(slug, kind);
    const coming = onTheWay.get(key) ?? [];
    refuseLoss([...group, ...coming], key, stig);
    if (onTheWay.has(key)) {
      for (const release of coming) settle(release, store.move(release, stig), { stig, decision });
      store.moveAlias(key, stig.id, decision);
    } else if (!alias) store.addAlias(key, stig.id, group[0]!.benchmarkId, decision);
    attach(group, { stig, decision });
    groups.delete(key);
  }
  const moved = [...onTheWay.values()].flat().length;
  for (const [key, group] of groups) {
    const stig = store.alias(key);
    if (!stig) continue;
    attach(group, { stig, decision: knownId(stig) });
    groups.delete(key);
  }
  for (const [key, group] of [...groups].sort(newestGroupFirst)) {
    const choice = choose(group);
    store.addAlias(key, choice.stig.id, group[0]!.benchmarkId, choice.decision);
    attach(group, choice);
  }
  const unmet = [...overrides.keys()].filter((benchmarkId) => !met.has(benchmarkId));
  const left = emptiedSlugs(
    db,
    leaving.map(({ slug }) => slug),
  );
  for (const { key, slug } of leaving) {
    const remark = left.find((each) => each.slug === slug);
    for (const { id } of remark ? staged.filter(({ idKey }) => idKey === key) : []) {
      const decision = decisions.get(id)!;
      decision.reason = `${decision.reason}; ${describeEmptied(remark!)}`;
    }
  }
  return { decisions, moved, touched: store.refreshCurrent(), unmet, left };

  /** The release of another benchmark that holds other rules as the same version, under a STIG; or null. */
  function otherRules(release: { id: number; version: string }, key: string, stig: StigRow) {
    const other = store.release(stig.id, release.version);
    if (other === null || other.idKey === key) return null;
    return overlaps.sameRules(release.id, other.id) < sameReleaseFrom ? other : null;
  }

  /** The same where those are the rules of another product: another printing keeps their ids, whatever their revisions. */
  function otherProduct(release: StagedRelease, stig: StigRow): StoredRelease | null {
    const other = otherRules(release, release.idKey, stig);
    if (other === null || overlaps.ofTwoProducts(release.id, other.id)) return other;
    return overlaps.compare(release.id, other.id).groupIds < samePrintingFrom ? other : null;
  }

  function refusal({ benchmarkId, version }: StagedRelease, other: StoredRelease, { slug }: StigRow): string {
    const holder = excerpt(store.aliasOf(other.idKey) ?? other.idKey);
    return `${slug} has other rules as ${version}, of ${holder}: give ${excerpt(benchmarkId)} a slug of its own with --slugs`;
  }

  /** An override never makes one benchmark's release give way to another's of the same version: it is refused. */
  function refuseLoss(releases: { id: number; version: string }[], key: string, stig: StigRow): void {
    for (const release of releases) {
      if (otherRules(release, key, stig) === null) continue;
      throw new CommandError(
        `two benchmarks hold other rules as ${release.version}: one slug, ${stig.slug}, cannot serve both`,
      );
    }
  }

  function clashes(group: StagedRelease[], stig: StigRow): boolean {
    return group.some((release) => otherRules(release, release.idKey, stig) !== null);
  }
}

function knownId({ slug }: StigRow): string {
  return `known benchmark id of ${slug}`;
}

/** Why a printing is not kept; of one under another benchmark id also why it is a printing of this STIG. */
function keptInstead(version: string, { isTie, isOtherId }: GivenUp, { reason }: Decision): string {
  const which = isTie
    ? `another printing of ${version} is used: no date shows which is newer, so the greater hash decides`
    : `a newer printing of ${version} is used`;
  return isOtherId ? `${which}; ${reason}` : which;
}

/** Releases by the key of their benchmark id, the newest of each first. */
function groupByKey(staged: StagedRelease[]): Map<string, StagedRelease[]> {
  const groups = new Map<string, StagedRelease[]>();
  for (const release of [...staged].sort((a, b) => compareCodePoints(b.releaseOrder, a.releaseOrder))) {
    const group = groups.get(release.idKey);
    if (group) group.push(release);
    else groups.set(release.idKey, [release]);
  }
  return groups;
}

function newestGroupFirst(
  [keyA, a]: [string, StagedRelease[]],
  [keyB, b]: [string, StagedRelease[]],
): number {
  const order = (group: StagedRelease[]) => `${group[0]!.releaseDate ?? ''} ${group[0]!.releaseOrder}`;
  return compareCodePoints(order(b), order(a)) || compareCodePoints(keyA, keyB);
}
