import { fold } from '../../../src/base/text.ts';
import type { RoleDetails, RoleFacts } from '../../../src/catalog/guidance/role-schema.ts';
import type { Database } from '../../../src/db/database.ts';
import { prepareInsert } from '../../../src/db/insert.ts';
import type { SourceProblem } from '../../../src/read/import-error.ts';
import { removeSource } from '../statements.ts';
import { deriveRoleMappings } from './derive-mappings.ts';
import { familyOf } from './families.ts';
import { productsOf } from './products.ts';
import type { OccupationRecord } from './role-record.ts';
import { candidateOf, isCandidate, ruleVersion } from './score.ts';

/** Whether another version of the rule made the stored mapping. */
export function ruleIsOutdated(db: Database): boolean {
  const ends = db.sqlite
    .prepare('SELECT (SELECT min(rule) FROM role_mappings), (SELECT max(rule) FROM role_mappings)')
    .raw()
    .get() as (string | null)[];
  return ends.some((rule) => rule !== null && rule !== ruleVersion);
}

/**
 * Rebuilds occupations, work roles and the mapping of STIGs. Only the newest release of O*NET and of the NICE Framework
 * counts, in any order of imports. Removes older ones and notes them in `superseded`.
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
  writeMappingSource(db, occupations);
  return deriveRoleMappings(db, null, fresh, superseded);
}

/** Rebuilds the mapping of some STIGs after a run without changes to roles. */
export function remapStigs(db: Database, stigs: Set<number>): void {
  deriveRoleMappings(db, stigs, new Set(), new Map());
}

/** Stores what the rule reads, for runs with STIGs only. */
function writeMappingSource(db: Database, occupations: OccupationRecord[]): void {
  db.sqlite.exec('DELETE FROM mapping_products; DELETE FROM mapping_candidates;');
  const insertProduct = prepareInsert(db, 'mapping_products');
  for (const [name, product] of productsOf(occupations, isCandidate)) insertProduct({ name, product });
  const insertCandidate = prepareInsert(db, 'mapping_candidates');
  for (const occupation of occupations)
    if (isCandidate(occupation.occupationCode)) insertCandidate(candidateOf(occupation));
}

interface RoleRelease {
  sourceId: number;
  label: string;
  releaseOrder: string;
}

function keepNewest(db: Database, family: 'onet' | 'nice', superseded: Map<number, string>): void {
  const [newest, ...older] = db.sqlite
    .prepare<[string], RoleRelease>(
      `SELECT r.source_id AS sourceId, r.label, r.release_order AS releaseOrder FROM role_releases AS r JOIN sources AS s ON s.id = r.source_id
        WHERE r.family = ? ORDER BY r.release_order DESC, s.sha256 DESC`,
    )
    .all(family);
  for (const each of older) removeSource(db, each.sourceId, whyKept(family, newest!, each), superseded);
}

/** Says which part of the release order decided (see `parseOnet` and `parseNice`). */
function whyKept(family: 'onet' | 'nice', kept: RoleRelease, other: RoleRelease): string {
  const [date, number, ...sizes] = partsOf(family, kept);
  const [otherDate, otherNumber, ...otherSizes] = partsOf(family, other);
  if (date !== otherDate) {
    const ours = otherDate === '' ? 'this one has no dated rows' : `those of this one are of ${otherDate}`;
    return `${kept.label} is kept: its newest rows are of ${date}, ${ours}`;
  }
  if (number !== otherNumber) return `${kept.label} is kept, which is newer`;
  const printing = `another printing of ${kept.label} is kept, which states`;
  if (sizes.join() === otherSizes.join()) return `${printing} as much`;
  const units = family === 'onet' ? ['occupations', 'statements on them'] : ['elements'];
  const told = sizes.map((size, index) => `${Number(size)} ${units[index]}`).join(' and ');
  return `${printing} more: ${told}, this one ${otherSizes.map(Number).join(' and ')}`;
}

/** Date, number and sizes; a NICE release has no date. */
function partsOf(family: 'onet' | 'nice', { releaseOrder }: RoleRelease): string[] {
  return family === 'onet' ? releaseOrder.split(' ') : ['', ...releaseOrder.split(' ')];
}

function writeOccupations(db: Database, occupations: OccupationRecord[]): void {
  const { sqlite } = db;
  sqlite.exec(`DELETE FROM occupations; DELETE FROM work_roles;
    INSERT INTO work_roles SELECT work_role_id, name, category_code, category_name FROM work_role_facts;`);
  const insert = sqlite.prepare('INSERT INTO occupations VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const record of occupations) {
    const { occupationCode, title, jobZone } = record;
    const summary = JSON.stringify(toFacts(record));
    const details = JSON.stringify(toDetails(record));
    insert.run(occupationCode, title, fold(title), fold(familyOf(occupationCode)), jobZone, summary, details);
  }
}

function toFacts(record: OccupationRecord): RoleFacts {
  const { occupationCode, title, jobZone, tasks, technologySkills } = record;
  return {
    occupationCode,
    title,
    occupationFamily: familyOf(occupationCode),
    jobZone,
    taskCount: tasks.length,
    technologySkillCount: technologySkills.length,
  };
}

function toDetails(record: OccupationRecord): RoleDetails {
  const { description, jobZoneName, tasks, skills, abilities, workActivities, education } = record;
  const technologySkills = record.technologySkills.map(({ title, example, hotTechnology, inDemand }) => ({
    title,
    example,
    hotTechnology,
    inDemand,
  }));
  return { description, jobZoneName, tasks, technologySkills, skills, abilities, workActivities, education };
}
