import { compareCodePoints } from '../../../src/base/text.ts';
import { decodeText } from '../../read/decode.ts';
import { ImportError } from '../../read/errors.ts';
import type { GroupFile } from '../../read/group-file.ts';
import { shown } from '../../read/text.ts';
import { commodityCodeOf } from './commodities.ts';
import { isOccupationCode } from './families.ts';
import { fault, onetFileOf, type Row, readTable, releaseOf, type TableName } from './onet-tables.ts';
import type { EducationLevel, OccupationRecord, OnetRecord } from './role-record.ts';

const kind = 'onet';

interface OpenTable {
  file: string;
  rows: Row[];
}

/**
 * Reads the files of one O*NET text release (rules F9.1, D9.2), whatever they are called. Element tables are
 * told apart by the Element ID of their rows. Throws `ImportError` naming file and line.
 */
export function parseOnet(files: GroupFile[], strict: boolean): { record: OnetRecord; warnings: string[] } {
  const warnings: string[] = [];
  const tables = new Map<TableName, OpenTable[]>();
  const others: string[] = [];
  let release: string | null = null;
  for (const { name, bytes } of files) {
    const decoded = decodeText(bytes, strict);
    warnings.push(...decoded.warnings.map((warning) => `${shown(name)}: ${warning}`));
    const table = onetFileOf(decoded.text);
    if (table === 'release') release = releaseOf(decoded.text);
    else if (table === 'other' || table === null) others.push(name);
    else {
      const rows = [...readTable(table, name, decoded.text)];
      tables.set(table, [...(tables.get(table) ?? []), { file: name, rows }]);
    }
  }
  const reader = new ReleaseReader(tables, others);
  const occupations = reader.read();
  const label = release === null ? 'O*NET' : `O*NET ${release}`;
  const number = (release ?? '').split('.').map((part) => part.padStart(4, '0'));
  for (const [names, what] of expected) {
    if (!names.some((table) => tables.has(table))) warnings.push(`the release has no table of ${what}`);
  }
  const size = (count: number, digits: number) => String(count).padStart(digits, '0');
  const newness = [
    reader.newestDate,
    number.join('.'),
    size(occupations.length, 6),
    size(
      occupations.reduce((sum, occupation) => sum + statementsOf(occupation), 0),
      9,
    ),
  ].join(' ');
  return { record: { type: 'onet', label, newness, occupations }, warnings };
}

/** Tables without which a release answers less than it seems to. */
const expected: [TableName[], string][] = [
  [['tasks'], 'task statements'],
  [['technologySkills', 'softwareSkills'], 'technology skills'],
  [['jobZones'], 'job zones'],
];

/** How much a release states of an occupation: of two printings of one release the fuller is the better. */
function statementsOf(occupation: OccupationRecord): number {
  const { tasks, technologySkills, skills, abilities, workActivities, education, jobZone } = occupation;
  const lists = [tasks, technologySkills, skills, abilities, workActivities, education];
  const inDemand = technologySkills.filter((skill) => skill.inDemand).length;
  return lists.reduce((sum, list) => sum + list.length, inDemand + (jobZone === null ? 0 : 1));
}

class ReleaseReader {
  /** The newest `Date` of any row, as `2024-08`; `""` where none has one. */
  newestDate = '';
  private readonly tables: Map<TableName, OpenTable[]>;
  private readonly others: string[];
  private readonly occupations = new Map<string, OccupationRecord>();

  constructor(tables: Map<TableName, OpenTable[]>, others: string[]) {
    this.tables = tables;
    this.others = others;
  }

  read(): OccupationRecord[] {
    this.readOccupations();
    const zoneNames = this.readZoneNames();
    this.each('jobZones', (row, file, occupation) => {
      if (row.isNotAvailable('Job Zone')) return;
      const zone = row.cell('Job Zone');
      if (!/^[1-9]$/.test(zone)) throw fault(file, row.line, `"${shown(zone)}" is not a job zone`);
      occupation.jobZone = Number(zone);
      occupation.jobZoneName = zoneNames.get(zone) ?? null;
    });
    this.each('tasks', (row, _, occupation) => {
      occupation.tasks.push({
        taskId: row.cell('Task ID'),
        statement: row.cell('Task'),
        taskType: row.cell('Task Type') || null,
      });
    });
    this.each('technologySkills', (row, _, occupation) => {
      occupation.technologySkills.push({
        title: row.cell('Commodity Title'),
        example: row.cell('Example'),
        commodityCode: row.cell('Commodity Code'),
        hotTechnology: row.cell('Hot Technology') === 'Y',
        inDemand: row.cell('In Demand') === 'Y',
      });
    });
    this.each('softwareSkills', (row, _, occupation) => {
      const title = row.cell('Element Name');
      occupation.technologySkills.push({
        title,
        example: row.cell('Workplace Example'),
        commodityCode: commodityCodeOf(title) ?? row.cell('Element ID'),
        hotTechnology: row.cell('Hot Technology') === 'Y',
        inDemand: row.cell('In Demand') === 'Y',
      });
    });
    this.readElements();
    this.readEducation();
    return [...this.occupations.values()].sort((a, b) =>
      compareCodePoints(a.occupationCode, b.occupationCode),
    );
  }

