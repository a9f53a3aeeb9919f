import type { Database } from '../../src/db/database.ts';
import { compareCodePoints } from '../../src/text.ts';
import type { SourceProblem } from '../controls/derive.ts';
import { type Statement, winningStatements } from '../shadowed.ts';
import { byRelevance, ruleVersion, type ScoredMapping, Scorer } from './mapping/score.ts';
import { workRolesOf } from './mapping/work-roles.ts';
import type { OccupationRecord, ResponsibilityLevel } from './record.ts';

interface CuratedRow extends Statement {
  slug: string;
  occupationCode: string;
  confidenceScore: number;
  responsibilityLevel: ResponsibilityLevel;
  workRoleId: string | null;
  reason: string;
  row: number;
}

interface Mapping extends ScoredMapping {
  source: 'automated' | 'curated';
}

/**
 * Rebuilds the mapping of the current STIGs to occupations (DECISIONS D9.3): the rule's rows, and above them what files
 * state. Ids are dense, by slug, then rank, so the same catalog gives the same rows. Gives what stated rows lack.
 */
export function deriveRoleMappings(
  db: Database,
  occupations: OccupationRecord[],
  fresh: Set<number>,
  superseded: Map<number, string>,
): SourceProblem[] {
  const { sqlite } = db;
  const stigs = sqlite
    .prepare<[], { id: number; slug: string; title: string }>(
      'SELECT id, slug, title FROM stigs WHERE current_release_id IS NOT NULL',
    )
    .all()
    .sort((a, b) => compareCodePoints(a.slug, b.slug));
  const workRoles = new Set(sqlite.prepare<[], string>('SELECT work_role_id FROM work_roles').pluck().all());
  const curated = readCurated(db, fresh, superseded);
  const byCode = new Map(occupations.map((each) => [each.occupationCode, each]));
  const bySlug = new Map<string, CuratedRow[]>();
  for (const row of curated) bySlug.set(row.slug, [...(bySlug.get(row.slug) ?? []), row]);
  const scorer = new Scorer(occupations);
  const insert = sqlite.prepare('INSERT INTO role_mappings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  let id = 0;
  for (const { id: stigId, slug, title } of stigs) {
    const rows = new Map<string, Mapping>(
      scorer.score(title).map((row) => [row.occupationCode, { ...row, source: 'automated' }]),
    );
    for (const row of bySlug.get(slug) ?? []) {
      const occupation = byCode.get(row.occupationCode);
      if (!occupation) continue;
      rows.delete(row.occupationCode);
      if (row.confidenceScore > 0) rows.set(row.occupationCode, toMapping(row, occupation));
    }
    const ranked = [...rows.values()].sort(byRelevance);
    for (const [index, row] of ranked.entries()) {
      const workRoleId = row.workRoleId !== null && workRoles.has(row.workRoleId) ? row.workRoleId : null;
      const { occupationCode, confidenceScore, responsibilityLevel, source, reason } = row;
      const numbers = [++id, stigId, index + 1];
      const rest = [occupationCode, confidenceScore, responsibilityLevel, source, reason, workRoleId];
      insert.run(...numbers, ...rest, ruleVersion);
    }
  }
  const known = new Set(stigs.map((stig) => stig.slug));
  return problemsOf(curated, known, byCode, workRoles);
}

function readCurated(db: Database, fresh: Set<number>, superseded: Map<number, string>): CuratedRow[] {
  const rows = db.sqlite
    .prepare<[], CuratedRow>(
      `SELECT f.source_id AS sourceId, f.stig_slug || ' ' || f.occupation_code AS key, s.imported_at AS importedAt,
              s.sha256, '' AS newness, f.stig_slug AS slug, f.occupation_code AS occupationCode,
              f.confidence_score AS confidenceScore, f.responsibility_level AS responsibilityLevel,
              f.work_role_id AS workRoleId, f.reason, f.row
         FROM curated_mapping_facts AS f JOIN sources AS s ON s.id = f.source_id ORDER BY f.source_id, f.row`,
    )
    .all();
  return winningStatements(db, rows, fresh, superseded);
}

function toMapping(row: CuratedRow, { jobZone }: OccupationRecord): Mapping {
  const { occupationCode, confidenceScore, responsibilityLevel, reason } = row;
  const workRoleId = row.workRoleId ?? workRolesOf(occupationCode)[0] ?? null;
  return {
    occupationCode,
    jobZone,
    confidenceScore,
    responsibilityLevel,
    reason,
    workRoleId,
    source: 'curated',
  };
}

/** What stated rows name and the catalog does not have: a warning each, and it is looked for again in every run. */
function problemsOf(
  curated: CuratedRow[],
  slugs: Set<string>,
  occupations: Map<string, OccupationRecord>,
  workRoles: Set<string>,
): SourceProblem[] {
  return curated.flatMap(({ sourceId, row, slug, occupationCode, workRoleId }) => {
    const missing = [
      ...(slugs.has(slug) ? [] : [`no STIG ${slug}`]),
      ...(occupations.has(occupationCode) ? [] : [`no occupation ${occupationCode}`]),
      ...(workRoleId === null || workRoles.has(workRoleId) ? [] : [`no work role ${workRoleId}`]),
    ];
    return missing.length === 0 ? [] : [{ sourceId, message: `row ${row}: there is ${missing.join(', ')}` }];
  });
}
