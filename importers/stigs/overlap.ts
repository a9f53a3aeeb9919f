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
  /** Jaccard index of the STIG IDs; cheap to ask about one release against many. */
  sameStigIds(release: number, other: number): number;
  /** The STIGs of one kind that share at least one STIG ID with a release. */
  stigsSharingStigIds(release: number, kind: 'stig' | 'srg'): number[];
}

interface Row {
  rule_id: string;
  rule_version: string;
  group_id: string;
  legacy_ids: string;
}

interface Sharing {
  release_id: number;
  stig_id: number;
  kind: string;
  shared: number;
}

/** Of how many releases the rule ids are kept at hand. */
const maxRemembered = 256;

export function createOverlaps(db: Database): Overlaps {
  const rows = db.sqlite.prepare<[number], Row>(
    'SELECT rule_id, rule_version, group_id, legacy_ids FROM findings WHERE release_id = ?',
  );
  const sharing = db.sqlite.prepare<[number], Sharing>(
    `SELECT r.id AS release_id, r.stig_id, s.kind, count(DISTINCT mine.rule_version) AS shared
       FROM findings AS mine
       JOIN findings AS theirs ON theirs.rule_version = mine.rule_version
       JOIN stig_releases AS r ON r.id = theirs.release_id
       JOIN stigs AS s ON s.id = r.stig_id
      WHERE mine.release_id = ? AND mine.rule_version <> ''
      GROUP BY r.id`,
  );
  const distinct = db.sqlite
    .prepare<[number], number>(
      "SELECT count(DISTINCT rule_version) FROM findings WHERE release_id = ? AND rule_version <> ''",
    )
    .pluck();
  const sizes = new Map<number, number>();
  const rules = new Map<number, Set<string>>();
  /** Of the release asked about last: the question comes for many others in a row. */
  let last: { release: number; rows: Sharing[]; shared: Map<number, number> } | null = null;

  function sharedWith(release: number) {
    if (last?.release !== release) {
      const found = sharing.all(release);
      last = { release, rows: found, shared: new Map(found.map((row) => [row.release_id, row.shared])) };
    }
    return last;
  }

  function size(release: number): number {
    const known = sizes.get(release) ?? distinct.get(release)!;
    sizes.set(release, known);
    return known;
  }

  function ruleIds(release: number): Set<string> {
    const known = rules.get(release) ?? new Set(rows.all(release).map((row) => row.rule_id));
    if (rules.size >= maxRemembered) rules.clear();
    rules.set(release, known);
    return known;
  }

  return {
    compare(a, b) {
      const left = rows.all(a);
      const right = rows.all(b);
      const stigIds = (list: Row[]) => new Set(list.map((row) => row.rule_version).filter((id) => id !== ''));
      const groupIds = (list: Row[]) =>
        new Set(list.flatMap((row) => [row.group_id, ...(JSON.parse(row.legacy_ids) as string[])]));
      return {
        stigIds: jaccard(stigIds(left), stigIds(right)),
        groupIds: jaccard(groupIds(left), groupIds(right)),
      };
    },
    sameRules: (a, b) => jaccard(ruleIds(a), ruleIds(b)),
    sameStigIds(release, other) {
      const shared = sharedWith(release).shared.get(other) ?? 0;
      return shared === 0 ? 0 : shared / (size(release) + size(other) - shared);
    },
    stigsSharingStigIds: (release, kind) => [
      ...new Set(
        sharedWith(release)
          .rows.filter((row) => row.kind === kind)
          .map((row) => row.stig_id),
      ),
    ],
  };
}

/** The size of the intersection over that of the union; 0 for two empty sets. */
export function jaccard(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const item of a) if (b.has(item)) common++;
  const union = a.size + b.size - common;
  return union === 0 ? 0 : common / union;
}
