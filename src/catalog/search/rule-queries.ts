import type { Database } from '../../db/database.ts';
import { idsOf } from '../controls/id-grammar.ts';
import type { SearchedField, SearchOrder, SearchResult } from './schema.ts';

/** What limits the rules of a search; null for no limit. */
export interface RuleFilter {
  severity: string[] | null;
  /** Slugs of STIGs. */
  stigs: string[] | null;
  /** CCIs of the filters `cci` and `control`, and of the control that is the question: a rule must cite one of each. */
  cci: string[] | null;
  control: string[] | null;
  question: string[] | null;
  /** What a rule must not have, as an FTS5 query. */
  excluded: string | null;
}

/** A rule that a search finds. */
export interface MatchedRule {
  id: number;
  slug: string;
  severity: SearchResult['severity'];
}

export interface ScoredRule extends MatchedRule {
  /** Less is better. */
  score: number;
  /** The title of its group: the SRG requirement that it implements. */
  requirement: string;
}

const filters = `
  (@severity IS NULL OR f.severity IN (SELECT value FROM json_each(@severity)))
  AND (@stigs IS NULL OR s.slug IN (SELECT value FROM json_each(@stigs)))
  AND (@cci IS NULL
       OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(@cci))))
  AND (@control IS NULL
       OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(@control))))
  AND (@question IS NULL
       OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(@question))))
  AND (@excluded IS NULL OR f.id NOT IN (SELECT rowid FROM rule_search WHERE rule_search MATCH @excluded))`;

const severityPlace = `CASE f.severity WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END`;
/** The number after the first hyphen of a V-id; 0 for another id. */
const groupNumber = `
  iif(substr(f.group_id, instr(f.group_id, '-')) GLOB '-[0-9]*',
      CAST(substr(f.group_id, instr(f.group_id, '-') + 1) AS INTEGER), 0)`;

/** The orders of rule S4.2. */
const orders: Record<SearchOrder, string> = {
  relevance: 'bm25(rule_search, 10, 2, 1, 1, 4), s.slug, f.ordinal',
  severity: `${severityPlace}, s.title_fold, s.title, s.slug, f.ordinal`,
  stig: 's.title_fold, s.title, s.slug, f.ordinal',
  id: `${groupNumber}, f.group_id, s.slug, f.ordinal`,
};

const currentStig = 'CROSS JOIN stigs AS s ON s.current_release_id = f.release_id';

/** The rules `f` of the STIGs `s` to choose from, by what is given for `@source`. */
const sources = {
  /** An FTS5 query. */
  match: `rule_search AS i CROSS JOIN findings AS f ON f.id = i.rowid AND rule_search MATCH @source ${currentStig}`,
  /** Ids of rows. */
  ids: `json_each(@source) AS i CROSS JOIN findings AS f ON f.id = i.value ${currentStig}`,
  /** All rules: `null`. */
  all: 'stigs AS s CROSS JOIN findings AS f ON f.release_id = s.current_release_id',
};
type RuleSource = keyof typeof sources;

const bound = (filter: RuleFilter): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [
      name,
      Array.isArray(value) ? JSON.stringify(value) : value,
    ]),
  );

export type RuleQueries = ReturnType<typeof createRuleQueries>;

