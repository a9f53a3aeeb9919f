import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';

const test = suiteIf(referenceData, 'references: planted errors');
let t: TestApp;
test?.before(async () => {
  t = await testApp(benchmarkPaths);
});
test?.after(() => t.db.close());

test?.('of 1,000 invented ids in tasks, at least 995 are unknown', async () => {
  const rows = t.db.sqlite
    .prepare<[], { rule_version: string; group_id: string }>(
      "SELECT rule_version, group_id FROM findings WHERE rule_version LIKE '%-%-0%' AND group_id GLOB 'V-[0-9]*' LIMIT 1500",
    )
    .all();
  const there = new Set(t.db.sqlite.prepare<[], string>('SELECT id FROM rule_ids').pluck().all());
  const invented = rows.flatMap(({ rule_version, group_id }) => [
    rule_version.replace(/\d{2}(\d)$/, '99$1'),
    group_id.replace(/^V-/, 'V-9'),
  ]);
  // What is by chance another rule's id is no error that could be seen.
  const ids = invented.filter((id) => !there.has(id.toUpperCase())).slice(0, 1000);
  assert.is(ids.length, 1000);
  const text = ids.map(
    (id, index) => `- name: "${id} | task ${index}"\n  tags: [web-01.example.com, CVE-2021-44228]`,
  );
  const headers = { 'Content-Type': 'application/json' };
  const { json } = await t.send('POST', '/api/v1/references', { text: text.join('\n') }, { headers });
  assert.ok(json.counts.unknown >= 995, JSON.stringify(json.counts));
  assert.is(json.references.length, 1000);
});

test?.run();
