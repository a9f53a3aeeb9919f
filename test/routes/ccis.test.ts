import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { cciList, mappingsCsv, oscalCatalog, oscalProfile } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { rowsOf } from '../support/tables.ts';
import { noControl } from '../support/words.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule D54.1: CCIs as records, the list of frameworks, and ids of imported frameworks in any case.
const test = suite('CCIs and frameworks');

const rule = (number: number, ccis: string[], ruleVersion = `ALPH-${number}`) => ({
  groupId: `V-90000${number}`,
  ruleId: `SV-90000${number}r1_rule`,
  version: ruleVersion,
  severity: 'medium',
  ccis,
});
const harbor = JSON.stringify({
  catalog: {
    uuid: '7d6a9d2c-3f5e-4f7c-9a31-0a4f4d1b2c3d',
    metadata: {
      title: 'Harbor Rules v2.0',
      'last-modified': '2026-01-01T00:00:00Z',
      version: '2.0',
      'oscal-version': '1.1.2',
    },
    controls: ['HB-1.x', 'Hb-2', 'hb-2', 'Größe-3'].map((label, index) => ({
      id: `c${index}`,
      title: `Pier ${index}`,
      props: [{ name: 'label', value: label }],
      parts: [{ id: `c${index}_smt`, name: 'statement', prose: 'Moor.' }],
    })),
  },
});
/** References of a CCI, as `revision index`. */
const pairs = (text: string) =>
  text.split('|').map((each) => [each.slice(0, 1), each.slice(2)] as [string, string]);
const sources = [
  writeXccdf({
    id: 'Alpha_STIG',
    title: 'Alpha STIG',
    rules: [rule(1, ['CCI-000003', 'CCI-000001']), rule(2, ['CCI-000003'])],
  }),
  writeXccdf({ id: 'Alpha_STIG', title: 'Alpha STIG', release: 0.5, rules: [rule(1, ['CCI-000002'])] }),
  cciList('2024-01-01', [
    [1, pairs('4 AC-1 a 1|5 AC-1 a 1 (a)')],
    [2, pairs('5 AC-2 d 3, AC-2 e|3 AC-2'), 'deprecated'],
    [3, [], 'published'],
  ]),
  cciList('2020-01-01', [
    [1, [['4', 'AC-1 b']]],
    [4, []],
  ]),
  oscalCatalog(['ac-1', 'ac-2'].map((id) => ({ id }))),
  oscalProfile('low', ['ac-1']),
  harbor,
  mappingsCsv([['harbor-rules', '2.0', 'HB-1.x', 'nist-800-53', 'Rev 5', 'AC-1']]),
];

let t: TestApp;
test.before(async () => {
  const db = emptyCatalog();
  await importTexts(db, sources);
  t = await testApp([], { db });
});
test.after(() => t.db.close());

const get = async (path: string) => (await t.get(`/api/v1/controls${path}`, { token: null })).json;
const reference = (version: string, identifier: string, part: string) => {
  return { framework: 'nist-800-53', version, identifier, part };
};
const record = (number: number, more: object) => ({
  framework: 'cci',
  version: '2024-01-01',
  identifier: `CCI-00000${number}`,
  definition: `Item ${number}.`,
  status: 'draft',
  type: 'policy',
  references: [],
  rules: 0,
  ...more,
});
const records = [
  record(1, {
    references: [reference('Rev 4', 'AC-1', 'a 1'), reference('Rev 5', 'AC-1', 'a 1 a')],
    rules: 1,
  }),
  record(2, {
    status: 'deprecated',
    references: [
      reference('Rev 3', 'AC-2', ''),
      reference('Rev 5', 'AC-2', 'd 3'),
      reference('Rev 5', 'AC-2', 'e'),
    ],
  }),
  record(3, { status: 'published', rules: 2 }),
];

test('a CCI is a record, in any spelling and list', async () => {
  for (const [index, wanted] of records.entries())
    for (const spelling of [wanted.identifier, `cci-${index + 1}`, ` CCI${index + 1}`])
      assert.equal(await get(`/cci/${encodeURIComponent(spelling)}`), wanted);
  assert.equal((await get('/cci/cci-1?version=2020-01-01')).references, [reference('Rev 4', 'AC-1', 'b')]);
  for (const id of ['CCI-9', 'AC-1', 'cci'])
    assertError(await t.get(`/api/v1/controls/cci/${id}`), 404, 'NOT_FOUND', noControl(id));
  const old = await t.get('/api/v1/controls/cci/CCI-4');
  assertError(old, 404, 'NOT_FOUND', `${noControl('CCI-4')} is not in 2024-01-01. It is in 2020-01-01`);
});

test('every framework is listed, also one without a catalog', async () => {
  const versions = (...all: [string, boolean, number][]) =>
    all.map(([version, current, controls]) => ({ version, current, controls }));
  assert.equal((await get('')).frameworks, [
    {
      framework: 'nist-800-53',
      title: 'NIST SP 800-53',
      versions: versions(['Rev 5.1.1', true, 2]),
      baselines: ['low'],
    },
    { framework: 'nist-800-171', title: 'NIST SP 800-171', versions: [], baselines: [] },
    { framework: 'dod-8500', title: 'DoD 8500.2', versions: [], baselines: [] },
    {
      framework: 'cci',
      title: 'CCI',
      versions: versions(['2024-01-01', true, 2], ['2020-01-01', false, 2]),
      baselines: [],
    },
    {
      framework: 'harbor-rules',
      title: 'Harbor Rules v2.0',
      versions: versions(['2.0', true, 4]),
      baselines: [],
    },
  ]);
});

