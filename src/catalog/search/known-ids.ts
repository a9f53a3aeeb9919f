import type { Database } from '../../db/database.ts';
import { idsOf } from '../controls/id-grammar.ts';

/**
 * Prepares the test whether a text is one id and nothing else. `mode 0600` has the form of a STIG id, but is one only
 * where the beginning of an id in the catalog is the same (rule D39.1).
 */
export function createIdTest({ sqlite }: Pick<Database, 'sqlite'>): (text: string) => boolean {
  const named = sqlite
    .prepare<[string, string, string], number>(
      "SELECT 1 FROM rule_ids WHERE id = ? OR (id >= ? || ' - ' AND id < ? || ' -!') LIMIT 1",
    )
    .pluck();
  const begun = sqlite
    .prepare<[string, string, string], number>(
      `SELECT 1 FROM rule_ids WHERE id >= ? || '0' AND id < ? || ':' AND instr(substr(id, length(?) + 1), '-') = 0
        LIMIT 1`,
    )
    .pluck();

  return (text) => {
    const ids = idsOf(text);
    if (ids?.length !== 1) return false;
    const { kind, id } = ids[0]!;
    if (kind !== 'stigId' || named.get(id, id, id) !== undefined) return true;
    const joint = Math.max(id.lastIndexOf('-'), id.lastIndexOf(' '));
    const beginning = id.slice(0, joint >= 0 ? joint + 1 : id.search(/\d/));
    return begun.get(beginning, beginning, beginning) !== undefined;
  };
}
