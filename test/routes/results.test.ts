import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { type ScanShape, writeResults } from '../support/results-writer.ts';
import { rowsOf } from '../support/tables.ts';
import { sampleRules } from '../support/xccdf-writer.ts';

const scans = suite('Scan results to checklists');

type Rule = Cklb['stigs'][number]['rules'][number];
type Reported = { groupId: string; status: string; result: string | null; reason: string; kept: boolean };
const path = '/api/v1/checklists/from-results';
const slug = 'sample_product';
const title = 'Sample Product Security Technical Implementation Guide';
const shape: ScanShape = {
  benchmarkId: 'xccdf_mil.disa.stig_benchmark_Sample_Product_STIG',
  version: '001.001',
  releaseInfo: 'Release: 1.1 Benchmark Date: 12 Jan 2024',
  tool: 'cpe:/a:niwc:scc:5.8',
  target: 'web01',
};
let t: TestApp;

// V1R1 has the rules 1 to 6. In V1R2 the check of the second is another, the fourth has another V-id, the fifth is gone, the seventh is new.
scans.before(async () => {
  const rules = sampleRules(7, 'SAMP-01', 300_001);
  const newer = [
    rules[0]!,
    { ...rules[1], ruleId: 'SV-300002r2_rule', checks: ['Look twice.'] },
    rules[2]!,
    { ...rules[3], groupId: 'V-400004', ruleId: 'SV-400004r1_rule' },
    { ...rules[5], legacyIds: ['V-70006', 'SV-80006'] },
    rules[6]!,
  ];
  // The same rules twice: nothing but date and name tell these two apart.
  const twin = { id: 'Twin_STIG', title: 'Twin STIG', rules: 2, stem: 'TWIN', first: 500_001 };
  t = await testApp([
    writeBenchmarks([
      { release: 1, rules: rules.slice(0, 6) },
      { release: 2, date: '12 Apr 2024', rules: newer },
      { ...twin, release: 1 },
      { ...twin, release: 2, date: '12 Apr 2024' },
    ]),
  ]);
});
scans.after(() => t.db.close());

const ids = (numbers: number[], result: string) =>
  numbers.map((number) => ({ id: `SV-30000${number}r1_rule`, result }));
const send = (results: string, more: object = {}): Promise<Answer> =>
  t.send('POST', path, { results, ...more });
const statuses = (answer: Answer) =>
  (answer.json.report.rules as Reported[]).map(({ groupId, status, result, reason, kept }) => [
    groupId,
    status,
    result,
    reason,
    ...(kept ? ['kept'] : []),
  ]);

scans('the release that shares most rule ids, whatever number the results give it', async () => {
  const of = async (results: string, more: object = {}) => (await send(results, more)).json.report.release;
  const all = writeResults(ids([1, 2, 3, 4, 5, 6], 'pass'), { ...shape, version: '001.009' });
  const sample = { slug, title, named: 'V1R9' };
  assert.equal(await of(all), { ...sample, version: 'V1R1', chosenBy: 'rule-ids' });
  assert.equal(await of(all, { version: 'v1r2' }), { ...sample, version: 'V1R2', chosenBy: 'version' });
  const strange = await send(all, { slug: 'twin' });
  assert.is(strange.status, 400);
  assert.match(strange.json.error.message, /^results: no rule in them belongs to Twin STIG/);
  // Equally many ids: the date, then the name, then the newest.
  for (const [version, releaseInfo, chosen] of rowsOf(`
    002.007 | Benchmark Date: 12 Jan 2024 | V1R1 benchmark-date
    1 | Release: 1 | V1R1 named
    V1R1 | Benchmark Date: 01 Jan 2020 | V1R1 named
    | | V1R2 newest
  `)) {
    const more = version ? { version, releaseInfo: releaseInfo! } : {};
    const twin = writeResults([{ id: 'SV-500001r1_rule', result: 'pass' }], {
      benchmarkId: 'Twin_STIG',
      ...more,
    });
    const release = await of(twin);
    assert.is(`${release.version} ${release.chosenBy}`, chosen);
  }
});

