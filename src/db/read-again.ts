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
 * The first version of the importer that reads all of a kind: 6 reads objectives, methods, parameters and values, 7
 * Markdown, published labels, what a profile leaves to others to resolve, and the status of documents.
 */
const wholeSince: Record<string, number> = {
  'oscal-catalog': 7,
  'oscal-profile': 7,
  cprt: 6,
  regdoc: 7,
  'regdoc-markdown': 7,
};

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
  const subjectOf = (kind: string) =>
    kind === 'scap' ? 'scap' : kind.startsWith('regdoc') ? 'documents' : 'controls';
  const isWanted = ({ kind }: { kind: string }) => what === undefined || subjectOf(kind) === what;
  const skipped = skippedBefore.filter(isWanted).flatMap(({ kind, reason }) => last.all(kind, reason));
  return [...skipped, ...readInPart(sqlite).filter(isWanted)];
}

/** Stored sources that an older version read less of. */
function readInPart(sqlite: Sqlite.Database): (ReadAgain & { kind: string })[] {
  const stored = sqlite.prepare<[string, number], ReadAgain & { kind: string }>(
    'SELECT kind, source, sha256 FROM sources WHERE kind = ? AND importer_version < ? ORDER BY source',
  );
  return Object.entries(wholeSince).flatMap(([kind, version]) => stored.all(kind, version));
}

/** Whether a version of the importer read all of a source of a kind that this one reads. */
export function isReadWhole({ kind, importerVersion }: { kind: string; importerVersion: number }): boolean {
  return importerVersion >= (wholeSince[kind] ?? 0);
}
