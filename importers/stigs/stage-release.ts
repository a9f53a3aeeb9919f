import { ruleKey } from '../../src/base/rule-ids.ts';
import { idsOf } from '../../src/catalog/stigs/ids.ts';
import { writeMarks } from '../../src/catalog/stigs/marks.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { StagedFacts } from '../read/parsed.ts';
import { stigIdHashes } from './printings.ts';
import { createSearchIndex } from './search-index.ts';
import { aliasKey, kindOf } from './slug.ts';
import type { XccdfRelease } from './xccdf-record.ts';
import { releaseOrderOf } from './xccdf-release.ts';

/**
 * Prepares the statements that store a release, whose STIG is decided at the end of the run. Call it once for a run:
 * SQLite frees a statement's memory late.
 */
export function createStageRelease(db: Database) {
  const insertPrinting = prepareInsert(db, 'stig_printings');
  const insertFinding = prepareInsert(db, 'findings');
  const insertProfile = prepareInsert(db, 'stig_profiles');
  const insertEvidence = prepareInsert(db, 'stig_evidence');
  const insertMarks = prepareInsert(db, 'rule_marks');
  const insertId = prepareInsert(db, 'rule_ids');
  const nextId = db.sqlite.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM stig_printings').pluck();
  return (sourceId: number, sha256: string, release: XccdfRelease): StagedFacts => {
    const { findings, profiles, ...head } = release;
    const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
    const releaseId = nextId.get()!;
    const severities = { high: count('high'), medium: count('medium'), low: count('low') };
    insertPrinting({
      ...head,
      ...severities,
      id: releaseId,
      sourceId,
      stigId: null,
      supersededBy: null,
      findingCount: findings.length,
      profileCount: profiles.length,
      idKey: aliasKey(release.benchmarkId, kindOf(release.title)),
      releaseOrder: releaseOrderOf(release, sha256),
      releaseDate: release.benchmarkDate ?? release.statusDate,
    });
    for (const [index, finding] of findings.entries())
      insertFinding({ id: null, releaseId, ordinal: index + 1, ...finding });
    for (const [index, profile] of profiles.entries())
      insertProfile({ releaseId, ordinal: index + 1, ...profile });
    insertEvidence({
      releaseId,
      stigIds: bytesOf(stigIdHashes(findings)),
      rules: bytesOf(new Float64Array(new Set(findings.map(({ ruleId }) => ruleKey(ruleId)))).sort()),
      // Nothing reads it; the schema asks for it.
      numbers: Buffer.alloc(0),
    });
    insertMarks({ releaseId, marks: writeMarks(findings) });
    for (const id of new Set(findings.flatMap(idsOf))) insertId({ id, releaseId });
    return { target: null, counts: { rules: findings.length, ...severities, profiles: profiles.length } };
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Removes a source, of a release with its findings; printings that it replaced must be decided again. */
export function removeSource(db: Database, sourceId: number): void {
  const { sqlite } = db;
  const releaseId = sqlite
    .prepare<[number], number>('SELECT id FROM stig_printings WHERE source_id = ?')
    .pluck()
    .get(sourceId);
  if (releaseId !== undefined) {
    createSearchIndex(db).remove(releaseId);
    sqlite
      .prepare('UPDATE stig_printings SET stig_id = NULL, superseded_by = NULL WHERE superseded_by = ?')
      .run(releaseId);
    for (const table of ['findings', 'stig_profiles', 'stig_evidence', 'rule_marks', 'rule_ids'])
      sqlite.prepare(`DELETE FROM ${table} WHERE release_id = ?`).run(releaseId);
    sqlite.prepare('DELETE FROM stig_printings WHERE id = ?').run(releaseId);
  }
  sqlite.prepare('DELETE FROM sources WHERE id = ?').run(sourceId);
}
