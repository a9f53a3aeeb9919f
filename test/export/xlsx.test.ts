import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { longestCell, type Sheet, toXlsx } from '../../src/http/xlsx.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { shipped } from '../support/reference.ts';
import { told } from '../support/told.ts';
import { partsOf, readCells, readSheet } from '../support/xlsx-reader.ts';

const xlsx = suite('xlsx');

const sheetOf = (rows: string[][], more: Partial<Sheet> = {}): Sheet => ({
  name: 'list',
  header: rows[0]?.map((_, index) => `column ${index}`) ?? ['only'],
  rows,
  marking: null,
  ...more,
});
const cellsOf = async (rows: string[][]) => readSheet(await toXlsx(sheetOf(rows))).rows.slice(1);

xlsx('every cell is the text that it was: no number, no date, no formula', async () => {
  const texts =
    `=1+1|+cmd|-1|@SUM(A1)|000366|1E5|1.10|2026-01-05|TRUE|#REF!|'x| leading|trailing |\ttab|<b>&amp;</b>|"q"|
ünï 日本 😀|]]>|{=1}|_x000D_|a_x0041_b|_xzzzz_|__x000d_|_x005F_x000D_|a\nb\n`.split('|');
  const bytes = await toXlsx(sheetOf(texts.map((text) => [text, text])));
  assert.equal(
    readCells(bytes).rows.slice(1),
    texts.map((text) => [text, text]),
  );
  const parts = await partsOf(bytes);
  const part = parts.get('xl/worksheets/sheet1.xml')!;
  assert.not.match(part, /<f[ />]/);
  assert.is(part.match(/<c /g)!.length, part.match(/<c [^>]*t="inlineStr"/g)!.length);
  // A cell that is edited stays a text: its format is that of texts.
  assert.match(parts.get('xl/styles.xml')!, /<cellXfs count="4"><xf\/><xf numFmtId="49"/);
});

xlsx('any text reads back, but for what XML forbids and how lines end', async () => {
  const letter = fc.constantFrom('00D_', ...'=_x0<&"\r\n\u0000\u001f\ufffe\ud800 ');
  const text = fc.array(fc.oneof(letter, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 12 });
  const row = fc.array(
    text.map((parts) => parts.join('')),
    { minLength: 3, maxLength: 3 },
  );
  const rows = fc.array(row, { minLength: 1, maxLength: 6 });
  const held = (value: string) =>
    value
      .toWellFormed()
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replace(/\r\n?/g, '\n');
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const read = await cellsOf(given);
      // A row or cell of nothing is not written, so the end may be missing.
      const padded = given.map((cells, row) => cells.map((_, column) => read[row]?.[column] ?? ''));
      assert.equal(
        padded,
        given.map((cells) => cells.map(held)),
      );
    }),
    { numRuns: 50, seed: 20261122 },
  );
});

xlsx('a number is a cell of numbers, and an identifier stays a text (rule D42.2)', async () => {
  const rows = [
    [0, '411', '3.10'],
    [-1.5, '1e3', ''],
    [2 ** 40, '007', 'x'],
  ];
  assert.equal(readCells(await toXlsx(sheetOf([], { header: ['a', 'b', 'c'], rows }))).rows.slice(1), rows);
});

xlsx('a header that is frozen and filtered, lines above it, columns beyond Z', async () => {
  const header = Array.from({ length: 60 }, (_, index) => `h${index}`);
  const rows = [header.map((_, index) => String(index))];
  const titles = [['First'], ['Second', 'x']];
  const bytes = await toXlsx({ name: 'A & <B>', titles, header, rows, marking: null });
  const read = readSheet(bytes);
  assert.is(read.name, 'A & <B>');
  const shown = read.rows.map((cells) => cells.filter((cell) => cell !== ''));
  assert.equal(shown, [['First'], ['Second', 'x'], header, rows[0]]);
  const parts = await partsOf(bytes);
  const names = `[Content_Types].xml _rels/.rels xl/_rels/workbook.xml.rels xl/styles.xml xl/workbook.xml
    xl/worksheets/sheet1.xml`;
  assert.equal([...parts.keys()].sort(), names.split(/\s+/));
  const part = parts.get('xl/worksheets/sheet1.xml')!;
  assert.match(part, /<pane ySplit="3" topLeftCell="A4" activePane="bottomLeft" state="frozen"\/>/);
  assert.match(part, /<\/sheetData><autoFilter ref="A3:BH4"\/><\/worksheet>$/);
  assert.match(parts.get('xl/workbook.xml')!, /hidden="1">'A &amp; &lt;B&gt;'!\$A\$3:\$BH\$4</);
  assert.match(part, /<c r="Z3"[^>]*>.*<c r="AA3"/);
});

xlsx('a text that Excel does not take ends with what was left out, between characters', async () => {
  const sizes = [longestCell, longestCell + 1, 100_000];
  const read = await cellsOf(sizes.map((size) => ['x'.repeat(size)]));
  assert.equal(read[0], ['x'.repeat(longestCell)]);
  for (const [index, size] of sizes.slice(1).entries()) {
    const [, kept, left] = /^(x+) \[([\d,]+) more characters left out\]$/.exec(read[index + 1]![0]!)!;
    assert.ok(read[index + 1]![0]!.length <= longestCell);
    assert.is(kept!.length + Number(left!.replaceAll(',', '')), size);
  }
  for (const start of ['', 'x']) {
    const [[cut]] = (await cellsOf([[start + '😀'.repeat(20_000)]])) as [[string]];
    assert.match(cut, /^x?(?:😀)+ \[[\d,]+ more characters left out\]$/u);
  }
});

