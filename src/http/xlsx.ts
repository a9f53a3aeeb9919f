import { count } from '../base/text.ts';
import { zipOf } from '../base/zip.ts';
import { cleanXml } from './columns.ts';

/** A cell: a number is a cell of numbers, a text stays a text whatever it looks like (rule D42.2). */
export type Cell = string | number;

/** A workbook of one sheet. */
export interface Sheet {
  /** At most 31 characters, none of `[]:*?/\`. */
  name: string;
  titles?: string[][];
  header: string[];
  rows: Cell[][];
  /** Long texts wrap in their cells. */
  wrapped?: boolean;
  /** A marking for the top of each printed page. */
  marking: string | null;
}

/** The most characters that Excel accepts in a cell; with more it "repairs" the file. */
export const longestCell = 32_767;

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** The parts of all workbooks. Style 1 is text format, so that an edited cell stays a text; 2 the same in bold; 3 for numbers. */
const constantParts: Record<string, string> = {
  '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': `<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="49" applyNumberFormat="1" applyAlignment="1"><alignment vertical="top"/></xf><xf numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/><xf applyAlignment="1"><alignment vertical="top"/></xf></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
};

/**
 * A workbook of one sheet (rule D30.1): the header frozen and filtered. A text too long for Excel is
 * cut and ends with a note. Equal sheets give equal bytes with the same zlib.
 */
export function toXlsx(sheet: Sheet): Uint8Array<ArrayBuffer> {
  const range = `$A$${headerRow(sheet)}:$${letters(sheet.header.length)}$${headerRow(sheet) + sheet.rows.length}`;
  const name = escaped(sheet.name);
  const workbook = `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="${name}" sheetId="1" r:id="rId1"/></sheets><definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">'${name}'!${range}</definedName></definedNames></workbook>`;
  const parts = {
    ...constantParts,
    'xl/styles.xml': sheet.wrapped
      ? wrapping(constantParts['xl/styles.xml']!)
      : constantParts['xl/styles.xml']!,
    'xl/workbook.xml': workbook,
    'xl/worksheets/sheet1.xml': sheetPart(sheet, range),
  };
  return zipOf(
    Object.entries(parts).map(([name, part]) => ({ name, content: Buffer.from(declaration + part) })),
  );
}

const wrapping = (styles: string) => styles.replaceAll('vertical="top"', 'vertical="top" wrapText="1"');

const headerRow = ({ titles = [] }: Sheet) => titles.length + 1;

function sheetPart(sheet: Sheet, range: string): string {
  const { titles = [], header, rows, marking } = sheet;
  const first = headerRow(sheet);
  const lines = [...titles, header, ...rows];
  const data: string[] = [];
  for (const [index, cells] of lines.entries()) {
    const style = index < first ? 2 : 1;
    const written = cells.map((value, column) => cell(value, `${letters(column + 1)}${index + 1}`, style));
    data.push(`<row r="${index + 1}">${written.join('')}</row>`);
  }
  const widths = header.map((_, column) => {
    const longest = rows.reduce(
      (most, cells) => Math.max(most, String(cells[column]).length),
      header[column]!.length,
    );
    return `<col min="${column + 1}" max="${column + 1}" width="${Math.min(longest, 60) + 3}" customWidth="1"/>`;
  });
  const frozen = `<pane ySplit="${first}" topLeftCell="A${first + 1}" activePane="bottomLeft" state="frozen"/>`;
  // In a page header & begins a code; && is the character.
  const top =
    marking === null
      ? ''
      : `<headerFooter><oddHeader>&amp;C${escaped(marking.replaceAll('&', '&&'))}</oddHeader></headerFooter>`;
  return `<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">${frozen}</sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData>${data.join('')}</sheetData><autoFilter ref="${range.replaceAll('$', '')}"/>${top}</worksheet>`;
}

function cell(value: Cell, at: string, style: number): string {
  if (value === '') return '';
  if (typeof value === 'number') return `<c r="${at}" s="3"><v>${value}</v></c>`;
  return `<c r="${at}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(whole(value))}</t></is></c>`;
}

/** The letters of a column, counted from 1: A to Z, AA and so on. */
function letters(column: number): string {
  const rest = Math.floor((column - 1) / 26);
  return `${rest === 0 ? '' : letters(rest)}${String.fromCharCode(65 + ((column - 1) % 26))}`;
}

/** A text cut to fit a cell, with a note of how much is left out. */
function whole(text: string): string {
  if (text.length <= longestCell) return text;
  const kept = text.slice(0, longestCell - 50).replace(/[\ud800-\udbff]$/, '');
  return `${kept} [${count(text.length - kept.length, 'more character')} left out]`;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text. Excel reads `_x000D_` as a character code, so its first underscore is escaped too. */
function escaped(text: string): string {
  return cleanXml(text)
    .replace(/\r\n?/g, '\n')
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[&<>"]/g, (each) => escapes[each]!);
}
