import { compareCodePoints } from '../../../src/base/text.ts';
import type { Database } from '../../../src/db/database.ts';
import { ImportError } from '../../../src/read/import-error.ts';
import { beginsWithColumn, type CsvRow, readCsv } from '../../read/csv.ts';
import { type Parsed, stored } from '../../read/parsed.ts';
import { excerpt } from '../../read/source-text.ts';
import { isSlug } from '../../stigs/slug.ts';
import type { RolesContent } from './role-record.ts';
import { type CuratedMapping, isOccupationCode, responsibilityLevels } from './role-record.ts';

const kind = 'role-mapping-csv';

/** The columns, in this order, with what their cells may have. */
const columns: Record<string, (text: string) => boolean> = {
  stigSlug: isSlug,
  occupationCode: isOccupationCode,
  confidenceScore: (text) => /^(?:0(?:\.\d{1,2})?|1(?:\.0{1,2})?)$/.test(text),
  roleResponsibilityLevel: (text) => responsibilityLevels.some((each) => each === text),
  niceWorkRoleId: (text) => text === '' || /^[A-Z]{2}-WRL-\d{3}$/.test(text),
  mappingReason: (text) => text !== '' && text.length <= 2000,
};

/** True for a text whose header begins like that of curated mappings, even with faults. */
export function isCuratedCsv(text: string): boolean {
  return beginsWithColumn(text, 'stigSlug');
}

/** Reads curated mappings of STIGs to roles (data/README.md). Throws `ImportError` naming row and column. */
export function parseCuratedCsv(text: string): Parsed<RolesContent> {
  const table = readCsv(text, kind);
  const header = Object.keys(columns).join();
  if (table.columns.join() !== header) throw new ImportError(`row 1: the header is not ${header}`, kind);
  const seen = new Map<string, number>();
  const rows = table.rows.map((row) => {
    const mapping = readMapping(row);
    const key = `${mapping.stigSlug} ${mapping.occupationCode}`;
    const before = seen.get(key);
    if (before !== undefined)
      throw new ImportError(`row ${row.number} repeats the mapping of row ${before}`, kind);
    seen.set(key, row.number);
    return mapping;
  });
  return stored(kind, { type: 'roles', record: { type: 'role-mapping', rows } });
}

function readMapping(row: CsvRow): CuratedMapping {
  for (const [column, isAllowed] of Object.entries(columns))
    if (!isAllowed(row.cell(column))) throw row.fault(column, 'is not allowed');
  return {
    stigSlug: row.cell('stigSlug'),
    occupationCode: row.cell('occupationCode'),
    confidenceScore: Number(row.cell('confidenceScore')),
    responsibilityLevel: row.cell('roleResponsibilityLevel') as CuratedMapping['responsibilityLevel'],
    workRoleId: row.cell('niceWorkRoleId') || null,
    reason: row.cell('mappingReason'),
    row: row.number,
  };
}

/** A row of a stored source. */
export interface StatedMapping extends CuratedMapping {
  sourceId: number;
  source: string;
  importedAt: string;
  sha256: string;
}

/**
 * The curated rows that count: for each STIG and occupation that of the last run which states it; `fresh` are the sources
 * of this run. Gives also why no row of a source counts.
 */
export function curatedMappings(
  db: Database,
  fresh: Set<number>,
): { mappings: StatedMapping[]; superseded: Map<number, string> } {
  const order = (row: StatedMapping) =>
    [Number(fresh.has(row.sourceId)), row.importedAt, row.sha256].join(' ');
  const stated = readStated(db).sort((a, b) => compareCodePoints(order(a), order(b)));
  const latest = new Map(stated.map((row) => [keyOf(row), row]));
  const mappings = [...latest.values()];
  const counting = new Set(mappings.map((row) => row.sourceId));
  const superseded = new Map<number, string>();
  for (const row of stated) {
    if (counting.has(row.sourceId) || superseded.has(row.sourceId)) continue;
    const reason = fresh.has(row.sourceId)
      ? `another source of this import contains everything in it: ${excerpt(latest.get(keyOf(row))!.source, 300)}`
      : 'a later source contains everything in it';
    superseded.set(row.sourceId, reason);
  }
  return { mappings, superseded };
}

const keyOf = ({ stigSlug, occupationCode }: CuratedMapping) => `${stigSlug} ${occupationCode}`;

const readStated = ({ sqlite }: Database) =>
  sqlite
    .prepare<[], StatedMapping>(
      `SELECT f.source_id AS sourceId, s.source, s.imported_at AS importedAt, s.sha256, f.stig_slug AS stigSlug,
              f.occupation_code AS occupationCode, f.confidence_score AS confidenceScore,
              f.responsibility_level AS responsibilityLevel, f.work_role_id AS workRoleId, f.reason, f.row
         FROM curated_mapping_facts AS f JOIN sources AS s ON s.id = f.source_id
        ORDER BY f.source_id, f.row`,
    )
    .all();