xlsx('a marking stands on every printed page', async () => {
  const part = async (marking: string) =>
    (await partsOf(await toXlsx(sheetOf([['a']], { marking })))).get('xl/worksheets/sheet1.xml')!;
  assert.match(
    await part('CUI'),
    /<headerFooter><oddHeader>&amp;CCUI<\/oddHeader><\/headerFooter><\/worksheet>$/,
  );
  assert.match(await part('A&B <C>'), /<oddHeader>&amp;CA&amp;&amp;B &lt;C&gt;</);
});

xlsx('the same sheet gives the same bytes', async () => {
  const rows = Array.from({ length: 300 }, (_, index) => [`V-${index}`, 'text '.repeat(index)]);
  assert.equal(await toXlsx(sheetOf(rows)), await toXlsx(sheetOf(rows)));
});

const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

async function bytesAt(t: TestApp, path: string, token: string): Promise<Uint8Array> {
  const response = await t.app.request(path, { headers: { Authorization: `Bearer ${token}` } });
  assert.is(response.status, 200, path);
  assert.is(response.headers.get('Content-Type'), type);
  assert.match(response.headers.get('Content-Disposition')!, /\.xlsx"; filename\*=UTF-8''[^;]*\.xlsx$/);
  const again = await t.app.request(path, {
    headers: { Authorization: `Bearer ${token}`, 'If-None-Match': response.headers.get('ETag')! },
  });
  assert.is(again.status, 304);
  return new Uint8Array(await response.arrayBuffer());
}

xlsx('wherever csv is, the same cells; every sixth STIG there is', async () => {
  const t = await testApp([...benchmarkPaths, shipped('roles'), shipped('regulatory'), shipped('controls')]);
  const token = await t.token({ entitlements: ['regdoc', 'occ'] });
  const get = async (path: string) => (await t.get(path, { token })).json;
  const send = async (path: string, body: object) => (await t.send('POST', path, body, { token })).json;
  const slugs: string[] = told((await get('/api/v1/stigs?limit=150')).stigs, 'slug');
  const list = await send('/api/v1/lists', { name: '=1+1/x' });
  await send(`/api/v1/lists/${list.id}/stigs`, { slugs: slugs.slice(0, 5) });
  const collection = await send('/api/v1/control-collections', { name: 'c' });
  const controls = [{ framework: 'nist-800-53', controlId: 'AC-2' }];
  await send(`/api/v1/control-collections/${collection.id}/controls`, { controls });
  const { documents } = await get('/api/v1/regdoc');
  const { roles } = await get('/api/v1/roles');
  for (const [path, name] of [
    ...slugs.filter((_, at) => at % 6 === 0).map((slug) => [`stigs/${slug}/download`, 'stig'] as const),
    [`lists/${list.id}/export`, 'list'],
    [`control-collections/${collection.id}/export`, 'collection'],
    [`regdoc/${documents[0].documentId}/download`, 'regdoc'],
    [`roles/${roles[0].occupationCode}/download`, 'role'],
  ] as const) {
    const { text } = await t.get(`/api/v1/${path}?format=csv&raw=true`, { token });
    const csv = readCsv(text).map((cells) => cells.map((cell) => cell.replace(/\r\n?/g, '\n')));
    const read = readSheet(await bytesAt(t, `/api/v1/${path}?format=xlsx`, token));
    assert.equal([read.name, read.rows.length], [name, csv.length], path);
    for (const [row, cells] of csv.entries())
      for (const [column, cell] of cells.entries()) {
        const found = read.rows[row]![column] ?? '';
        if (cell.length <= longestCell) assert.is(found, cell, `${path} ${row} ${column}`);
        else assert.ok(found.startsWith(cell.slice(0, 32_000)) && found.endsWith(' left out]'), path);
      }
  }
  t.db.close();
});

xlsx('what is a number in the JSON is one in a sheet (rule D42.2)', async () => {
  const t = await testApp([shipped('stigs'), shipped('controls'), shipped('mappings'), shipped('roles')]);
  const token = await t.token({ entitlements: ['occ'] });
  const { roles } = (await t.get('/api/v1/roles', { token })).json;
  const numbers: [path: string, columns: string[]][] = [
    ['/api/v1/stigs/harbor_linux_3/coverage', ['total', 'high', 'medium', 'low']],
    ['/api/v1/search?q=harbor', ['rank']],
    [`/api/v1/roles/${roles[0].occupationCode}/download`, ['ordinal']],
  ];
  for (const [path, expected] of numbers) {
    const url = `${path}${path.includes('?') ? '&' : '?'}format=xlsx`;
    const [header, ...rows] = readCells(await bytesAt(t, url, token)).rows;
    assert.ok(rows.length > 0, path);
    const found = header!.filter((_, at) => rows.some((cells) => typeof cells[at] === 'number'));
    assert.equal(found.slice(0, expected.length), expected, path);
    for (const name of expected) {
      const cells = rows.map((each) => each[header!.indexOf(name)]);
      assert.ok(
        cells.every((each) => typeof each === 'number' || each === ''),
        `${path} ${name}`,
      );
    }
  }
  t.db.close();
});

xlsx.run();
