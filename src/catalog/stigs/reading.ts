import { and, asc, eq, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { findings } from '../../db/tables.ts';
import { type FindingRow, matchingOf, type StigService, toFinding } from './queries.ts';
import type { Finding, FindingsQuery } from './schema.ts';

/** A rule as a reader sees it: the finding of the API, and what only XCCDF has of it. */
export interface RuleText extends Finding {
  legacyIds: string[];
  /** Who DISA says is responsible: empty in most STIGs. */
  responsibility: string;
}

/** A rule as a line of a list. */
export type RuleLine = Pick<
  FindingRow,
  'ordinal' | 'groupId' | 'ruleId' | 'ruleVersion' | 'severity' | 'groupTitle' | 'ruleTitle' | 'ccis'
>;

/** What narrows the rules that are read one after the other. */
export type ReadingFilter = Pick<FindingsQuery, 'search' | 'severity'> & { cci?: string | undefined };

/** How many rules before the one that is read, and after it, a list shows: the reader goes on more than back. */
const shown = { before: 5, after: 30 };

/** The group that an id names: a V-id, else an SV-id with its revision or a STIG id. */
function named(lines: RuleLine[], text: string): string | undefined {
  const id = text.trim().toUpperCase();
  const is = (each: string) => each.toUpperCase() === id;
  const found =
    lines.find(({ groupId }) => is(groupId)) ??
    lines.find(
      ({ ruleId, ruleVersion }) => is(ruleVersion) || is(ruleId) || is(ruleId.replace(/_rule$/, '')),
    );
  return found?.groupId;
}

/** A rule of another STIG, the first there that is made from a requirement; `rules` are all that are. */
export interface RelatedRule {
  slug: string;
  title: string;
  version: string;
  rules: number;
  groupId: string;
  ruleVersion: string;
  ruleTitle: string;
  severity: FindingRow['severity'];
}

/** Some rules of a group, and where they stand. */
export type RuleGroup = NonNullable<ReturnType<ReadingService['group']>>;

export type ReadingService = ReturnType<typeof createReadingService>;

/**
 * One rule after the other, as they are read. A page costs five short questions whatever the release holds: the texts
 * of other rules are never touched.
 */
export function createReadingService(db: Database, stigs: StigService) {
  const { orm, sqlite } = db;
  const { ordinal, groupId, ruleId, ruleVersion, severity, groupTitle, ruleTitle, ccis } = findings;
  const lines = orm
    .select({ ordinal, groupId, ruleId, ruleVersion, severity, groupTitle, ruleTitle, ccis })
    .from(findings)
    .where(eq(findings.releaseId, sql.placeholder('release')))
    .orderBy(asc(ordinal))
    .prepare();
  const textOf = orm
    .select()
    .from(findings)
    .where(and(eq(findings.releaseId, sql.placeholder('release')), eq(ordinal, sql.placeholder('ordinal'))))
    .prepare();
  const requirement = sqlite.prepare<[string], { slug: string; groupId: string; ruleTitle: string }>(
    `SELECT s.slug, f.group_id AS groupId, f.rule_title AS ruleTitle
       FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id
      WHERE f.rule_version = ? AND s.kind = 'srg' ORDER BY s.slug, f.ordinal LIMIT 1`,
  );
  // CROSS JOIN: only current releases are looked into, each by the index; the rules themselves are read at the end.
  const related = sqlite.prepare<{ requirement: string; slug: string }, RelatedRule>(
    `SELECT s.slug, s.title, r.version, found.rules, f.group_id AS groupId, f.rule_version AS ruleVersion,
            f.rule_title AS ruleTitle, f.severity
       FROM (SELECT s.id AS stig, f.release_id AS release, count(*) AS rules, min(f.ordinal) AS first
               FROM stigs AS s CROSS JOIN findings AS f
                 ON f.group_title = @requirement AND f.release_id = s.current_release_id
              WHERE s.slug <> @slug GROUP BY s.id) AS found
       JOIN stigs AS s ON s.id = found.stig JOIN stig_releases AS r ON r.id = found.release
       JOIN findings AS f ON f.release_id = found.release AND f.ordinal = found.first
      ORDER BY s.title_fold, s.title, s.slug`,
  );

  return {
    /**
     * The rules of a group of a release, which a V-id, SV-id or STIG id names, the rules around them that a filter lets pass, and the next ones both ways.
     * Null for a group that is not there; throws NOT_FOUND for a STIG or a version that is not.
     */
    group(name: string, wanted: string, version?: string, filter: ReadingFilter = {}) {
      return db.read(() => {
        const { id, slug, title, version: found, releaseDate } = stigs.release(name, version);
        const all = lines.all({ release: id });
        const called = named(all, wanted);
        const own = all.filter(({ groupId }) => groupId === called);
        const [first, last] = [own[0], own.at(-1)];
        if (!first || !last) return null;
        const citing = all.filter(({ ccis }) => filter.cci === undefined || ccis.includes(filter.cci));
        const fields = ['groupId', 'ruleId', 'ruleVersion', 'groupTitle', 'ruleTitle'] as const;
        const passing = matchingOf(citing, filter, fields);
        const earlier = passing.filter(
          (line) => line.ordinal < first.ordinal && line.groupId !== first.groupId,
        );
        const later = passing.filter((line) => line.ordinal > last.ordinal && line.groupId !== first.groupId);
        const here = passing.filter((line) => line.groupId === first.groupId);
        const rules = own.map((line): RuleText => {
          const row = textOf.get({ release: id, ordinal: line.ordinal })!;
          return { ...toFinding(row), legacyIds: row.legacyIds, responsibility: row.responsibility };
        });
        return {
          stig: { slug, title, version: found, releaseDate },
          rules,
          before: earlier.at(-1) ?? null,
          after: later[0] ?? null,
          list: {
            lines: [...earlier.slice(-shown.before), ...here, ...later.slice(0, shown.after)],
            /** The place of the rule among those that the filter lets pass; of the one before, where it does not. */
            place: earlier.length + (here.length > 0 ? 1 : 0),
            total: passing.length,
            /** Where the list goes on, beyond what is shown. */
            up: earlier.at(-shown.before - 1) ?? null,
            down: later[shown.after] ?? null,
          },
        };
      });
    },

    /** The requirement of an SRG that a rule is made from; null for rules older than that, and for SRGs themselves none. */
    requirementOf({ title, ruleVersion }: Pick<Finding, 'title' | 'ruleVersion'>) {
      const id = [ruleVersion, title].find((each) => /^SRG-[A-Z0-9-]+$/.test(each));
      return id === undefined ? null : { id, rule: requirement.get(id) ?? null };
    },

    /** The rules of the current releases of other STIGs that are made from a requirement, one for each STIG, by title. */
    related: (requirementId: string, slug: string): RelatedRule[] =>
      related.all({ requirement: requirementId, slug }),
  };
}
