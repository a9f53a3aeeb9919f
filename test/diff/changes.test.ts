import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { ChangesSince } from '../../src/catalog/stigs/changes-schema.ts';
import { compareRules } from '../../src/catalog/stigs/compare.ts';
import { markedClasses, readMarks, writeMarks } from '../../src/catalog/stigs/marks.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { readCsv } from '../support/read-exports.ts';
import { assertError } from '../support/service.ts';
import { type SampleRule, sampleRules } from '../support/xccdf-writer.ts';
import { readSheet } from '../support/xlsx-reader.ts';

const made = suite('What changed since a day');

const header = [
  ...['slug', 'title', 'from', 'to', 'kind', 'classes', 'groupId', 'ruleVersion', 'ruleTitle'],
  ...['severityFrom', 'severityTo'],
];
/** Rules whose texts do not depend on where they stand. */
const [one, two, three, four, five] = sampleRules(5).map((rule, index) => ({
  ...rule,
  title: `Rule ${index + 1}.`,
  checks: [`Look at ${index + 1}.`],
  fixTexts: [`Mend ${index + 1}.`],
  description: `<VulnDiscussion>Why ${index + 1}.</VulnDiscussion>`,
})) as [SampleRule, SampleRule, SampleRule, SampleRule, SampleRule];
const catalog = '/api/v1/stigs/changes';
let t: TestApp;

made.before(async () => {
  t = await testApp([
    writeBenchmarks([
      { date: '12 Jan 2024', release: 1, rules: [one, two, three, four] },
      {
        ...{ date: '12 Apr 2024', release: 2 },
        rules: [one, { ...two, severity: 'low' }, three, { ...four, ruleId: 'SV-100004r2_rule' }],
      },
      {
        ...{ date: '12 Jul 2024', release: 3 },
        rules: [
          { ...one, severity: 'high', checks: ['Look twice.'], title: '=cmd()' },
          { ...two, ccis: ['CCI-000015'] },
          { ...four, ruleId: 'SV-100004r2_rule' },
          five,
        ],
      },
      { id: 'New', title: 'A new one STIG', date: '01 Jul 2024', rules: sampleRules(2, 'NEW-01', 500_001) },
      { id: 'Old', title: 'An old one STIG', date: '01 Jul 2020', rules: sampleRules(2, 'OLD-01', 600_001) },
      {
        ...{ id: 'Undated', title: 'Undated STIG', date: null, statusDate: null },
        rules: sampleRules(2, 'UND-01', 700_001),
      },
    ]),
  ]);
});
made.after(() => t.db.close());

const sample = {
  slug: 'sample_product',
  title: 'Sample Product Security Technical Implementation Guide',
};
const fresh = { slug: 'a_new_one', title: 'A new one STIG' };
const none = { check: 0, fix: 0, severity: 0, mapping: 0, cosmetic: 0 };

made('a page counts a raised rule once, as a changed one', async () => {
  const { html } = await loadPage(t, '/changes?since=2024-05-01', await userCaller(t));
  assert.match(textOf(html), ' 2 rules changed, of which 2 raised in severity, 3 added, 1 removed.');
});

made('the whole answer, word for word', async () => {
  const { json } = await t.get(`${catalog}?since=2024-05-01`);
  assert.equal(json, {
    since: '2024-05-01',
    totals: { stigs: 2, added: 3, removed: 1, changed: 2, severityRaised: 2 },
    stigs: [
      {
        ...{ ...fresh, from: null, to: 'V1R1' },
        ...{ added: 2, removed: 0, renumbered: 0, unchanged: 0, changed: none, severityRaised: [] },
      },
      {
        ...{ ...sample, from: 'V1R2', to: 'V1R3' },
        ...{ added: 1, removed: 1, renumbered: 0, unchanged: 1 },
        changed: { ...none, check: 1, severity: 1 },
        severityRaised: [
          { groupId: 'V-100001', ruleId: 'SV-100001r1_rule', title: '=cmd()', from: 'medium', to: 'high' },
          {
            ...{ groupId: 'V-100002', ruleId: 'SV-100002r1_rule', title: 'Rule 2.' },
            ...{ from: 'low', to: 'medium' },
          },
        ],
      },
    ],
  });
});

