import type Sqlite from 'better-sqlite3';

/** A file that an older version skipped and this one reads, as the ledger names it. */
export interface ReadAgain {
  source: string;
  sha256: string;
}

/** What older versions skipped: a kind, and a pattern (SQL) of their reason. No version writes these reasons now. */
const skippedBefore = [{ kind: 'scap', reason: 'SCAP content (automated checks, root <data-stream%' }];

/**
 * The files whose last line in the ledger is of an older version that skipped them (rule D42.9), by name: to be imported
 * again. A file that was imported or rejected since is not among them.
 */
export function filesToReadAgain(sqlite: Sqlite.Database): ReadAgain[] {
  const last = sqlite.prepare<[string, string], ReadAgain>(
    `SELECT source, sha256 FROM import_ledger AS l
      WHERE kind = ? AND outcome = 'skipped' AND reason LIKE ?
        AND NOT EXISTS (SELECT 1 FROM import_ledger AS n
          WHERE n.sha256 = l.sha256 AND (n.run_id, n.ordinal) > (l.run_id, l.ordinal))
      ORDER BY source`,
  );
  return skippedBefore.flatMap(({ kind, reason }) => last.all(kind, reason));
}
