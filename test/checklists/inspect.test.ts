import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { writeResults } from '../support/results-writer.ts';
import { rowsOf } from '../support/tables.ts';
import { told } from '../support/told.ts';
import { sampleRules } from '../support/xccdf-writer.ts';

// A second look at a checklist: every fault is named, and nothing else.
const inspections = suite('Inspection of checklists');

type Finding = { code: string; severity: string; groupId: string | null; message: string; advice: string };
const path = '/api/v1/checklists/inspect';
let t: TestApp;

inspections.before(async () => {
  const rules = sampleRules(40, 'SAMP-01', 300_001);
  const changed = rules.map((rule, index) =>
    index < 3 ? { ...rule, ruleId: `SV-30000${index + 1}r2_rule`, checks: ['Look twice.'] } : rule,
  );
  t = await testApp([
    writeBenchmarks([
      { release: 1, rules },
      {
        release: 2,
        date: '12 Apr 2024',
        rules: [...changed.slice(0, 38), ...sampleRules(1, 'NEW', 300_099)],
      },
      { id: 'Other_STIG', title: 'Other STIG', rules: 3, stem: 'OTH', first: 500_001 },
    ]),
  ]);
});
inspections.after(() => t.db.close());

const sample = {
  ...{ slug: 'sample_product', title: 'Sample Product Security Technical Implementation Guide' },
  ...{ version: 'V1R2', current: 'V1R2' },
};
const codes = (findings: Finding[]) => findings.map(({ code, groupId }) => [code, groupId]).sort();

/** A checklist that is answered as it should be. */
async function sound(version = 'V1R2', slug = 'sample_product'): Promise<Cklb> {
  const host = 'hostName=web01&ipAddress=192.0.2.1,+2001:db8::1&macAddress=00:15:5d:0e:92:0c';
  const more = 'fqdn=web01.example.mil&role=Member+Server';
  const { json } = await t.get(`/api/v1/stigs/${slug}/download?version=${version}&${host}&${more}`);
  for (const rule of json.stigs[0].rules)
    Object.assign(rule, { status: 'not_a_finding', finding_details: 'Seen.', comments: 'Fine.' });
  return json as Cklb;
}

const inspect = async (body: unknown) => {
  const { status, json } = await t.send('POST', path, body);
  assert.is(status, 200, JSON.stringify(json).slice(0, 300));
  return json;
};

inspections('planted faults of every kind, all of them and nothing else', async () => {
  const old = await sound();
  const rules = old.stigs[0]!.rules;
  const set = (at: number, more: object) => Object.assign(rules[at]!, more);
  const wrong = { host_name: ' ', ip_address: '192.0.2.1, 192.0.2.256', mac_address: '00:15:5D' };
  Object.assign(old.target_data, { ...wrong, fqdn: 'web 01', role: 'Router' });
  set(0, { rule_id: 'SV-300001r1', rule_id_src: 'SV-300001r1_rule' });
  set(1, { status: 'open', finding_details: '', comments: '' });
  set(2, { status: 'not_applicable', finding_details: ' \n' });
  set(3, { overrides: { severity: { severity: 'low', reason: '' } } });
  set(4, { finding_details: 'x'.repeat(32_768) });
  set(5, { severity: 'high' });
  set(6, { check_content: 'Look elsewhere.' });
  set(7, { fix_text: 'Do nothing.' });
  set(8, { ccis: [] });
  set(9, { status: 'passed' });
  set(10, { severity: 'critical' });
  set(11, { rule_version: 'SAMP-99-000001' });
  set(15, { rule_title: 'x' });
  set(16, { uuid: 'x' });
  set(12, { overrides: { severity: { severity: '', reason: 'Because.' } } });
  rules.push({ ...rules[13]! });
  const unknown = { group_id: 'V-999999', rule_id: 'SV-999999r1', rule_id_src: 'SV-999999r1_rule' };
  rules.push({ ...rules[14]!, ...unknown, rule_version: 'X-1', legacy_ids: [] });
  rules.splice(20, 1);
  const expected = rowsOf(`
    no-host-name | null
    bad-ip-address | null
    bad-mac-address | null
    bad-fqdn | null
    bad-role | null
    other-revision | V-300001
    no-details | V-300002
    no-details | V-300003
    override-without-reason | V-300004
    long-text | V-300005
    severity-differs | V-300006
    check-differs | V-300007
    fix-differs | V-300008
    ccis-differ | V-300009
    bad-status | V-300010
    bad-severity | V-300011
    ids-differ | V-300012
    reason-without-override | V-300013
    text-differs | V-300016
    bad-uuid | null
    repeated-rule | V-300014
    unknown-rule | V-999999
    missing-rule | V-300021
  `).map(([code, id]) => [code!, id === 'null' ? null : id!]);
  const { kind, stigs } = await inspect({ checklist: old });
  assert.is(kind, 'cklb');
  const [{ findings, ...head }] = stigs;
  assert.equal(head, { ...sample, rules: 40, answered: 40 });
  assert.equal(codes(findings), expected.sort());
  for (const { message, advice, severity } of findings as Finding[]) {
    assert.ok(message.length > 10 && message.length < 300 && advice.length > 10);
    assert.ok(severity === 'error' || severity === 'warning');
  }
  // A ckl says the same; its writer knows no other status.
  set(9, { status: 'open' });
  const asCkl = await inspect(writeCkl(old));
  assert.is(asCkl.kind, 'ckl');
  assert.equal(
    codes(asCkl.stigs[0].findings),
    expected.filter(([code]) => !/^bad-(status|uuid)$/.test(code!)).sort(),
  );
});

