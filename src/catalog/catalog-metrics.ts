import type { Database } from '../db/database.ts';
import { perCatalogVersion } from '../db/per-catalog-version.ts';
import type { Metrics } from '../http/metrics.ts';
import { fileStatus } from './loaded-status.ts';

const countRecords = `SELECT (SELECT count(*) FROM stigs) AS stigs, (SELECT count(*) FROM stig_releases) AS stig_releases,
       (SELECT count(*) FROM findings) AS findings, (SELECT count(*) FROM controls) AS controls,
       (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM occupations) AS occupations`;

const countSources = `SELECT count(*) FILTER (WHERE outcome = 'imported') AS imported,
       count(*) FILTER (WHERE outcome = 'unchanged') AS unchanged,
       count(*) FILTER (WHERE outcome = 'superseded') AS superseded,
       count(*) FILTER (WHERE outcome = 'skipped') AS skipped,
       count(*) FILTER (WHERE outcome = 'rejected') AS rejected
  FROM import_ledger`;

/** Adds the metrics of catalog and file. It counts rows once for each version of the catalog. */
export function addCatalogMetrics(metrics: Metrics, db: Database): void {
  const { sqlite } = db;
  const first = <T>(sql: string) => sqlite.prepare<[], T>(sql).pluck().get()!;
  const counts = (sql: string) => sqlite.prepare<[], Record<string, number>>(sql).get()!;
  const lastImport = () =>
    first<number>("SELECT coalesce(unixepoch(max(finished_at), 'subsec'), 0) FROM import_runs");

  metrics.add({
    gapstone_catalog_generation: [
      'Changes with every import that changes.',
      () => first('SELECT generation FROM catalog'),
    ],
    gapstone_catalog_records: [
      'Records by kind; stig_releases counts retained ones too.',
      perCatalogVersion(db, () => counts(countRecords)),
      'kind',
    ],
    gapstone_import_runs_total: [
      'Runs of the import in the ledger.',
      () => first('SELECT count(*) FROM import_runs'),
    ],
    gapstone_import_sources_total: [
      'Sources in the ledger by outcome.',
      () => counts(countSources),
      'outcome',
    ],
    gapstone_import_last_timestamp_seconds: ['When the last import ended. 0 means never.', lastImport],
    gapstone_last_import_timestamp_seconds: ['When the last import ended. 0 means never.', lastImport],
    gapstone_last_backup_timestamp_seconds: [
      'When the last backup was made. 0 means never.',
      () => first<number>("SELECT coalesce(unixepoch(backup_at, 'subsec'), 0) FROM site"),
    ],
    gapstone_last_bundle_timestamp_seconds: [
      'When the last bundle was applied that was not rolled back. 0 means never.',
      () =>
        first<number>(
          "SELECT coalesce(unixepoch(max(applied_at), 'subsec'), 0) FROM content_bundles WHERE state = 'applied'",
        ),
    ],
  });
  if (sqlite.memory) return;
  const sizes = (of: 'bytes' | 'logBytes') => () => ({
    catalog: fileStatus(db, 'catalog')[of],
    users: fileStatus(db, 'users')[of],
  });
  metrics.add({
    gapstone_database_bytes: ['Size of a file of the database.', sizes('bytes'), 'file'],
    gapstone_database_wal_bytes: ['Size of its write-ahead log.', sizes('logBytes'), 'file'],
  });
}