  private readOccupations(): void {
    for (const { file, rows } of this.tables.get('occupations') ?? []) {
      for (const row of rows) {
        const occupationCode = row.cell('O*NET-SOC Code');
        const title = row.cell('Title');
        if (!isOccupationCode(occupationCode))
          throw fault(file, row.line, `"${shown(occupationCode)}" is not an occupation code`);
        if (title === '') throw fault(file, row.line, 'the title is empty');
        if (this.occupations.has(occupationCode))
          throw fault(file, row.line, `the occupation ${occupationCode} occurs twice`);
        this.occupations.set(occupationCode, {
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
    }
    if (this.occupations.size > 0) return;
    const seen = [...this.others, ...[...this.tables.values()].flat().map((table) => table.file)];
    const where = seen.map((file) => `${shown(file)}, line 1`).join('; ');
    throw new ImportError(`no table has the columns O*NET-SOC Code, Title, Description (${where})`, kind);
  }

  /** Visits the rows of a table with the occupation that each is of. Throws for one that the release does not have. */
  private each(
    table: TableName,
    visit: (row: Row, file: string, occupation: OccupationRecord) => void,
  ): void {
    for (const { file, rows } of this.tables.get(table) ?? []) {
      for (const row of rows) {
        const occupation = this.occupations.get(row.cell('O*NET-SOC Code'));
        if (!occupation)
          throw fault(file, row.line, `unknown occupation "${shown(row.cell('O*NET-SOC Code'))}"`);
        const date = /^(\d{2})\/(\d{4})$/.exec(row.cell('Date'));
        if (date && `${date[2]}-${date[1]}` > this.newestDate) this.newestDate = `${date[2]}-${date[1]}`;
        visit(row, file, occupation);
      }
    }
  }

  /** The name of a zone is what follows the colon: `Job Zone Four: Considerable Preparation Needed`. */
  private readZoneNames(): Map<string, string> {
    const rows = (this.tables.get('jobZoneNames') ?? []).flatMap((table) => table.rows);
    return new Map(
      rows.map((row) => [row.cell('Job Zone'), row.cell('Name').replace(/^Job Zone [^:]*:\s*/, '')]),
    );
  }

  private readElements(): void {
    this.each('elements', (row, file, occupation) => {
      const elementId = row.cell('Element ID');
      const scaleId = row.cell('Scale ID');
      const list = listOf(elementId, occupation);
      if (list === null || !/^(?:IM|LV)$/.test(scaleId)) return;
      if (row.cell('Recommend Suppress') === 'Y' || row.cell('Not Relevant') === 'Y') return;
      if (row.isNotAvailable('Data Value')) return;
      list.push({ elementId, name: row.cell('Element Name'), scaleId, value: numberIn(row, file) });
    });
    for (const { skills, abilities, workActivities } of this.occupations.values()) {
      for (const list of [skills, abilities, workActivities]) {
        list.sort(
          (a, b) => compareCodePoints(a.elementId, b.elementId) || compareCodePoints(a.scaleId, b.scaleId),
        );
      }
    }
  }

  /** The levels of education that somebody needs: rows of the scale RL above zero. */
  private readEducation(): void {
    const categories = new Map<string, string>();
    for (const row of (this.tables.get('educationCategories') ?? []).flatMap((table) => table.rows)) {
      const key = `${row.cell('Element ID')} ${row.cell('Scale ID')} ${row.cell('Category')}`;
      categories.set(key, row.cell('Category Description'));
    }
    this.each('education', (row, file, occupation) => {
      const elementId = row.cell('Element ID');
      const scaleId = row.cell('Scale ID');
      if (!elementId.startsWith('2.D') || scaleId !== 'RL' || row.cell('Recommend Suppress') === 'Y') return;
      const value = row.isNotAvailable('Data Value') ? 0 : numberIn(row, file);
      if (value === 0) return;
      const category = row.cell('Category');
      const categoryDescription = categories.get(`${elementId} ${scaleId} ${category}`) ?? '';
      const name = row.cell('Element Name');
      occupation.education.push({ elementId, name, scaleId, category, categoryDescription, value });
    });
    const number = (level: EducationLevel) => Number(level.category) || 0;
    for (const { education } of this.occupations.values())
      education.sort((a, b) => compareCodePoints(a.elementId, b.elementId) || number(a) - number(b));
  }
}

function listOf(elementId: string, occupation: OccupationRecord) {
  if (/^1\.A(?:\.|$)/.test(elementId)) return occupation.abilities;
  if (/^2\.[AB](?:\.|$)/.test(elementId)) return occupation.skills;
  return /^4\.A(?:\.|$)/.test(elementId) ? occupation.workActivities : null;
}

function numberIn(row: Row, file: string): number {
  const text = row.cell('Data Value');
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) throw fault(file, row.line, `"${shown(text)}" is not a number`);
  return Number(text);
}
