import { statSync } from 'node:fs';
import { realFile } from '../base/files.ts';
import type { Database } from '../db/database.ts';
import { filesToReadAgain } from '../db/read-again.ts';
import type { Kind } from '../db/schema.ts';
import type { Totals } from './ledger.ts';

/** One of the two files. */
export type FileStatus = ReturnType<typeof fileStatus>;

/** The contents of catalog and users' data, for an operator: counts, editions, sizes; nothing that users wrote. */
export type Status = ReturnType<typeof loadedStatus>;

/** One version of a control catalog, or one edition of the CCI list (framework `cci`). */
interface FrameworkStatus {
  framework: string;
  version: string;
  /** The date of its source file; "" where none is stated. */
  edition: string;
  default: boolean;
  controls: number;
  withdrawn: number;
}

/** One run of an import, with the totals of its ledger. */
interface ImportStatus extends Totals {
  run: number;
  startedAt: string;
  finishedAt: string;
  generation: number;
}

// A catalog that no import changed has no time.
const changed = `SELECT generation, CASE generation WHEN 0 THEN NULL ELSE changed_at END AS changedAt FROM catalog`;
const stigs = `SELECT coalesce(sum(s.kind = 'stig'), 0) AS stigs, coalesce(sum(s.kind = 'srg'), 0) AS srgs,
       (SELECT count(*) FROM stig_releases) AS releases, coalesce(sum(r.finding_count), 0) AS findings,
       max(r.release_date) AS newestReleaseDate
  FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id`;
const frameworks = `SELECT v.framework, v.version, v.edition, v.is_default AS "default",
       count(*) - sum(c.status = 'withdrawn') AS controls, sum(c.status = 'withdrawn') AS withdrawn
  FROM framework_versions AS v JOIN controls AS c ON c.framework = v.framework AND c.version = v.version
 GROUP BY v.framework, v.version ORDER BY v.framework, v.version`;
const crosswalk = `SELECT (SELECT count(*) FROM crosswalk_nodes) AS nodes, (SELECT count(*) FROM crosswalk_edges) AS edges,
       (SELECT count(*) FROM crosswalk_paths) AS paths, (SELECT count(*) FROM mapping_decisions) AS decisions`;
const roles = `SELECT (SELECT count(*) FROM occupations) AS occupations,
       (SELECT label FROM role_releases WHERE family = 'onet') AS occupationEdition,
       (SELECT count(*) FROM work_roles) AS workRoles,
       (SELECT label FROM role_releases WHERE family = 'nice') AS workRoleEdition,
       (SELECT count(*) FROM role_mappings) AS mappings`;
const users = `SELECT count(*) FILTER (WHERE kind = 'list' AND deleted_at IS NULL) AS lists,
       count(*) FILTER (WHERE kind = 'list' AND deleted_at IS NOT NULL) AS deletedLists,
       count(*) FILTER (WHERE kind = 'control-collection' AND deleted_at IS NULL) AS controlCollections,
       count(*) FILTER (WHERE kind = 'regdoc-collection' AND deleted_at IS NULL) AS documentCollections,
       count(*) FILTER (WHERE kind = 'role-collection' AND deleted_at IS NULL) AS roleCollections,
       (SELECT count(*) FROM favorite_stigs) AS favoriteStigs,
       (SELECT count(*) FROM favorite_controls) AS favoriteControls,
       (SELECT count(*) FROM integration_tokens WHERE revoked_at IS NULL) AS integrationTokens,
       (SELECT count(*) FROM sessions) AS sessions
  FROM bundles`;
const imports = `SELECT id AS run, started_at AS startedAt, finished_at AS finishedAt, generation,
       summary ->> 'sources' AS sources, summary ->> 'imported' AS imported, summary ->> 'unchanged' AS unchanged,
       summary ->> 'superseded' AS superseded, summary ->> 'skipped' AS skipped, summary ->> 'rejected' AS rejected,
       summary ->> 'warnings' AS warnings
  FROM (SELECT id, started_at, finished_at, generation,
               CASE WHEN json_valid(summary) THEN summary ELSE '{}' END AS summary FROM import_runs)
 ORDER BY id DESC LIMIT 5`;

/** What is loaded, with the last five imports, of one state of the database. Milliseconds; the digest is not part of it. */
export function loadedStatus(db: Database) {
  const { sqlite } = db;
  const all = <T>(sql: string) => sqlite.prepare<[], T>(sql).all();
  const one = <T>(sql: string) => all<T>(sql)[0]!;
  return db.read(() => ({
    catalog: {
      ...fileStatus(db, 'catalog'),
      ...one<{ generation: number; changedAt: string | null }>(changed),
    },
    /** `releases` counts all retained ones, `findings` those of current ones. */
    stigs: one<Record<string, number> & { newestReleaseDate: string | null }>(stigs),
    frameworks: all<FrameworkStatus>(frameworks).map((row) => ({ ...row, default: Boolean(row.default) })),
    crosswalk: one<Record<string, number>>(crosswalk),
    roles: one<Record<string, number | string | null>>(roles),
    documents: one<{ documents: number }>('SELECT count(*) AS documents FROM documents').documents,
    /** The file, and the number of rows of each kind. */
    users: { ...fileStatus(db, 'users'), ...one<Record<string, number>>(users) },
    imports: all<ImportStatus>(imports),
    /** The files that an older version skipped and this one reads: import them again (rule D42.9). */
    readAgain: filesToReadAgain(sqlite),
  }));
}

/** The file of a kind, as it is now. */
export function fileStatus({ sqlite, names }: Database, kind: Kind) {
  const list = sqlite.pragma('database_list') as { name: string; file: string }[];
  const { file } = list.find(({ name }) => name === names[kind])!;
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const schema = sqlite.pragma(`${names[kind]}.user_version`, { simple: true }) as number;
  return {
    file: file === '' ? ':memory:' : file,
    /** Bytes of the file and of the write-ahead log beside it; 0 in memory. */
    bytes: file === '' ? 0 : sizeOf(file),
    logBytes: file === '' ? 0 : sizeOf(`${realFile(file)}-wal`),
    schema,
  };
}
