import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type Column, cleanXml, joined, toCsv, toXml } from '../../src/http/columns.ts';
import { suite } from '../support/harness.ts';
import { readCsv, readXmlRows } from '../support/read-exports.ts';

const columns = suite('CSV and XML from columns');

interface Row {
  a: string | number | boolean | null;
  b: string | number | boolean | null;
}
const two: Column<Row>[] = [
  { name: 'a', value: (row) => row.a },
  { name: 'b', value: (row) => row.b },
];
const csvCell = (a: Row['a'], raw = false) => readCsv(toCsv(two, [{ a, b: 'x' }], raw))[1]![0];
const xmlCell = (a: Row['a']) =>
  readXmlRows(toXml('list', 'row', two, [{ a, b: 'x' }])).rows[0]!.cells[0]![1];

columns('csv: header row, CRLF after every record, quotes only where needed', () => {
  const rows = [
    { a: 'plain', b: 'with, comma' },
    { a: 'with "quotes"', b: '' },
    { a: ' blanks ', b: 'ünï 日本 😀' },
  ];
  assert.is(toCsv(two, rows), 'a,b\r\nplain,"with, comma"\r\n"with ""quotes""",\r\n blanks ,ünï 日本 😀\r\n');
  assert.is(toCsv(two, []), 'a,b\r\n');
});

columns('csv: a cell with any line end is quoted', () => {
  assert.is(toCsv(two, [{ a: 'one\ntwo', b: 'x' }]), 'a,b\r\n"one\ntwo",x\r\n');
  assert.is(toCsv(two, [{ a: 'one\rtwo', b: 'x' }]), 'a,b\r\n"one\rtwo",x\r\n');
  assert.is(toCsv(two, [{ a: 'one\r\ntwo', b: 'x' }]), 'a,b\r\n"one\r\ntwo",x\r\n');
  assert.is(toCsv(two, [{ a: 'one\n', b: '\n' }], true), 'a,b\r\n"one\n","\n"\r\n');
});

columns('csv: numbers and booleans as text, null as an empty cell', () => {
  const rows = [
    { a: 0, b: true },
    { a: -1.5, b: false },
    { a: null, b: 12 },
  ];
  assert.is(toCsv(two, rows), 'a,b\r\n0,true\r\n-1.5,false\r\n,12\r\n');
});

columns('csv: a cell that a spreadsheet would run is escaped, and exact when raw', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']) {
    for (const cell of [
      start,
      `${start}1+1`,
      `${start}cmd|' /C calc'!A0`,
      `${start} list item\n${start} next`,
    ]) {
      assert.is(csvCell(cell), `'${cell}`);
      assert.is(csvCell(cell, true), cell);
    }
  }
  for (const cell of ["'=1", 'a=1', ' =1', '1-1', '|', '%', '"=1"', '\n=1']) {
    assert.is(csvCell(cell), cell);
    assert.is(csvCell(cell, true), cell);
  }
});

columns('csv: every text reads back', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 }).filter((each) => !each.includes('\0'));
  const hostile = fc
    .array(fc.constantFrom('"', ',', ';', '\r', '\n', '\r\n', '=', "'", ' ', '\t', 'a', '\ufeff'), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.record({ a: fc.oneof(text, hostile), b: fc.oneof(text, hostile) })), (rows) => {
      assert.equal(readCsv(toCsv(two, rows, true)), [['a', 'b'], ...rows.map((row) => [row.a, row.b])]);
      const escaped = (cell: string) => (/^[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell);
      assert.equal(readCsv(toCsv(two, rows)), [
        ['a', 'b'],
        ...rows.map((row) => [escaped(row.a), escaped(row.b)]),
      ]);
    }),
    { numRuns: 300, seed: 20261121 },
  );
});

columns('xml: one root, an element a row, the columns as elements in their order', () => {
  const text = toXml('list', 'row', two, [
    { a: 'x', b: 1 },
    { a: null, b: true },
  ]);
  assert.match(text, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<list>/);
  assert.ok(text.endsWith('</list>\n'));
  assert.equal(readXmlRows(text), {
    root: 'list',
    rows: [
      {
        name: 'row',
        cells: [
          ['a', 'x'],
          ['b', '1'],
        ],
      },
      {
        name: 'row',
        cells: [
          ['a', ''],
          ['b', 'true'],
        ],
      },
    ],
  });
});

columns('xml: no rows is a root alone', () => {
  assert.equal(readXmlRows(toXml('list', 'row', two, [])), { root: 'list', rows: [] });
});

columns('xml: markup in a value is text', () => {
  for (const value of [
    ']]>',
    'a]]>b',
    '<![CDATA[x]]>',
    '<!-- -- -->',
    '--',
    '&amp;',
    '&#65;',
    '&lt;',
    '<a b="c">',
    "'",
    '"',
    '&',
    '<?pi?>',
    '<!DOCTYPE x>',
    '&lol;',
  ])
    assert.is(xmlCell(value), value);
});

columns('xml: what XML forbids is removed, everything else kept', () => {
  const forbidden = [...Array(32).keys()]
    .filter((code) => ![9, 10, 13].includes(code))
    .concat([0xfffe, 0xffff]);
  for (const code of forbidden)
    assert.is(xmlCell(`a${String.fromCharCode(code)}b`), 'ab', `U+${code.toString(16)}`);
  const kept = [
    '\t',
    '\n',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ud7ff',
    '\ue000',
    '\ufffd',
    '😀',
    '\u{10ffff}',
    ' ',
    '  x  ',
  ];
  for (const text of kept) assert.is(xmlCell(`a${text}b`), `a${text}b`, JSON.stringify(text));
  for (const lone of ['\ud800', '\udfff', '\udc00\ud800'])
    assert.is(xmlCell(`a${lone}b`), `a${'\ufffd'.repeat(lone.length)}b`);
  assert.is(cleanXml('\u0000\u001b[31m\ufffe'), '[31m');
});

columns('xml: a carriage return reads back as one', () => {
  assert.is(xmlCell('a\rb'), 'a\rb');
  assert.is(xmlCell('a\r\nb'), 'a\r\nb');
});

columns('xml: every text reads back, but for what XML forbids', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 }).map((each) => each.replaceAll('\r', ''));
  fc.assert(
    fc.property(fc.array(fc.record({ a: text, b: text }), { maxLength: 5 }), (rows) => {
      const { rows: read } = readXmlRows(toXml('list', 'row', two, rows));
      const clean = (value: string) =>
        value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
      assert.equal(
        read.map((row) => row.cells),
        rows.map((row) => [
          ['a', clean(row.a)],
          ['b', clean(row.b)],
        ]),
      );
    }),
    { numRuns: 300, seed: 20261121 },
  );
});

columns('csv and xml take the same columns and cannot disagree', () => {
  const rows = [
    { a: 'x\ny', b: 2 },
    { a: '', b: false },
  ];
  const [header, ...records] = readCsv(toCsv(two, rows, true));
  const read = readXmlRows(toXml('list', 'row', two, rows)).rows;
  assert.equal(
    read.map((row) => row.cells.map(([name]) => name)),
    records.map(() => header),
  );
  assert.equal(
    read.map((row) => row.cells.map(([, value]) => value)),
    records,
  );
});

columns('a list in one cell is joined by semicolons', () => {
  assert.is(joined(['CCI-000366', 'CCI-001084']), 'CCI-000366;CCI-001084');
  assert.is(joined([]), '');
});

columns.run();
