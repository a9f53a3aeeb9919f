import type { Database } from '../../src/db/database.ts';
import { fold } from '../../src/text.ts';
import type { SourceProblem } from '../controls/derive.ts';
import { removeSource } from '../shadowed.ts';
import { deriveRoleMappings } from './derive-mappings.ts';
import { familyOf } from './families.ts';
import { ruleVersion } from './mapping/score.ts';
import type { OccupationRecord } from './record.ts';
import { toDetails, toFacts } from './serve.ts';

/** Whether the stored mapping was made by another version of the rule than this program's. */
export function ruleIsOutdated(db: Database): boolean {
  return (
    db.sqlite.prepare('SELECT 1 FROM role_mappings WHERE rule <> ? LIMIT 1').get(ruleVersion) !== undefined
  );
}

/**
 * Rebuilds occupations, work roles and the mapping of STIGs from what the sources state. Of O*NET and of the NICE
 * Framework the newest release counts, whenever it was imported; older ones are removed, and noted in `superseded`.
 */
export function deriveRoles(
  db: Database,
  fresh: Set<number>,
  superseded: Map<number, string>,
): SourceProblem[] {
  const { sqlite } = db;
  sqlite.exec('DELETE FROM role_mappings');
  keepNewest(db, 'onet', superseded);
  keepNewest(db, 'nice', superseded);
  const occupations = sqlite
    .prepare<[], string>('SELECT record FROM occupation_facts ORDER BY occupation_code')
    .pluck()
    .all()
    .map((record) => JSON.parse(record) as OccupationRecord);
  if (fresh.size > 0 || superseded.size > 0) writeOccupations(db, occupations);
  return deriveRoleMappings(db, occupations, fresh, superseded);
}

function keepNewest(db: Database, family: 'onet' | 'nice', superseded: Map<number, string>): void {
  const [newest, ...older] = db.sqlite
    .prepare<[string], { source_id: number; label: string }>(
      `SELECT r.source_id, r.label FROM role_releases AS r JOIN sources AS s ON s.id = r.source_id
        WHERE r.family = ? ORDER BY r.newness DESC, s.sha256 DESC`,
    )
    .all(family);
  for (const { source_id: sourceId } of older)
    removeSource(db, sourceId, `a newer or fuller release is kept: ${newest!.label}`, superseded);
}

function writeOccupations(db: Database, occupations: OccupationRecord[]): void {
  const { sqlite } = db;
  sqlite.exec(`DELETE FROM occupations; DELETE FROM work_roles;
    INSERT INTO work_roles SELECT work_role_id, name, category_code, category_name FROM work_role_facts;`);
  const insertKey = sqlite.prepare(
    `INSERT INTO occupation_keys VALUES (?, ?)
       ON CONFLICT (occupation_code) DO UPDATE SET summary_json = excluded.summary_json`,
  );
  const insert = sqlite.prepare('INSERT INTO occupations VALUES (?, ?, ?, ?, ?, ?)');
  for (const record of occupations) {
    const { occupationCode, title, jobZone } = record;
    insertKey.run(occupationCode, JSON.stringify(toFacts(record)));
    const details = JSON.stringify(toDetails(record));
    insert.run(occupationCode, title, fold(title), fold(familyOf(occupationCode)), jobZone, details);
  }
}
