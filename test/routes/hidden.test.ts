import * as assert from 'uvu/assert';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, integrationCaller, testId, userCaller } from '../support/callers.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// What exists but may not be seen answers exactly as what does not exist (rule D2.5, threat B1).
const hidden = suite('Hidden objects');

const requests: Record<'lists' | 'control-collections', [method: string, path: string, body?: unknown][]> = {
  lists: [
    ['GET', ''],
    ['HEAD', ''],
    ['PATCH', '', { name: 'X' }],
    ['PATCH', '', {}],
    ['DELETE', ''],
    ['POST', '/restore'],
    ['POST', '/duplicate'],
    ['GET', '/export'],
    ['GET', '/export?format=csv'],
    ['GET', '/stigs'],
    ['GET', '/stigs?include=findings&severity=high'],
    ['POST', '/stigs', { slugs: ['harbor_linux_3'] }],
    ['POST', '/stigs', { slugs: ['nobody'] }],
    ['DELETE', '/stigs', { slugs: ['harbor_linux_3'] }],
    ['PUT', '/stigs/harbor_linux_3', { notes: 'x' }],
    ['PUT', '/stigs/nobody', { notes: 'x' }],
  ],
  'control-collections': [
    ['GET', ''],
    ['HEAD', ''],
    ['PATCH', '', { name: 'X' }],
    ['DELETE', ''],
    ['GET', '/controls'],
    ['GET', '/controls?framework=dod-8500'],
    ['POST', '/controls', { controls: [{ controlId: 'AC-2', framework: 'nist-800-53' }] }],
    ['DELETE', '/controls', { controls: [{ controlId: 'AC-2', framework: 'nist-800-53' }] }],
    ['GET', '/export'],
    ['GET', '/export?format=csv'],
  ],
};

let t: TestApp;
const callers: Record<string, Caller> = {};
const made: Record<string, string> = {};

hidden.before(async () => {
  t = await testApp([shipped('stigs')], { newId: countingIds() });
  addControls(t.db);
  callers.alice = await userCaller(t);
  callers.bob = await userCaller(t, { sub: 'bob' });
  callers.carol = await userCaller(t, { sub: 'carol', org: 'blue' });
  callers.nobody = await userCaller(t, { sub: 'dan', org: undefined });
  for (const kind of ['lists', 'control-collections']) {
    for (const name of ['PRIVATE', 'SHARED', 'deleted']) {
      const visibility = name === 'PRIVATE' ? 'PRIVATE' : 'SHARED';
      const { json } = await ask(t, 'POST', `/api/v1/${kind}`, callers.alice, { name, visibility });
      const path = `/api/v1/${kind}/${json.id}`;
      if (kind === 'lists')
        await ask(t, 'POST', `${path}/stigs`, callers.alice, { slugs: ['harbor_linux_3'] });
      if (name === 'deleted') await ask(t, 'DELETE', path, callers.alice);
      made[`${kind} ${name}`] = json.id;
    }
    const { json } = await ask(t, 'POST', `/api/v1/${kind}`, callers.nobody, {
      name: 'homeless',
      visibility: 'SHARED',
    });
    made[`${kind} homeless`] = json.id;
  }
  callers.program = await integrationCaller(t, testId(900), []);
});

hidden.after(() => t.db.close());

/** Everything of an answer but the request id. */
function bytes({ status, headers, text }: Answer): string {
  const id = headers.get('X-Request-Id')!;
  const kept = [...headers].filter(([name]) => name !== 'x-request-id');
  return JSON.stringify([status, kept, text.replace(id, 'ID')]);
}

/** Which objects of which kind each caller must not be able to tell from nothing. */
const cases: [caller: string, names: string[]][] = [
  ['bob', ['PRIVATE', 'deleted', 'homeless']],
  ['carol', ['PRIVATE', 'SHARED', 'deleted', 'homeless']],
  ['nobody', ['PRIVATE', 'SHARED', 'deleted']],
  ['alice', ['deleted', 'homeless']],
];