inspections('a sound checklist has no finding, alone or beside others, in every form of a body', async () => {
  const old = await sound();
  old.stigs.push((await sound('V1R1', 'other')).stigs[0]!);
  for (const body of [{ checklist: old }, { checklist: JSON.stringify(old) }, old, writeCkl(old)]) {
    const { stigs } = await inspect(body);
    assert.equal(told(stigs, 'slug', 'findings'), ['sample_product ', 'other ']);
  }
});

inspections('an older release, a wrong one, an unknown STIG, one STIG twice', async () => {
  const old = await sound('V1R1');
  const [{ findings, ...head }] = (await inspect(old)).stigs;
  assert.equal([head.version, head.current], ['V1R1', 'V1R2']);
  const said =
    'V1R1 is not the current release, V1R2: 1 rule added since, 2 removed, 3 changed; 3 answered rules with another check or fix: V-300001, V-300002, V-300003';
  assert.equal(told(findings, 'code', 'message'), [`old-release ${said}`]);
  const renamed = await sound();
  renamed.stigs[0]!.release_info = 'Release: 1 Benchmark Date: 12 Jan 2024';
  assert.equal(codes((await inspect(renamed)).stigs[0].findings), [['other-release', null]]);
  renamed.stigs[0]!.release_info = '12 Jan 2024';
  assert.equal(codes((await inspect(renamed)).stigs[0].findings), [['unreadable-release', null]]);

  const foreign = await sound();
  foreign.stigs[0]!.stig_id = 'Foreign_STIG';
  const [byTitle] = (await inspect(foreign)).stigs;
  assert.equal([byTitle.slug, codes(byTitle.findings)], ['sample_product', [['other-stig', null]]]);
  assert.match(byTitle.findings[0].message, /^It names Foreign_STIG, which is not in the catalog; its title/);
  foreign.stigs[0]!.stig_name = 'Foreign';
  const [byRules] = (await inspect(foreign)).stigs;
  assert.equal([byRules.slug, codes(byRules.findings)], ['sample_product', [['other-stig', null]]]);
  assert.match(byRules.findings[0].message, /; most of its rules are those of Sample Product/);
  // One rule whose V-id contradicts it is no evidence against name and id; half of the rules are not most.
  const stray = structuredClone(foreign);
  const [first, second] = stray.stigs[0]!.rules;
  stray.stigs[0]!.rules = [{ ...first!, group_id: 'V-800001' }];
  assert.equal((await inspect(stray)).stigs[0].slug, null);
  const own = { ...second!, group_id: 'V-800002', rule_id: 'SV-800002r1', rule_id_src: 'SV-800002r1_rule' };
  stray.stigs[0]!.rules = [first!, own];
  assert.equal((await inspect(stray)).stigs[0].slug, null);
  for (const [index, rule] of foreign.stigs[0]!.rules.entries()) {
    rule.rule_id_src = rule.rule_id = `SV-${800_000 + index}r1_rule`;
    rule.group_id = `V-${800_000 + index}`;
  }
  const [unknown] = (await inspect(foreign)).stigs;
  const none = [null, null, [['unknown-stig', null]]];
  assert.equal([unknown.slug, unknown.version, codes(unknown.findings)], none);

  const twice = await sound();
  twice.stigs.push(structuredClone(twice.stigs[0]!));
  const { stigs } = await inspect(twice);
  assert.equal(codes(stigs[0].findings), []);
  assert.equal(codes(stigs[1].findings), [['repeated-stig', null]]);
});

inspections('results are looked at in the same way', async () => {
  const results = `300010r1 pass|300010r1 fail|300001r1 notchecked|999999r1 pass|300002r2 pass|300003r2 pass`
    .split('|')
    .map((each) => each.split(' '))
    .map(([id, result]) => ({ id: `SV-${id}_rule`, result: result! }));
  const xml = writeResults(results, { benchmarkId: 'Sample_Product_STIG' });
  const { kind, stigs } = await inspect({ results: xml });
  assert.is(kind, 'xccdf');
  assert.equal((await inspect(xml)).stigs, stigs);
  const [{ findings, ...head }] = stigs;
  assert.equal(head, { ...sample, rules: 5, answered: 4 });
  const expected = 'no-host-name,,other-revision,V-300001,repeated-rule,,unknown-rule,';
  assert.is(codes(findings).join(), expected);
});

inspections('every checklist that we give is sound', async () => {
  const real = await testApp(benchmarkPaths);
  const { stigs } = (await real.get('/api/v1/stigs?limit=1000')).json;
  for (const { slug } of stigs as { slug: string }[]) {
    const { text } = await real.get(`/api/v1/stigs/${slug}/download?hostName=h`);
    const { json } = await real.send('POST', path, text);
    assert.equal([json.stigs[0].slug, json.stigs[0].findings], [slug, []], slug);
  }
  real.db.close();
});

inspections.run();
