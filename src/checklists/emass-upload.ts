import type { Ask } from '../base/ask.ts';
import { AppError, badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { count } from '../base/text.ts';
import { check } from '../http/schema.ts';
import { toXlsx } from '../http/xlsx.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { deviceName } from './device-name.ts';
import { poamRows, rulesOf, testResultRows } from './emass.ts';
import { columnsFor, type EmassColumns } from './emass-columns.ts';
import { type EmassBody, type EmassRows, emassBody } from './emass-schema.ts';
import { uploadJobs } from './jobs.ts';
import { readChecklist } from './read-checklist.ts';
import { answerOf, longestMarking, parseBody, type Upgraded } from './upload.ts';

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
  const asked = check(emassBody, parseBody(utf8Body(bytes)));
  const made = await emassSheet(ask, asked);
  return asked.format === 'json' ? answerOf(made.rows) : workbook(made, banner);
}

/** The sheet of checklists, before it is written. Throws a 400. */
export async function emassSheet(ask: Ask, asked: EmassBody): Promise<MadeSheet> {
  const columns = columnsFor(asked);
  const checklists = asked.checklists.map(readOne);
  const warnings = checklists.flatMap(({ checklist: { target_data }, warnings }) =>
    warnings.map((warning) => `${deviceName(target_data) || '(no host name)'}: ${warning}`),
  );
  const isPoam = asked.sheet === 'poam';
  const rules = rulesOf(checklists).filter(({ rule }) => !isPoam || rule.status === 'open');
  const ccis = [...new Set(rules.flatMap((each) => each.ccis))].sort();
  if (ccis.length > mostCcis)
    throw badRequest(
      `checklists must name at most ${mostCcis} different CCIs, not ${ccis.length}`,
      '/checklists',
    );
  const facts = await ask(uploadJobs.factsOfCcis, ccis, asked.revision);
  const rows = (isPoam ? poamRows : testResultRows)(rules, facts, asked).map(columns.rowOf);
  refuseLargeSheet(rows);
  const made: EmassRows = {
    sheet: asked.sheet,
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