for (const kind of ['lists', 'control-collections'] as const) {
  hidden(`${kind}: foreign, deleted and unknown ids answer with the same bytes on every verb`, async () => {
    let compared = 0;
    for (const [caller, names] of cases) {
      for (const [method, path, body] of requests[kind]) {
        const answerTo = (id: string) =>
          ask(t, method, `/api/v1/${kind}/${id}${path}`, callers[caller]!, body);
        const unknown = await answerTo('7d5f0c3e-7a0e-4f5e-9c1a-0d7c5f3b2a19');
        assert.is(unknown.status, 404, `${method} ${path}`);
        if (method !== 'HEAD') assert.is(unknown.json.error.message, 'Not found');
        const others = [...names.map((name) => made[`${kind} ${name}`]!), 'no-uuid', "x'%20OR%201=1--"];
        for (const other of others) {
          // The creator's restore is the one way back (D8.5).
          if (caller === 'alice' && path === '/restore' && other === made['lists deleted']) continue;
          assert.is(bytes(await answerTo(other)), bytes(unknown), `${caller} ${method} ${path} ${other}`);
          compared++;
        }
      }
    }
    assert.ok(compared > 150);
  });
}

hidden('a token without an organization sees nothing that is shared by another without one', async () => {
  const other = await userCaller(t, { sub: 'eve', org: undefined });
  const { json } = await ask(t, 'GET', '/api/v1/lists', other);
  assert.equal(json.lists, []);
  const homeless = await ask(t, 'GET', `/api/v1/lists/${made['lists homeless']}`, other);
  assert.is(homeless.status, 404);
});

hidden('an integration token cannot tell an unassigned list, shared or not, from none', async () => {
  for (const path of ['', '/stigs', '/export']) {
    const unknown = await ask(t, 'GET', `/api/v1/lists/${testId(999)}${path}`, callers.program!);
    assert.is(unknown.status, 404);
    for (const name of ['PRIVATE', 'SHARED', 'deleted', 'homeless']) {
      const answer = await ask(t, 'GET', `/api/v1/lists/${made[`lists ${name}`]}${path}`, callers.program!);
      assert.is(bytes(answer), bytes(unknown), `${name} ${path}`);
    }
  }
});

hidden('a list is not a collection, nor a collection a list, under the other’s path', async () => {
  const list = made['lists SHARED']!;
  const collection = made['control-collections SHARED']!;
  assert.is((await ask(t, 'GET', `/api/v1/control-collections/${list}`, callers.alice!)).status, 404);
  assert.is((await ask(t, 'GET', `/api/v1/lists/${collection}`, callers.alice!)).status, 404);
  assert.is((await ask(t, 'DELETE', `/api/v1/lists/${collection}`, callers.alice!)).status, 404);
});

hidden(
  'an organization is the one of the creator’s token at creation, whoever moves later (B4)',
  async () => {
    const path = `/api/v1/lists/${made['lists SHARED']}`;
    const moved = await userCaller(t, { org: 'blue' });
    const changed = await ask(t, 'PATCH', path, moved, { description: 'still red' });
    assert.is(changed.json.organizationId, 'red');
    assert.is((await ask(t, 'GET', path, callers.bob!)).status, 200);
    assert.is((await ask(t, 'GET', path, callers.carol!)).status, 404);
    const bobMoved = await userCaller(t, { sub: 'bob', org: 'blue' });
    assert.is((await ask(t, 'GET', path, bobMoved)).status, 404);
  },
);

hidden('one user’s ETag serves no other', async () => {
  const first = await ask(t, 'GET', '/api/v1/lists', callers.alice!);
  const tag = first.headers.get('ETag')!;
  assert.is(first.headers.get('Vary'), 'Authorization, Cookie, Accept-Encoding');
  const again = await ask(t, 'GET', '/api/v1/lists', { ...callers.alice, 'If-None-Match': tag });
  assert.is(again.status, 304);
  const other = await ask(t, 'GET', '/api/v1/lists', { ...callers.carol, 'If-None-Match': tag });
  assert.is(other.status, 200);
});

hidden.run();
