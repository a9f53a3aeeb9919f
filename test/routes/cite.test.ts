import * as fc from 'fast-check';
import * as assert from 'uvu/assert';
import { citation, readCitation } from '../../src/base/citation.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// Citations, and what became of them (rule D41.4).
const test = suite('Citations');
let t: TestApp;
const slug = 'harbor_linux_3';
const open = (ref: string, token?: null) =>
  t.get(`/api/v1/cite?ref=${encodeURIComponent(ref)}`, token === null ? { token } : {});

test.before(async () => {
  t = await testApp([shipped('stigs')]);
  addControls(t.db);
});
test.after(() => t.db.close());

test('a citation is read as it was written, whatever its parts contain', () => {
  const part = fc
    .string({ minLength: 1, maxLength: 20 })
    .filter((text) => text.trim() === text && text !== '');
  const id = part.filter((text) => !/[\n\r]/.test(text));
  fc.assert(
    fc.property(part, part, fc.option(id, { nil: undefined }), (name, version, each) => {
      assert.equal(readCitation(citation(name, version, each)), { name, version, id: each ?? null });
    }),
    { numRuns: 500 },
  );
  for (const text of ['', 'a', 'a@', '@b', '#c', 'a#b', 'a#b@c', '@', '#', '@#', 'a@#b'])
    assert.is(readCitation(text), null, text);
});

test('every rule of every retained release opens, and its state is that of the newest release', async () => {
  let opened = 0;
  for (const name of [slug, 'lantern_web_server_2']) {
    const { versions } = (await t.get(`/api/v1/stigs/${name}/versions`)).json;
    const ofNewest = (await t.get(`/api/v1/stigs/${name}`)).json;
    for (const { version, current } of versions) {
      const { findings } = (await t.get(`/api/v1/stigs/${name}?version=${version}`)).json;
      for (const { ruleId, ruleTitle, groupId, ruleVersion } of findings) {
        const { json } = await open(citation(name, version, ruleId));
        // The groups of these samples keep their V-ids or their STIG ids.
        const later = ofNewest.findings.find(
          (each: { groupId: string; ruleVersion: string }) =>
            each.groupId === groupId || each.ruleVersion === ruleVersion,
        );
        const state = current ? 'current' : later ? 'former' : 'removed';
        assert.equal([json.id, json.title, json.version, json.holds], [ruleId, ruleTitle, version, true]);
        assert.is(json.state, state, `${version} ${ruleId}`);
        if (state === 'former') assert.is(json.now.cite, citation(name, ofNewest.version, later.ruleId));
        if (state === 'removed') assert.match(json.advice, /does not have it/);
        opened++;
      }
    }
  }
  assert.ok(opened > 30, `${opened}`);
});

test('a citation of a release that is not here, or of a rule that it does not have, says what became of it', async () => {
  const { findings } = (await t.get(`/api/v1/stigs/${slug}`)).json;
  const [{ ruleId, ruleTitle }] = findings;
  const { json } = await open(`${slug}@V9R9#${ruleId}`);
  assert.equal(
    [json.holds, json.state, json.href, json.title, json.advice],
    [
      false,
      'not_imported',
      null,
      ruleTitle,
      `V9R9 is not in this catalog. The newest release V1R2 has ${ruleId}`,
    ],
  );
  assert.is(json.now.cite, `${slug}@V1R2#${ruleId}`);
  const added = findings.find(({ groupId }: { groupId: string }) => groupId === 'V-900015');
  const { json: absent } = await open(`${slug}@V1R1#${added.ruleId}`);
  assert.equal([absent.holds, absent.state], [false, 'absent']);
  const { json: stig } = await open(`${slug}@V0R1`);
  assert.equal([stig.holds, stig.state, stig.now.cite], [false, 'not_imported', `${slug}@V1R2`]);
});

test('a STIG and a control open by any spelling, in their published form', async () => {
  assert.equal((await open('Harbor_Linux_3_STIG@v1r1')).json.ref, `${slug}@V1R1`);
  const { json } = await open('NIST-800-53@rev 5#ac-02(01)', null);
  assert.equal(
    [json.ref, json.kind, json.holds, json.state],
    ['nist-800-53@Rev 5.1.1#AC-2(1)', 'control', true, 'current'],
  );
  const { json: old } = await open('nist-800-53@Rev 4#AC-2', null);
  assert.equal([old.holds, old.state, old.now.cite], [false, 'not_imported', 'nist-800-53@Rev 5.1.1#AC-2']);
});

test('what is no citation is a 400, what no release has a 404; a rule needs a user', async () => {
  for (const ref of ['', 'x', 'AC-2', 'a@b#', `${slug}#V-900001`, `${slug}@V1R1#${'x'.repeat(500)}`])
    for (const { status, json } of [await open(ref), await open(ref, null)])
      assert.equal([status, json.error.field], [400, 'ref'], ref);
  for (const ref of [
    'nothing@V1R1',
    `${slug}@V1R2#V-1`,
    'nist-800-53@Rev 5#ZZ-99',
    'cci@2025-01-23#CCI-000001',
  ])
    assert.is((await open(ref)).status, 404, ref);
  for (const ref of [`${slug}@V1R1`, `${slug}@V1R2#V-900001`, 'nothing@V1R1', 'nothing@V1R1#V-1'])
    assert.is((await open(ref, null)).status, 401, ref);
});

test.run();
