import { compareCodePoints } from '../../../src/base/text.ts';
import { decodeText } from '../../../src/read/decode.ts';
import { ImportError } from '../../../src/read/import-error.ts';
import { createLosses, type Losses } from '../../read/losses.ts';
import type { GroupFile } from '../../read/parsed.ts';
import { type Parsed, stored } from '../../read/parsed.ts';
import { excerpt } from '../../read/source-text.ts';
import {
  cell,
  faultOf,
  onetFileOf,
  type Row,
  readOnetTable,
  releaseOf,
  type TableName,
} from './onet-tables.ts';
import type { RolesContent } from './role-record.ts';
import { isOccupationCode, type OccupationRecord, type OnetRecord, occupationLists } from './role-record.ts';

type Tables = Map<TableName, Row[]>;

/** A release without one of these tables gets a warning. */
const expected: [TableName[], string][] = [
  [['tasks'], 'task statements'],
  [['technologySkills', 'softwareSkills'], 'technology skills'],
  [['jobZones'], 'job zones'],
];

/** Reads the files of one O*NET text release, whatever their names (rules F9.1, D9.2). Throws `ImportError`. */
export function parseOnet(files: GroupFile[], strict: boolean): Parsed<RolesContent> {
  const warnings: string[] = [];
  const losses = createLosses();
  const tables: Tables = new Map();
  const unread: string[] = [];
  let release = '';
  for (const { name, bytes } of files) {
    const { text, warnings: ofDecoding } = decodeText(bytes, strict);
    warnings.push(...ofDecoding.map((warning) => `${excerpt(name)}: ${warning}`));
    const table = onetFileOf(text);
    if (table === 'release') release = releaseOf(text);
    else if (table === 'other' || table === null) {
      unread.push(excerpt(name));
      losses.add(`the table ${excerpt(name)}`);
    } else tables.set(table, (tables.get(table) ?? []).concat(readOnetTable(table, name, text, losses)));
  }
  if (!tables.get('occupations')?.length) {
    const heads = unread.map((name) => `${name}, line 1;`).join(' ');
    throw new ImportError(`no table has the columns O*NET-SOC Code, Title, Description (${heads})`, 'onet');
  }
  for (const [names, what] of expected)
    if (!names.some((table) => tables.has(table))) warnings.push(`the release has no table of ${what}`);
  const occupations = readOccupations(tables, losses);
  const number = release.split('.').map((part) => part.padStart(4, '0'));
  const statements = occupations.reduce((sum, occupation) => sum + statementsOf(occupation), 0);
  const sizes = [String(occupations.length).padStart(6, '0'), String(statements).padStart(9, '0')];
  const record: OnetRecord = {
    type: 'onet',
    label: `O*NET ${release}`.trim(),
    releaseOrder: [newestDateIn(tables), number.join('.'), ...sizes].join(' '),
    occupations,
  };
  return stored('onet', { type: 'roles', record }, warnings, losses.warnings());
}

/** The larger printing of a release wins. */
function statementsOf(occupation: OccupationRecord): number {
  const inDemand = occupation.technologySkills.filter((skill) => skill.inDemand).length;
  const others = inDemand + (occupation.jobZone === null ? 0 : 1);
  return occupationLists.reduce((sum, name) => sum + occupation[name].length, others);
}

/** The newest `Date` of any row, such as `2024-08`, or `""`. */
function newestDateIn(tables: Tables): string {
  const dates = [...tables.values()].flatMap((rows) => [...new Set(rows.map((row) => cell(row, 'Date')))]);
  const sortable = dates.map((date) => date.replace(/^(\d{2})\/(\d{4})$/, '$2-$1'));
  return (
    sortable
      .filter((date) => /^\d{4}-\d{2}$/.test(date))
      .sort()
      .at(-1) ?? ''
  );
}

