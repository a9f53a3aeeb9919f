import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { fileText } from '../../src/checklists/reference-lookup.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { benchmarkFiles, benchmarkPaths } from '../support/real-files.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { type ReadBenchmark, readBenchmark } from '../support/xccdf-reader.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

const url = '/api/v1/references';
const shortly = ({ references }: Json): string[] =>
  references.map(({ line, column, text, kind, state }: Json) => `${line}:${column} ${text} ${kind} ${state}`);

const init = { headers: { 'Content-Type': 'application/json' } };
const send = (body: object, app = t) => app.send('POST', url, body, init);

const samples = suite('references: sample data');
let t: TestApp;
samples.before(async () => {
  t = await testApp([shipped('stigs'), shipped('controls'), shipped('mappings')]);
});
samples.after(() => t.db.close());

async function ask(text: string, app = t): Promise<Json> {
  const { status, json, text: said } = await send({ text }, app);
  assert.is(status, 200, said.slice(0, 300));
  return json;
}

samples('states and places (rule D39.1)', async () => {
  const { counts, references } = await ask(
    '😀 V-900001\r\nSV-900001r1_rule AC-2(1)(c), AC-99; ZZ-9\n\tHARB-03-999999 CVE-2021-44228 V-123456',
  );
  assert.equal(shortly({ references }), [
    '1:4 V-900001 rule current',
    '2:1 SV-900001r1_rule rule changed',
    '2:18 AC-2(1)(c) control current',
    '2:30 AC-99 control unknown',
    '3:2 HARB-03-999999 rule unknown',
    '3:32 V-123456 rule unknown',
  ]);
  assert.equal(counts, { current: 2, changed: 1, removed: 0, withdrawn: 0, deprecated: 0, unknown: 3 });
  assert.match(
    references[1].advice,
    /^The newest revision is SV-900001r\d+\. No retained release has the cited one$/,
  );
});

samples('a file is binary where no encoding fits', () => {
  assert.is(fileText(Buffer.from([0xff, 0xfe, 0x00, 0xd8])), null);
  assert.is(fileText(Buffer.from('AC-2\0')), null);
  assert.is(
    fileText(Buffer.from('<?xml version="1.0" encoding="EBCDIC"?>é')),
    '<?xml version="1.0" encoding="EBCDIC"?>é',
  );
});

samples('a body is JSON with a text, or the text itself; anything else is refused', async () => {
  assert.is((await send({ txt: '' })).json.error.field, '/text');
  assert.is((await send({ text: 1 })).status, 400);
  assert.is((await send({ text: 'x'.repeat(8 * 1024 * 1024 + 1) })).status, 413);
  assert.is((await send({ text: 'AC-2 '.repeat(50_001) })).json.error.field, '/text');
  assert.is((await ask('AC-2 '.repeat(50_000))).counts.current, 50_000);
  assert.equal((await ask('')).references, []);
  const plain = { headers: { 'Content-Type': 'text/plain; charset=utf-8' } };
  const { json } = await t.send('POST', url, '{"text":"AC-2"}', plain);
  assert.equal(shortly(json), ['1:10 AC-2 control current']);
});

samples.run();

const real = suiteIf(referenceData, 'references: real files');
let r: TestApp;
real?.before(async () => {
  r = await testApp(benchmarkPaths);
});
real?.after(() => r.db.close());

const releaseOf = ({ version, releaseInfo }: ReadBenchmark) =>
  Number(version) * 1000 + Number(/Release: (\d+)/.exec(releaseInfo)![1]);

real?.('every id of every release is found with its state', async () => {
  const plain = (id: string) =>
    id
      .trim()
      .replace(/_rule$/, '')
      .split(' - ')[0]!
      .toUpperCase();
  const files = (await benchmarkFiles()).map(({ text }) => readBenchmark(text));
  // A STIG changes its id or its title over the years, seldom both at once.
  const newest: ReadBenchmark[] = [];
  const known = new Set<string>();
  for (const each of files.toSorted((a, b) => releaseOf(b) - releaseOf(a))) {
    const names = [each.id, each.title.toLowerCase()];
    if (!names.some((name) => known.has(name))) newest.push(each);
    for (const name of names) known.add(name);
  }
  const rules = newest.flatMap((each) => each.rules);
  const current = new Set(
    rules.flatMap((rule) => [rule.groupId, rule.ruleId, rule.version, ...rule.legacyIds].map(plain)),
  );
  // A legacy id with a revision: the rule lives on under another id.
  const legacy = new Set(rules.flatMap((rule) => rule.legacyIds.map(plain)));
  const numbers = new Set([...current].map((id) => id.replace(/^(SV-\d+)R\d+$/, '$1')));
  const expected = new Map<string, string>();
  for (const file of files) {
    for (const { groupId, ruleId, version, legacyIds } of file.rules) {
      for (const id of [groupId, ruleId, version, ...legacyIds].map((each) => each.trim())) {
        const number = plain(id).replace(/^(SV-\d+)R\d+$/, '$1');
        const isThere = current.has(plain(id));
        const isLegacy = number !== plain(id) && legacy.has(number);
        const isOther = numbers.has(number);
        if (id !== '') expected.set(id, isThere || isLegacy ? 'current' : isOther ? 'changed' : 'removed');
      }
    }
  }
  const ids = [...expected.keys()];
  const states = new Map<number, string>();
  // In parts: an upload has 20 s, also beside other work.
  for (let from = 0; from < ids.length; from += 2000)
    for (const { line, state } of (await ask(ids.slice(from, from + 2000).join('\n'), r)).references)
      states.set(from + line, state);
  const wrong = ids
    .map((id, index) => `${id} ${expected.get(id)} ${states.get(index + 1)}`)
    .filter((line) => line.split(' ').at(-1) !== line.split(' ').at(-2));
  assert.equal(wrong.slice(0, 40), []);
});

real?.('withdrawn controls and deprecated CCIs are those of the publishers (rule D39.1)', async () => {
  const list = reference('cci-2025-01-23', 'U_CCI_List.xml');
  const catalog = reference('oscal', 'NIST_SP-800-53_rev5_catalog-min.json');
  const full = await testApp([list, catalog]);
  const expected: string[] = [];
  for (const [, id, status] of readFileSync(list, 'utf8').matchAll(
    /<cci_item id="(CCI-\d{6})">\s*<status>(\w+)<\/status>/g,
  ))
    expected.push(`${id} ${status === 'deprecated' ? 'deprecated' : 'current'}`);
  const isWithdrawn = (control: Json) =>
    (control.props ?? []).some(
      ({ name, value }: Json) => name === 'status' && value.toLowerCase() === 'withdrawn',
    );
  const read = (control: Json): void => {
    const label = control.props.find(({ name, class: kind }: Json) => name === 'label' && kind === undefined);
    expected.push(`${label.value} ${isWithdrawn(control) ? 'withdrawn' : 'current'}`);
    for (const each of control.controls ?? []) read(each);
  };
  for (const group of JSON.parse(readFileSync(catalog, 'utf8')).catalog.groups)
    for (const control of group.controls) read(control);
  const { references } = await ask(expected.map((line) => line.split(' ')[0]).join('\n'), full);
  full.db.close();
  assert.equal(
    references.map(({ text, state }: Json) => `${text} ${state}`),
    expected,
  );
  for (const state of ['withdrawn', 'deprecated'])
    assert.ok(expected.filter((line) => line.endsWith(state)).length > 50, state);
});

real?.run();