made('which release it is compared with: the newest that is dated before, and none is null', async () => {
  const cases: [since: string, from: (string | null)[]][] = [
    ['2024-07-13', []],
    ['2024-07-12', ['V1R2']],
    ['2024-07-12T23:59:59Z', ['V1R2']],
    ['2024-07-01', [null, 'V1R2']],
    ['2024-04-13', [null, 'V1R2']],
    ['2024-04-12', [null, 'V1R1']],
    ['2024-01-13', [null, 'V1R1']],
    ['2024-01-12', [null, null]],
    ['0001-01-01', [null, null, null]],
  ];
  for (const [since, from] of cases) {
    const { json } = await t.get(`${catalog}?since=${since}`);
    assert.is(json.since, since.slice(0, 10));
    const found = json.stigs.map((stig: { from: string | null }) => stig.from);
    assert.equal(found, from, since);
  }
  const since2024 = (await t.get(`${catalog}?since=2024-01-12`)).json;
  assert.equal(since2024.totals, { stigs: 2, added: 6, removed: 0, changed: 0, severityRaised: 0 });
});

made('csv and xlsx: a line for each rule, a formula is none', async () => {
  const { title } = sample;
  const rest = (rule: SampleRule, name: string) => [rule.groupId!, rule.version!, name];
  const expected = [
    header,
    ...[1, 2].map((n) => [
      ...[fresh.slug, fresh.title, '', 'V1R1', 'added', '', `V-50000${n}`, `NEW-01-00000${n}`],
      ...[`Setting ${n} must be on.`, '', 'medium'],
    ]),
    ...[
      ['added', '', ...rest(five, 'Rule 5.'), '', 'medium'],
      ['removed', '', ...rest(three, 'Rule 3.'), 'medium', ''],
      ['changed', 'check;severity;cosmetic', ...rest(one, '=cmd()'), 'medium', 'high'],
      ['changed', 'severity;mapping', ...rest(two, 'Rule 2.'), 'low', 'medium'],
    ].map((cells) => [sample.slug, title, 'V1R2', 'V1R3', ...cells]),
  ];
  const raw = await t.get(`${catalog}?since=2024-05-01&format=csv&raw=true`);
  const found = readCsv(raw.text);
  assert.equal(found, expected);
  const file = 'attachment; filename="changes_since_2024-05-01.csv"';
  assert.ok(raw.headers.get('Content-Disposition')!.startsWith(file));
  const escaped = readCsv((await t.get(`${catalog}?since=2024-05-01&format=CSV`)).text);
  assert.equal(
    escaped,
    found.map((cells) => cells.map((cell) => (cell === '=cmd()' ? "'=cmd()" : cell))),
  );
  const sheet = await t.app.request(`${catalog}?since=2024-05-01&format=xlsx`, {
    headers: { Authorization: `Bearer ${await t.token()}` },
  });
  assert.equal(readSheet(new Uint8Array(await sheet.arrayBuffer())).rows, found);
});

made('the same file of two releases, and what it is narrowed to', async () => {
  const diff = '/api/v1/stigs/sample_product/diff?from=V1R2&to=V1R3';
  const csv = async (path: string) => readCsv((await t.get(`${path}&format=csv&raw=true`)).text);
  const all = await csv(diff);
  assert.equal(
    all,
    (await csv(`${catalog}?since=2024-05-01`)).filter(([slug]) => slug !== fresh.slug),
  );
  const name = 'sample_product_V1R2_to_V1R3_changes.csv';
  const { headers } = await t.get(`${diff}&format=csv`);
  assert.ok(headers.get('Content-Disposition')!.startsWith(`attachment; filename="${name}"`));
  const whole = (await t.get(diff)).json;
  const cases: [filter: string, keeps: (cells: string[]) => boolean][] = [
    ['kind=added', (cells) => cells[4] === 'added'],
    ['kind=removed,Changed', (cells) => cells[4] !== 'added'],
    ['kind=renumbered', () => false],
    ['class=severity', (cells) => cells[5]!.split(';').includes('severity')],
    ['class=mapping&class=check', (cells) => /mapping|check/.test(cells[5]!)],
    ['class=check&kind=added', () => false],
    ['severity=high', (cells) => (cells[10] || cells[9]) === 'high'],
    ['severity=medium&kind=removed', (cells) => cells[4] === 'removed'],
  ];
  for (const [filter, keeps] of cases) {
    const [first, ...lines] = all;
    assert.equal(await csv(`${diff}&${filter}`), [first, ...lines.filter(keeps)], filter);
    const { json } = await t.get(`${diff}&${filter}`);
    assert.equal([json.summary, json.groupIds], [whole.summary, whole.groupIds]);
    const shown = [json.added, json.removed, json.changed].flat();
    assert.is(shown.length, lines.filter(keeps).length, filter);
    if (filter.includes('kind') && !filter.includes('renumbered')) assert.equal(json.renumbered, []);
  }
});

