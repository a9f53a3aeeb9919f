import { statSync } from 'node:fs';
import { realFile } from '../base/files.ts';
import type { Database } from '../db/database.ts';
import { type Family, single } from '../http/observe/exposition.ts';
import type { Collector } from '../http/observe/metrics.ts';

/** What is counted, and the rows that are. */
const counted: [kind: string, query: string][] = [
  ['stigs', 'SELECT count(*) FROM stigs WHERE current_release_id IS NOT NULL'],
  ['stig_releases', 'SELECT count(*) FROM stig_releases'],
  ['findings', 'SELECT count(*) FROM findings'],
  ['controls', 'SELECT count(*) FROM controls'],
  ['documents', 'SELECT count(*) FROM documents'],
  ['occupations', 'SELECT count(*) FROM occupations'],
];

/** The metrics of the catalog and its file. Rows are counted once for each generation, the ledger once for each run. */
export function catalogCollector(db: Database): Collector {
  const { sqlite } = db;
  const lastRun = sqlite.prepare('SELECT coalesce(max(id), 0) FROM import_runs').pluck();
  let seen: { generation: number; families: Family[] } | null = null;
  let ledger: { run: number; families: Family[] } | null = null;

  function counts(): Family {
    return {
      name: 'gapstone_catalog_records',
      help: 'Records in the catalog, by kind. stig_releases includes retained releases.',
      type: 'gauge',
      samples: counted.map(([kind, query]) => ({
        labels: { kind },
        value: sqlite.prepare(query).pluck().get() as number,
      })),
    };
  }

  function imports(): Family[] {
    const runs = sqlite
      .prepare('SELECT count(*) AS number, max(finished_at) AS finished FROM import_runs')
      .get() as { number: number; finished: string | null };
    const sources = sqlite
      .prepare('SELECT outcome, count(*) AS number FROM import_ledger GROUP BY outcome')
      .all() as { outcome: string; number: number }[];
    const finished = runs.finished === null ? 0 : Date.parse(runs.finished) / 1000;
    return [
      single('gapstone_import_runs_total', 'counter', 'Imports in the ledger.', runs.number),
      {
        name: 'gapstone_import_sources_total',
        help: 'Sources in the import ledger, by outcome.',
        type: 'counter',
        samples: ['imported', 'unchanged', 'superseded', 'skipped', 'rejected'].map((outcome) => ({
          labels: { outcome },
          value: sources.find((each) => each.outcome === outcome)?.number ?? 0,
        })),
      },
      single(
        'gapstone_import_last_timestamp_seconds',
        'gauge',
        'When the last import ended. 0 means never.',
        finished,
      ),
    ];
  }

  function files(): Family[] {
    if (sqlite.memory) return [];
    const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return [
      single('gapstone_database_bytes', 'gauge', 'Size of the database file.', size(sqlite.name)),
      single(
        'gapstone_database_wal_bytes',
        'gauge',
        'Size of its write-ahead log.',
        size(`${realFile(sqlite.name)}-wal`),
      ),
    ];
  }

  return () =>
    db.read(() => {
      const generation = db.generation();
      const run = lastRun.get() as number;
      if (seen?.generation !== generation) seen = { generation, families: [counts()] };
      if (ledger?.run !== run) ledger = { run, families: imports() };
      return [
        single(
          'gapstone_catalog_generation',
          'gauge',
          'Changes with every import that changes the catalog.',
          generation,
        ),
        ...seen.families,
        ...ledger.families,
        ...files(),
      ];
    });
}
