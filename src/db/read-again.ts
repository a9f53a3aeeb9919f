import type Sqlite from 'better-sqlite3';

/**
 * What older versions skipped: a kind, and a pattern (SQL) of the reason in the ledger. No version writes these reasons
 * now.
 */
const skippedBefore: [kind: string, reason: string][] = [
  ['scap', 'SCAP content (automated checks, root <data-stream%'],
  ['oscal-catalog', 'an OSCAL catalog of another publication:%'],
  ['oscal-profile', 'a profile that is not a baseline of 800-53:%'],
  ['other', 'OSCAL of another kind (mapping-collection)%'],
  ['other', 'XML of an unknown kind: root <mapping-collection>%'],
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
/** The kinds of sources whose files are looked for. */
const kindsOf = {
  all: /./,
  scap: /^scap$/,
  controls: /^(?:oscal-|cprt$|other$)/,
};

/**
 * The names of the files whose last line in the ledger is of an older version that skipped them (rule D42.9): to be
 * imported again. A file that was imported or rejected since is not among them. With them the sources that it read less
 * of, but for those that were rejected since.
 */
export function filesToReadAgain(sqlite: Sqlite.Database, what: keyof typeof kindsOf = 'all'): string[] {
  const skipped = sqlite
    .prepare<[string, string], string>(
      `SELECT source FROM import_ledger AS l
        WHERE kind = ? AND outcome = 'skipped' AND reason LIKE ?
          AND NOT EXISTS (SELECT 1 FROM import_ledger AS n
            WHERE n.sha256 = l.sha256 AND (n.run_id, n.ordinal) > (l.run_id, l.ordinal))
        ORDER BY source`,
    )
    .pluck();
  const readInPart = sqlite
    .prepare<[string], string>(
      `SELECT s.source
         FROM sources AS s JOIN json_each(?) AS k ON k.key = s.kind AND s.importer_version < k.value
        WHERE s.sha256 NOT IN (
          SELECT sha256 FROM (
            SELECT sha256, outcome, max(run_id * 4294967296 + ordinal) FROM import_ledger
             WHERE sha256 IS NOT NULL GROUP BY sha256
          ) WHERE outcome = 'rejected')
        ORDER BY k.id, s.source`,
    )
    .pluck();
  const isOfKind = ([kind]: [string, unknown]) => kindsOf[what].test(kind);
  const kinds = Object.fromEntries(Object.entries(wholeSince).filter(isOfKind));
  return [
    ...skippedBefore.filter(isOfKind).flatMap((each) => skipped.all(...each)),
    ...readInPart.all(JSON.stringify(kinds)),
  ];
}

/** Whether the version of the importer that read a source stored all of it. */
export function isReadWhole({ kind, importerVersion }: { kind: string; importerVersion: number }): boolean {
  return importerVersion >= (wholeSince[kind] ?? 1);
}
