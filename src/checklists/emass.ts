import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from '@hono/zod-openapi';
import { parse } from 'csv-parse/sync';
import type { Ask } from '../base/ask.ts';
import { AppError, badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { packageRoot } from '../base/root.ts';
import { count } from '../base/text.ts';
import { ccisIn } from '../catalog/controls/id-grammar.ts';
import type { CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { boundedArray } from '../http/arrays.ts';
import { check, format, named, notAnObject, oneWord, requestText, texts } from '../http/schema.ts';
import { longestCell, toXlsx } from '../http/xlsx.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { type CciFacts, uploadJobs } from './jobs.ts';
import { deviceName } from './names.ts';
import { readChecklist } from './read-checklist.ts';
import { checklist } from './schema.ts';
import { answerOf, longestMarking, parseBody, type Upgraded } from './upload.ts';

const emassSheets = ['test-results', 'poam'] as const;
type EmassSheet = (typeof emassSheets)[number];

/** The templates in `data/emass`: the first of each sheet is the default. */
const emassTemplates = {
  'test-results': ['test-results', 'test-results-18'],
  poam: ['poam', 'poam-22', 'poam-mccast'],
} as const;

const text = (name: string) => requestText(name, 1000).optional();

export const emassBody = z.object(
  {
    checklists: boundedArray(checklist, 'checklists', 'checklists', { least: 1, most: 500 }).describe(
      'Checklists (ckl or cklb) of any hosts and STIGs.',
    ),
    sheet: oneWord('sheet', emassSheets),
    template: oneWord('template', Object.values(emassTemplates).flat())
      .optional()
      .describe('The columns of the sheet: those of a present eMASS by default.'),
    columns: requestText('columns', 100_000)
      .optional()
      .describe(
        'The head of the sheet of a site as csv, in place of a template: lines above the header as they are, the header, and perhaps a line of what stands in each row of a column that is not filled.',
      ),
    revision: requestText('revision', 100)
      .optional()
      .openapi({ description: 'The revision of NIST 800-53. By default the current one.', example: 'Rev 4' }),
    dateTested: text('dateTested'),
    testedBy: text('testedBy'),
    officeOrg: text('officeOrg'),
    scheduledCompletionDate: text('scheduledCompletionDate'),
    resources: text('resources'),
    format: format(['xlsx', 'json']),
  },
  notAnObject,
);
type EmassBody = z.output<typeof emassBody>;

export const EmassRows = named('EmassSheet', {
  sheet: z.enum(emassSheets),
  header: z.array(z.string()),
  rows: z.array(z.array(z.string())),
  withoutCci: z
    .array(z.strictObject(texts('host', 'benchmarkId', 'ruleId', 'status')))
    .describe('Rules that name no CCI: a sheet of test results has no row for them.'),
  unknownCcis: z
    .array(z.string())
    .describe('CCIs that the catalog does not have: their rows have no control and no definition.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('What is not read of the checklists as it is; left out when there is nothing to say.'),
});
export type EmassRows = z.infer<typeof EmassRows>;

/** The cells of a row by column name, in lower case. */
export type Fields = ReadonlyMap<string, string>;

/** The columns that Gapstone fills: the values of all others only eMASS knows (rule D30.2). */
const filled: Record<EmassSheet, string[]> = {
  'test-results': [
    'control acronym',
    'control information',
    'cci',
    'cci definition',
    'compliance status',
    'date tested',
    'tested by',
    'test results',
  ],
  poam: [
    'control vulnerability description',
    'controls / aps',
    'office/org',
    'security checks',
    'resources required',
    'scheduled completion date',
    'source identifying vulnerability',
    'status',
    'comments',
    'raw severity',
    'devices affected',
    'severity',
    'impact description',
    'recommendations',
    'name',
  ],
};

const otherNames: Record<string, string> = {
  'security control number (nc/na controls only)': 'controls / aps',
  'allocated control (allocated control id)': 'controls / aps',
  'vulnerability library (rule_id)': 'security checks',
  'source identifying weakness': 'source identifying vulnerability',
  'poam status': 'status',
  'estimated completion date': 'scheduled completion date',
  weaknesses: 'impact description',
  'affected hardware': 'devices affected',
};

/** The head of a sheet: lines above its header, the header, and the function that makes a row. */
interface EmassColumns {
  titles: string[][];
  header: string[];
  rowOf(fields: Fields): string[];
}

/** The columns that a request asks for: its own, or those of a template. Throws a 400. */
function columnsFor({ sheet, template, columns }: EmassBody): EmassColumns {
  if (template !== undefined && columns !== undefined)
    throw badRequest('The body may have template or columns, not both', '/columns');
  const templates: readonly string[] = emassTemplates[sheet];
  if (template !== undefined && !templates.includes(template))
    throw badRequest(`template must be one of: ${templates.join(', ')} for the sheet ${sheet}`, '/template');
  return readColumns(columns ?? readTemplate(template ?? templates[0]!), sheet);
}

const readTemplate = (name: string) =>
  readFileSync(join(packageRoot, 'data', 'emass', `${name}.csv`), 'utf8');

const badColumns = (problem: string) => badRequest(`columns: ${problem}`, '/columns');

/** Reads the head of a sheet: its header is the line with most known column names. Throws a 400. */
function readColumns(csv: string, sheet: EmassSheet): EmassColumns {
  let lines: string[][];
  try {
    lines = parse(csv, { bom: true, relax_column_count: true, skip_empty_lines: false });
  } catch (error) {
    throw badColumns((error as Error).message.split('\n')[0]!.slice(0, 200));
  }
  let [at, most] = [-1, 0];
  for (const [index, line] of lines.entries()) {
    const known = line.filter((name) => fieldOf(name, sheet) !== null).length;
    if (known > most) [at, most] = [index, known];
  }
  if (at < 0)
    throw badColumns(`no line has a column that Gapstone fills, such as "${filled[sheet].join('", "')}"`);
  if (lines.length > at + 2) throw badColumns('there is more than one line below the header');
  const header = lines[at]!;
  if (header.length > 200 || at > 20) throw badColumns('at most 200 columns and 20 lines above the header');
  // A template has further columns for the latest test result: only the first column of a field is filled.
  const seen = new Set<string>();
  const fields = header.map((name) => {
    const field = fieldOf(name, sheet);
    if (field === null || seen.has(field)) return null;
    seen.add(field);
    return field;
  });
  const constants = lines[at + 1] ?? [];
  return {
    titles: lines.slice(0, at),
    header,
    rowOf: (values) =>
      fields.map((field, index) => (field === null ? '' : values.get(field)) || (constants[index] ?? '')),
  };
}

function fieldOf(name: string, sheet: EmassSheet): string | null {
  const plain = name.trim().replace(/\s+/g, ' ').toLowerCase();
  const field = Object.hasOwn(otherNames, plain) ? otherNames[plain]! : plain;
  return filled[sheet].includes(field) ? field : null;
}

interface CheckedRule {
  host: string;
  stig: CklbStig;
  rule: CklbRule;
  ccis: string[];
}

/** All rules of all checklists, in order. */
export function rulesOf(checklists: OldChecklist[]): CheckedRule[] {
  return checklists.flatMap(({ checklist: { target_data, stigs } }) => {
    const host = deviceName(target_data);
    return stigs.flatMap((stig) =>
      stig.rules.map((rule) => ({ host, stig, rule, ccis: [...new Set(rule.ccis.flatMap(ccisIn))] })),
    );
  });
}

/** The rows of a sheet of test results (rule D30.2): one for each CCI of a rule. */
function testResultRows(rules: CheckedRule[], facts: CciFacts, body: EmassBody): Fields[] {
  const cited = rules.flatMap((each) => each.ccis.map((cci) => ({ cci, each })));
  const byCci = Map.groupBy(cited, ({ cci }) => cci);
  // Once for each rule, however many CCIs it has.
  const lines = new Map(
    rules.filter(({ rule }) => rule.status === 'open').map((each) => [each, lineOf(each)] as const),
  );
  return [...byCci.keys()].sort().map((cci) => {
    const found = facts.ccis.get(cci);
    const controls = found?.controls ?? [];
    const { status, results } = tested(
      byCci.get(cci)!.map(({ each }) => each),
      lines,
    );
    return new Map([
      ['control acronym', controls.join(', ')],
      ['control information', controls.map((control) => facts.controls.get(control)).join('\n\n')],
      ['cci', cci.slice('CCI-'.length)],
      ['cci definition', found?.definition ?? ''],
      ['compliance status', status],
      ['date tested', body.dateTested ?? ''],
      ['tested by', body.testedBy ?? ''],
      ['test results', results],
    ]);
  });
}

/** The result of a CCI: blank when no rule is open, but one is not reviewed. */
function tested(
  rules: CheckedRule[],
  lines: ReadonlyMap<CheckedRule, string>,
): { status: string; results: string } {
  const of = (status: CklbRule['status']) => rules.filter(({ rule }) => rule.status === status);
  const open = of('open');
  const checks = (number: number) => count(number, 'technical STIG/SRG check');
  if (open.length > 0) {
    const head = 'Non-Compliant. The following technical STIG/SRG checks are open:';
    return {
      status: 'Non-Compliant',
      results: fitted(
        head,
        open.map((each) => lines.get(each)!),
        'open check',
      ),
    };
  }
  const notApplicable = of('not_applicable').length;
  if (notApplicable === rules.length)
    return {
      status: 'Not Applicable',
      results: `Not Applicable. ${checks(notApplicable)}, none applicable.`,
    };
  if (of('not_reviewed').length > 0) return { status: '', results: '' };
  const others = notApplicable === 0 ? '' : `, ${notApplicable} of them not applicable`;
  return { status: 'Compliant', results: `Compliant. ${checks(rules.length)}, none open${others}.` };
}

const categories = { high: 'CAT I', medium: 'CAT II', low: 'CAT III' };
const severities = { high: 'High', medium: 'Moderate', low: 'Low' };
const rawSeverities = { high: 'I', medium: 'II', low: 'III' };

const severityOf = ({ overrides, severity }: CklbRule) => overrides.severity?.severity ?? severity;

const shownHost = ({ host }: CheckedRule) => host || '(no host name)';

function lineOf(checked: CheckedRule): string {
  const { rule } = checked;
  const details = rule.finding_details.trim();
  const named = `${shownHost(checked)}: ${rule.rule_id_src} (${rule.rule_version}) - ${categories[severityOf(rule)]}`;
  return details === '' ? named : `${named} - ${details}`;
}

/** Joins a head and its lines, without duplicates, up to the size of a cell, and says how many lines are left out. */
function fitted(head: string, given: string[], what: string): string {
  const lines = [...new Set(given)];
  const room = longestCell - 100;
  let text = head;
  for (const [index, line] of lines.entries()) {
    const next = text === '' ? line : `${text}\n${line}`;
    if (next.length > room) {
      const begun = index > 0 ? text : next.slice(0, room).replace(/[\ud800-\udbff]$/, '');
      const left = lines.length - Math.max(index, 1);
      const cut = index > 0 ? '' : ' [cut]';
      return left === 0 ? `${begun}${cut}` : `${begun}${cut}\n${count(left, `more ${what}`)} left out`;
    }
    text = next;
  }
  return text;
}

/** The rows of a POA&M (rule D30.2): one for each rule that is open in some checklist, sorted by rule number. */
function poamRows(rules: CheckedRule[], facts: CciFacts, body: EmassBody): Fields[] {
  const open = rules.filter(({ rule }) => rule.status === 'open');
  const byRule = Map.groupBy(open, ({ rule }) => rule.rule_id_src);
  const ids = [...byRule.keys()].sort(new Intl.Collator('en', { numeric: true }).compare);
  return ids.map((id) => poamRow(byRule.get(id)!, facts, body));
}

function poamRow(same: CheckedRule[], facts: CciFacts, body: EmassBody): Fields {
  const { rule } = same[0]!;
  const ccis = [...new Set(same.flatMap((each) => each.ccis))].sort();
  const named = new Set(ccis.flatMap((cci) => facts.ccis.get(cci)?.controls ?? []));
  const controls = [...facts.controls.keys()].filter((control) => named.has(control));
  const worst = (['high', 'medium', 'low'] as const).find((severity) =>
    same.some((each) => severityOf(each.rule) === severity),
  )!;
  const details = same
    .filter((each) => each.rule.finding_details.trim() !== '')
    .map((each) => `${shownHost(each)}: ${each.rule.finding_details.trim()}`);
  const hosts = same.map(({ host }) => host).filter((host) => host !== '');
  const source = ({ stig }: CheckedRule) =>
    `${stig.stig_id} :: Version ${stig.version}, ${stig.release_info}`.trim();
  return new Map([
    ['name', rule.rule_title],
    ['control vulnerability description', `${rule.rule_title}\n\n${rule.discussion}`.trim()],
    ['controls / aps', controls.join(', ')],
    ['office/org', body.officeOrg ?? ''],
    ['security checks', rule.rule_id_src],
    ['resources required', body.resources ?? ''],
    ['scheduled completion date', body.scheduledCompletionDate ?? ''],
    ['source identifying vulnerability', fitted('', same.map(source), 'source')],
    ['status', 'Ongoing'],
    ['comments', fitted(ccis.join(', '), details, 'finding detail')],
    ['raw severity', rawSeverities[rule.severity]],
    ['devices affected', fitted('', hosts, 'host')],
    ['severity', severities[worst]],
    ['impact description', rule.discussion],
    ['recommendations', rule.fix_text],
  ]);
}

/** Different CCIs in one request: twice as many as DISA's list has. */
const mostCcis = 10_000;

const mostText = 64 * 1024 * 1024;

const sheetNames = { 'test-results': 'Test Result Import', poam: 'POA&M' };

/** The rows of a sheet, its columns, and the marking of its checklists. */
export interface MadeSheet {
  rows: EmassRows;
  columns: EmassColumns;
  marking: string | null;
}

/** Makes a sheet for eMASS from a body of checklists (rule D30.2). Throws a 400. */
export async function emassWork(ask: Ask, bytes: Uint8Array, banner: string | null): Promise<Upgraded> {
  const body = check(emassBody, parseBody(utf8Body(bytes)));
  const made = await emassSheet(ask, body);
  return body.format === 'json' ? answerOf(made.rows) : workbook(made, banner);
}

/** The sheet of checklists, before it is written. Throws a 400. */
export async function emassSheet(ask: Ask, body: EmassBody): Promise<MadeSheet> {
  const columns = columnsFor(body);
  const checklists = body.checklists.map(readOne);
  const warnings = checklists.flatMap(({ checklist: { target_data }, warnings }) =>
    warnings.map((warning) => `${deviceName(target_data) || '(no host name)'}: ${warning}`),
  );
  const isPoam = body.sheet === 'poam';
  const rules = rulesOf(checklists).filter(({ rule }) => !isPoam || rule.status === 'open');
  const ccis = [...new Set(rules.flatMap((each) => each.ccis))].sort();
  if (ccis.length > mostCcis)
    throw badRequest(
      `checklists must name at most ${mostCcis} different CCIs, not ${ccis.length}`,
      '/checklists',
    );
  const facts = await ask(uploadJobs.factsOfCcis, ccis, body.revision);
  const rows = (isPoam ? poamRows : testResultRows)(rules, facts, body).map(columns.rowOf);
  refuseLargeSheet(rows);
  const made: EmassRows = {
    sheet: body.sheet,
    header: columns.header,
    rows,
    withoutCci: rules
      .filter((each) => each.ccis.length === 0)
      .map(({ host, stig, rule }) => ({
        ...{ host, benchmarkId: stig.stig_id, ruleId: rule.rule_id_src, status: rule.status },
      })),
    unknownCcis: ccis.filter((cci) => !facts.ccis.has(cci)),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  return { rows: made, columns, marking: markingOf(checklists) };
}

/** Throws a 400 for too much text: a body of some MiB may ask for hundreds of MiB. */
function refuseLargeSheet(rows: string[][]): void {
  let characters = 0;
  for (const cell of rows.flat()) characters += cell.length;
  if (characters > mostText)
    throw badRequest(
      `The sheet would have more than ${mostText} characters: send fewer checklists at once`,
      '/checklists',
    );
}

function readOne(given: string | object, index: number): OldChecklist {
  try {
    return readChecklist(given);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error;
    const field = error.field?.replace(/^\/checklist/, `/checklists/${index}`);
    throw badRequest(error.message.replace(/^checklist/, `checklists[${index}]`), field);
  }
}

function markingOf(checklists: OldChecklist[]): string | null {
  const words = checklists.map(({ checklist }) => checklist.target_data.classification?.trim() ?? '');
  const marking = [...new Set(words)].filter((word) => word !== '').join(', ');
  return marking === '' ? null : marking.slice(0, longestMarking).toWellFormed();
}

/** The sheet as a workbook. */
export function workbook(
  { rows: { sheet, header, rows, withoutCci }, columns: { titles }, marking }: MadeSheet,
  banner: string | null,
): Upgraded {
  const left = withoutCci.length;
  const note =
    sheet === 'poam' || left === 0
      ? ''
      : `${count(left, 'rule')} without a CCI ${left === 1 ? 'is' : 'are'} not in this sheet`;
  const values: Record<string, string> = { $marking: marking ?? banner ?? '', $note: note };
  const bytes = toXlsx({
    name: sheetNames[sheet],
    titles: titles.map((cells) => cells.map((cell) => values[cell] ?? cell)),
    header,
    rows,
    marking: marking ?? banner,
  });
  return { bytes, file: { name: `eMASS_${sheet}.xlsx`, type: 'xlsx', marking } };
}