made('of a list: its own STIGs, since a day or since each was added, for who may see it', async () => {
  t.clock.now = new Date('2024-07-12T00:00:01Z');
  const token = await t.token();
  const post = (path: string, body: object) => t.send('POST', path, body, { token });
  const { id } = (await post('/api/v1/lists', { name: 'Two hosts' })).json;
  const path = `/api/v1/lists/${id}/changes`;
  const ask = (query: string) => t.get(`${path}?${query}`, { token });
  const slugsOf = async (since: string) =>
    (await ask(`since=${since}`)).json.stigs.map(({ slug }: { slug: string }) => slug);
  assert.equal(await slugsOf('added'), []);
  await post(`/api/v1/lists/${id}/stigs`, { slugs: ['a_new_one', 'an_old_one', 'undated'] });
  assert.equal(await slugsOf('2024-01-01'), ['a_new_one']);
  assert.equal(await slugsOf('added'), []);
  await post(`/api/v1/lists/${id}/stigs`, { slugs: ['sample_product'] });
  assert.equal(await slugsOf('Added'), [], 'the newest release is the one at which it was added');
  const whole: ChangesSince = (await t.get(`${catalog}?since=2024-07-12`, { token })).json;
  // As if it had been added while an older release was the newest: what was imported since counts, whatever its date.
  const addedAt = (version: string) =>
    t.db.sqlite.prepare("UPDATE list_stigs SET version = ? WHERE slug = 'sample_product'").run(version);
  addedAt(whole.stigs[0]!.from!);
  assert.equal(await slugsOf('added'), ['sample_product']);
  const { json } = await ask('since=added');
  assert.is(json.since, 'added');
  assert.equal([json.totals, json.stigs], [whole.totals, whole.stigs]);
  const csv = await ask('since=added&format=csv');
  const wholeCsv = await t.get(`${catalog}?since=2024-07-12&format=csv`, { token });
  assert.equal(readCsv(csv.text), readCsv(wholeCsv.text));
  assert.match(csv.headers.get('Content-Disposition')!, /filename="Two.hosts_changes_since_added\.csv"/);
  const bob = await t.token({ sub: 'bob', org: 'blue' });
  for (const format of ['json', 'csv', 'xlsx']) {
    const refused = await t.get(`${path}?since=2024-01-01&format=${format}`, { token: bob });
    assertError(refused, 404, 'NOT_FOUND', 'Not found');
  }
  t.clock.now = new Date('2026-11-21T12:00:00Z');
});

made('`added` is no day of the whole catalog, and an unknown list is a 404', async () => {
  const words = 'since must be a date in the form YYYY-MM-DD';
  const list = '/api/v1/lists/00000000-0000-4000-8000-000000000000/changes';
  for (const [path, message] of [
    [catalog, words],
    [list, `${words}, added or seen`],
  ] as const)
    assertError(await t.get(path), 400, 'BAD_REQUEST', message);
  assertError(await t.get(`${catalog}?since=added`), 400, 'BAD_REQUEST', words);
  assertError(await t.get(`${list}?since=added`), 404, 'NOT_FOUND', 'Not found');
});

made('a STIG of that name does not take the address', async () => {
  const other = await testApp([writeBenchmarks([{ id: 'Changes', title: 'Changes STIG' }])]);
  const { json } = await other.get('/api/v1/stigs');
  assert.is.not(json.stigs[0].slug, 'changes');
  assert.is((await other.get(`${catalog}?since=2020-01-01`)).json.stigs[0].slug, json.stigs[0].slug);
  other.db.close();
});

made('marks tell of two rules what their texts do', () => {
  const text = fc.constantFrom('', 'a', 'a b', 'a  b', 'a\nb ', 'A b', 'a b.');
  const severity = fc.constantFrom('high', 'medium', 'low');
  const ccis = fc.array(fc.constantFrom('CCI-000001', 'CCI-000002', 'CCI-000003'), { maxLength: 3 });
  const texts = { ruleTitle: text, vulnDiscussion: text, checkContent: text, fixText: text };
  const ids = { groupId: 'V-1', ruleId: 'SV-1r1_rule', ruleVersion: 'S-1', legacyIds: [] };
  const rule = fc.record({ ...texts, severity, ccis }).map((own) => ({ ...ids, ...own }));
  fc.assert(
    fc.property(rule, rule, (old, now) => {
      const [a, b] = readMarks(writeMarks([old, now]));
      const { changed } = compareRules([old], [now]);
      assert.equal(markedClasses(a!, b!), changed[0]?.classes ?? []);
    }),
    { numRuns: 300 },
  );
});

made.run();