scans('each rule has its status, and a reason where it is not reviewed', async () => {
  const results = [
    ...ids([1], 'pass'),
    ...ids([2], 'fail'),
    ...ids([3], 'error'),
    { id: 'V-300003', result: 'pass' },
    ...ids([4], 'pass'),
    { id: 'SV-80006r7_rule', result: 'fixed' },
    { id: 'SV-999999r1_rule', result: 'fail' },
  ];
  const answer = await send(writeResults(results, shape), { version: 'V1R2' });
  assert.is(answer.status, 200);
  const tested = (id: string, has: string) => `tested as ${id}, the release has ${has}`;
  assert.equal(statuses(answer), [
    ['V-300001', 'not_a_finding', 'pass', null],
    ['V-300002', 'open', 'fail', `${tested('SV-300002r1_rule', 'SV-300002r2_rule')} (changed: check)`],
    [
      ...['V-300003', 'not_reviewed', 'error'],
      `2 results: error, pass; error: its check ended with an error; ${tested('V-300003', 'SV-300003r1_rule')}`,
    ],
    [
      ...['V-400004', 'not_reviewed', null],
      'renamed: SV-300004r1_rule of V1R1 was tested: pass; check whether its answer still holds',
    ],
    ['V-300006', 'not_a_finding', 'fixed', tested('SV-80006r7_rule', 'SV-300006r1_rule')],
    [
      ...['V-300007', 'not_reviewed', null],
      'not in the results, which are of V1R1: that release does not have it',
    ],
  ]);
  assert.equal(answer.json.report.counts, { not_a_finding: 2, open: 1, not_applicable: 0, not_reviewed: 3 });
  assert.equal(answer.json.report.unknown, [
    { id: 'SV-300004r1_rule', result: 'pass' },
    { id: 'SV-999999r1_rule', result: 'fail' },
  ]);
  const rules = answer.json.checklist.stigs[0].rules as Rule[];
  assert.is(rules[0]!.finding_details, 'Result: pass (SCC 5.8, 2026-01-05T10:00:00)');
  assert.is(rules[4]!.comments, 'The tool fixed this during the scan (result: fixed).');
  assert.equal([rules[2]!.finding_details, rules[2]!.comments], ['', '']);
  assert.equal(answer.json.report.warnings, [
    'Of 7 results 2 are of rules as V1R2 has them, 3 of other revisions, 2 of rules that it does not have',
    'The results name V1R1; the checklist is of V1R2',
    'The rule ids of the results are those of V1R1',
  ]);
});

scans('the XML as body, JSON, a download, a ckl: one checklist', async () => {
  const xml = writeResults(ids([1, 2], 'fail'), shape);
  const byJson = await send(xml, { hostName: 'h 1', version: 'V1R1' });
  const query = '?hostName=h+1&version=V1R1';
  assert.equal((await t.send('POST', path + query, xml)).json, byJson.json);
  const utf16 = Buffer.from(`\uFEFF${xml.replace('UTF-8', 'UTF-16')}`, 'utf16le');
  const raw = await t.app.request(path + query, {
    method: 'POST',
    headers: { Authorization: `Bearer ${await t.token()}` },
    body: utf16,
  });
  assert.equal(await raw.json(), byJson.json);
  const file = await t.send('POST', `${path}${query}&download=true`, xml);
  assert.equal(file.json, byJson.json.checklist);
  assert.match(file.headers.get('Content-Disposition')!, 'filename="h_1_sample_product_V1R1.cklb"');
  const ckl = await t.send('POST', `${path}${query}&download=true&format=ckl`, xml);
  assert.match(ckl.headers.get('Content-Disposition')!, '.ckl"');
  const inReport = await send(xml, { hostName: 'h 1', version: 'V1R1', format: 'ckl' });
  assert.is(inReport.json.checklist, ckl.text);
  assert.is(byJson.json.checklist.target_data.host_name, 'h 1');
});