/** Reads the tables about occupations into their records, which are sorted by code. */
function readOccupations(tables: Tables, losses: Losses): OccupationRecord[] {
  const rowsOf = (table: TableName) => tables.get(table) ?? [];
  const occupations = new Map<string, OccupationRecord>();
  for (const row of rowsOf('occupations')) {
    const occupation = occupationOf(row);
    const { occupationCode } = occupation;
    if (occupations.has(occupationCode)) throw faultOf(row, `the occupation ${occupationCode} occurs twice`);
    occupations.set(occupationCode, occupation);
  }
  const zoneNames = new Map(rowsOf('jobZoneNames').map((row) => [cell(row, 'Job Zone'), zoneNameOf(row)]));
  const levels = new Map(
    rowsOf('educationCategories').map((row) => [levelOf(row), cell(row, 'Category Description')]),
  );
  const readers: Partial<Record<TableName, (row: Row, occupation: OccupationRecord) => void>> = {
    jobZones(row, occupation) {
      const zone = cell(row, 'Job Zone');
      if (zone === '') return;
      if (!/^[1-9]$/.test(zone)) throw faultOf(row, `"${excerpt(zone)}" is not a job zone`);
      occupation.jobZone = Number(zone);
      occupation.jobZoneName = zoneNames.get(zone) ?? null;
    },
    tasks(row, { tasks }) {
      tasks.push({
        taskId: cell(row, 'Task ID'),
        statement: cell(row, 'Task'),
        taskType: cell(row, 'Task Type') || null,
      });
    },
    technologySkills(row, { technologySkills }) {
      technologySkills.push(skillOf(row, 'Commodity Title', 'Example', 'Commodity Code'));
    },
    softwareSkills(row, { technologySkills }) {
      technologySkills.push(skillOf(row, 'Element Name', 'Workplace Example', 'Element ID'));
    },
    elements(row, occupation) {
      const rating = ratingOf(row);
      const list = /^(?:IM|LV)$/.test(rating.scaleId) ? listOf(rating.elementId, occupation) : null;
      if (list === null) losses.add(lossOf(rating));
      else if (isUsed(row)) list.push({ ...rating, value: numberIn(row) });
    },
    education(row, { education }) {
      const rating = ratingOf(row);
      if (!rating.elementId.startsWith('2.D') || rating.scaleId !== 'RL') losses.add(lossOf(rating));
      // Only levels that some workers need.
      else if (isUsed(row) && numberIn(row) > 0)
        education.push({
          ...rating,
          category: cell(row, 'Category'),
          categoryDescription: levels.get(levelOf(row)) ?? '',
          value: numberIn(row),
        });
    },
  };
  for (const [table, read] of Object.entries(readers))
    for (const row of rowsOf(table as TableName)) {
      const code = cell(row, 'O*NET-SOC Code');
      const occupation = occupations.get(code);
      if (!occupation) throw faultOf(row, `unknown occupation "${excerpt(code)}"`);
      read(row, occupation);
    }
  for (const { skills, abilities, workActivities, education } of occupations.values()) {
    for (const list of [skills, abilities, workActivities])
      list.sort((a, b) => byElement(a, b) || compareCodePoints(a.scaleId, b.scaleId));
    education.sort((a, b) => byElement(a, b) || (Number(a.category) || 0) - (Number(b.category) || 0));
  }
  return [...occupations.values()].sort((a, b) => compareCodePoints(a.occupationCode, b.occupationCode));
}

const byElement = (a: { elementId: string }, b: { elementId: string }) =>
  compareCodePoints(a.elementId, b.elementId);

function occupationOf(row: Row): OccupationRecord {
  const occupationCode = cell(row, 'O*NET-SOC Code');
  const title = cell(row, 'Title');
  if (!isOccupationCode(occupationCode))
    throw faultOf(row, `"${excerpt(occupationCode)}" is not an occupation code`);
  if (title === '') throw faultOf(row, 'the title is empty');
  return {
    occupationCode,
    title,
    description: cell(row, 'Description'),
    jobZone: null,
    jobZoneName: null,
    tasks: [],
    technologySkills: [],
    skills: [],
    abilities: [],
    workActivities: [],
    education: [],
  };
}

/** `Job Zone Four: Considerable Preparation Needed`: the name follows the colon. */
const zoneNameOf = (row: Row) => cell(row, 'Name').replace(/^Job Zone [^:]*:\s*/, '');

function skillOf(row: Row, titleColumn: string, exampleColumn: string, codeColumn: string) {
  return {
    title: cell(row, titleColumn),
    example: cell(row, exampleColumn),
    commodityCode: cell(row, codeColumn),
    hotTechnology: cell(row, 'Hot Technology') === 'Y',
    inDemand: cell(row, 'In Demand') === 'Y',
  };
}

const ratingOf = (row: Row) => ({
  elementId: cell(row, 'Element ID'),
  name: cell(row, 'Element Name'),
  scaleId: cell(row, 'Scale ID'),
});

function listOf(elementId: string, occupation: OccupationRecord) {
  if (/^1\.A(?:\.|$)/.test(elementId)) return occupation.abilities;
  if (/^2\.[AB](?:\.|$)/.test(elementId)) return occupation.skills;
  return /^4\.A(?:\.|$)/.test(elementId) ? occupation.workActivities : null;
}

const levelOf = (row: Row) => ['Element ID', 'Scale ID', 'Category'].map((name) => cell(row, name)).join(' ');

/** A kind of row that is not stored, by the branch of its element: `1.A`. */
const lossOf = ({ elementId, scaleId }: ReturnType<typeof ratingOf>) =>
  `a row of ${excerpt(elementId, 3)} on the scale ${excerpt(scaleId, 10)}`;

/** Whether a row states a value, and O*NET does not recommend to leave it out. */
const isUsed = (row: Row) =>
  cell(row, 'Data Value') !== '' &&
  cell(row, 'Recommend Suppress') !== 'Y' &&
  cell(row, 'Not Relevant') !== 'Y';

function numberIn(row: Row): number {
  const text = cell(row, 'Data Value');
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) throw faultOf(row, `"${excerpt(text)}" is not a number`);
  return Number(text);
}
