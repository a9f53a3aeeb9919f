import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { badRequest } from '../base/errors.ts';
import { packageRoot } from '../base/root.ts';
import { type EmassBody, type EmassSheet, emassTemplates } from './emass-schema.ts';

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
export interface EmassColumns {
  titles: string[][];
  header: string[];
  rowOf(fields: Fields): string[];
}

/** The columns that a request asks for: its own, or those of a template. Throws a 400. */
export function columnsFor({ sheet, template, columns }: EmassBody): EmassColumns {
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
