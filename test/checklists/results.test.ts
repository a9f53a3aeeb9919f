import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite, testIf } from '../support/harness.ts';
import { benchmarkFiles, benchmarkPaths } from '../support/real-files.ts';
import { exchangeData, exchangeFolder } from '../support/reference.ts';
import { readStatuses } from '../support/results-reader.ts';
import { type ScanShape, writeResults } from '../support/results-writer.ts';
import { readCkl, readCklb, states } from '../support/stig-manager.ts';
import { linesOf } from '../support/tables.ts';
import { told } from '../support/told.ts';

// Real results of other tools, and results made at random of every real benchmark, against an independent reading of both.
const scans = suite('Checklists of scan results');

const path = '/api/v1/checklists/from-results';
type Rule = Cklb['stigs'][number]['rules'][number];
type Reported = { ruleId: string; status: string; result: string | null; reason: string | null };
let t: TestApp;

scans.before(async () => {
  t = await testApp(benchmarkPaths);
});
scans.after(() => t.db.close());

const number = (ruleId: string) => ruleId.replace(/r\d+(_rule)?$|_rule$/, '');

/** That STIG Manager reads what a checklist says. */
async function assertReadable(xml: string, rules: Rule[], format: 'ckl' | 'cklb'): Promise<void> {
  const { text } = await t.send('POST', `${path}?download=true&hostName=web01&format=${format}`, xml);
  const { target, checklists } = (format === 'ckl' ? readCkl : readCklb)(text);
  assert.is(target.name, 'web01');
  const expected = rules.map((each) => `${each.rule_id_src} ${states(each)}`);
  assert.equal(told(checklists[0]!.reviews, 'ruleId', 'result').sort(), expected.sort());
}

/** The samples that are about a STIG of the reference data: rules, results, and those of rules that the release lacks. */
const samples = `
  xccdf/evaluate-stig-1.2407.1-chrome-v2r9-trimmed.xml        google_chrome_current_windows V2R9  rule-ids 0
  xccdf/openscap-1.3.7-chrome-v2r11-manual-xccdf11.xml        google_chrome_current_windows V2R11 rule-ids 0
  xccdf/openscap-1.3.7-rhel9-v2r7-arf.xml.gz                  red_hat_enterprise_linux_9    V2R7  rule-ids 0
  xccdf/openscap-1.3.7-rhel9-v2r7.xml.gz                      red_hat_enterprise_linux_9    V2R7  rule-ids 0
  xccdf/openscap-1.3.7-ssg-rhel8-stigviewer.xml               red_hat_enterprise_linux_8    V1R12 rule-ids 1
  xccdf/scc-5.4.2-rhel8-v1r2.xml                              red_hat_enterprise_linux_8    V1R12 rule-ids 23
  xccdf/scc-5.8-firefox-linux-6.3.3-enhanced.xml              mozilla_firefox               V6R7  newest   0
  assembled/root-testresult-xccdf11-windows11-v2r2.xml        microsoft_windows_11          V2R2  rule-ids 1
  assembled/stig-viewer-minimal-rhel9-v2r8.xml                red_hat_enterprise_linux_9    V2R8  newest   0
`;
const sampleRows = linesOf(samples).map(
  (line) => line.split(/ +/) as [name: string, slug: string, version: string, by: string, unknown: string],
);

const sampleText = (name: string): string => {
  const bytes = readFileSync(join(exchangeFolder, name));
  return String(name.endsWith('.gz') ? gunzipSync(bytes) : bytes);
};

/** Registers a test that needs the publishers’ files. */
const onSamples = testIf(exchangeData, scans);

for (const [name, slug, version, chosenBy, unknown] of sampleRows) {
  onSamples(`${name}: every status`, async () => {
    const xml = sampleText(name);
    const { status, json } = await t.send('POST', path, xml);
    assert.is(status, 200, JSON.stringify(json).slice(0, 300));
    const { report, checklist } = json;
    assert.equal(
      [report.release.slug, report.release.version, report.release.chosenBy, report.unknown.length],
      [slug, version, chosenBy, Number(unknown)],
    );
    const read = readStatuses(xml);
    const byNumber = new Map([...read].map(([id, each]) => [number(id), { id, ...each }]));
    const rules = checklist.stigs[0].rules as Rule[];
    const counts: Record<string, number> = {};
    for (const [index, rule] of rules.entries()) {
      const reported = report.rules[index] as Reported;
      const expected = byNumber.get(number(rule.rule_id_src));
      assert.is(rule.status, expected?.status ?? 'not_reviewed', rule.rule_id_src);
      assert.equal([reported.ruleId, reported.status], [rule.rule_id_src, rule.status]);
      assert.is(reported.result !== null, expected !== undefined);
      // Whatever is not reviewed says why, and so does a result of another revision.
      if (rule.status === 'not_reviewed') assert.ok(reported.reason, rule.rule_id_src);
      if (expected && expected.id !== rule.rule_id_src) assert.match(reported.reason!, expected.id);
      if (!expected) assert.match(reported.reason!, 'not in the results');
      if (expected && rule.status !== 'not_reviewed')
        assert.match(rule.finding_details, /^Result: (pass|fixed|fail|notapplicable)\b/m);
      counts[rule.status] = (counts[rule.status] ?? 0) + 1;
    }
    const none = { not_a_finding: 0, open: 0, not_applicable: 0, not_reviewed: 0 };
    assert.equal(report.counts, { ...none, ...counts });
    // No result is dropped without a word.
    const inRelease = new Set(rules.map((rule) => number(rule.rule_id_src)));
    assert.equal(
      report.unknown.map((each: { id: string }) => each.id).sort(),
      [...read.keys()].filter((id) => !inRelease.has(number(id))).sort(),
    );
    await assertReadable(xml, rules, name.includes('chrome') ? 'ckl' : 'cklb');
  });
}

