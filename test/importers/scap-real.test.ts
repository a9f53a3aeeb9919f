import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { compareScapVersions } from '../../importers/stigs/scap-contents.ts';
import { testApp } from '../support/app.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { suiteIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { reference, referenceData } from '../support/reference.ts';
import { type ReadScap, readScapFolder } from '../support/scap-reader.ts';
import { readBenchmark } from '../support/xccdf-reader.ts';

const test = suiteIf(referenceData, 'SCAP content of the publishers');

const folder = reference('scap');
const contents = referenceData.here ? await readScapFolder() : [];

/** By file, as the publisher counts: rules, tested by anybody, not tested. */
function publishersTable(): Map<string, number[]> {
  const lines = readFileSync(reference('scap', 'benchmark_stats.md'), 'utf8').split('\n');
  const rows = lines
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((row) => /^U_/.test(row[2] ?? ''));
  return new Map(
    rows.map(([, , file, rules, disa, nist, niwc, manual]) => [
      file!,
      [Number(rules), Number(disa) + Number(nist) + Number(niwc), Number(manual)],
    ]),
  );
}

test?.('every content is stored as a reader of its own finds it, with the totals of its publisher', async () => {
  const db = emptyCatalog();
  const { lines } = await runImport(db, [folder]);
  const stored = db.sqlite
    .prepare(
      `SELECT s.source, f.benchmark_id AS benchmarkId, f.name AS title, f.version, f.date, f.scap_version AS scapVersion,
              f.rules, f.publisher FROM scap_facts AS f JOIN sources AS s ON s.id = f.source_id`,
    )
    .all() as (Record<string, string> & { rules: string })[];
  assert.is(stored.length, 16);
  const table = publishersTable();
  assert.is(table.size, 14);
  for (const { file, rules, ...stated } of contents) {
    const {
      rules: found,
      source: _,
      publisher,
      ...row
    } = stored.find(({ source }) => source!.includes(file))!;
    assert.equal(row, stated, file);
    assert.is(publisher, 'NIWC');
    assert.equal(
      JSON.parse(found!),
      rules.map(({ ruleId, groupId, automated }) => [ruleId, groupId, automated ? 1 : 0]),
      file,
    );
    const { counts } = lines.find(({ source, kind }) => source.includes(file) && kind === 'scap')!;
    const name = file.replace(/(?:-signed)?\.zip$/, '');
    const published = table.get(name);
    if (published) assert.equal([counts.rules, counts.automated, counts.manual], published, name);
    else assert.match(name, /SCAP_1-3/);
  }
  const superseded = lines.filter(({ outcome }) => outcome === 'superseded').map(({ source }) => source);
  assert.equal(
    superseded.map((source) => /U_\w+?_V\dR\d+/.exec(source)![0]),
    ['U_Google_Chrome_V2R8', 'U_RHEL_8_V1R10'],
  );
  assert.is(contents.find(({ file }) => /Chrome_V2R8/.test(file))!.scapVersion, '1.2');
  assert.equal(dumpCatalog(db).stigs, []);
  db.close();
});

/** Automated, stale, manual, none: Windows 11, RHEL 8 and Kubernetes are of other releases than their contents. */
const manual: [slug: string, file: string, totals: [number, number, number, number]][] = [
  ['red_hat_enterprise_linux_9', 'U_RHEL_9_STIG_V2R8_Manual-xccdf.xml', [415, 0, 31, 0]],
  ['google_chrome_current_windows', 'U_Google_Chrome_STIG_V2R11_Manual-xccdf.xml', [44, 0, 2, 0]],
  ['mozilla_firefox', 'U_MOZ_Firefox_STIG_V6R7_Manual-xccdf.xml', [32, 1, 1, 0]],
  ['kubernetes', 'U_Kubernetes_STIG_V1R2_Manual-xccdf.xml', [0, 60, 27, 6]],
  ['microsoft_windows_11', 'U_MS_Windows_11_STIG_V2R2_Manual-xccdf.xml', [194, 48, 11, 5]],
  ['red_hat_enterprise_linux_8', 'U_RHEL_8_STIG_V1R12_Manual-xccdf.xml', [0, 325, 31, 19]],
];

/** The contents that count: of each benchmark the greatest version. */
const newest = (): ReadScap[] =>
  contents.filter((each) =>
    contents.every(
      (other) =>
        other.benchmarkId !== each.benchmarkId || compareScapVersions(other.version, each.version) <= 0,
    ),
  );

const numberOf = (ruleId: string) => /^SV-\d+/.exec(ruleId)![0];

test?.('the state of each rule follows from revisions alone', async () => {
  const t = await testApp([folder, ...manual.map(([, file]) => reference('xccdf', file))]);
  for (const [slug, file, totals] of manual) {
    const { rules } = readBenchmark(readFileSync(reference('xccdf', file), 'utf8'));
    const groups = new Set(rules.map(({ groupId }) => groupId));
    const own = newest().filter(
      (content) =>
        content.rules.filter(({ groupId }) => groups.has(groupId)).length * 2 >= content.rules.length,
    );
    const all = own.flatMap((content) => content.rules);
    const states = rules.map(({ ruleId }) => {
      const same = all.filter((each) => numberOf(each.ruleId) === numberOf(ruleId));
      const tested = same.filter(({ automated }) => automated).map((each) => each.ruleId);
      if (tested.includes(ruleId)) return 'automated';
      return tested.length > 0 ? 'stale' : same.length > 0 ? 'manual' : 'none';
    });
    const { json } = await t.get(`/api/v1/stigs/${slug}/automation`);
    assert.equal(
      json.rules.map((rule: { state: string }) => rule.state),
      states,
      slug,
    );
    assert.is(json.content.length, own.length, slug);
    const { automated, stale, manual: byHand, none } = json.totals;
    assert.equal([automated, stale, byHand, none], totals, slug);
  }
});

test?.run();
