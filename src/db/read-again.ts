import type Sqlite from 'better-sqlite3';

/** A file that an older version skipped and this one reads, as the ledger names it. */
export interface ReadAgain {
  source: string;
  sha256: string;
}

/** What older versions skipped: a kind, and a pattern (SQL) of their reason. No version writes these reasons now. */
const skippedBefore = [
  { kind: 'scap', reason: 'SCAP content (automated checks, root <data-stream%' },
  { kind: 'oscal-catalog', reason: 'an OSCAL catalog of another publication:%' },
  { kind: 'oscal-profile', reason: 'a profile that is not a baseline of 800-53:%' },
  { kind: 'other', reason: 'OSCAL of another kind (mapping-collection)%' },
  { kind: 'other', reason: 'XML of an unknown kind: root <mapping-collection>%' },
];

/**
 * The first version of the importer that stores all of a kind as this one does. 6 reads objectives, methods, parameters
 * and values. 7 reads several CCIs in one `ident`, complex checks and every description tag, Markdown of OSCAL, published
 * labels, profiles that other documents resolve, the mappings of a collection apart, publishers of SCAP content and the
 * status of documents. A change of what a kind stores raises `importerVersion` and sets it here.
 */
const wholeSince: Record<string, number> = {
  xccdf: 7,
  scap: 7,
  'oscal-catalog': 7,
  'oscal-profile': 7,
  'oscal-mapping': 7,
  cprt: 6,
  regdoc: 7,
  'regdoc-markdown': 7,
};
const ofControls = /^(?:oscal-|cprt$|other$)/;

/**
 * The files whose last line in the ledger is of an older version that skipped them (rule D42.9), by name: to be imported
 * again. A file that was imported or rejected since is not among them. With them the sources that it read less of; with
 * `what` those of SCAP, or of controls, alone.
 */
export function filesToReadAgain(sqlite: Sqlite.Database, what?: 'scap' | 'controls'): ReadAgain[] {
  const last = sqlite.prepare<[string, string], ReadAgain>(
    `SELECT source, sha256 FROM import_ledger AS l
      WHERE kind = ? AND outcome = 'skipped' AND reason LIKE ?
        AND NOT EXISTS (SELECT 1 FROM import_ledger AS n
          WHERE n.sha256 = l.sha256 AND (n.run_id, n.ordinal) > (l.run_id, l.ordinal))
      ORDER BY source`,
  );
  const isWanted = ({ kind }: { kind: string }) =>
    what === undefined || (what === 'scap' ? kind === 'scap' : ofControls.test(kind));
  const skipped = skippedBefore.filter(isWanted).flatMap(({ kind, reason }) => last.all(kind, reason));
  return [...skipped, ...readInPart(sqlite).filter(isWanted)];
}

/** Stored sources that an older version read less of, but for those that were rejected since. */
function readInPart(sqlite: Sqlite.Database): (ReadAgain & { kind: string })[] {
  return sqlite
    .prepare<[string], ReadAgain & { kind: string }>(
      `SELECT s.kind, s.source, s.sha256
         FROM sources AS s JOIN json_each(?) AS k ON k.key = s.kind AND s.importer_version < k.value
        WHERE s.sha256 NOT IN (
          SELECT sha256 FROM (
            SELECT sha256, outcome, max(run_id * 4294967296 + ordinal) FROM import_ledger
             WHERE sha256 IS NOT NULL GROUP BY sha256
          ) WHERE outcome = 'rejected')
        ORDER BY k.id, s.source`,
    )
    .all(JSON.stringify(wholeSince));
}

/** Whether the version of the importer that read a source stored all of it. */
export function isReadWhole({ kind, importerVersion }: { kind: string; importerVersion: number }): boolean {
  return importerVersion >= (wholeSince[kind] ?? 1);
}
