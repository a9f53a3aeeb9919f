import type { Database } from '../../src/db/database.ts';

/** What full-text search reads, kept in step with the releases; inside the run's transaction. */
export interface SearchIndex {
  /** Puts the rules of a release in. */
  add(releaseId: number): void;
  /** Takes the rules of a release out, if they are in; to be called before its findings are deleted. */
  remove(releaseId: number): void;
  /** Puts in what is current and not in the index, takes out what is in it and no longer current. */
  reconcile(): void;
  /** Merges all parts of the index: it then is the same, whatever was put in and taken out before. */
  mergeAll(): void;
}

/** Prepares the statements that keep `rule_search`, `rule_ccis` and `searched_releases` (migration 0005). */
export function createSearchIndex(db: Pick<Database, 'sqlite'>): SearchIndex {
  const { sqlite } = db;
  const isIn = sqlite.prepare<[number]>('SELECT 1 FROM searched_releases WHERE release_id = ?').pluck();
  const adding = [
    'INSERT INTO searched_releases VALUES (?)',
    `INSERT INTO rule_search (rowid, title, discussion, check_content, fix_text, ids)
     SELECT id, title, discussion, check_content, fix_text, ids
       FROM searchable_rules WHERE release_id = ? ORDER BY id`,
    `INSERT OR IGNORE INTO rule_ccis
     SELECT cci.value, f.id FROM findings AS f, json_each(f.ccis) AS cci WHERE f.release_id = ?`,
  ].map((text) => sqlite.prepare<[number]>(text));
  const removing = [
    'DELETE FROM searched_releases WHERE release_id = ?',
    `INSERT INTO rule_search (rule_search, rowid, title, discussion, check_content, fix_text, ids)
     SELECT 'delete', id, title, discussion, check_content, fix_text, ids
       FROM searchable_rules WHERE release_id = ? ORDER BY id`,
    `DELETE FROM rule_ccis WHERE (cci, finding_id) IN
       (SELECT cci.value, f.id FROM findings AS f, json_each(f.ccis) AS cci WHERE f.release_id = ?)`,
  ].map((text) => sqlite.prepare<[number]>(text));
  const noLongerCurrent = sqlite
    .prepare<[], number>(
      `SELECT release_id FROM searched_releases EXCEPT SELECT current_release_id FROM stigs ORDER BY 1`,
    )
    .pluck();
  const notYetIn = sqlite
    .prepare<[], number>(
      `SELECT current_release_id FROM stigs EXCEPT SELECT release_id FROM searched_releases ORDER BY 1`,
    )
    .pluck();

  const rulesOf = sqlite
    .prepare<[number], number>('SELECT finding_count FROM stig_releases WHERE id = ?')
    .pluck();
  const rulesIn = sqlite
    .prepare<[], number>(
      `SELECT coalesce(sum(finding_count), 0) FROM searched_releases JOIN stig_releases ON id = release_id`,
    )
    .pluck();
  const mergeAll = sqlite.prepare("INSERT INTO rule_search (rule_search) VALUES ('optimize')");

  function add(releaseId: number): void {
    for (const statement of adding) statement.run(releaseId);
  }

  function remove(releaseId: number): void {
    if (isIn.get(releaseId) === undefined) return;
    for (const statement of removing) statement.run(releaseId);
  }

  return {
    add,
    remove,
    reconcile() {
      let takenOut = 0;
      for (const releaseId of noLongerCurrent.all()) {
        takenOut += rulesOf.get(releaseId) ?? 0;
        remove(releaseId);
      }
      for (const releaseId of notYetIn.all()) add(releaseId);
      // What is taken out stays in the index, and what takes it out beside it, until the parts that hold them are merged:
      // with a library each quarter that came to twelve times the size. A run that renews a quarter of it merges all.
      if (takenOut > 0 && takenOut * 4 >= rulesIn.get()!) mergeAll.run();
    },
    mergeAll: () => void mergeAll.run(),
  };
}