/** The statements of the search: rules of current releases, which are those of the index `rule_search`. */
export function createRuleQueries({ sqlite }: Database) {
  const isInIndex = sqlite.prepare<[string]>('SELECT 1 FROM rule_search WHERE rule_search MATCH ? LIMIT 1');
  // The column of ids counts nothing, as a person's words are no ids (measured by `npm run bench search`). The range of
  // the rules of the STIGs saves FTS5 the others.
  const scored = sqlite.prepare<Record<string, string | null>, ScoredRule>(
    `WITH asked AS (SELECT release_id, id FROM findings WHERE release_id IN
            (SELECT current_release_id FROM stigs WHERE slug IN (SELECT value FROM json_each(@stigs)))),
          ends AS (SELECT coalesce((SELECT min(id) FROM asked), 0) AS first,
                          coalesce((SELECT max(id) FROM asked), 9223372036854775807) AS last),
          found AS (
            SELECT rowid AS id, bm25(rule_search, 5, 1, 1, 1, 0) AS score FROM rule_search
             WHERE rule_search MATCH @words AND rowid BETWEEN (SELECT first FROM ends) AND (SELECT last FROM ends)
             UNION ALL
            SELECT rowid, 0.5 * bm25(rule_search, 5, 1, 1, 1, 0) FROM rule_search
             WHERE rule_search MATCH @synonyms AND rowid BETWEEN (SELECT first FROM ends) AND (SELECT last FROM ends))
     SELECT f.id, s.slug, f.severity, sum(score) AS score, trim(f.group_title) AS requirement
       FROM found CROSS JOIN findings AS f USING (id) ${currentStig}
      WHERE ${filters} GROUP BY f.id ORDER BY s.slug, f.ordinal`,
  );
  const idIsThere = sqlite
    .prepare<[string, string, string], number>(
      "SELECT 1 FROM rule_ids WHERE id = ? OR (id >= ? || ' - ' AND id < ? || ' -!') LIMIT 1",
    )
    .pluck();
  const idBegins = sqlite
    .prepare<[string, string, string], number>(
      `SELECT 1 FROM rule_ids WHERE id >= ? || '0' AND id < ? || ':' AND instr(substr(id, length(?) + 1), '-') = 0
        LIMIT 1`,
    )
    .pluck();
  // An SV-id without its revision names every revision.
  const named = sqlite
    .prepare<[string, string], number>(
      `SELECT f.id FROM json_each(?) AS rule JOIN findings AS f ON f.id = rule.value
        WHERE EXISTS (SELECT 1 FROM json_each(?) AS id
          WHERE id.value IN (lower(f.group_id), lower(f.rule_id), lower(f.rule_version))
             OR substr(lower(f.rule_id), 1, length(id.value) + 1) = id.value || 'r'
             OR id.value IN (SELECT lower(value) FROM json_each(f.legacy_ids))
             OR id.value IN (SELECT lower(value) FROM json_each(f.ccis)))`,
    )
    .pluck();

  const textsOf = sqlite.prepare<[number], Record<SearchedField, string>>(
    'SELECT title, discussion, check_content AS "check", fix_text AS fix, ids FROM searchable_rules WHERE id = ?',
  );

  return {
    texts: (id: number): Record<SearchedField, string> => textsOf.get(id)!,

    /**
     * Whether a text is one id and nothing else. `mode 0600` has the form of a STIG id, but is one only where the
     * beginning of an id in the catalog is the same (rule D39.1).
     */
    isId(text: string): boolean {
      const ids = idsOf(text);
      if (ids?.length !== 1) return false;
      const { kind, id } = ids[0]!;
      if (kind !== 'stigId' || idIsThere.get(id, id, id) !== undefined) return true;
      const joint = Math.max(id.lastIndexOf('-'), id.lastIndexOf(' '));
      const beginning = id.slice(0, joint >= 0 ? joint + 1 : id.search(/\d/));
      return idBegins.get(beginning, beginning, beginning) !== undefined;
    },

    /** Whether a rule matches an FTS5 query. */
    isInIndex: (match: string): boolean => isInIndex.get(match) !== undefined,

    /** The rules of a source that pass a filter, in an order; by relevance only those that match. */
    rules(source: RuleSource, given: string | null, filter: RuleFilter, order: SearchOrder): MatchedRule[] {
      return sqlite
        .prepare<Record<string, string | null>, MatchedRule>(
          `SELECT f.id, s.slug, f.severity
             FROM ${sources[source]}
            WHERE ${filters} ORDER BY ${orders[order]}`,
        )
        .all({ source: given, ...bound(filter) });
    },

    /**
     * The rules that match one of two FTS5 queries and pass a filter, by slug and in the order of documents. What matches
     * `synonyms` counts half.
     */
    scored: (words: string, synonyms: string, filter: RuleFilter): ScoredRule[] =>
      scored.all({ words, synonyms, ...bound(filter) }),

    /** Those of some rules that have one of some ids, which are in lower case. */
    named: (ids: string[], rules: MatchedRule[]): Set<number> =>
      new Set(named.all(JSON.stringify(rules.map(({ id }) => id)), JSON.stringify(ids))),
  };
}
