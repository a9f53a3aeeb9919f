import * as assert from 'uvu/assert';
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

golden.run();
