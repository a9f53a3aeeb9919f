import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import * as tables from '../../src/db/tables.ts';
import { aliasKey, kindOf } from './slug.ts';
import type { XccdfRelease } from './xccdf-record.ts';
import { newnessOf } from './xccdf-release.ts';

/** A release whose findings are stored and whose STIG is not decided yet. */
export interface StagedRelease extends Omit<XccdfRelease, 'findings' | 'profiles'> {
  id: number;
  sourceId: number;
  idKey: string;
  newness: string;
  releaseDate: string | null;
  findingCount: number;
  high: number;
  medium: number;
  low: number;
  profileCount: number;
  /** Whether an older importer had stored the same bytes. */
  wasStored: boolean;
}

/** Stores the findings and profiles of a release; the release row itself follows once its STIG is decided. */
export type StageRelease = (
  sourceId: number,
  sha256: string,
  release: XccdfRelease,
) => Omit<StagedRelease, 'wasStored'>;

/** Prepares the statements that store findings and profiles inside the run's transaction. */
export function createStageRelease(db: Database): StageRelease {
  const insertFinding = prepareInsert(db, tables.findings, ['id']);
  const insertProfile = prepareInsert(db, tables.stigProfiles);
  const nextId = db.sqlite
    .prepare(
      'SELECT max(coalesce((SELECT max(id) FROM stig_releases), 0), coalesce((SELECT max(release_id) FROM findings), 0)) + 1',
    )
    .pluck();

  return (sourceId, sha256, release) => {
    const { findings, profiles, ...head } = release;
    const id = nextId.get() as number;
    for (const [index, finding] of findings.entries())
      insertFinding.run({ releaseId: id, ordinal: index + 1, ...finding });
    for (const [index, profile] of profiles.entries()) {
      insertProfile.run({ releaseId: id, ordinal: index + 1, ...profile });
    }
    const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
    return {
      // A copy: the texts of the head are slices of the whole document, which they would keep in memory.
      ...structuredClone(head),
      id,
      sourceId,
      idKey: aliasKey(release.benchmarkId, kindOf(release.title)),
      newness: newnessOf({ ...release, sha256 }),
      releaseDate: release.benchmarkDate ?? release.statusDate,
      findingCount: findings.length,
      high: count('high'),
      medium: count('medium'),
      low: count('low'),
      profileCount: profiles.length,
    };
  };
}
