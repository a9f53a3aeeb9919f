import type { Database } from '../../db/database.ts';

/** What a search asks of the catalog beside the index. */
export function createIndexQueries({ sqlite }: Pick<Database, 'sqlite'>) {
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
    /** The rules that cite one of some CCIs. */
    citing: (ccis: string[]): Set<number> => new Set(listed(citing.get(JSON.stringify(ccis)))),
    /** Those of some rules that have one of some ids, which are in lower case. */
    named: (ids: string[], rules: { id: number }[]): Set<number> =>
      new Set(named.all(JSON.stringify(rules.map(({ id }) => id)), JSON.stringify(ids))),
  };
}

export type IndexQueries = ReturnType<typeof createIndexQueries>;
