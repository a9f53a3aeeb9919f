import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { lineOf } from './changes-export.ts';
import type { ChangeLine, ChangesSince, StigChanges } from './changes-schema.ts';
import { isRenumbered } from './compare.ts';
import { markedClasses, type RuleMarks, readMarks } from './marks.ts';
import { matchRules } from './match.ts';

export type StigChangesService = ReturnType<typeof createStigChangesService>;

/** A STIG, and the day from which its changes count; with a `version`, the release. */
export interface SincePerStig {
  slug: string;
  since: string;
  version?: string;
  /** The `version` is that to which an entry of a list is pinned. */
  pinned?: boolean;
}

interface ReleasePair extends Pick<StigChanges, 'slug' | 'title' | 'from' | 'to'> {
  fromId: number | null;
  toId: number;
  pinned: number | null;
}

const rank = { low: 0, medium: 1, high: 2 };

/** What changed in the catalog, or in some of its STIGs, since a day (rule D26). */
export function createStigChangesService(db: Database) {
  const pairsOf = db.sqlite.prepare<{ since: string; perStig: string | null }, ReleasePair>(
    `SELECT s.slug, s.title, f.id AS fromId, f.version AS "from", t.id AS toId, t.version AS "to",
            w.value ->> 'pinned' AS pinned
       FROM json_each(ifnull(@perStig, (
              SELECT json_group_array(json_object('slug', slug, 'since', @since)) FROM stigs))) AS w
       JOIN stigs AS s ON s.slug = w.value ->> 'slug'
       JOIN stig_releases AS t ON t.id = s.current_release_id
       LEFT JOIN stig_releases AS a ON a.stig_id = s.id AND a.version = w.value ->> 'version'
       LEFT JOIN stig_releases AS f ON f.id = coalesce(a.id, (
         SELECT id FROM stig_releases
          WHERE stig_id = s.id AND release_date < w.value ->> 'since' AND release_order < t.release_order
          ORDER BY release_order DESC LIMIT 1))
      WHERE CASE WHEN w.value ->> 'pinned' AND a.id IS NULL THEN 0
                 WHEN w.value ->> 'version' IS NULL THEN t.release_date >= w.value ->> 'since'
                 ELSE t.version <> w.value ->> 'version' AND coalesce(a.release_order, '') < t.release_order END
      ORDER BY s.title_fold, s.title, s.slug`,
  );
  const marksOf = db.sqlite
    .prepare<[number], string>('SELECT marks FROM rule_marks WHERE release_id = ?')
    .pluck();
  const titleOf = db.sqlite
    .prepare<[number | null, number], string>(
      'SELECT rule_title FROM findings WHERE release_id = ? AND ordinal = ?',
    )
    .pluck();
  const rulesOf = (release: number | null) => (release === null ? [] : readMarks(marksOf.get(release)!));
  // More than a catalog has STIGs.
  const known = new LRUCache<string, StigChanges>({ max: 5000 });

  function summarize({ slug, title, fromId, from, toId, to }: ReleasePair): StigChanges {
    const { pairs, added, removed } = matchRules(rulesOf(fromId), rulesOf(toId));
    const changed = { check: 0, fix: 0, severity: 0, mapping: 0, cosmetic: 0 };
    const severityRaised: StigChanges['severityRaised'] = [];
    let [renumbered, unchanged] = [0, 0];
    for (const { old, new: now } of pairs) {
      const [primary] = markedClasses(old, now);
      if (primary !== undefined) changed[primary]++;
      else if (isRenumbered(old, now)) renumbered++;
      else unchanged++;
      if (rank[now.severity] <= rank[old.severity]) continue;
      const { groupId, ruleId } = now;
      const ruleTitle = titleOf.get(toId, now.ordinal)!;
      severityRaised.push({ groupId, ruleId, title: ruleTitle, from: old.severity, to: now.severity });
    }
    const counts = { added: added.length, removed: removed.length, renumbered, unchanged };
    return { slug, title, from, to, ...counts, changed, severityRaised };
  }

  function summaryOf(pair: ReleasePair): StigChanges {
    const key = `${db.catalogVersion()} ${pair.fromId} ${pair.toId}`;
    const summary = known.get(key) ?? summarize(pair);
    known.set(key, summary);
    return pair.pinned === null ? summary : { ...summary, pinned: true };
  }

  /** A line for each rule that differs, in the order of the release that has it. */
  function linesOf({ slug, title, fromId, from, toId, to }: ReleasePair): ChangeLine[] {
    const { pairs, added, removed } = matchRules(rulesOf(fromId), rulesOf(toId));
    const titled = (release: number | null, rule: RuleMarks) => ({
      ...rule,
      ruleTitle: titleOf.get(release, rule.ordinal)!,
    });
    const line = lineOf({ slug, title, from, to });
    return [
      ...added.map((rule) => line(titled(toId, rule), 'added', null, rule.severity)),
      ...removed.map((rule) => line(titled(fromId, rule), 'removed', rule.severity, null)),
      ...pairs.flatMap(({ old, new: now }) => {
        const classes = markedClasses(old, now);
        if (classes.length === 0) return [];
        return line(titled(toId, now), 'changed', old.severity, now.severity, classes);
      }),
    ];
  }

  const pairsSince = (since: string, perStig?: SincePerStig[]): ReleasePair[] =>
    pairsOf.all({ since, perStig: perStig ? JSON.stringify(perStig) : null });

  return {
    /** What changed in some STIGs, each since a day of its own; by default in all, since `since`. */
    since(since: string, perStig?: SincePerStig[]): ChangesSince {
      const stigs = pairsSince(since, perStig).map(summaryOf);
      const sum = (count: (stig: StigChanges) => number) =>
        stigs.reduce((total, stig) => total + count(stig), 0);
      const totals = {
        stigs: stigs.length,
        added: sum(({ added }) => added),
        removed: sum(({ removed }) => removed),
        changed: sum(({ changed }) => changedRules(changed)),
        severityRaised: sum(({ severityRaised }) => severityRaised.length),
      };
      return { since, totals, stigs };
    },

    /** The same, a line for each rule. */
    lines: (since: string, perStig?: SincePerStig[]): ChangeLine[] =>
      pairsSince(since, perStig).flatMap(linesOf),
  };
}

/** How many rules changed, each counted once. */
export function changedRules(changed: StigChanges['changed']): number {
  return Object.values(changed).reduce((sum, each) => sum + each, 0);
}