const plain = { noNullPrototype: true };
const text = fc.constantFrom('', 'Seen.', 'ü <b>&amp;</b>\n two');
const answered = fc.record(
  {
    status: fc.constantFrom('not_reviewed', 'not_applicable', 'open', 'not_a_finding'),
    finding_details: text,
    comments: text,
    overrides: fc.constantFrom({}, { severity: { severity: 'low', reason: 'Behind a wall.' } }),
  },
  plain,
) as fc.Arbitrary<Pick<Rule, 'status' | 'finding_details' | 'comments' | 'overrides'>>;
const result = fc.constantFrom('pass', 'fail', 'notapplicable', 'notchecked', null);
const expected = { pass: 'not_a_finding', fail: 'open', notapplicable: 'not_applicable' } as const;

scans('what people wrote stands, unless it is to be overwritten and the results decide', async () => {
  const { json: blank } = await t.get(`/api/v1/stigs/${slug}/download?version=V1R1&hostName=web01`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(answered, result), { minLength: 6, maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
      async (pairs, overwrite, asCkl) => {
        const old = structuredClone(blank) as Cklb;
        for (const [index, rule] of old.stigs[0]!.rules.entries()) Object.assign(rule, pairs[index]![0]);
        const tested = pairs.flatMap(([, each], index) => (each === null ? [] : ids([index + 1], each)));
        const results = [...tested, ...ids([1], pairs[0]![1] ?? 'notchecked')];
        const xml = writeResults(results, shape);
        const checklist = asCkl ? writeCkl(old) : old;
        const { status, json } = await send(xml, { checklist, overwrite });
        assert.is(status, 200);
        const release = { slug, title, version: 'V1R1', chosenBy: 'checklist', named: 'V1R1' };
        assert.equal(json.report.release, release);
        for (const [index, [was, tool]] of pairs.entries()) {
          const rule = json.checklist.stigs[0].rules[index] as Rule;
          const decides = tool !== null && tool !== 'notchecked';
          // A text beside Not Reviewed is no answer (rule D42.3).
          const isAnswered = was.status !== 'not_reviewed' || was.overrides.severity !== undefined;
          const stands = isAnswered && !(overwrite && decides);
          assert.is(json.report.rules[index].kept, stands);
          assert.equal(rule.overrides, was.overrides);
          assert.is(rule.comments, was.comments, 'comments always stand');
          if (stands) assert.equal([rule.status, rule.finding_details], [was.status, was.finding_details]);
          else {
            assert.is(rule.status, decides ? expected[tool as 'pass'] : 'not_reviewed');
            assert.is(/^Result: /m.test(rule.finding_details), decides);
            if (!isAnswered) assert.ok(rule.finding_details.startsWith(was.finding_details));
          }
        }
      },
    ),
    { numRuns: 40 },
  );
});

scans(
  'a checklist of a release that is not kept moves to that of the results; what is lost is said',
  async () => {
    const old = (await t.get(`/api/v1/stigs/${slug}/download?version=V1R1&hostName=other`)).json as Cklb;
    old.stigs[0]!.release_info = 'Release: 0 Benchmark Date: 01 Jan 2019';
    Object.assign(old.stigs[0]!.rules[4]!, { status: 'open', comments: 'Only here.' });
    const tested = [...ids([1, 3], 'pass'), { id: 'SV-300002r2_rule', result: 'fail' }];
    const xml = writeResults(tested, { ...shape, releaseInfo: 'x', version: 'x' });
    const { report, checklist } = (await send(xml, { checklist: old })).json;
    assert.is(report.release.version, 'V1R2');
    const lost = report.notCarried.map((each: { groupId: string; answer: Rule }) => [
      ...[each.groupId, each.answer.comments],
    ]);
    assert.equal(lost, [['V-300005', 'Only here.']]);
    for (const warning of [
      'The checklist is of other, the results are of web01',
      'V1R2 lacks rules that the checklist answers: see notCarried',
    ])
      assert.ok(report.warnings.includes(warning), warning);
    assert.is(checklist.target_data.host_name, 'other');
    assert.is((await send(xml, { checklist: { stigs: [{ stig_id: 'X', rules: [] }] } })).status, 400);
  },
);

