import { compareCodePoints } from '../../../src/base/text.ts';
import { decodeText } from '../../../src/read/decode.ts';
import { ImportError } from '../../../src/read/import-error.ts';
import type { GroupFile } from '../../read/group-file.ts';
import { createLosses, type Losses } from '../../read/losses.ts';
import { excerpt } from '../../read/source-text.ts';
import { commodityCodeOf } from './commodities.ts';
import { isOccupationCode } from './families.ts';
import { onetFileOf, type Row, readTable, releaseOf, type TableName } from './onet-tables.ts';
import { type OccupationRecord, type OnetRecord, occupationLists } from './role-record.ts';

const kind = 'onet';

type RowsOf = (table: TableName) => Row[];

/** Reads the files of one O*NET text release, whatever their names (rules F9.1, D9.2). Throws `ImportError`. */
export function parseOnet(files: GroupFile[], strict: boolean): { record: OnetRecord; warnings: string[] } {
  const warnings: string[] = [];
  const tables = new Map<TableName, { file: string; rows: Row[] }[]>();
  const others: string[] = [];
  let release: string | null = null;
  const losses = createLosses();
  for (const { name, bytes } of files) {
    const decoded = decodeText(bytes, strict);
    warnings.push(...decoded.warnings.map((warning) => `${excerpt(name)}: ${warning}`));
    const table = onetFileOf(decoded.text);
    if (table === 'release') release = releaseOf(decoded.text);
    else if (table === 'other' || table === null) {
      others.push(name);
      losses.add(`the table ${excerpt(name)}`);
    } else {
      const rows = readTable(table, name, decoded.text, losses);
      tables.set(table, [...(tables.get(table) ?? []), { file: name, rows }]);
    }
  }
  const { occupations, newestDate } = readRelease(
    (table) => (tables.get(table) ?? []).flatMap(({ rows }) => rows),
    losses,
  );
  if (occupations.length === 0) {
    const seen = [...others, ...[...tables.values()].flat().map((table) => table.file)];
    const where = seen.map((file) => `${excerpt(file)}, line 1`).join('; ');
    throw new ImportError(`no table has the columns O*NET-SOC Code, Title, Description (${where})`, kind);
  }
  const label = release === null ? 'O*NET' : `O*NET ${release}`;
  const number = (release ?? '').split('.').map((part) => part.padStart(4, '0'));
  for (const [names, what] of expected) {
    if (!names.some((table) => tables.has(table))) warnings.push(`the release has no table of ${what}`);
  }
  const statements = occupations.reduce((sum, occupation) => sum + statementsOf(occupation), 0);
  const sizes = [String(occupations.length).padStart(6, '0'), String(statements).padStart(9, '0')];
  const releaseOrder = [newestDate, number.join('.'), ...sizes].join(' ');
  const record: OnetRecord = { type: 'onet', label, releaseOrder, occupations };
  return { record, warnings: [...warnings, ...losses.warnings()] };
}

/** A release without one of these tables gets a warning. */
const expected: [TableName[], string][] = [
  [['tasks'], 'task statements'],
  [['technologySkills', 'softwareSkills'], 'technology skills'],
  [['jobZones'], 'job zones'],
];

/** The larger printing of a release wins. */
function statementsOf(occupation: OccupationRecord): number {
  const inDemand = occupation.technologySkills.filter((skill) => skill.inDemand).length;
  const others = inDemand + (occupation.jobZone === null ? 0 : 1);
  return occupationLists.reduce((sum, name) => sum + occupation[name].length, others);
}

/** `newestDate` is the newest `Date` of any row, such as `2024-08`, or `""`. */
function readRelease(
  rowsOf: RowsOf,
  losses: Losses,
): { occupations: OccupationRecord[]; newestDate: string } {
  const occupations = readOccupations(rowsOf('occupations'));
  if (occupations.size === 0) return { occupations: [], newestDate: '' };
  let newestDate = '';
  const statedIn = (table: TableName) =>
    rowsOf(table).map((row): [Row, OccupationRecord] => {
      const code = row.cell('O*NET-SOC Code');
      const occupation = occupations.get(code);
      if (!occupation) throw row.fault(`unknown occupation "${excerpt(code)}"`);
      const [, month, year] = /^(\d{2})\/(\d{4})$/.exec(row.cell('Date')) ?? [];
      if (year && `${year}-${month}` > newestDate) newestDate = `${year}-${month}`;
      return [row, occupation];
    });
  readJobZones(statedIn('jobZones'), rowsOf('jobZoneNames'));
  for (const [row, { tasks }] of statedIn('tasks')) {
    const taskType = row.cell('Task Type') || null;
    tasks.push({ taskId: row.cell('Task ID'), statement: row.cell('Task'), taskType });
  }
  for (const [row, { technologySkills }] of statedIn('technologySkills'))
    technologySkills.push(skillOf(row, 'Commodity Title', 'Example', row.cell('Commodity Code')));
  for (const [row, { technologySkills }] of statedIn('softwareSkills')) {
    const code = commodityCodeOf(row.cell('Element Name')) ?? row.cell('Element ID');
    technologySkills.push(skillOf(row, 'Element Name', 'Workplace Example', code));
  }
  readElements(statedIn('elements'), losses);
  readEducation(statedIn('education'), rowsOf('educationCategories'), losses);
  for (const { skills, abilities, workActivities, education } of occupations.values()) {
    for (const list of [skills, abilities, workActivities])
      list.sort((a, b) => byElement(a, b) || compareCodePoints(a.scaleId, b.scaleId));
    education.sort((a, b) => byElement(a, b) || (Number(a.category) || 0) - (Number(b.category) || 0));
  }
  const inOrder = [...occupations.values()].sort((a, b) =>
    compareCodePoints(a.occupationCode, b.occupationCode),
  );
  return { occupations: inOrder, newestDate };
}

