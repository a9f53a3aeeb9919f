import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { noStig, noVersion } from '../support/words.ts';

// The list, its filters and its order are tried in paging.test.ts.
const stigs = suite('STIG catalog');
let t: TestApp;

stigs.before(async () => {
  const big = { id: 'Big', title: 'Big Guide STIG', rules: 130, status: 'draft' };
  t = await testApp([shipped('stigs'), writeBenchmarks([big])]);
});
stigs.after(() => t.db.close());

stigs('list: a summary has the five documented fields, of the newest release', async () => {
  const { json } = await t.get('/api/v1/stigs?search=harbor');
  const title = 'Harbor Linux 3 Security Technical Implementation Guide';
  assert.equal(json, {
    stigs: [{ slug: 'harbor_linux_3', title, version: 'V1R2', releaseDate: '2026-04-15', findingCount: 14 }],
    pagination: { page: 1, limit: 100, total: 1, totalPages: 1 },
  });
});

stigs('record: the newest release with its profiles and all its findings in document order', async () => {
  const { json } = await t.get('/api/v1/stigs/harbor_linux_3');
  const fields =
    'slug,benchmarkId,title,description,version,status,releaseDate,findingCount,profiles,findings';
  assert.is(Object.keys(json).join(), fields);
  assert.equal(
    [json.benchmarkId, json.version, json.status, json.findingCount, json.profiles.length],
    ['Harbor_Linux_3_STIG', 'V1R2', 'accepted', 14, 9],
  );
  assert.ok(json.profiles.every((profile: { description: string }) => profile.description === ''));
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15];
  const groups = json.findings.map((finding: { groupId: string }) => finding.groupId);
  assert.equal(
    groups,
    numbers.map((number) => `V-${900_000 + number}`),
  );
  const own =
    'groupId,title,description,severity,ruleId,ruleVersion,ruleTitle,vulnDiscussion,fixText,checkContent,ruleIdent,ruleIdents';
  assert.is(Object.keys(json.findings[0]).join(), own);
  const repeated = json.findings.find((each: { groupId: string }) => each.groupId === 'V-900005');
  assert.is(new Set(repeated.ruleIdents).size, repeated.ruleIdents.length, 'a repeated CCI comes once');
  assert.is(repeated.ruleIdent, repeated.ruleIdents[0]);
});

stigs(
  '?version= serves a retained release, in any case; its rules are filtered as those of the newest',
  async () => {
    for (const version of ['V1R1', 'v1r1']) {
      const { json } = await t.get(`/api/v1/stigs/harbor_linux_3?version=${version}`);
      assert.equal([json.version, json.releaseDate], ['V1R1', '2026-01-15']);
      assert.is(json.findings[0].ruleId, 'SV-900001r100010_rule');
      const found = await t.get(`/api/v1/stigs/harbor_linux_3/controls?version=${version}&search=V-900013`);
      assert.equal([found.json.stig.version, found.json.findings.length], ['V1R1', 1]);
    }
    const plain = await t.get('/api/v1/stigs/harbor_linux_3?foo=bar&sort=desc&__proto__=x');
    assert.is(plain.text, (await t.get('/api/v1/stigs/harbor_linux_3?version=V1R2')).text);
    const current = await t.get('/api/v1/stigs/harbor_linux_3/controls?search=V-900013');
    assert.equal(current.json.findings, []);
    for (const path of ['', '/controls', '/download'])
      for (const version of ['V9R9', 'V1R10', '2', "V1R1'--"]) {
        const query = `?version=${encodeURIComponent(version)}`;
        const answer = await t.get(`/api/v1/stigs/harbor_linux_3${path}${query}`);
        assertError(answer, 404, 'NOT_FOUND', noVersion(version));
      }
  },
);

stigs('controls: the STIG, and its findings as they stand in the record', async () => {
  const { findings } = (await t.get('/api/v1/stigs/big_guide')).json;
  const { json } = await t.get('/api/v1/stigs/big_guide/controls?limit=100');
  assert.equal(json.stig, {
    ...{ slug: 'big_guide', title: 'Big Guide STIG', version: 'V1R1', status: 'draft' },
    ...{ releaseDate: '2024-01-12', findingCount: 130 },
  });
  assert.equal(json.findings, findings.slice(0, 100));
  const repeated = Array(1000).fill('severity=medium').join('&');
  assert.is((await t.get(`/api/v1/stigs/big_guide/controls?${repeated}`)).json.pagination.total, 130);
});

stigs('versions: every retained release, newest first, one of them current', async () => {
  const { json } = await t.get('/api/v1/stigs/harbor_linux_3/versions');
  assert.equal(json, {
    versions: [
      { version: 'V1R2', releaseDate: '2026-04-15', status: 'accepted', findingCount: 14, current: true },
      { version: 'V1R1', releaseDate: '2026-01-15', status: 'accepted', findingCount: 14, current: false },
    ],
  });
});

stigs('an unknown slug is 404 everywhere, named in the message, cut at 64 characters', async () => {
  const long = `${'ü'.repeat(63)}😀${'x'.repeat(40)}`;
  for (const path of ['', '/versions', '/controls', '/download', '/download?format=csv', '?version=V1R1']) {
    const answer = await t.get(`/api/v1/stigs/no_such_stig${path}`);
    assertError(answer, 404, 'NOT_FOUND', noStig('no_such_stig'));
    const cut = await t.get(`/api/v1/stigs/${encodeURIComponent(long)}${path}`);
    assertError(cut, 404, 'NOT_FOUND', noStig(`${'ü'.repeat(63)}😀`));
  }
});

stigs.run();