scans(
  'remarks beside Not Reviewed stay first in their fields, and results twice are written once',
  async () => {
    const { json: old } = await t.get(`/api/v1/stigs/${slug}/download?version=V1R1&hostName=web01`);
    const severity = { severity: 'low', reason: 'Behind a wall.' };
    Object.assign(old.stigs[0].rules[0], { finding_details: 'Ask Ann.', comments: 'Mine.' });
    Object.assign(old.stigs[0].rules[1], { finding_details: 'Later.' });
    Object.assign(old.stigs[0].rules[2], { overrides: { severity } });
    const broken = [{ id: 'SV-300004r1_rule', result: 'error', message: 'It broke.' }];
    const results = [...ids([1], 'fixed'), ...ids([2], 'notchecked'), ...ids([3], 'fail'), ...broken];
    const xml = writeResults(results, shape);
    const once = (await send(xml, { checklist: old })).json;
    const rules = once.checklist.stigs[0].rules as Rule[];
    assert.match(rules[0]!.finding_details, /^Ask Ann\.\n.*Result: fixed/s);
    assert.is(rules[0]!.comments, 'Mine.\nThe tool fixed this during the scan (result: fixed).');
    assert.is(rules[1]!.finding_details, 'Later.');
    assert.is(rules[3]!.finding_details, 'It broke.');
    const statuses = rules.slice(0, 3).map(({ status }) => status);
    const kept = once.report.rules.slice(0, 3).map((each: Reported) => each.kept);
    assert.equal(
      [statuses, kept],
      [
        ['not_a_finding', 'not_reviewed', 'not_reviewed'],
        [false, false, true],
      ],
    );
    const again = (await send(xml, { checklist: once.checklist })).json.checklist.stigs[0].rules as Rule[];
    const texts = (each: Rule) => [each.finding_details, each.comments];
    assert.equal(again.map(texts), rules.map(texts));
  },
);

scans('results go to no release older than that of the checklist, unless asked (rule D42.4)', async () => {
  const { json: old } = await t.get(`/api/v1/stigs/${slug}/download?version=V1R2&hostName=web01`);
  // The rule ids are those of V1R1, alone among the releases.
  const xml = writeResults(ids([1, 2, 5], 'pass'), shape);
  const own = (await send(xml, { checklist: old })).json;
  assert.equal([own.report.release.version, own.report.release.chosenBy], ['V1R2', 'checklist']);
  // A name that nobody knows hides which of two STIGs it is: by its rules, and still not to the older release.
  const twin = (await t.get('/api/v1/stigs/twin/download')).json.stigs[0];
  const hidden = { ...old.stigs[0], stig_id: 'Nobody_Knows', stig_name: 'Nobody knows' };
  const among = (await send(xml, { checklist: { ...old, stigs: [twin, hidden] } })).json;
  assert.equal([among.report.release.version, among.report.release.chosenBy], ['V1R2', 'checklist']);
  assert.equal(among.checklist.stigs[0], twin);
  const gone = structuredClone(old);
  gone.stigs[0].release_info = 'Release: 7 Benchmark Date: 01 Jan 2027';
  const refused = await send(xml, { checklist: gone });
  assert.is(refused.status, 400);
  assert.match(refused.json.error.message, /release V1R7 is not in the catalog.* The catalog has V1R2, V1R1/);
  for (const more of [{ allowOlder: true }, { version: 'V1R1' }]) {
    const { status, json } = await send(xml, { checklist: gone, ...more });
    assert.equal([status, json.report.release.version], [200, 'V1R1'], JSON.stringify(more));
  }
});

