import type { Database } from '../../src/db/database.ts';

/** The stored rows of operators' `--slugs` files: slugs by benchmark id. */
export function readOverrides({ sqlite }: Database): Map<string, string> {
  const rows = sqlite
    .prepare<[], [string, string]>('SELECT benchmark_id, slug FROM stig_overrides')
    .raw()
    .all();
  return new Map(rows);
}

/** Stores the rows of an operator's file; an empty slug removes one. Gives whether anything changed. */
export function storeOverrides(db: Database, rows: Map<string, string>): boolean {
  const stored = readOverrides(db);
  const changed = [...rows].filter(([benchmarkId, slug]) => (stored.get(benchmarkId) ?? '') !== slug);
  const remove = db.sqlite.prepare('DELETE FROM stig_overrides WHERE benchmark_id = ?');
  const insert = db.sqlite.prepare('INSERT INTO stig_overrides VALUES (?, ?)');
  for (const [benchmarkId, slug] of changed) {
    remove.run(benchmarkId);
    if (slug !== '') insert.run(benchmarkId, slug);
  }
  return changed.length > 0;
}
