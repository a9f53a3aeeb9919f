import type { Database } from '../../src/db/database.ts';

/** Keeps `rule_search`, `rule_ccis` and `searched_releases` equal to the current releases, inside the run's transaction. */
export function createSearchIndex(db: Pick<Database, 'sqlite'>) {
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
    /** Call it before the findings of the release are deleted. */
    remove,
    reconcile(): void {
      let changed = 0;
      const change = (releases: number[], work: (releaseId: number) => void) => {
        for (const releaseId of releases) {
          changed += rulesOf.get(releaseId) ?? 0;
          work(releaseId);
        }
      };
      change(noLongerCurrent.all(), remove);
      change(notYetIn.all(), add);
      // FTS5 keeps removed rows and their deletions until it merges the parts that hold them: a library each quarter
      // made the index twelve times as large. And where all words must occur, a question takes three times as long in
      // many parts. A run that changes a quarter of the index merges everything.
      if (changed > 0 && changed * 4 >= rulesIn.get()!) mergeAll.run();
    },
  };
}