scans('of several STIGs in a checklist the right one is merged into, at its own release', async () => {
  const own = (await t.get(`/api/v1/stigs/${slug}/download?version=V1R1`)).json as Cklb;
  const twin = (await t.get('/api/v1/stigs/twin/download')).json as Cklb;
  const checklist = { ...own, stigs: [twin.stigs[0]!, own.stigs[0]!] };
  // Of SCAP content, whose benchmark id is its own.
  const xml = writeResults([{ id: 'SV-300002r2_rule', result: 'fail' }, ...ids([1], 'pass')], {
    ...shape,
    benchmarkId: 'Sample_SCAP',
  });
  const { json } = await send(xml, { checklist });
  assert.equal([json.report.release.version, json.report.release.chosenBy], ['V1R1', 'checklist']);
  assert.equal(json.checklist.stigs[0], twin.stigs[0], 'the other one stays as it is');
  assert.equal(json.checklist.stigs[1].rules.map((rule: Rule) => rule.status).slice(0, 3), [
    'not_a_finding',
    'open',
    'not_reviewed',
  ]);
});

scans('texts of other tools: messages, what STIG Manager exports, overrides', async () => {
  const xml = `<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" xmlns:sm="http://github.com/nuwcdivnpt/stig-manager" id="Sample_Product_STIG">
    <TestResult id="t" start-time="2026-01-01T00:00:00Z" version="1.0"><target> </target><target>h2</target>
    <target-facts><fact name="tag:stig-manager@users.noreply.github.com,2020:asset:name" type="string">managed</fact></target-facts>
    <rule-result idref="SV-300001r1_rule" time="2026-01-02T00:00:00Z"><result>pass</result>
      <override time="2026-01-03" authority="ISSM"><old-result>fail</old-result><new-result>pass</new-result><remark>Seen &amp; fine</remark></override>
      <message>left out</message><check><check-content-ref name="oval:1" href="x"/><check-content><sm:detail>written</sm:detail><sm:comment>noted</sm:comment></check-content></check></rule-result>
    <rule-result idref="SV-300002r1_rule"><result>fail</result><message>one</message><message>two</message><check><check-content><result>pass</result></check-content></check></rule-result>
    <rule-result idref="SV-300003r1_rule"><result>notchecked</result><message>No candidate or applicable check found.</message></rule-result>
    </TestResult></Benchmark>`;
  const { checklist } = (await t.send('POST', path, xml)).json;
  const rules = checklist.stigs[0].rules as Rule[];
  assert.is(
    rules[0]!.finding_details,
    'written\nOverride: ISSM, 2026-01-03, old-result fail, new-result pass, remark Seen & fine\nResult: pass (2026-01-02T00:00:00Z, oval:1)',
  );
  assert.is(rules[0]!.comments, 'noted');
  assert.equal(
    [rules[1]!.status, rules[1]!.finding_details],
    ['open', 'one\ntwo\nResult: fail (2026-01-01T00:00:00Z)'],
  );
  assert.equal([rules[2]!.status, rules[2]!.finding_details], ['not_reviewed', '']);
  assert.is(checklist.target_data.host_name, 'managed');
});

scans('a new checklist has the marking of the site, one that is given its own', async () => {
  const marked = await testApp([shipped('stigs')], { banner: 'CUI' });
  const { json: checklist } = await t.get(`/api/v1/stigs/${slug}/download`);
  const harbor = (await marked.get('/api/v1/stigs/harbor_linux_3/download')).json;
  const results = writeResults([{ id: harbor.stigs[0].rules[0].rule_id_src, result: 'pass' }]);
  const of = async (more: object) => {
    const { json } = await marked.send('POST', path, { results, ...more });
    return json.checklist.target_data.classification;
  };
  assert.is(await of({}), 'CUI');
  assert.is(await of({ checklist: { ...harbor, target_data: { classification: 'NONE' } } }), 'NONE');
  assert.is(checklist.target_data.classification, null);
  marked.db.close();
});

scans.run();
