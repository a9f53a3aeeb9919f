import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import * as tables from '../../src/db/tables.ts';
import { aliasKey, kindOf } from './slug.ts';
import type { XccdfRelease } from './xccdf-record.ts';
import { releaseOrderOf } from './xccdf-release.ts';

/** A release whose findings are stored and whose STIG is not decided yet. */
export interface StagedRelease extends Omit<typeof tables.stigReleases.$inferSelect, 'stigId'> {
  /** Whether an older importer had stored the same bytes. */
  wasStored: boolean;
}

/**
 * Stores the findings and profiles of a release, inside the run's transaction; the release row itself follows once its STIG is
 * decided. `wasStored` tells whether an older importer had stored the same bytes.
 */
export function stageRelease(
  db: Database,
  { sourceId, sha256, wasStored }: { sourceId: number; sha256: string; wasStored: boolean },
  release: XccdfRelease,
): StagedRelease {
  const insertFinding = prepareInsert(db, tables.findings, ['id']);
  const insertProfile = prepareInsert(db, tables.stigProfiles);
  const { findings, profiles, ...head } = release;
  const releaseId = nextId(db);
  for (const [index, finding] of findings.entries())
    insertFinding.run({ releaseId, ordinal: index + 1, ...finding });
  for (const [index, profile] of profiles.entries())
    insertProfile.run({ releaseId, ordinal: index + 1, ...profile });
  const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  return {
    // A copy: the texts of the head are slices of the whole document, which they would keep in memory.
    ...structuredClone(head),
    id: releaseId,
    sourceId,
    wasStored,
    idKey: aliasKey(release.benchmarkId, kindOf(release.title)),
    releaseOrder: releaseOrderOf({ ...release, sha256 }),
    releaseDate: release.benchmarkDate ?? release.statusDate,
    findingCount: findings.length,
    high: count('high'),
    medium: count('medium'),
    low: count('low'),
    profileCount: profiles.length,
  };
}

/** Above the ids of all releases, stored and staged. */
function nextId({ sqlite }: Database): number {
  return sqlite
    .prepare<[], number>(
      'SELECT max(coalesce((SELECT max(id) FROM stig_releases), 0), coalesce((SELECT max(release_id) FROM findings), 0)) + 1',
    )
    .pluck()
    .get()!;
}