onSamples('samples of STIGs that are not in the catalog are refused, each in one line', async () => {
  const others = readdirSync(join(exchangeFolder, 'xccdf'))
    .map((name) => `xccdf/${name}`)
    .filter((name) => /\.xml/.test(name) && !samples.includes(`${name} `));
  assert.is(others.length, 5);
  for (const name of others) {
    const { status, json } = await t.send('POST', path, sampleText(name));
    assert.is(status, 400, name);
    assert.match(json.error.message, /^results: no rule in them belongs to a STIG in the catalog/, name);
  }
});

onSamples('one scan in two forms gives one checklist', async () => {
  const [plain, arf] = await Promise.all(
    ['', '-arf'].map((form) =>
      t.send('POST', path, sampleText(`xccdf/openscap-1.3.7-rhel9-v2r7${form}.xml.gz`)),
    ),
  );
  assert.equal(arf!.json.checklist, plain!.json.checklist);
  assert.equal(arf!.json.report, { ...plain!.json.report, kind: 'arf' });
});

onSamples('who was scanned: names, addresses that lead somewhere, one case for MAC addresses', async () => {
  const { json } = await t.send('POST', path, sampleText('xccdf/scc-5.8-firefox-linux-6.3.3-enhanced.xml'));
  const { host_name, fqdn, ip_address, mac_address, role } = json.checklist.target_data;
  const [addresses, macs] = ['192.168.0.183, 172.18.0.1', '30:85:A9:9C:7F:7C, 02:42:00:3F:97:52'];
  const found = [host_name, fqdn, ip_address, mac_address, role];
  assert.equal(found, ['WORK-UBUNTU', 'WORK-UBUNTU', addresses, macs, 'None']);
  assert.equal([json.report.kind, json.report.tool], ['xccdf', 'SCC 5.8']);
});

const words = 'pass fail fixed notapplicable notchecked notselected informational error unknown'.split(' ');

scans('random results of every benchmark, in every shape', async () => {
  const shape: fc.Arbitrary<ScanShape> = fc.record({
    namespace: fc.constantFrom('1.1', '1.2', 'none'),
    prefix: fc.constantFrom(undefined, 'cdf', 'x'),
    around: fc.constantFrom('nothing', 'benchmark', 'arf', 'wrapper'),
    idPrefix: fc.constantFrom('', 'xccdf_mil.disa.stig_rule_', 'xccdf_hdf_rule_'),
  });
  const benchmarks = await benchmarkFiles();
  assert.ok(benchmarks.length >= 3);
  for (const { text, source } of benchmarks) {
    const ids = [...text.matchAll(/<(?:\w+:)?Rule id="([^"]+)"/g)].map((match) => match[1]!);
    const [, benchmarkId] = /<(?:\w+:)?Benchmark[^>]*? id="([^"]+)"/.exec(text)!;
    const property = fc.asyncProperty(fc.integer(), shape, fc.boolean(), async (seed, form, isNamed) => {
      const drawn = fc.sample(fc.constantFrom(...words), { seed, numRuns: ids.length });
      const results = drawn.map((result, index) => ({ id: ids[index]!, result }));
      // Some come twice.
      const again = results.filter((_, index) => index % 7 === 0).map(({ id }) => ({ id, result: 'pass' }));
      const named = { ...form, ...(isNamed ? { benchmarkId: benchmarkId! } : {}), target: 'h1' };
      const xml = writeResults([...results, ...again], named);
      const { status, json } = await t.send('POST', path, xml);
      assert.is(status, 200, `${source} ${JSON.stringify(form)} ${JSON.stringify(json).slice(0, 200)}`);
      const read = readStatuses(xml);
      const rules = json.checklist.stigs[0].rules as Rule[];
      const found = rules.filter((rule) => read.has(rule.rule_id_src));
      // Its own release, or one with the same rules.
      assert.is(found.length + json.report.unknown.length, new Set(ids).size, source);
      assert.ok(found.length * 2 > ids.length, source);
      for (const rule of found)
        assert.is(rule.status, read.get(rule.rule_id_src)!.status, `${source} ${rule.rule_id_src}`);
    });
    await fc.assert(property, { numRuns: 1, endOnFailure: true, includeErrorInReport: true });
  }
});

scans.run();
