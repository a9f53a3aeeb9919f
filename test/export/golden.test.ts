import * as assert from 'uvu/assert';
import { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { contractOf } from '../support/contract.ts';
import { assertGolden } from '../support/golden.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// The bytes of every format, from our own samples. How to write them anew: test/support/golden.ts.
const golden = suite('Golden files');
let t: TestApp;

golden.before(async () => {
  t = await testApp([shipped('stigs')]);
});
golden.after(() => t.db.close());

// A checklist in XML has a hundred lines for each rule: one shows the form.
const samples: [slug: string, version: string, formats: string[]][] = [
  ['harbor_linux_3', 'V1R2', ['cklb', 'ckl', 'csv', 'xml', 'json']],
  ['lantern_web_server_2', 'V2R3', ['cklb', 'csv', 'xml', 'json']],
];
for (const [slug, version, formats] of samples) {
  for (const format of formats) {
    golden(`${slug} ${version} as ${format}`, async () => {
      const { status, text } = await t.get(
        `/api/v1/stigs/${slug}/download?version=${version}&format=${format}`,
      );
      assert.is(status, 200);
      assertGolden(`${slug}_${version}.${format}`, text);
    });
  }
}

golden('the contract of the API: a line for each field', async () => {
  const { status, text } = await t.get('/openapi.json', { token: null });
  assert.is(status, 200);
  assertGolden('openapi.txt', contractOf(JSON.parse(text)));
});

golden('a host name fills one field of the checklist and makes an id of its own', async () => {
  const path = '/api/v1/stigs/harbor_linux_3/download';
  const plain = Cklb.parse((await t.get(path)).json);
  const named = Cklb.parse((await t.get(`${path}?hostName=web-01%20%22x%22`)).json);
  assert.is(plain.target_data.host_name, '');
  assert.is(named.target_data.host_name, 'web-01 "x"');
  const ids = [plain.id, named.id];
  for (const name of ['web-02', 'WEB-02', ' web-02']) {
    const other = Cklb.parse((await t.get(`${path}?hostName=${encodeURIComponent(name)}`)).json);
    ids.push(other.id);
  }
  assert.is(new Set(ids).size, 5, 'the checklists of two hosts are two');
  assert.is(named.id, '0cad16ab-26b4-5d01-b0a3-404fa574d16c');
  const empty = Cklb.parse((await t.get(`${path}?hostName=`)).json);
  assert.equal(empty, plain);
  // The rest is the same: the STIG and its rules with their ids.
  assert.equal({ ...named, id: plain.id, target_data: plain.target_data }, plain);
  assert.equal({ ...named.target_data, host_name: '' }, plain.target_data);
});

golden.run();
