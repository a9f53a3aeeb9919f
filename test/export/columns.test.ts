import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type Column, cleanXml, toCsv, toXml } from '../../src/http/columns.ts';
import { suite } from '../support/harness.ts';
import { readCsv, readXmlRows } from '../support/read-exports.ts';
import { told } from '../support/told.ts';

const columns = suite('CSV and XML from columns');

type Cell = string | number | boolean | null;
const two: Column<Cell[]>[] = [
  { name: 'a', value: ([a]) => a! },
  { name: 'b', value: ([, b]) => b! },
];
const csvCell = (a: Cell, raw = false) => readCsv(toCsv(two, [[a, 'x']], raw))[1]![0];
const xmlCell = (a: Cell) => readXmlRows(toXml('list', 'row', two, [[a, 'x']])).rows[0]!.cells[0]![1];

columns('csv: a header, CRLF after every record, quotes only where needed', () => {
  const cases: [row: Cell[], text: string][] = [
    [['plain', 'with, comma'], 'plain,"with, comma"'],
    [['with "quotes"', ''], '"with ""quotes""",'],
    [[' blanks ', 'ünï 日本 😀'], ' blanks ,ünï 日本 😀'],
    [['one\ntwo', 'one\rtwo'], '"one\ntwo","one\rtwo"'],
    [['one\r\ntwo', 'x'], '"one\r\ntwo",x'],
    [['one\n', '\n'], '"one\n","\n"'],
    [[0, true], '0,true'],
    [[-1.5, false], '-1.5,false'],
    [[null, 12], ',12'],
  ];
  for (const [row, text] of cases) assert.is(toCsv(two, [row]), `a,b\r\n${text}\r\n`);
  const all = `a,b\r\n${cases.map(([, text]) => `${text}\r\n`).join('')}`;
  const rows = cases.map(([row]) => row);
  assert.is(toCsv(two, rows, true), all);
  assert.is(toCsv(two, []), 'a,b\r\n');
});

columns('csv: a cell that a spreadsheet would run is escaped, and exact when raw', () => {
  for (const start of '=+-@\t\r＝＋－＠')
    for (const more of ['', '1+1', "cmd|' /C calc'!A0", ` list item\n${start} next`]) {
      assert.is(csvCell(start + more), `'${start}${more}`);
      assert.is(csvCell(start + more, true), start + more);
    }
  for (const cell of ["'=1", 'a=1', ' =1', '1-1', '|', '%', '"=1"', '\n=1'])
    for (const raw of [false, true]) assert.is(csvCell(cell, raw), cell);
});

const binary = fc.string({ unit: 'binary', maxLength: 30 });
const tableOf = (text: fc.Arbitrary<string>) => fc.array(fc.tuple(text, text), { maxLength: 5 });
const runs = { numRuns: 150, seed: 20261121 };

columns('csv: every text reads back', () => {
  const letter = fc.constantFrom('\r\n', ...'",;\r\n=\' \ta\ufeff');
  const hostile = fc.array(letter, { maxLength: 12 }).map((parts) => parts.join(''));
  const text = fc.oneof(
    binary.filter((each) => !each.includes('\0')),
    hostile,
  );
  fc.assert(
    fc.property(tableOf(text), (rows) => {
      assert.equal(readCsv(toCsv(two, rows, true)), [['a', 'b'], ...rows]);
      const escaped = (cell: string) => (/^[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell);
      assert.equal(readCsv(toCsv(two, rows)), [['a', 'b'], ...rows.map((row) => row.map(escaped))]);
    }),
    runs,
  );
});

columns('xml: one root, an element a row, the columns as elements in their order', () => {
  const row = (...cells: Cell[]) => cells;
  const text = toXml('list', 'row', two, [row('x', 1), row(null, true)]);
  assert.match(text, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<list>[\s\S]*<\/list>\n$/);
  const { root, rows } = readXmlRows(text);
  assert.equal([root, ...told(rows, 'name', 'cells')], ['list', 'row a,x,b,1', 'row a,,b,true']);
  assert.equal(readXmlRows(toXml('list', 'row', two, [])), { root: 'list', rows: [] });
});

columns('xml: markup is text, a carriage return is one, and what XML forbids is removed', () => {
  const markup = `]]>|a]]>b|<![CDATA[x]]>|<!-- -- -->|--|&amp;|&#65;|&lt;|<a b="c">|'|"|&|<?pi?>|<!DOCTYPE x>|&lol;`;
  for (const value of [...markup.split('|'), 'a\rb', 'a\r\nb']) assert.is(xmlCell(value), value);
  for (let code = 0; code < 32; code++)
    if (![9, 10, 13].includes(code)) assert.is(xmlCell(`a${String.fromCharCode(code)}b`), 'ab', `${code}`);
  for (const forbidden of '\ufffe\uffff') assert.is(xmlCell(`a${forbidden}b`), 'ab');
  for (const kept of '\t\n\u007f\u0085\u00a0\u2028\ud7ff\ue000\ufffd😀\u{10ffff} ')
    assert.is(xmlCell(`a${kept}b ${kept}`), `a${kept}b ${kept}`, JSON.stringify(kept));
  for (const lone of ['\ud800', '\udfff', '\udc00\ud800'])
    assert.is(xmlCell(`a${lone}b`), `a${'\ufffd'.repeat(lone.length)}b`);
  assert.is(cleanXml('\u0000\u001b[31m\ufffe'), '[31m');
});

columns('xml: every text reads back, but for what XML forbids, and as csv has it', () => {
  const text = binary.map((each) => each.replaceAll('\r', ''));
  const clean = (value: string) => value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
  fc.assert(
    fc.property(tableOf(text), (rows) => {
      const { rows: read } = readXmlRows(toXml('list', 'row', two, rows));
      const expected = rows.map(([a, b]) => ({
        name: 'row',
        cells: Object.entries({ a: clean(a), b: clean(b) }),
      }));
      assert.equal(read, expected);
    }),
    runs,
  );
});

columns.run();
