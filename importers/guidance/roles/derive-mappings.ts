import { mappingNumber } from '../../../src/base/ids.ts';
import type { Database } from '../../../src/db/database.ts';
import { prepareInsert } from '../../../src/db/insert.ts';
import type { SourceProblem } from '../../../src/read/import-error.ts';
import { latestStatements, type Statement, winningStatements } from '../statements.ts';
import type { Product } from './products.ts';
import type { CuratedMapping } from './role-record.ts';
import { byRelevance, type MappingSource, ruleVersion, type ScoredMapping, scoreTitle } from './score.ts';
import { workRolesOf } from './work-roles.ts';

interface CuratedRow extends Statement, CuratedMapping {}

interface Mapping extends ScoredMapping {
  mappingSource: 'automated' | 'curated';
}

interface MappedStig {
  id: number;
  slug: string;
  title: string;
}

/**
 * Rebuilds the mapping of STIGs to occupations (rule D9.3), for all or for the STIGs in `ids`. Rows of files replace
 * those of the rule. The same catalog gives the same rows. Gives the names in rows of files that the catalog lacks.
 */
export function deriveRoleMappings(
  db: Database,
  ids: Set<number> | null,
  fresh: Set<number>,
  superseded: Map<number, string>,
): SourceProblem[] {
  const { sqlite } = db;
  const stigs = readStigs(db, ids);
  if (ids === null) sqlite.exec('DELETE FROM role_mappings');
  else {
    const remove = sqlite.prepare('DELETE FROM role_mappings WHERE stig_id = ?');
    for (const id of ids) remove.run(id);
  }
  const curated = readCurated(db, ids, fresh, superseded);
  const jobZones = new Map(
    sqlite
      .prepare<[], [string, number | null]>('SELECT occupation_code, job_zone FROM occupations')
      .raw()
      .all(),
  );
  const workRoles = new Set(sqlite.prepare<[], string>('SELECT work_role_id FROM work_roles').pluck().all());
  const bySlug = Map.groupBy(curated, (row) => row.stigSlug);
  const aliases = readAliases(db);
  const source = readMappingSource(db);
  const insert = prepareInsert(db, 'role_mappings');
  for (const { id: stigId, slug, title } of stigs) {
    const rows = new Map<string, Mapping>(
      scoreTitle(title, source).map((row) => [row.occupationCode, { ...row, mappingSource: 'automated' }]),
    );
    // A row with the slug replaces one with an alias.
    for (const row of [...(aliases.get(stigId) ?? []), slug].flatMap((name) => bySlug.get(name) ?? [])) {
      const jobZone = jobZones.get(row.occupationCode);
      if (jobZone === undefined) continue;
      rows.delete(row.occupationCode);
      if (row.confidenceScore > 0) rows.set(row.occupationCode, toMapping(row, jobZone));
    }
    for (const [index, row] of [...rows.values()].sort(byRelevance).entries()) {
      const id = mappingNumber(slug, row.occupationCode);
      const workRoleId = row.workRoleId !== null && workRoles.has(row.workRoleId) ? row.workRoleId : null;
      insert({ ...row, id, stigId, relevanceRank: index + 1, workRoleId, rule: ruleVersion });
    }
  }
  const known = new Set(stigs.flatMap(({ id, slug }) => [slug, ...(aliases.get(id) ?? [])]));
  // A missing STIG, occupation or work role is a warning: a later run may add it.
  return curated.flatMap(({ sourceId, row, stigSlug, occupationCode, workRoleId }) => {
    const missing = [
      ...(known.has(stigSlug) ? [] : [`no STIG ${stigSlug}`]),
      ...(jobZones.has(occupationCode) ? [] : [`no occupation ${occupationCode}`]),
      ...(workRoleId === null || workRoles.has(workRoleId) ? [] : [`no work role ${workRoleId}`]),
    ];
    return missing.length === 0
      ? []
      : [{ sourceId, message: `row ${row}: ${missing.join(', ')} in the catalog` }];
  });
}

function readStigs(db: Database, ids: Set<number> | null): MappedStig[] {
  const columns = 'SELECT id, slug, title FROM stigs';
  if (ids === null) return db.sqlite.prepare<[], MappedStig>(columns).all();
  const one = db.sqlite.prepare<[number], MappedStig>(`${columns} WHERE id = ?`);
  return [...ids].flatMap((id) => one.all(id));
}

function readAliases({ sqlite }: Database): Map<number, string[]> {
  const rows = sqlite
    .prepare<[], [number, string]>(
      'SELECT stig_id, json_group_array(alias ORDER BY alias) FROM stig_aliases GROUP BY stig_id',
    )
    .raw()
    .all();
  return new Map(rows.map(([id, list]) => [id, JSON.parse(list) as string[]]));
}

/** Written by the last run with roles. */
function readMappingSource(db: Database): MappingSource {
  const candidates = db.sqlite
    .prepare<[], { occupationCode: string; jobZone: number | null; commodities: string }>(
      `SELECT occupation_code AS occupationCode, job_zone AS jobZone, commodities
         FROM mapping_candidates ORDER BY occupation_code`,
    )
    .all()
    .map((row) => ({ ...row, commodities: JSON.parse(row.commodities) as Record<string, string> }));
  const product = db.sqlite
    .prepare<[string], string>('SELECT product FROM mapping_products WHERE name = ?')
    .pluck();
  return {
    candidates,
    productOf(name) {
      const json = product.get(name);
      return json === undefined ? undefined : (JSON.parse(json) as Product);
    },
  };
}

const selectCurated = `SELECT f.source_id AS sourceId, f.stig_slug || ' ' || f.occupation_code AS key, s.imported_at AS importedAt,
          s.sha256, f.stig_slug AS stigSlug, f.occupation_code AS occupationCode,
          f.confidence_score AS confidenceScore, f.responsibility_level AS responsibilityLevel,
          f.work_role_id AS workRoleId, f.reason, f.row
     FROM curated_mapping_facts AS f JOIN sources AS s ON s.id = f.source_id`;

/** All curated mappings as their sources state them. */
export function statedMappings({ sqlite }: Pick<Database, 'sqlite'>): CuratedRow[] {
  return sqlite.prepare<[], CuratedRow>(`${selectCurated} ORDER BY f.source_id, f.row`).all();
}

function readCurated(
  db: Database,
  ids: Set<number> | null,
  fresh: Set<number>,
  superseded: Map<number, string>,
): CuratedRow[] {
  if (ids === null) {
    return winningStatements(db, statedMappings(db), fresh, superseded);
  }
  const some = db.sqlite.prepare<[{ id: number }], CuratedRow>(
    `${selectCurated} WHERE f.stig_slug IN (SELECT slug FROM stigs WHERE id = :id UNION ALL SELECT alias FROM stig_aliases WHERE stig_id = :id)
       ORDER BY f.source_id, f.row`,
  );
  return latestStatements(
    [...ids].flatMap((id) => some.all({ id })),
    fresh,
  );
}

function toMapping({ reason: mappingReason, ...row }: CuratedRow, jobZone: number | null): Mapping {
  const workRoleId = row.workRoleId ?? workRolesOf(row.occupationCode)[0] ?? null;
  return { ...row, jobZone, mappingReason, workRoleId, mappingSource: 'curated' };
}
