import type { Database } from '../../db/database.ts';

/** A rule of the index and its bm25: less is better. */
export type Scored = [id: number, score: number];

/** What a word counts in title, discussion, check, fix and ids, by the reading of the question. */
const weights = {
  first: '10, 2, 1, 1, 4',
  // Ids count nothing, as a person's words are none (measured by `bench search`).
  second: '5, 1, 1, 1, 0',
};

/** What a search asks of the index and of the catalog. A `match` is made by `allOf` or `anyOf`. */
export function createIndexQueries({ sqlite }: Pick<Database, 'sqlite'>) {
  const matching = sqlite
    .prepare<[string], number>('SELECT rowid FROM rule_search WHERE rule_search MATCH ?')
    .pluck();
  const scoredBy = (reading: keyof typeof weights) =>
    sqlite
      .prepare<[string, number, number], Scored>(
        `SELECT rowid, bm25(rule_search, ${weights[reading]}) FROM rule_search
          WHERE rule_search MATCH ? AND rowid BETWEEN ? AND ?`,
      )
      .raw();
  const [first, second] = [scoredBy('first'), scoredBy('second')];
  const citing = sqlite
    .prepare<[string], string>(
      'SELECT json_group_array(finding_id) FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(?))',
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
  const listed = (text: string | undefined) => JSON.parse(text!) as number[];

  return {
    /** The rules that match. */
    matching: (match: string): number[] => matching.all(match),
    /** The rules that match, scored for the first reading. */
    first: (match: string): Scored[] => first.all(match, 0, Number.MAX_SAFE_INTEGER),
    /** The rules from one number to another that match, scored for the second reading. */
    second: (match: string, from: number, to: number): Scored[] => second.all(match, from, to),
    /** The rules that cite one of some CCIs. */
    citing: (ccis: string[]): Set<number> => new Set(listed(citing.get(JSON.stringify(ccis)))),
    /** Those of some rules that have one of some ids, which are in lower case. */
    named: (ids: string[], rules: { id: number }[]): Set<number> =>
      new Set(named.all(JSON.stringify(rules.map(({ id }) => id)), JSON.stringify(ids))),
  };
}

export type IndexQueries = ReturnType<typeof createIndexQueries>;
