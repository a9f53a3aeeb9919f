import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { cciList, oscalCatalog } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { type SampleScapRule, writeScap } from '../support/scap-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { assertError } from '../support/service.ts';
import { noStig, noVersion } from '../support/words.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const automation = suite('Automation');

const rule = (number: number, revision: number, ...checks: SampleScapRule['checks'] & object) => ({
  ruleId: `SV-${100000 + number}r${revision}_rule`,
  groupId: `V-${100000 + number}`,
  checks,
});
const severities = ['high', 'medium', 'low', 'low', 'high', 'medium'];
const rules = sampleRules(6).map((each, index) => ({
  ...each,
  severity: severities[index]!,
  ccis: index === 5 ? [] : [index < 3 ? 'CCI-000001' : 'CCI-000366'],
}));
const one = {
  title: 'One SCAP Benchmark',
  version: '1.1',
  rules: [rule(1, 1, 'oval'), rule(2, 2, 'oval'), rule(3, 1, 'ocil'), rule(4, 3, 'oval'), rule(9, 1, 'ocil')],
};
const two = {
  collection: 'niwc',
  title: 'Two',
  version: '1.1.3',
  rules: [rule(1, 2, 'oval'), rule(3, 1, 'ocil'), rule(4, 1, 'ocil'), rule(5, 2), rule(2, 9, 'oval')],
};
const texts = [
  writeXccdf({ rules }),
  writeXccdf({
    rules: rules.slice(0, 2).map((each) => ({ ...each, ruleId: each.ruleId!.replace('r1', 'r2') })),
    release: 0.5,
    date: '1 Jan 2020',
  }),
  writeXccdf({ id: 'BARE', title: 'Bare STIG', stem: 'B', first: 500001, rules: 2 }),
  writeScap(one),
  writeScap(two),
  oscalCatalog(['ac-1', 'cm-6'].map((id) => ({ id }))),
];

async function site(): Promise<TestApp> {
  const folder = scratchFolder();
  return testApp(
    texts.map((text, at) => put(folder, `${at}.${text.startsWith('{') ? 'json' : 'xml'}`, text)),
  );
}

const ccis = cciList('2026-01-01', [
  [1, [['5', 'AC-1']]],
  [366, [['5', 'CM-6 a']]],
]);
const take = (t: TestApp, text: string) => runImport(t.db, [put(scratchFolder(), 'more.xml', text)]);

const address = '/api/v1/stigs/sample_product/automation';
const states = ['automated', 'stale', 'manual', 'stale', 'manual', 'none'];
const contents =
  'One SCAP Benchmark|One SCAP Benchmark;Two|One SCAP Benchmark;Two|One SCAP Benchmark|Two|'.split('|');

automation('each rule has the best state of all contents, and the names of those that give it', async () => {
  const t = await site();
  const { json } = await t.get(address);
  assert.equal(Object.keys(json), ['slug', 'version', 'content', 'totals', 'rules']);
  assert.equal([json.slug, json.version], ['sample_product', 'V1R1']);
  const said = json.rules.map((each: { state: string; content: string }) => [each.state, each.content]);
  assert.equal(
    said,
    states.map((state, index) => [state, contents[index]]),
  );
  assert.equal(json.totals, { rules: 6, automated: 1, stale: 2, manual: 2, none: 1 });
  assert.equal(json.rules[0], {
    groupId: 'V-100001',
    ruleId: 'SV-100001r1_rule',
    ruleVersion: 'SAMP-01-000001',
    ruleTitle: 'Setting 1 must be on.',
    severity: 'high',
    state: 'automated',
    content: 'One SCAP Benchmark',
  });
  const common = { date: '2023-12-20', scapVersion: '1.3', rules: 5 };
  assert.equal(json.content, [
    { name: 'One SCAP Benchmark', publisher: 'DISA', version: '1.1', ...common, automated: 3, manual: 2 },
    { name: 'Two', publisher: 'NIWC', version: '1.1.3', ...common, automated: 2, manual: 3 },
  ]);
});

