import * as assert from 'uvu/assert';
import { numberOf, sha256 } from '../../src/base/ids.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';

const mapping = suite('Role mapping');

const curated = put(
  scratchFolder(),
  'curated.csv',
  'stigSlug,occupationCode,confidenceScore,roleResponsibilityLevel,niceWorkRoleId,mappingReason\n' +
    'harbor_linux_3,15-1299.00,0.50,Related,,Ours.\n',
);

let t: TestApp;
let entitled: Caller;
let other: Caller;

mapping.before.each(async () => {
  t = await testApp([shipped('stigs'), shipped('roles'), curated]);
  entitled = await sessionCaller(t, await userCaller(t, { entitlements: ['occ'] }));
  other = await sessionCaller(t, await userCaller(t, { sub: 'bob', entitlements: ['regdoc'] }));
});

mapping.after.each(() => t.db.close());

const path = (id: string) => `/api/v1/role-mapping/benchmark/${id}/roles`;
const get = (id: string, caller: Caller) => ask(t, 'GET', path(id), caller);

/** An answer without what tells one request from another. */
function bytes({ status, headers, text }: Answer): string {
  const kept = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
  return JSON.stringify([status, kept.sort(), text]);
}

const harbor = numberOf('harbor_linux_3');
const wellFormed = [
  ...['harbor_linux_3', `${harbor}`, 'lantern_web_server_2', `${numberOf('lantern_web_server_2')}`],
  ...'no_such_stig 0 00 4711 9007199254740993 a 0-_ A a.b _a -1 1.5'.split(' '),
  ...['9'.repeat(300), 'x'.repeat(200)],
];
const malformed = ['a b', 'a%2Fb', 'ä', 'x'.repeat(201), '%20', "a'--", 'a,b', 'a~b'];

mapping('rows come by rank, with the NICE work role where one applies', async () => {
  const { json } = await get('harbor_linux_3', entitled);
  assert.is(json.gated, false);
  assert.is(json.federal, true);
  assert.equal(
    json.mappings.map((row: { id: number }) => row.id),
    json.mappings.map(({ occupationCode }: { occupationCode: string }) =>
      Number.parseInt(sha256(`harbor_linux_3 ${occupationCode}`).slice(0, 13), 16),
    ),
  );
  assert.equal(json.mappings[0], {
    id: json.mappings[0].id,
    occupationCode: '15-1244.00',
    occupationTitle: 'Network and Computer Systems Administrators',
    jobZone: 4,
    confidenceScore: 0.95,
    roleResponsibilityLevel: 'Primary',
    mappingSource: 'class',
    mappingReason: 'System administrators install, configure and patch operating systems.',
    niceWorkRoleId: 'IO-WRL-005',
    niceWorkRoleName: 'Systems Administration',
    niceCategoryCode: 'IO',
    niceCategoryName: 'Implementation and Operation',
  });
  const withoutWorkRole = json.mappings.filter((row: object) => !('niceWorkRoleId' in row));
  assert.equal(told(withoutWorkRole, 'occupationCode', 'mappingSource'), ['15-1299.00 curated']);
  assert.is(Object.keys(withoutWorkRole[0]).length, 8);
});

mapping('the number of the raw json record and the slug ask for the same STIG', async () => {
  const raw = await t.get('/api/v1/stigs/harbor_linux_3/download?format=json');
  assert.is(raw.json.id, harbor);
  for (const id of wellFormed.slice(4))
    assert.equal((await get(id, entitled)).json, { gated: false, federal: true, mappings: [] }, id);
  for (const id of `harbor_linux_3 HARBOR_linux_3 Harbor_Linux_3 Harbor_Linux_3_STIG harbor_LINUX_3_stig`.split(
    /\s+/,
  ))
    assert.is((await get(String(harbor), entitled)).text, (await get(id, entitled)).text, id);
});

mapping('without the entitlement the answer has the same bytes and headers for every STIG', async () => {
  const answers = await Promise.all(wellFormed.map((id) => get(id, other)));
  assert.equal(answers[0]!.json, { gated: true, federal: false, mappings: [] });
  assert.is(new Set(answers.map(bytes)).size, 1);
});

mapping('nothing is looked up for the gated answer: it comes from an emptied catalog as well', async () => {
  const before = bytes(await get('harbor_linux_3', other));
  t.db.sqlite.pragma('foreign_keys = OFF');
  t.db.sqlite.exec('DROP TABLE role_mappings; DROP TABLE occupations; DROP TABLE work_roles;');
  t.db.sqlite.exec('DROP TABLE stigs');
  assert.is(bytes(await get('harbor_linux_3', other)), before);
  assert.is(bytes(await get('no_such_stig', other)), before);
  const looking = await t.app.request(path('harbor_linux_3'), { headers: entitled });
  assert.is(looking.status, 500, 'the other answer does look');
});

mapping('a malformed id is a 400 before the gate, and so is one left out', async () => {
  for (const caller of [entitled, other]) {
    for (const id of malformed) {
      const answer = await get(id, caller);
      assert.is(answer.status, 400, id);
      assert.is(answer.json.error.message, 'benchmarkId must be a number, a slug or a benchmark id');
    }
    const without = await get('', caller);
    assert.is(without.status, 400);
    assert.is(without.json.error.message, 'benchmarkId must be a number, a slug or a benchmark id');
  }
});

mapping.run();
