import { ruleKey } from '../../src/base/rule-ids.ts';
import { idsOf } from '../../src/catalog/stigs/ids.ts';
import { writeMarks } from '../../src/catalog/stigs/marks.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import { stigIdHashes } from './printings.ts';
import { createSearchIndex } from './search-index.ts';
import { aliasKey, kindOf } from './slug.ts';
import type { XccdfRelease } from './xccdf-record.ts';
import { releaseOrderOf } from './xccdf-release.ts';

/** A release that a run stored; its STIG is decided at the end of the run. */
export interface StagedRelease {
  id: number;
  findingCount: number;
  high: number;
  medium: number;
  low: number;
  profileCount: number;
}

/** Prepares the statements that store a release. Call it once for a run: SQLite frees a statement's memory late. */
export function createStageRelease(db: Database) {
  const insertPrinting = prepareInsert(db, 'stig_printings');
  const insertFinding = prepareInsert(db, 'findings');
  const insertProfile = prepareInsert(db, 'stig_profiles');
  const insertEvidence = prepareInsert(db, 'stig_evidence');
  const insertMarks = prepareInsert(db, 'rule_marks');
  const insertId = prepareInsert(db, 'rule_ids');
  const nextId = db.sqlite.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM stig_printings').pluck();
  return (source: { sourceId: number; sha256: string }, release: XccdfRelease): StagedRelease => {
    const { findings, profiles, ...head } = release;
    const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
    const releaseId = nextId.get()!;
    const staged = {
      id: releaseId,
      findingCount: findings.length,
      ...{ high: count('high'), medium: count('medium'), low: count('low') },
      profileCount: profiles.length,
    };
    insertPrinting({
      ...{ ...head, ...staged, sourceId: source.sourceId, stigId: null, supersededBy: null },
      idKey: aliasKey(release.benchmarkId, kindOf(release.title)),
      releaseOrder: releaseOrderOf({ ...release, sha256: source.sha256 }),
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
    return staged;
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Removes a printing with its findings, profiles and source; printings that it replaced must be decided again. */
export function removePrinting(db: Database, releaseId: number): void {
  const { sqlite } = db;
  createSearchIndex(db).remove(releaseId);
  sqlite
    .prepare('UPDATE stig_printings SET stig_id = NULL, superseded_by = NULL WHERE superseded_by = ?')
    .run(releaseId);
  for (const table of ['findings', 'stig_profiles', 'stig_evidence', 'rule_marks', 'rule_ids'])
    sqlite.prepare(`DELETE FROM ${table} WHERE release_id = ?`).run(releaseId);
  const source = sqlite
    .prepare<[number], number>('DELETE FROM stig_printings WHERE id = ? RETURNING source_id')
    .pluck()
    .get(releaseId);
  sqlite.prepare('DELETE FROM sources WHERE id = ?').run(source);
}
