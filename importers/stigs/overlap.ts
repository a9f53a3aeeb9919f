import type { Database } from '../../src/db/database.ts';

/** How much two releases have in common, by the names of their rules. */
export interface Overlap {
  /** Jaccard index of the STIG IDs (`rule_version`). */
  stigIds: number;
  /** Jaccard index of the V-ids, legacy ids counted with them. */
  groupIds: number;
}

/** Reads and compares the rule names of stored releases. */
export interface Overlaps {
  compare(releaseA: number, releaseB: number): Overlap;
  /** Jaccard index of the rule ids. */
  sameRules(releaseA: number, releaseB: number): number;
  /** Jaccard index of the STIG IDs. */
  sameStigIds(releaseA: number, releaseB: number): number;
  /**
   * Whether the rules that share a STIG ID are of two products, by the numbers of their SV-ids: DISA gives STIG IDs
   * again to a product's siblings (the routers and switches of one maker), and gave V-ids to all Unix systems alike.
   */
  ofTwoProducts(releaseA: number, releaseB: number): boolean;
  /**
   * Whether most of them share a new number, which no other product has. Former ones tell nothing: the network devices
   * of before the renumbering share them, and the two roles of a Windows server.
   */
  ofOneProduct(releaseA: number, releaseB: number): boolean;
  /** STIGs of one kind, among them all of which some release has STIG IDs like a release's to a Jaccard index. */
  stigsLike(release: number, kind: 'stig' | 'srg', index: number): number[];
}

interface RuleNames {
  rule_id: string;
  rule_version: string;
  group_id: string;
  legacy_ids: string;
}

interface Names {
  ruleIds: Set<string>;
  stigIds: Set<string>;
  /** The numbers of the SV-ids and former SV-ids of the rules by their STIG ID; read when they are asked for. */
  numbers: Map<string, number[]> | null;
}

/** V- and SV-ids were given anew once, in 2020 and 2021, from here on; the former ones stand as legacy ids, at first. */
const renumberedFrom = 200_000;

/** Of how many rules the names are kept at hand: some tens of megabytes. */
const maxRemembered = 500_000;

export function createOverlaps(db: Database): Overlaps {
  const rows = db.sqlite.prepare<[number], RuleNames>(
    'SELECT rule_id, rule_version, group_id, legacy_ids FROM findings WHERE release_id = ?',
  );
  const stigsWith = db.sqlite
    .prepare<[string, string], number>(
      `SELECT DISTINCT r.stig_id FROM findings AS f
         JOIN stig_releases AS r ON r.id = f.release_id
         JOIN stigs AS s ON s.id = r.stig_id
        WHERE f.rule_version = ? AND s.kind = ?`,
    )
    .pluck();
  const remembered = new Map<number, Names>();
  let size = 0;

  function namesOf(release: number): Names {
    const known = remembered.get(release);
    if (known) return known;
    const list = rows.all(release);
    const ruleIds = new Set(list.map((row) => row.rule_id));
    const stigIds = new Set(list.map((row) => row.rule_version).filter((id) => id !== ''));
    size += list.length;
    if (size > maxRemembered) {
      remembered.clear();
      size = list.length;
    }
    const names: Names = { ruleIds, stigIds, numbers: null };
    remembered.set(release, names);
    return names;
  }

  const groupIdsOf = (release: number) =>
    new Set(rows.all(release).flatMap((row) => [row.group_id, ...(JSON.parse(row.legacy_ids) as string[])]));

  function numbersOf(release: number): Map<string, number[]> {
    const names = namesOf(release);
    names.numbers ??= readNumbers(release);
    return names.numbers;
  }

  function readNumbers(release: number): Map<string, number[]> {
    const numbers = new Map<string, number[]>();
    for (const { rule_version: stigId, rule_id, legacy_ids } of rows.all(release)) {
      const ids = [rule_id, ...(JSON.parse(legacy_ids) as string[])];
      const own = ids.flatMap((id) => /^SV-(\d+)/.exec(id)?.[1] ?? []).map(Number);
      if (stigId === '') continue;
      const before = numbers.get(stigId);
      if (before) before.push(...own);
      else numbers.set(stigId, own);
    }
    return numbers;
  }

  /** Of the STIG IDs that two releases share, how many name rules that share one of the numbers that count, or none. */
  function compareNumbers(a: number, b: number, counts: (number: number) => boolean) {
    const others = numbersOf(b);
    const verdicts = [...numbersOf(a)].map(([stigId, mine]) =>
      isSameRule(mine.filter(counts), (others.get(stigId) ?? []).filter(counts)),
    );
    return {
      alike: verdicts.filter((verdict) => verdict === true).length,
      different: verdicts.filter((verdict) => verdict === false).length,
    };
  }

  return {
    compare: (a, b) => ({
      stigIds: jaccard(namesOf(a).stigIds, namesOf(b).stigIds),
      groupIds: jaccard(groupIdsOf(a), groupIdsOf(b)),
    }),
    sameRules: (a, b) => jaccard(namesOf(a).ruleIds, namesOf(b).ruleIds),
    sameStigIds: (a, b) => jaccard(namesOf(a).stigIds, namesOf(b).stigIds),
    ofTwoProducts(a, b) {
      const { alike, different } = compareNumbers(a, b, () => true);
      return different > alike;
    },
    ofOneProduct(a, b) {
      const { alike, different } = compareNumbers(a, b, isNew);
      return alike > different;
    },
    stigsLike(release, kind, index) {
      // A release that is like this one lacks at most the share 1 - index of its STIG IDs: of one more it has one.
      const ids = [...namesOf(release).stigIds].sort();
      const probe = ids.slice(0, Math.floor((1 - index) * ids.length) + 1);
      return [...new Set(probe.flatMap((id) => stigsWith.all(id, kind)))];
    },
  };
}

/**
 * Whether two rules of one STIG ID share a number, of the new ones where both have such, since siblings share former
 * ones. Null where their numbers are of two times and tell nothing.
 */
function isSameRule(a: number[], b: number[]): boolean | null {
  for (const isOfTime of [isNew, (number: number) => !isNew(number)]) {
    const [mine, theirs] = [a.filter(isOfTime), b.filter(isOfTime)];
    if (mine.length === 0 || theirs.length === 0) continue;
    // One STIG ID may name a hundred thousand rules.
    const others = new Set(theirs);
    return mine.some((number) => others.has(number));
  }
  return null;
}

function isNew(number: number): boolean {
  return number >= renumberedFrom;
}

/** The size of the intersection over that of the union; 0 for two empty sets. */
export function jaccard(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const item of a) if (b.has(item)) common++;
  const union = a.size + b.size - common;
  return union === 0 ? 0 : common / union;
}