automation('another release has the states of its own revisions', async () => {
  const t = await site();
  const { json } = await t.get(`${address}?version=V1R0.5`);
  assert.equal(
    json.rules.map((each: { state: string }) => each.state),
    ['automated', 'automated'],
  );
  assert.equal(json.totals, { rules: 2, automated: 2, stale: 0, manual: 0, none: 0 });
  assertError(await t.get(`${address}?version=V9R9`), 404, 'NOT_FOUND', noVersion('V9R9'));
  assertError(await t.get('/api/v1/stigs/nothing/automation'), 404, 'NOT_FOUND', noStig('nothing'));
});

automation('a file has a row for each rule, of a STIG and of a list', async () => {
  const t = await site();
  const file = readCsv((await t.get(`${address}?format=csv`)).text);
  assert.is(file[0]!.join(' '), 'slug version groupId ruleId ruleVersion severity ruleTitle state content');
  const ends = file.slice(1).map((row) => row.slice(-2));
  assert.equal(
    ends,
    states.map((state, index) => [state, contents[index]]),
  );
  const { list, path } = await listOf(t, ['sample_product', 'bare']);
  const both = await t.get(`${path}?format=csv`);
  const rows = readCsv(both.text);
  assert.equal(rows.slice(0, 7), file);
  assert.is(
    rows
      .slice(7)
      .map((row) => `${row[0]} ${row[7]}`)
      .join(),
    'bare none,bare none',
  );
  assert.match(both.headers.get('Content-Disposition')!, new RegExp(`${list}.automation\\.csv`));
  assert.is((await t.get(`${path}?format=xlsx`)).status, 200);
  assert.is((await t.get(`${path}?format=xml`)).json.error.field, 'format');
});

async function listOf(t: TestApp, slugs: string[]): Promise<{ list: string; path: string }> {
  const { json } = await t.send('POST', '/api/v1/lists', { name: 'Work' });
  await t.send('POST', `/api/v1/lists/${json.id}/stigs`, { slugs });
  return { list: 'Work', path: `/api/v1/lists/${json.id}/automation` };
}

automation('the plan of a list counts by STIG, severity and family', async () => {
  const t = await site();
  await take(t, ccis);
  const { path } = await listOf(t, ['sample_product', 'bare']);
  const { json } = await t.get(path);
  const totals = (automated: number, stale: number, manual: number, none: number) => {
    return { rules: automated + stale + manual + none, automated, stale, manual, none };
  };
  assert.equal(
    json.stigs.map((each: Record<string, unknown>) => [each.slug, each.version, each.totals]),
    [
      ['sample_product', 'V1R1', totals(1, 2, 2, 1)],
      ['bare', 'V1R1', totals(0, 0, 0, 2)],
    ],
  );
  assert.equal(json.totals, totals(1, 2, 2, 3));
  assert.equal(json.severities, {
    high: totals(1, 0, 1, 0),
    medium: totals(0, 1, 0, 3),
    low: totals(0, 1, 1, 0),
  });
  assert.equal(
    json.families.map((each: { totals: unknown }) => each.totals),
    [totals(1, 1, 1, 0), totals(0, 1, 1, 2), totals(0, 0, 0, 1)],
  );
  assert.is(json.families.at(-1).family, '');
});

automation('the rules of a control have their state', async () => {
  const t = await site();
  await take(t, ccis);
  const { json } = await t.get('/api/v1/control-rules/nist-800-53/AC-1');
  assert.equal(
    json.stigs[0].rules.map((each: { automation: string }) => each.automation),
    states.slice(0, 3),
  );
});

automation('an import of content changes what is answered', async () => {
  const t = await site();
  const before = await t.get(address);
  await take(t, writeScap({ ...one, version: '1.2', rules: [rule(1, 9, 'oval'), rule(6, 1, 'oval')] }));
  const after = await t.get(address);
  assert.is.not(after.headers.get('ETag'), before.headers.get('ETag'));
  assert.equal(
    after.json.rules.map((each: { state: string }) => each.state),
    ['stale', 'stale', 'manual', 'manual', 'manual', 'automated'],
  );
});

automation.run();
