import * as assert from 'uvu/assert';
import type { Answer } from '../support/app.ts';
import { ask, type Caller, testId, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import {
  kindOf,
  type OperationSite,
  operationSite,
  operations,
  programCallers,
} from '../support/operations.ts';

// What exists but may not be seen answers exactly as what does not exist (rule D2.5, threat B1).
const hidden = suite('Hidden objects');

/** What is asked besides the operations as they stand in the table. */
const more: Record<string, [method: string, path: string, body?: unknown][]> = {
  lists: [
    ['HEAD', ''],
    ['PATCH', '', {}],
    ['GET', '/export?format=csv'],
    ['GET', '/stigs?include=findings&severity=high'],
    ['POST', '/stigs', { slugs: ['nobody'] }],
    ['PUT', '/stigs/nobody', { notes: 'x' }],
  ],
  'control-collections': [
    ['HEAD', ''],
    ['GET', '/controls?framework=dod-8500'],
    ['GET', '/export?format=csv'],
  ],
};

let t: OperationSite;
let callers: Record<string, Caller>;
const made: Record<string, string> = {};

hidden.before(async () => {
  t = await operationSite();
  const homeless = await userCaller(t, { sub: 'dan', org: undefined });
  callers = { ...t.callers, ...(await programCallers(t)), homeless };
  const shared = { name: 'N', visibility: 'SHARED' };
  for (const kind of Object.keys(more)) {
    for (const visibility of ['PRIVATE', 'SHARED'])
      made[`${kind} ${visibility}`] = String(t.names[`${kind} ${visibility}`]);
    const make = async (caller: string) =>
      (await ask(t, 'POST', `/api/v1/${kind}`, callers[caller]!, shared)).json.id as string;
    made[`${kind} deleted`] = await make('owner');
    await ask(t, 'DELETE', `/api/v1/${kind}/${made[`${kind} deleted`]}`, callers.owner!);
    made[`${kind} homeless`] = await make('homeless');
  }
});
hidden.after(() => t.db.close());

/** Everything of an answer but the request id. */
function bytes({ status, headers, text }: Answer): string {
  const id = headers.get('X-Request-Id')!;
  const kept = [...headers].filter(([name]) => name !== 'x-request-id');
  return JSON.stringify([status, kept, text.replace(id, 'ID')]);
}

/** Which objects of which kind each caller must not be able to tell from nothing. */
const cases: Record<string, string[]> = {
  member: ['PRIVATE', 'deleted', 'homeless'],
  outsider: ['PRIVATE', 'SHARED', 'deleted', 'homeless'],
  homeless: ['PRIVATE', 'SHARED', 'deleted'],
  owner: ['deleted', 'homeless'],
};

for (const kind of ['lists', 'control-collections'] as const)
  hidden(`${kind}: foreign, deleted and unknown ids answer with the same bytes on every verb`, async () => {
    const own = operations.filter((each) => kindOf(each) === kind);
    const { paths } = (await ask(t, 'GET', '/openapi.json', {})).json;
    const declared = Object.entries<object>(paths)
      .filter(([path]) => path.startsWith(`/api/v1/${kind}/{`))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    assert.ok(declared.length > 5);
    assert.equal(new Set(own.map(({ method, route }) => `${method} ${route}`)), new Set(declared));
    const asked = own.map(({ method, path, body }): [string, string, unknown] => [
      method,
      path.replace(/^.*\{id\}/, ''),
      body === '' ? undefined : t.fill(body),
    ]);
    for (const [caller, names] of Object.entries(cases))
      for (const [method, path, body] of [...asked, ...more[kind]!]) {
        const answerTo = (id: string) =>
          t.send(method, `/api/v1/${kind}/${id}${path}`, callers[caller]!, body);
        const unknown = await answerTo('7d5f0c3e-7a0e-4f5e-9c1a-0d7c5f3b2a19');
        assert.is(unknown.status, 404, `${method} ${path}`);
        if (method !== 'HEAD') assert.is(unknown.json.error.message, 'Not found');
        for (const other of [
          ...names.map((name) => made[`${kind} ${name}`]!),
          'no-uuid',
          "x'%20OR%201=1--",
        ]) {
          // The creator's restore is the one way back (D8.5).
          if (caller === 'owner' && path === '/restore' && other === made['lists deleted']) continue;
          assert.is(bytes(await answerTo(other)), bytes(unknown), `${caller} ${method} ${path} ${other}`);
        }
      }
  });

hidden('a token without an organization sees nothing that is shared by another without one', async () => {
  const other = await userCaller(t, { sub: 'eve', org: undefined });
  assert.equal((await ask(t, 'GET', '/api/v1/lists', other)).json.lists, []);
  assert.is((await ask(t, 'GET', `/api/v1/lists/${made['lists homeless']}`, other)).status, 404);
});

hidden('an integration token cannot tell an unassigned list, shared or not, from none', async () => {
  for (const path of ['', '/stigs', '/export']) {
    const unknown = await ask(t, 'GET', `/api/v1/lists/${testId(999)}${path}`, callers.unassigned!);
    assert.is(unknown.status, 404);
    for (const name of ['PRIVATE', 'SHARED', 'deleted', 'homeless']) {
      const list = `/api/v1/lists/${made[`lists ${name}`]}${path}`;
      const answer = await ask(t, 'GET', list, callers.unassigned!);
      assert.is(bytes(answer), bytes(unknown), `${name} ${path}`);
    }
  }
});

hidden('a list is not a collection, nor a collection a list, under the other’s path', async () => {
  const [list, collection] = [made['lists SHARED'], made['control-collections SHARED']];
  for (const [method, path] of [
    ['GET', `control-collections/${list}`],
    ['GET', `lists/${collection}`],
    ['DELETE', `lists/${collection}`],
  ] as const)
    assert.is((await ask(t, method, `/api/v1/${path}`, callers.owner!)).status, 404, `${method} ${path}`);
});

hidden(
  'an organization is the one of the creator’s token at creation, whoever moves later (B4)',
  async () => {
    const path = `/api/v1/lists/${made['lists SHARED']}`;
    const moved = await userCaller(t, { org: 'blue' });
    const changed = await ask(t, 'PATCH', path, moved, { description: 'still red' });
    assert.is(changed.json.organizationId, 'red');
    const bobMoved = await userCaller(t, { sub: 'bob', org: 'blue' });
    for (const [caller, status] of [
      [callers.member!, 200],
      [callers.outsider!, 404],
      [bobMoved, 404],
    ] as const)
      assert.is((await ask(t, 'GET', path, caller)).status, status);
  },
);

hidden('one user’s ETag serves no other', async () => {
  const first = await ask(t, 'GET', '/api/v1/lists', callers.owner!);
  const tag = first.headers.get('ETag')!;
  assert.is(first.headers.get('Vary'), 'Authorization, Cookie, Accept-Encoding');
  for (const [caller, status] of [
    ['owner', 304],
    ['outsider', 200],
  ] as const) {
    const headers = { ...callers[caller], 'If-None-Match': tag };
    assert.is((await ask(t, 'GET', '/api/v1/lists', headers)).status, status, caller);
  }
});

hidden.run();
