import type { z } from '@hono/zod-openapi';
import { pick } from '../../base/objects.ts';
import { withoutRuleEnding } from '../../base/rule-ids.ts';
import type { Database } from '../../db/database.ts';
import { wordList } from '../../http/arrays.ts';
import { type FindingRow, type Narrowing, narrowed, type StigService, toFinding } from './queries.ts';
import { automationStates, type StigAutomation } from './rule-automation.ts';
import { type RuleHead, ruleHeadColumns } from './rule-head.ts';
import { controlsQuery, type Finding } from './schema.ts';

/** A rule as a reader sees it: the finding of the API, and what only XCCDF has of it. */
export type RuleText = ReturnType<typeof toText>;

const toText = (row: FindingRow) => ({ ...toFinding(row), ...pick(row, 'legacyIds', 'responsibility') });

/** A rule as a line of a list. */
export interface RuleLine extends RuleHead {
  ordinal: number;
  groupTitle: string;
  ccis: string[];
}

/** How many rules a list shows before and after the present one: people read on more often than back. */
const shown = { before: 5, after: 30 };

/** The group of the rule with an id in any case: its V-id, STIG id or rule id. */
function groupNamed(lines: RuleHead[], text: string): string | undefined {
  const id = text.trim().toUpperCase();
  const is = (each: string) => each.toUpperCase() === id;
  const found =
    lines.find(({ groupId }) => is(groupId)) ??
    lines.find(({ ruleId, ruleVersion }) => is(ruleVersion) || is(ruleId) || is(withoutRuleEnding(ruleId)));
  return found?.groupId;
}

/** The first rule of another STIG that is made from a requirement; `rules` counts all of them. */
export interface RelatedRule extends RuleHead {
  slug: string;
  title: string;
  version: string;
  rules: number;
}

/** The rules of a group with their neighbours. */
export type RuleGroup = NonNullable<ReturnType<ReadingService['group']>>;

export type ReadingService = ReturnType<typeof createReadingService>;

/** One rule after the other, as a reader reads them. A page runs five short queries: it reads no texts of other rules. */
export function createReadingService(db: Database, stigs: StigService) {
  const lines = db.sqlite.prepare<[number], Omit<RuleLine, 'ccis'> & { ccis: string }>(
    `SELECT ${ruleHeadColumns}, f.ordinal, f.group_title AS groupTitle, f.ccis
       FROM findings AS f WHERE f.release_id = ? ORDER BY f.ordinal`,
  );
  const requirement = db.sqlite.prepare<[string], { slug: string; groupId: string; ruleTitle: string }>(
    `SELECT s.slug, f.group_id AS groupId, f.rule_title AS ruleTitle
       FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id
      WHERE f.rule_version = ? AND s.kind = 'srg' ORDER BY s.slug, f.ordinal LIMIT 1`,
  );
  // CROSS JOIN: reads only current releases, each by the index, and the rules themselves last.
  const related = db.sqlite.prepare<{ requirement: string; slug: string }, RelatedRule>(
    `SELECT s.slug, s.title, r.version, found.rules, ${ruleHeadColumns}
       FROM (SELECT s.id AS stig, f.release_id AS release, count(*) AS rules, min(f.ordinal) AS first
               FROM stigs AS s CROSS JOIN findings AS f
                 ON f.group_title = @requirement AND f.release_id = s.current_release_id
              WHERE s.slug <> @slug GROUP BY s.id) AS found
       JOIN stigs AS s ON s.id = found.stig JOIN stig_releases AS r ON r.id = found.release
       JOIN findings AS f ON f.release_id = found.release AND f.ordinal = found.first
      ORDER BY s.title_fold, s.title, s.slug`,
  );

  const linesOf = (release: number): RuleLine[] =>
    lines.all(release).map((line) => ({ ...line, ccis: JSON.parse(line.ccis) }));
  const textsOf = (release: number, group: string) => stigs.group(release, group).map(toText);

  return {
    /** The rules of the group with the first of some ids that a release has. Null for none; throws NOT_FOUND. */
    rules(name: string, ids: string[], version?: string) {
      return db.read(() => {
        const release = stigs.release(name, version);
        for (const id of ids) {
          const own = textsOf(release.id, id);
          if (own.length > 0) return { release, rules: own };
          const group = groupNamed(linesOf(release.id), id);
          if (group !== undefined) return { release, rules: textsOf(release.id, group) };
        }
        return null;
      });
    },

    /** The rules of the group with an id, and their neighbours that pass a filter. Null for none; throws NOT_FOUND. */
    group(name: string, requested: string, version?: string, filter: Narrowing = {}) {
      return db.read(() => {
        const release = stigs.release(name, version);
        const all = linesOf(release.id);
        const called = groupNamed(all, requested);
        const own = all.filter(({ groupId }) => groupId === called);
        const [first, last] = [own[0], own.at(-1)];
        if (!first || !last) return null;
        const passing = narrowed(all, filter);
        const here = passing.filter((line) => line.groupId === called);
        const others = passing.filter((line) => line.groupId !== called);
        const earlier = others.filter((line) => line.ordinal < first.ordinal);
        const later = others.filter((line) => line.ordinal > last.ordinal);
        return {
          stig: pick(release, 'slug', 'title', 'version', 'releaseDate'),
          rules: textsOf(release.id, first.groupId),
          before: earlier.at(-1) ?? null,
          after: later[0] ?? null,
          list: {
            lines: [...earlier.slice(-shown.before), ...here, ...later.slice(0, shown.after)],
            /** The place of the rule among those that pass the filter; of the one before, if it does not pass. */
            place: earlier.length + (here.length > 0 ? 1 : 0),
            total: passing.length,
            up: earlier.at(-shown.before - 1) ?? null,
            down: later[shown.after] ?? null,
          },
        };
      });
    },

    /** The SRG requirement behind a rule; null for a rule that names none. */
    requirementOf({ title, ruleVersion }: Pick<Finding, 'title' | 'ruleVersion'>) {
      const id = [ruleVersion, title].find((each) => /^SRG-[A-Z0-9-]+$/.test(each));
      return id === undefined ? null : { id, rule: requirement.get(id) ?? null };
    },

    /** The first rule made from a requirement in the current release of each other STIG, by title. */
    related: (requirementId: string, slug: string): RelatedRule[] =>
      related.all({ requirement: requirementId, slug }),
  };
}

/** The filters of rules in the query of a page; `cci` is read apart, as people write it in many ways. */
export const readingQuery = controlsQuery.extend({ checked: wordList('checked', automationStates) });

/** The filters as typed, and those that the catalog reads. */
export function readingFilter(
  { search, severity, checked }: z.infer<typeof readingQuery>,
  cci: { text: string; canonical?: string | undefined },
  { of }: StigAutomation,
) {
  const matchesFilter = checked && ((ruleId: string) => checked.has(of(ruleId).state));
  const narrowing: Narrowing = { search, severity, cci: cci.canonical, matchesFilter };
  return {
    narrowing,
    filter: {
      search: search ?? '',
      severity: [...(severity ?? [])],
      cci: cci.text,
      checked: [...(checked ?? [])],
    },
  };
}
