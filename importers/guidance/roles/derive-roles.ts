import { fold } from '../../../src/base/text.ts';
import type { RoleDetails, RoleFacts } from '../../../src/catalog/guidance/role-schema.ts';
import type { Database } from '../../../src/db/database.ts';
import { prepareInsert } from '../../../src/db/insert.ts';
import type { SourceProblem } from '../../../src/read/import-error.ts';
import { curatedMappings } from './curated-mappings.ts';
import { deriveRoleMappings } from './derive-mappings.ts';
import { tablesVersion } from './product-classes.ts';
import type { OccupationRecord } from './role-record.ts';

/** Whether the stored mappings were made from other tables of classes. */
export function mappingsAreOutdated({ sqlite }: Database): boolean {
  const sql = 'SELECT EXISTS (SELECT 1 FROM role_mappings WHERE rule <> ?)';
  return sqlite.prepare(sql).pluck().get(tablesVersion) === 1;
}

/**
 * Rebuilds occupations, work roles and the mapping of STIGs. Only the newest release of O*NET and of the NICE Framework
 * counts, in any order of imports. Removes sources of which nothing counts, so that a later import may read them again,
 * and gives why; `fresh` are the sources of this run.
 */
export function deriveRoles(
  db: Database,
  fresh: Set<number>,
): { problems: SourceProblem[]; superseded: Map<number, string> } {
  const { sqlite } = db;
  const { mappings, superseded } = curatedMappings(db, fresh);
  for (const family of ['onet', 'nice'] as const)
    for (const [sourceId, reason] of olderReleases(db, family)) superseded.set(sourceId, reason);
  const remove = sqlite.prepare('DELETE FROM sources WHERE id = ?');
  for (const sourceId of superseded.keys()) remove.run(sourceId);
  // Mappings refer to occupations; no importer fills the other two tables of the schema.
  sqlite.exec('DELETE FROM role_mappings; DELETE FROM mapping_products; DELETE FROM mapping_candidates;');
  if (fresh.size > 0 || superseded.size > 0) writeOccupations(db);
  return { problems: deriveRoleMappings(db, mappings), superseded };
}

interface RoleRelease {
  sourceId: number;
  label: string;
  releaseOrder: string;
}

/** Why each release of a family but the newest does not count. */
function olderReleases({ sqlite }: Database, family: 'onet' | 'nice'): [sourceId: number, reason: string][] {
  const [newest, ...older] = sqlite
    .prepare<[string], RoleRelease>(
      `SELECT r.source_id AS sourceId, r.label, r.release_order AS releaseOrder
         FROM role_releases AS r JOIN sources AS s ON s.id = r.source_id
        WHERE r.family = ? ORDER BY r.release_order DESC, s.sha256 DESC`,
    )
    .all(family);
  return older.map((each) => [each.sourceId, whySuperseded(family, newest!, each)]);
}

/** Says which part of the release order decided (see `parseOnet` and `parseNice`). */
function whySuperseded(family: 'onet' | 'nice', newest: RoleRelease, other: RoleRelease): string {
  const [date, number, ...sizes] = partsOf(family, newest);
  const [otherDate, otherNumber, ...otherSizes] = partsOf(family, other);
  if (date !== otherDate) {
    const ours = otherDate === '' ? 'this one has no dated rows' : `those of this one are of ${otherDate}`;
    return `${newest.label} is kept: its newest rows are of ${date}, ${ours}`;
  }
  if (number !== otherNumber) return `${newest.label} is kept, which is newer`;
  const printing = `another printing of ${newest.label} is kept, which states`;
  if (sizes.join() === otherSizes.join()) return `${printing} as much`;
  const units = family === 'onet' ? ['occupations', 'statements on them'] : ['elements'];
  const stated = sizes.map((size, index) => `${Number(size)} ${units[index]}`).join(' and ');
  return `${printing} more: ${stated}, this one ${otherSizes.map(Number).join(' and ')}`;
}

/** Date, number and sizes; a NICE release has no date. */
function partsOf(family: 'onet' | 'nice', { releaseOrder }: RoleRelease): string[] {
  return family === 'onet' ? releaseOrder.split(' ') : ['', ...releaseOrder.split(' ')];
}

/** The major groups of the Standard Occupational Classification 2018: O*NET's job families (rule F9.1). */
const familyTable = `
  11 Management
  13 Business and Financial Operations
  15 Computer and Mathematical
  17 Architecture and Engineering
  19 Life, Physical, and Social Science
  21 Community and Social Service
  23 Legal
  25 Educational Instruction and Library
  27 Arts, Design, Entertainment, Sports, and Media
  29 Healthcare Practitioners and Technical
  31 Healthcare Support
  33 Protective Service
  35 Food Preparation and Serving Related
  37 Building and Grounds Cleaning and Maintenance
  39 Personal Care and Service
  41 Sales and Related
  43 Office and Administrative Support
  45 Farming, Fishing, and Forestry
  47 Construction and Extraction
  49 Installation, Maintenance, and Repair
  51 Production
  53 Transportation and Material Moving
  55 Military Specific`;
const families = new Map(
  familyTable.split('\n').map((line) => [line.trim().slice(0, 2), line.trim().slice(3)]),
);

function writeOccupations(db: Database): void {
  const { sqlite } = db;
  sqlite.exec(`DELETE FROM occupations; DELETE FROM work_roles;
    INSERT INTO work_roles SELECT work_role_id, name, category_code, category_name FROM work_role_facts;`);
  const insert = prepareInsert(db, 'occupations');
  const records = sqlite
    .prepare<[], string>('SELECT record FROM occupation_facts ORDER BY occupation_code')
    .pluck()
    .all();
  for (const json of records) {
    const record = JSON.parse(json) as OccupationRecord;
    const { occupationCode, title, jobZone, ...details } = record;
    const occupationFamily = families.get(occupationCode.slice(0, 2)) ?? '';
    const summaryJson: RoleFacts = {
      occupationCode,
      title,
      occupationFamily,
      jobZone,
      taskCount: record.tasks.length,
      technologySkillCount: record.technologySkills.length,
    };
    const detailsJson: RoleDetails = {
      ...details,
      technologySkills: record.technologySkills.map(({ commodityCode, ...skill }) => skill),
    };
    const folded = { titleFold: fold(title), familyFold: fold(occupationFamily) };
    insert({ occupationCode, title, ...folded, jobZone, summaryJson, detailsJson });
  }
}