test('ids of an imported framework are found in any case, unless two differ by case alone', async () => {
  for (const [given, id] of [
    ['hb-1.X', 'HB-1.x'],
    [' Hb-1.x', 'HB-1.x'],
    ['GRÖSSE-3', null],
    ['GRÖßE-3', 'Größe-3'],
    ['Hb-2', 'Hb-2'],
    ['hb-2', 'hb-2'],
    ['HB-2', null],
  ] as const) {
    const found = await t.get(`/api/v1/controls/harbor-rules/${encodeURIComponent(given)}`);
    assert.is(found.json.identifier ?? null, id, given);
    assert.is((await t.get(`/controls/harbor-rules/${encodeURIComponent(given)}`)).status, found.status);
  }
  const { from, paths } = (await t.get('/api/v1/crosswalk/resolve?from=harbor-rules:hb-1.X&to=nist-800-53'))
    .json;
  assert.equal([from.identifier, paths.length], ['HB-1.x', 1]);
  const rules = (await t.get('/api/v1/control-rules/harbor-rules/hB-1.X')).json;
  assert.is(rules.control.identifier, 'HB-1.x');
  const body = { from: [{ framework: 'harbor-rules', identifier: 'HB-1.X' }], to: ['nist-800-53'] };
  const batch = (await t.send('POST', '/api/v1/crosswalk/resolve/batch', body)).json;
  assert.is(batch.results['harbor-rules:HB-1.X']['nist-800-53'].length, 1);
});

test('resolve and the batch name what does not exist, and nothing else', async () => {
  // from | to | version | what is unknown of it
  const cases = `
    nist-800-53:AC-1   | harbor-rules  |       |
    nist-800-53:AC-1   | dod-8500      | Rev 5 |
    NIST-800-53:ac-01  | CCI           |       |
    cci:CCI-4          | nist-800-53   |       |
    nist-800-53:AC-99  | cci           |       | identifier AC-99
    nist-800-53:AC     | harbour-rules |       | identifier AC, to harbour-rules
    nist-800-35:AC-1   | cci           | Rev 9 | framework nist-800-35
    nist-800-53:AC-99  | cci           | Rev 9 | identifier AC-99, version Rev 9
    nist-800-53:AC-1   | cci           | Rev 9 | version Rev 9
    harbor-rules:HB-1  | nist-800-53   | 2.0   | identifier HB-1
    __proto__:x        | constructor   |       | framework __proto__, to constructor`;
  for (const [from, to, version, names] of rowsOf(cases) as [string, string, string, string][]) {
    const unknown = names === '' ? [] : names.split(', ').map((each) => each.split(/ (.*)/));
    const named = (fieldOf: (part: string) => string) =>
      unknown.length === 0 ? undefined : unknown.map(([part, value]) => ({ field: fieldOf(part!), value }));
    const query = new URLSearchParams({ from, to, ...(version && { version }) });
    const one = await t.get(`/api/v1/crosswalk/resolve?${query}`, { token: null });
    const parameter = (part: string) => (['to', 'version'].includes(part) ? part : 'from');
    assert.equal([one.status, one.json.unknown], [200, named(parameter)], from);
    const [framework, identifier] = from.split(':');
    const known = { framework: 'cci', identifier: 'CCI-1' };
    const body = { from: [known, { framework, identifier, ...(version && { version }) }], to: [to] };
    // Not by way of the schema, which would lose a key such as `constructor`.
    const init = { method: 'POST', body: JSON.stringify(body) };
    const batch = await t.app.request('/api/v1/crosswalk/resolve/batch', init);
    const told = (await batch.json()) as { unknown?: unknown };
    const pointer = (part: string) => (part === 'to' ? '/to/0' : `/from/1/${part}`);
    assert.equal([batch.status, told.unknown], [200, named(pointer)], from);
  }
});

test('a CCI without a text has that of the newest older list that has one', async () => {
  const site = await testApp([shipped('controls', 'cci.csv')]);
  const read = async (id: string) => (await site.get(`/api/v1/controls/cci/${id}`)).json;
  assert.is((await read('CCI-000366')).definition, '');
  assert.not.ok('textFrom' in (await read('CCI-000366')));
  const deprecated = (await site.get('/api/v1/controls/cci?status=deprecated&limit=1')).json.controls[0]
    .identifier;
  const number = Number(deprecated.slice(4));
  await importTexts(site.db, [
    cciList('2010-01-01', [
      [366, []],
      [15, []],
      [number, []],
    ]),
    cciList('2016-01-01', [[366, []]]),
  ]);
  const texts = [];
  for (const id of ['CCI-000366', 'CCI-000015', deprecated, 'CCI-000016']) {
    const { version, definition, textFrom } = await read(id);
    texts.push([version, definition, textFrom]);
  }
  const newest = '2025-01-23';
  assert.equal(texts, [
    [newest, 'Item 366.', '2016-01-01'],
    [newest, 'Item 15.', '2010-01-01'],
    [newest, `Item ${number}.`, '2010-01-01'],
    [newest, '', undefined],
  ]);
  const page = (await site.get('/ccis/CCI-000366')).text;
  assert.match(page, /This is the text of 2016-01-01/);
  site.db.close();
});

test.run();
