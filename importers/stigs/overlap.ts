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
  /** The STIGs of one kind that share at least one STIG ID with a release. */
  stigsSharingStigIds(release: number, kind: 'stig' | 'srg'): number[];
}

export function createOverlaps(db: Database): Overlaps {
  const rows = db.sqlite.prepare<
    [number],
    { rule_id: string; rule_version: string; group_id: string; legacy_ids: string }
  >('SELECT rule_id, rule_version, group_id, legacy_ids FROM findings WHERE release_id = ?');
  const sharing = db.sqlite
    .prepare<[number, string], number>(
      `SELECT DISTINCT r.stig_id FROM findings AS mine
         JOIN findings AS theirs ON theirs.rule_version = mine.rule_version
         JOIN stig_releases AS r ON r.id = theirs.release_id
         JOIN stigs AS s ON s.id = r.stig_id
        WHERE mine.release_id = ? AND s.kind = ? AND mine.rule_version <> ''`,
    )
    .pluck();
  return {
    compare(a, b) {
      const left = rows.all(a);
      const right = rows.all(b);
      const groupNames = (list: typeof left) =>
        new Set(list.flatMap((row) => [row.group_id, ...(JSON.parse(row.legacy_ids) as string[])]));
      return {
        stigIds: jaccard(
          new Set(left.map((row) => row.rule_version)),
          new Set(right.map((row) => row.rule_version)),
        ),
        groupIds: jaccard(groupNames(left), groupNames(right)),
      };
    },
    sameRules: (a, b) =>
      jaccard(new Set(rows.all(a).map((row) => row.rule_id)), new Set(rows.all(b).map((row) => row.rule_id))),
    stigsSharingStigIds: (release, kind) => sharing.all(release, kind) as number[],
  };
}

/** The size of the intersection over that of the union; 0 for two empty sets. */
export function jaccard(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const item of a) if (b.has(item)) common++;
  const union = a.size + b.size - common;
  return union === 0 ? 0 : common / union;
}
