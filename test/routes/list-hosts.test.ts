import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, integrationCaller, testId, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

const hosts = suite('Hosts of a list');
const slugs = ['harbor_linux_3', 'lantern_web_server_2'];

let t: TestApp;
let ann: Caller;
let bea: Caller;
let id: string;
let path: string;
let programs = 0;

hosts.before(async () => {
  t = await testApp([shipped('stigs')], { newId: countingIds() });
  ann = await userCaller(t, { sub: 'ann', org: 'red' });
  bea = await userCaller(t, { sub: 'bea', org: 'red' });
});
hosts.before.each(async () => {
  id = (await ask(t, 'POST', '/api/v1/lists', ann, { name: 'L', visibility: 'SHARED' })).json.id;
  path = `/api/v1/lists/${id}`;
  await ask(t, 'POST', `${path}/stigs`, ann, { slugs });
});
hosts.after(() => t.db.close());

const put = (list: object[], who = ann, more: Record<string, string> = {}) =>
  ask(t, 'PUT', `${path}/hosts`, { ...who, ...more }, { hosts: list });
const kept = async (who = ann) => (await ask(t, 'GET', `${path}/hosts`, who)).json.hosts;
const checklists = (who: Caller) =>
  t.app.request(`${path}/checklists`, { method: 'POST', body: '{"format":"ckl"}', headers: who });
const one = [{ hostName: 'web01', ipAddress: '10.0.0.1', role: 'Member Server', stigs: [slugs[0]] }];

hosts('who may see the list reads what the creator writes; a write raises the revision', async () => {
  const tag = (await ask(t, 'GET', path, ann)).headers.get('ETag')!;
  assert.equal((await put(one, ann, { 'If-Match': tag })).json, { hosts: one, warnings: [] });
  assert.is((await put([], ann, { 'If-Match': tag })).status, 412);
  assert.equal([await kept(), await kept(bea)], [one, one]);
  const now = (await ask(t, 'GET', `${path}/hosts`, ann)).headers.get('ETag')!;
  assert.equal((await put([], ann, { 'If-Match': now })).json, { hosts: [], warnings: [] });
  assert.equal(await kept(bea), []);
});

hosts('a STIG may be named with the release that counts, and with no other', async () => {
  const named = async (stig: string) => (await put([{ hostName: 'a', stigs: [stig] }])).json;
  for (const [release, other] of [
    ['V1R2', 'V1R1'],
    ['V1R1', 'V1R2'],
  ]) {
    if (release === 'V1R1') await ask(t, 'PUT', `${path}/stigs/${slugs[0]}`, ann, { release });
    assert.equal((await named(`Harbor Linux 3 STIG ${release}`)).hosts[0].stigs, [slugs[0]]);
    const lacking = `Harbor Linux 3 STIG ${other}`;
    assert.is((await named(lacking)).error.message, `hosts: host 1 (a): the list has no STIG ${lacking}`);
  }
});

hosts('an export has them for a person who asks, and for no program', async () => {
  await put(one);
  assert.equal((await ask(t, 'GET', `${path}/export?include=hosts`, bea)).json.hosts, one);
  assert.is((await ask(t, 'GET', `${path}/export`, ann)).json.hosts, undefined);
  const program = await integrationCaller(t, testId(900 + ++programs), [id], { organization: 'red' });
  const { status, json } = await ask(t, 'GET', `${path}/export?include=hosts`, program);
  assert.equal([status, json.hosts, json.stigs.length], [200, undefined, 2]);
  assert.is((await ask(t, 'GET', `${path}/export?include=hosts&format=csv`, ann)).status, 400);
});

hosts('a STIG that left the list is missing of its host, and skipped', async () => {
  await put([{ hostName: 'a', stigs: slugs }, { hostName: 'b', stigs: [slugs[1]] }, { hostName: 'c' }]);
  await ask(t, 'DELETE', `${path}/stigs`, ann, { slugs: [slugs[1]] });
  assert.equal(await kept(), [
    { hostName: 'a', stigs: [slugs[0]], missing: [slugs[1]] },
    { hostName: 'b', stigs: [], missing: [slugs[1]] },
    { hostName: 'c' },
  ]);
  const answer = await checklists(ann);
  const names = Buffer.from(await answer.arrayBuffer())
    .toString('latin1')
    .match(/[abc]_\w+_V\dR\d/g)!;
  assert.equal([...new Set(names)], ['a_harbor_linux_3_V1R2', 'c_harbor_linux_3_V1R2']);
  // It is back with the list.
  await ask(t, 'POST', `${path}/stigs`, ann, { slugs: [slugs[1]] });
  assert.equal((await kept())[1], { hostName: 'b', stigs: [slugs[1]] });
});

hosts('without hosts, checklists take those that are kept; without any, it is refused', async () => {
  const none = await ask(t, 'POST', `${path}/checklists`, ann, { format: 'ckl' });
  assert.equal([none.status, none.json.error.field], [400, '/hosts']);
  await put([{ hostName: 'WIN_SRV01' }]);
  assert.equal((await ask(t, 'GET', `${path}/hosts`, ann)).json.warnings, [
    'WIN_SRV01 is not a host name by RFC 1123',
  ]);
  const answer = await checklists(bea);
  assert.is(answer.status, 200);
  assert.is(
    decodeURIComponent(answer.headers.get('X-Warnings')!),
    'WIN_SRV01 is not a host name by RFC 1123',
  );
  await answer.body!.cancel();
});

hosts('copies and restored lists have them', async () => {
  await put(one);
  const copy = (await ask(t, 'POST', `${path}/duplicate`, bea)).json.id;
  assert.equal((await ask(t, 'GET', `/api/v1/lists/${copy}/hosts`, bea)).json.hosts, one);
  await ask(t, 'DELETE', path, ann);
  assert.is((await ask(t, 'GET', `${path}/hosts`, ann)).status, 404);
  await ask(t, 'POST', `${path}/restore`, ann);
  assert.equal(await kept(), one);
});

hosts('what is wrong changes nothing', async () => {
  await put(one);
  const many = Array.from({ length: 5000 }, (_, number) => ({ hostName: `h${number}` }));
  const [twice, lacking] = [
    [{ hostName: 'a' }, { hostName: 'A' }],
    [{ hostName: 'a', stigs: [slugs[0], 'x'] }],
  ];
  const wrong: [unknown, string, string][] = [
    [many, '', 'hosts must contain at most 500 hosts'],
    [twice, '/1/hostName', 'hosts: host 2 (A): the host is listed twice'],
    [lacking, '/0/stigs/1', 'hosts: host 1 (a): the list has no STIG x'],
    [[{ hostName: 'a', stigs: [] }], '/0/stigs', 'hosts: host 1 (a): stigs must contain 1 to 5,000 slugs'],
    ['x', '', 'hosts must be an array of hosts'],
  ];
  for (const [given, field, message] of wrong) {
    const { status, json } = await ask(t, 'PUT', `${path}/hosts`, ann, { hosts: given });
    assert.equal([status, json.error.field, json.error.message], [400, `/hosts${field}`, message]);
  }
  assert.equal(await kept(), one);
});

hosts.run();
