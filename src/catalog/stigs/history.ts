import { LRUCache } from 'lru-cache';
import { AppError } from '../../base/errors.ts';
import { pick } from '../../base/objects.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { isRenumbered } from './compare.ts';
import type { ChangeClass } from './diff-schema.ts';
import type { RuleHistory, RuleOverTime, RuleRelease, RuleState } from './history-schema.ts';
import { idsOf, matchingIds } from './ids.ts';
import { markedClasses, type RuleMarks, readMarks } from './marks.ts';
import { matchRules } from './match.ts';
import { type RuleHead, ruleHeadColumns } from './rule-head.ts';

/** A rule of a newest release. */
interface CurrentRule extends RuleHead {
  slug: string;
  version: string;
}

interface RuleStep {
  release: number;
  state: RuleState;
  classes: ChangeClass[];
  /** null where it is removed. */
  rule: RuleMarks | null;
}

/** One rule through the releases of a STIG, the oldest first, from its first release to its last or its removal. */
type RuleSteps = RuleStep[];

export type RuleHistoryService = ReturnType<typeof createRuleHistoryService>;

/** One rule through all retained releases (rule D27). */
export function createRuleHistoryService(db: Database) {
  const historiesOfStig = createHistoriesReader(db);
  const stigsWith = db.sqlite.prepare<[string, string | null], { id: number; slug: string; title: string }>(
    `SELECT s.id, s.slug, s.title FROM stigs AS s
      WHERE s.id IN (SELECT r.stig_id FROM stig_releases AS r
                      WHERE r.id IN (SELECT release_id FROM rule_ids WHERE id IN (SELECT value FROM json_each(?))))
        AND s.slug = ifnull(?, s.slug)
      ORDER BY s.title_fold, s.title, s.slug`,
  );
  const titleOf = db.sqlite
    .prepare<[number, number], string>('SELECT rule_title FROM findings WHERE release_id = ? AND ordinal = ?')
    .pluck();
  // CROSS JOIN: from the id to its releases; the ids of their rules are read from findings_by_ids alone. LIKE leaves few
  // of them: it has no case in ASCII, and an id with other characters is sought in all.
  const currentRules = db.sqlite.prepare<
    { ids: string; id: string; slug: string | null },
    CurrentRule & { legacyIds: string }
  >(
    `SELECT s.slug, r.version, ${ruleHeadColumns}, f.legacy_ids AS legacyIds
       FROM (SELECT DISTINCT release_id FROM rule_ids WHERE id IN (SELECT value FROM json_each(@ids))) AS i
      CROSS JOIN stig_releases AS r ON r.id = i.release_id
      CROSS JOIN stigs AS s ON s.id = r.stig_id AND s.current_release_id = r.id AND s.slug = ifnull(@slug, s.slug)
      CROSS JOIN findings AS l ON l.release_id = r.id
            AND l.group_id || ' ' || l.rule_id || ' ' || l.rule_version || ' ' || l.legacy_ids LIKE @id
      CROSS JOIN findings AS f ON f.release_id = l.release_id AND f.ordinal = l.ordinal
      ORDER BY s.title_fold, s.title, s.slug, f.ordinal`,
  );

  function rulesOf({ id, slug, title }: { id: number; slug: string; title: string }, matching: string[]) {
    const { releases, histories } = historiesOfStig(id);
    return histories
      .filter(({ ids }) => matching.some((each) => ids.has(each)))
      .map(({ steps }) => ({ steps, last: steps.findLast(({ rule }) => rule !== null)! }))
      .sort((a, b) => b.last.release - a.last.release || a.last.rule!.ordinal - b.last.rule!.ordinal)
      .map(({ steps, last }): RuleOverTime => {
        const rule = last.rule!;
        return {
          slug,
          title,
          ruleTitle: titleOf.get(releases[last.release]!.id, rule.ordinal)!,
          current: last.release === releases.length - 1,
          ...pick(rule, 'groupId', 'ruleId', 'ruleVersion', 'severity'),
          releases: steps.toReversed().map((step) => ({
            ...pick(releases[step.release]!, 'version', 'releaseDate'),
            ...pick(step, 'state', 'classes'),
            severity: step.rule?.severity ?? null,
          })),
        };
      });
  }

  /** The rules with an id in any retained release, of one STIG or of all. */
  function find(id: string, slug: string | null = null): RuleOverTime[] {
    const matching = matchingIds(id);
    return stigsWith.all(JSON.stringify(matching), slug).flatMap((stig) => rulesOf(stig, matching));
  }

  return {
    find,

    /** The rules that have an id in the newest release of a STIG, or of all: without their history, which takes longer. */
    current(id: string, slug: string | null = null): CurrentRule[] {
      const matching = matchingIds(id);
      const name = matching.at(-1)!;
      const like = /^[ !#-[\]-~]+$/.test(name) ? `%${name}%` : '%';
      return currentRules.all({ ids: JSON.stringify(matching), id: like, slug }).flatMap((row) => {
        const { legacyIds, ...rule } = row;
        const ids = idsOf({ ...rule, legacyIds: JSON.parse(legacyIds) });
        return matching.some((each) => ids.includes(each)) ? rule : [];
      });
    },

    /** The rules with an id in any STIG. Throws NOT_FOUND for an unknown id. */
    history(id: string): RuleHistory {
      const rules = find(id);
      if (rules.length === 0) throw new AppError('NOT_FOUND', `Rule not found: ${cut(id)}`);
      return { id, rules };
    },
  };
}

/** The releases of a STIG, the oldest first, and its rules through them with every id that they had. */
function createHistoriesReader(db: Database) {
  const releasesOf = db.sqlite.prepare<
    [number],
    Pick<RuleRelease, 'version' | 'releaseDate'> & { id: number; marks: string }
  >(
    `SELECT r.id, r.version, r.release_date AS releaseDate, m.marks
       FROM stig_releases AS r JOIN rule_marks AS m ON m.release_id = r.id
      WHERE r.stig_id = ? ORDER BY r.release_order`,
  );
  function read(stig: number) {
    const rows = releasesOf.all(stig);
    const histories = historiesOf(rows.map(({ marks }) => readMarks(marks))).map((steps) => ({
      ids: new Set(steps.flatMap(({ rule }) => (rule === null ? [] : idsOf(rule)))),
      steps,
    }));
    return { releases: rows.map(({ marks: _, ...release }) => release), histories };
  }
  // Few: a reader asks for rules of few STIGs one after the other.
  const known = new LRUCache<string, ReturnType<typeof read>>({ max: 16 });

  return (stig: number) => {
    const key = `${db.catalogVersion()} ${stig}`;
    const histories = known.get(key) ?? read(stig);
    known.set(key, histories);
    return histories;
  };
}

/** Follows every rule through the releases of a STIG, the oldest first. A rule that returns continues its history. */
export function historiesOf(releases: RuleMarks[][]): RuleSteps[] {
  const histories = new Map<RuleMarks, RuleSteps>();
  let before: RuleMarks[] = [];
  let gone: RuleMarks[] = [];
  for (const [release, now] of releases.entries()) {
    const { pairs, removed, added } = matchRules(before, now);
    const back = matchRules(gone, added);
    for (const { old, new: rule } of [...pairs, ...back.pairs]) histories.set(rule, histories.get(old)!);
    for (const rule of back.added) histories.set(rule, []);
    const state = release === 0 ? 'first' : 'added';
    for (const rule of added) histories.get(rule)!.push({ release, state, classes: [], rule });
    for (const { old, new: rule } of pairs) {
      const classes = markedClasses(old, rule);
      const state = classes.length > 0 ? 'changed' : isRenumbered(old, rule) ? 'renumbered' : 'same';
      histories.get(rule)!.push({ release, state, classes, rule });
    }
    for (const rule of removed)
      histories.get(rule)!.push({ release, state: 'removed', classes: [], rule: null });
    before = now;
    gone = [...removed, ...back.removed];
  }
  return [...new Set(histories.values())];
}
