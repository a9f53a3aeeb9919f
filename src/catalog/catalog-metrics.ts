import type { Database } from '../db/database.ts';
import type { Metrics } from '../http/observe/metrics.ts';
import { outcomes } from './ledger.ts';
import { fileStatus } from './loaded-status.ts';

const counted = {
  stigs: 'stigs',
  stig_releases: 'stig_releases',
  findings: 'findings',
  controls: 'controls',
  documents: 'documents',
  occupations: 'occupations',
};

/** Adds the metrics of catalog and file. It counts rows once for each catalog version, the ledger once for each run. */
export function addCatalogMetrics(metrics: Metrics, db: Database): void {
  const { sqlite } = db;
  const seconds = (sql: string) => {
    const time = sqlite.prepare<[], string | null>(sql).pluck().get() ?? null;
    return time === null ? 0 : Date.parse(time) / 1000;
  };
  const number = (sql: string) => sqlite.prepare(sql).pluck().get() as number;

  const records = once(db.catalogVersion, () =>
    Object.fromEntries(
      Object.entries(counted).map(([kind, rows]) => [kind, number(`SELECT count(*) FROM ${rows}`)]),
    ),
  );
  const ledger = once(
    () => number('SELECT coalesce(max(id), 0) FROM import_runs'),
    () => {
      const rows = sqlite.prepare('SELECT outcome, count(*) FROM import_ledger GROUP BY outcome').raw().all();
      const finished = sqlite.prepare('SELECT max(finished_at) FROM import_runs').pluck().get();
      return {
        runs: number('SELECT count(*) FROM import_runs'),
        sources: {
          ...Object.fromEntries(outcomes.map((outcome) => [outcome, 0])),
          ...Object.fromEntries(rows as [string, number][]),
        },
        finished: finished === null ? 0 : Date.parse(finished as string) / 1000,
      };
    },
  );

  metrics.add({
    gapstone_catalog_generation: [
      'Changes with every import that changes.',
      () => number('SELECT generation FROM catalog'),
    ],
    gapstone_catalog_records: ['Records by kind; stig_releases counts retained ones too.', records, 'kind'],
    gapstone_import_runs_total: ['Runs of the import in the ledger.', () => ledger().runs],
    gapstone_import_sources_total: ['Sources in the ledger by outcome.', () => ledger().sources, 'outcome'],
    gapstone_import_last_timestamp_seconds: [
      'When the last import ended. 0 means never.',
      () => ledger().finished,
    ],
    gapstone_last_import_timestamp_seconds: [
      'When the last import ended. 0 means never.',
      () => ledger().finished,
    ],
    gapstone_last_backup_timestamp_seconds: [
      'When the last backup was made. 0 means never.',
      () => seconds('SELECT backup_at FROM site'),
    ],
    gapstone_last_bundle_timestamp_seconds: [
      'When the last bundle was applied that was not rolled back. 0 means never.',
      () => seconds("SELECT max(applied_at) FROM content_bundles WHERE state = 'applied'"),
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

/** Makes a value again when its stamp changes. */
function once<T>(stamp: () => string | number, make: () => T): () => T {
  let made: { stamp: string | number; value: T } | null = null;
  return () => {
    const now = stamp();
    if (made?.stamp !== now) made = { stamp: now, value: make() };
    return made.value;
  };
}