const byElement = (a: { elementId: string }, b: { elementId: string }) =>
  compareCodePoints(a.elementId, b.elementId);

function readOccupations(rows: Row[]): Map<string, OccupationRecord> {
  const occupations = new Map<string, OccupationRecord>();
  for (const row of rows) {
    const occupationCode = row.cell('O*NET-SOC Code');
    const title = row.cell('Title');
    if (!isOccupationCode(occupationCode))
      throw row.fault(`"${excerpt(occupationCode)}" is not an occupation code`);
    if (title === '') throw row.fault('the title is empty');
    if (occupations.has(occupationCode)) throw row.fault(`the occupation ${occupationCode} occurs twice`);
    occupations.set(occupationCode, {
      occupationCode,
      title,
      description: row.cell('Description'),
      jobZone: null,
      jobZoneName: null,
      tasks: [],
      technologySkills: [],
      skills: [],
      abilities: [],
      workActivities: [],
      education: [],
    });
  }
  return occupations;
}

function readJobZones(stated: Iterable<[Row, OccupationRecord]>, names: Row[]): void {
  // `Job Zone Four: Considerable Preparation Needed`: the name follows the colon.
  const nameOf = new Map(
    names.map((row) => [row.cell('Job Zone'), row.cell('Name').replace(/^Job Zone [^:]*:\s*/, '')]),
  );
  for (const [row, occupation] of stated) {
    if (row.isNotAvailable('Job Zone')) continue;
    const zone = row.cell('Job Zone');
    if (!/^[1-9]$/.test(zone)) throw row.fault(`"${excerpt(zone)}" is not a job zone`);
    occupation.jobZone = Number(zone);
    occupation.jobZoneName = nameOf.get(zone) ?? null;
  }
}

function skillOf(row: Row, titleColumn: string, exampleColumn: string, commodityCode: string) {
  return {
    title: row.cell(titleColumn),
    example: row.cell(exampleColumn),
    commodityCode,
    hotTechnology: row.cell('Hot Technology') === 'Y',
    inDemand: row.cell('In Demand') === 'Y',
  };
}

function readElements(stated: Iterable<[Row, OccupationRecord]>, losses: Losses): void {
  for (const [row, occupation] of stated) {
    const elementId = row.cell('Element ID');
    const scaleId = row.cell('Scale ID');
    const list = listOf(elementId, occupation);
    if (list === null || !/^(?:IM|LV)$/.test(scaleId)) {
      losses.add(rowOf(elementId, scaleId));
      continue;
    }
    if (row.cell('Recommend Suppress') === 'Y' || row.cell('Not Relevant') === 'Y') continue;
    if (row.isNotAvailable('Data Value')) continue;
    list.push({ elementId, name: row.cell('Element Name'), scaleId, value: numberIn(row) });
  }
}

/** The kind of a row that is not stored, by the branch of its element: `1.A`. */
const rowOf = (elementId: string, scaleId: string) =>
  `a row of ${excerpt(elementId, 3)} on the scale ${excerpt(scaleId, 10)}`;

function listOf(elementId: string, occupation: OccupationRecord) {
  if (/^1\.A(?:\.|$)/.test(elementId)) return occupation.abilities;
  if (/^2\.[AB](?:\.|$)/.test(elementId)) return occupation.skills;
  return /^4\.A(?:\.|$)/.test(elementId) ? occupation.workActivities : null;
}

/** Only rows of the scale RL above zero: the levels that some workers need. */
function readEducation(stated: Iterable<[Row, OccupationRecord]>, categories: Row[], losses: Losses): void {
  const keyOf = (row: Row) => ['Element ID', 'Scale ID', 'Category'].map((name) => row.cell(name)).join(' ');
  const descriptions = new Map(categories.map((row) => [keyOf(row), row.cell('Category Description')]));
  for (const [row, { education }] of stated) {
    const elementId = row.cell('Element ID');
    const scaleId = row.cell('Scale ID');
    if (!elementId.startsWith('2.D') || scaleId !== 'RL') {
      losses.add(rowOf(elementId, scaleId));
      continue;
    }
    if (row.cell('Recommend Suppress') === 'Y') continue;
    const value = row.isNotAvailable('Data Value') ? 0 : numberIn(row);
    if (value === 0) continue;
    const category = row.cell('Category');
    const categoryDescription = descriptions.get(keyOf(row)) ?? '';
    education.push({
      elementId,
      name: row.cell('Element Name'),
      scaleId,
      category,
      categoryDescription,
      value,
    });
  }
}

function numberIn(row: Row): number {
  const text = row.cell('Data Value');
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) throw row.fault(`"${excerpt(text)}" is not a number`);
  return Number(text);
}
