import { LRUCache } from 'lru-cache';
import { AppError } from '../../base/errors.ts';
import { pick } from '../../base/objects.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { isRenumbered } from './compare.ts';
import type { ChangeClass } from './diff-schema.ts';
import type { RuleHistory, RuleOverTime, RuleState } from './history-schema.ts';
import { idsOf, type RuleIds, wantedIds } from './ids.ts';
import { markedClasses, type RuleMarks, readMarks } from './marks.ts';
import { matchRules } from './match.ts';
import { type RuleHead, ruleHeadColumns } from './rule-head.ts';

/** A rule of a newest release. */
export interface CurrentRule extends RuleHead {
  slug: string;
  version: string;
}

export interface RuleStep {
  release: number;
  state: RuleState;
  classes: ChangeClass[];
  /** The rule and its index in the release; null where it is removed. */
  at: { index: number; rule: RuleMarks } | null;
}

/** One rule through the releases of a STIG, the oldest first, from its first release to its last or its removal. */
export type RuleThread = RuleStep[];

interface ThreadedRule extends RuleIds {
  at: { index: number; rule: RuleMarks };
  thread: RuleThread;
}

interface StigThreads {
  releases: { id: number; version: string; releaseDate: string | null }[];
  threads: { ids: Set<string>; thread: RuleThread }[];
}

export type RuleHistoryService = ReturnType<typeof createRuleHistoryService>;

/** One rule through all retained releases (rule D27). */
export function createRuleHistoryService(db: Database) {
  const threadsOfStig = createThreadsReader(db);
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

  function rulesOf({ id, slug, title }: { id: number; slug: string; title: string }, wanted: string[]) {
    const { releases, threads } = threadsOfStig(id);
    return threads
      .filter(({ ids }) => wanted.some((each) => ids.has(each)))
      .map(({ thread }) => ({ thread, last: thread.findLast(({ at }) => at !== null)! }))
      .sort((a, b) => b.last.release - a.last.release || a.last.at!.index - b.last.at!.index)
      .map(({ thread, last: { release, at } }): RuleOverTime => {
        const { index, rule } = at!;
        return {
          slug,
          title,
          ruleTitle: titleOf.get(releases[release]!.id, index + 1)!,
          current: release === releases.length - 1,
          ...pick(rule, 'groupId', 'ruleId', 'ruleVersion', 'severity'),
          releases: thread.toReversed().map((step) => ({
            version: releases[step.release]!.version,
            releaseDate: releases[step.release]!.releaseDate,
            state: step.state,
            classes: step.classes,
            severity: step.at?.rule.severity ?? null,
          })),
        };
      });
  }

  /** The rules with an id in any retained release, of one STIG or of all. */
  function find(id: string, slug: string | null = null): RuleOverTime[] {
    const wanted = wantedIds(id);
    return db.read(() =>
      stigsWith.all(JSON.stringify(wanted), slug).flatMap((stig) => rulesOf(stig, wanted)),
    );
  }

  return {
    find,

    /** The rules that have an id in the newest release of a STIG, or of all: without their history, which takes longer. */
    current(id: string, slug: string | null = null): CurrentRule[] {
      const wanted = wantedIds(id);
      const name = wanted.at(-1)!;
      const like = /^[ !#-[\]-~]+$/.test(name) ? `%${name}%` : '%';
      return currentRules.all({ ids: JSON.stringify(wanted), id: like, slug }).flatMap((row) => {
        const { legacyIds, ...rule } = row;
        const ids = idsOf({ ...rule, legacyIds: JSON.parse(legacyIds) });
        return wanted.some((each) => ids.includes(each)) ? rule : [];
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

function createThreadsReader(db: Database) {
  const releasesOf = db.sqlite.prepare<[number], StigThreads['releases'][number] & { marks: string }>(
    `SELECT r.id, r.version, r.release_date AS releaseDate, m.marks
       FROM stig_releases AS r JOIN rule_marks AS m ON m.release_id = r.id
      WHERE r.stig_id = ? ORDER BY r.release_order`,
  );
  // Few: a reader asks for rules of few STIGs one after the other.
  const known = new LRUCache<string, StigThreads>({ max: 16 });

  function make(stig: number): StigThreads {
    const rows = releasesOf.all(stig);
    return {
      releases: rows.map(({ marks: _, ...release }) => release),
      threads: threadsOf(rows.map(({ marks }) => readMarks(marks))).map((thread) => {
        const ids = new Set(thread.flatMap(({ at }) => (at === null ? [] : idsOf(at.rule))));
        return { ids, thread };
      }),
    };
  }

  return (stig: number): StigThreads => {
    const key = `${db.catalogVersion()} ${stig}`;
    const threads = known.get(key) ?? make(stig);
    known.set(key, threads);
    return threads;
  };
}

/** Follows every rule through the releases of a STIG, the oldest first. A rule that returns continues its old thread. */
export function threadsOf(releases: RuleMarks[][]): RuleThread[] {
  const threads: RuleThread[] = [];
  let before: ThreadedRule[] = [];
  let gone: ThreadedRule[] = [];
  for (const [release, rules] of releases.entries()) {
    const now = rules.map((rule, index): ThreadedRule => ({ ...rule, at: { index, rule }, thread: [] }));
    const { pairs, removed, added } = matchRules(before, now);
    const back = matchRules(gone, added);
    for (const { old, new: rule } of [...pairs, ...back.pairs]) rule.thread = old.thread;
    for (const { at, thread } of added) {
      if (thread.length === 0) threads.push(thread);
      thread.push({ release, state: release === 0 ? 'first' : 'added', classes: [], at });
    }
    for (const { old, new: now } of pairs) {
      const classes = markedClasses(old.at.rule, now.at.rule);
      const state = classes.length > 0 ? 'changed' : isRenumbered(old, now) ? 'renumbered' : 'same';
      now.thread.push({ release, state, classes, at: now.at });
    }
    for (const { thread } of removed) thread.push({ release, state: 'removed', classes: [], at: null });
    before = now;
    gone = [...removed, ...back.removed];
  }
  return threads;
}
