import { LRUCache } from 'lru-cache';
import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import type { RuleHistory, RuleOverTime } from './history-schema.ts';
import { idsOf, readMarks, wantedIds } from './marks.ts';
import { type RuleThread, threadsOf } from './threads.ts';

/** A rule of a newest release. */
export type CurrentRule = Pick<
  RuleOverTime,
  'slug' | 'groupId' | 'ruleId' | 'ruleVersion' | 'ruleTitle' | 'severity'
> & { version: string };

export type RuleHistoryService = ReturnType<typeof createRuleHistoryService>;

interface StigThreads {
  releases: { id: number; version: string; releaseDate: string | null }[];
  threads: { ids: Set<string>; thread: RuleThread }[];
}

interface CurrentPlace {
  legacyIds: string;
  release: number;
  ordinal: number;
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

/** One rule through all retained releases (rule D27). */
export function createRuleHistoryService(db: Database) {
  const { sqlite } = db;
  const threadsOfStig = createThreadsReader(db);
  const stigsWith = sqlite.prepare<[string], { id: number; slug: string; title: string }>(
    `SELECT s.id, s.slug, s.title FROM stigs AS s
      WHERE s.id IN (SELECT r.stig_id FROM stig_releases AS r
                      WHERE r.id IN (SELECT release_id FROM rule_ids WHERE id IN (SELECT value FROM json_each(?))))
      ORDER BY s.title_fold, s.title, s.slug`,
  );
  const titleOf = sqlite
    .prepare<[number, number], string>('SELECT rule_title FROM findings WHERE release_id = ? AND ordinal = ?')
    .pluck();

  function rulesOf({ id, slug, title }: { id: number; slug: string; title: string }, wanted: string[]) {
    const { releases, threads } = threadsOfStig(id);
    return threads
      .filter(({ ids }) => wanted.some((each) => ids.has(each)))
      .map(({ thread }) => ({ thread, last: thread.findLast(({ at }) => at !== null)! }))
      .sort((a, b) => b.last.release - a.last.release || a.last.at!.index - b.last.at!.index)
      .map(({ thread, last: { release, at } }): RuleOverTime => {
        const { index, rule } = at!;
        const { groupId, ruleId, ruleVersion, severity } = rule;
        return {
          slug,
          title,
          ruleTitle: titleOf.get(releases[release]!.id, index + 1)!,
          current: release === releases.length - 1,
          ...{ groupId, ruleId, ruleVersion, severity },
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
  function find(id: string, slug?: string): RuleOverTime[] {
    return db.read(() => {
      const wanted = wantedIds(id);
      const stigs = stigsWith.all(JSON.stringify(wanted));
      return stigs
        .filter((stig) => slug === undefined || stig.slug === slug)
        .flatMap((stig) => rulesOf(stig, wanted));
    });
  }

  // CROSS JOIN: from the id to its releases; the rules of a release are read from findings_by_ids alone. LIKE leaves few
  // of them: it has no case in ASCII, and an id with other characters is sought in all.
  const currentRules = sqlite.prepare<
    { ids: string; id: string; slug: string | null },
    Omit<CurrentRule, 'ruleTitle'> & CurrentPlace
  >(
    `SELECT s.slug, r.version, f.group_id AS groupId, f.rule_id AS ruleId, f.rule_version AS ruleVersion, f.severity,
            f.legacy_ids AS legacyIds, f.release_id AS release, f.ordinal
       FROM (SELECT DISTINCT release_id FROM rule_ids WHERE id IN (SELECT value FROM json_each(@ids))) AS i
      CROSS JOIN stig_releases AS r ON r.id = i.release_id
      CROSS JOIN stigs AS s ON s.id = r.stig_id AND s.current_release_id = r.id AND s.slug = ifnull(@slug, s.slug)
      CROSS JOIN findings AS f ON f.release_id = r.id
      WHERE f.group_id || ' ' || f.rule_id || ' ' || f.rule_version || ' ' || f.legacy_ids LIKE @id
      ORDER BY s.title_fold, s.title, s.slug, f.ordinal`,
  );

  return {
    find,

    /** The rules that have an id in the newest release of a STIG, or of all: without their history, which takes longer. */
    current(id: string, slug?: string): CurrentRule[] {
      const wanted = wantedIds(id);
      const name = wanted.at(-1)!;
      const told = {
        ids: JSON.stringify(wanted),
        id: /^[ !#-[\]-~]+$/.test(name) ? `%${name}%` : '%',
        slug: slug ?? null,
      };
      return db.read(() =>
        currentRules
          .all(told)
          .filter((row) => {
            const ids = idsOf({ ...row, legacyIds: JSON.parse(row.legacyIds) });
            return wanted.some((each) => ids.includes(each));
          })
          .map(({ legacyIds: _, release, ordinal, ...rule }) => ({
            ...rule,
            ruleTitle: titleOf.get(release, ordinal)!,
          })),
      );
    },

    /** The rules with an id in any STIG. Throws NOT_FOUND for an unknown id. */
    history(id: string): RuleHistory {
      const rules = find(id);
      if (rules.length === 0) throw new AppError('NOT_FOUND', `Rule not found: ${cut(id)}`);
      return { id, rules };
    },
  };
}
