import * as assert from 'uvu/assert';
import { readIfMatch } from '../../src/http/if-match.ts';
import { ask, type Caller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { kindOf, type OperationSite, operationSite, operations } from '../support/operations.ts';
import { assertError } from '../support/service.ts';

// Rule D36.4: revisions, If-Match and Location.
const writes = suite('If-Match on lists and collections of controls');
const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
const tagOf = (of: { headers: Headers }) => of.headers.get('ETag')!;
const revisionOf = (of: { headers: Headers }) => Number(/^"(\d+)-/.exec(tagOf(of))?.[1]);

let t: OperationSite;
let alice: Caller;
let bob: Caller;

writes.before(async () => {
  t = await operationSite();
  [alice, bob] = [t.callers.owner, t.callers.member];
});
writes.after(() => t.db.close());

async function make(kind: 'lists' | 'control-collections', visibility = 'SHARED'): Promise<string> {
  const made = await ask(t, 'POST', `/api/v1/${kind}`, alice, { name: 'L', visibility });
  assert.is(made.status, 201);
  const home = made.headers.get('Location')!;
  assert.is(home, `/api/v1/${kind}/${made.json.id}`);
  assert.is(revisionOf(made), revisionOf(await ask(t, 'GET', home, alice)));
  return home;
}

/** All writes that obey If-Match and change the object itself, in the order of their table but for the deletion. */
const obeying = {
  lists: [
    ...['PATCH', 'POST /restore', 'PUT /hosts', 'POST /stigs', 'PUT /stigs/harbor_linux_3'],
    ...['DELETE /stigs', 'DELETE'],
  ],
  'control-collections': ['PATCH', 'POST /controls', 'DELETE /controls', 'DELETE'],
};

/** The writes of a list or collection, as the document has them: the deletion last. A copy writes another list. */
async function writesOf(kind: string) {
  const { paths } = (await t.get('/openapi.json', { token: null })).json;
  return operations
    .filter((each) => kindOf(each) === kind && each.method !== 'GET' && !each.route.endsWith('/duplicate'))
    .filter(({ method, route }) =>
      paths[route][method.toLowerCase()].parameters.some(({ name }: { name: string }) => name === 'If-Match'),
    )
    .map(({ rule, method, path, body }) => ({
      rule,
      method,
      path: path.replace(/^.*\{id\}/, ''),
      body: body === '' ? undefined : t.fill(body),
    }))
    .sort(
      (a, b) =>
        Number(a.method === 'DELETE' && a.path === '') - Number(b.method === 'DELETE' && b.path === ''),
    );
}

for (const kind of ['lists', 'control-collections'] as const)
  writes(`${kind}: each write obeys If-Match and raises the revision, which begins both tags`, async () => {
    const home = await make(kind);
    const entries = `${home}/${kind === 'lists' ? 'stigs' : 'controls'}`;
    const tried = await writesOf(kind);
    assert.equal(
      tried.map(({ method, path }) => `${method} ${path}`.trim()),
      obeying[kind],
    );
    for (const { rule, method, path, body } of tried) {
      const [record, page] = [await ask(t, 'GET', home, alice), await ask(t, 'GET', entries, alice)];
      assert.is(revisionOf(page), revisionOf(record));
      const old = { ...alice, 'If-Match': `"${revisionOf(record) - 1}-x", W/${tagOf(record)}` };
      const refused = await ask(t, method, home + path, old, body);
      assert.is(refused.status, 412, `${method} ${path}`);
      assert.is(refused.json.error.code, 'PRECONDITION_FAILED');
      assert.is(tagOf(await ask(t, 'GET', home, alice)), tagOf(record));
      const stranger = { ...bob, 'If-Match': '"1"' };
      if (rule.includes('change'))
        assert.is((await ask(t, method, home + path, stranger, body)).status, 403, `${method} ${path}`);
      const named = { ...alice, 'If-Match': `"1", ${tagOf(page).slice(0, -1)}-gzip"` };
      assert.is((await ask(t, method, home + path, named, body)).status, 200, `${method} ${path}`);
      if (method === 'DELETE' && path === '') break;
      assert.ok(revisionOf(await ask(t, 'GET', home, alice)) > revisionOf(record), `${method} ${path}`);
    }
    assertError(
      await ask(t, 'PATCH', home, { ...alice, 'If-Match': '"1"' }, {}),
      404,
      'NOT_FOUND',
      'Not found',
    );
  });

for (const kind of ['lists', 'control-collections'] as const)
  writes(`${kind}: a change of unknown fields alone is 400 and names the nearest field`, async () => {
    const home = await make(kind);
    const before = await ask(t, 'GET', home, alice);
    const wrong: [object, string, RegExp][] = [
      [
        { visiblity: 'PRIVATE' },
        '/visiblity',
        /^visiblity is not a field here: did you mean "visibility"\?$/,
      ],
      [{ Name: 'x', createdById: 'bob' }, '/Name', /did you mean "name"\?$/],
      [{ descripton: '' }, '/descripton', /did you mean "description"\?$/],
      [
        { id: 1 },
        '/id',
        /^id is not a field here: the fields are name, description, tags, color, visibility/,
      ],
      [{ 'a/b': 1 }, '/a~1b', /^a\/b is not a field here/],
    ];
    for (const [body, field, message] of wrong) {
      const { status, json } = await ask(t, 'PATCH', home, alice, body);
      assert.equal([status, json.error.field], [400, field]);
      assert.match(json.error.message, message);
    }
    assert.is(tagOf(await ask(t, 'GET', home, alice)), tagOf(before));
    for (const body of [{}, { name: 'N', visiblity: 'PRIVATE' }])
      assert.is((await ask(t, 'PATCH', home, alice, body)).status, 200);
    const { json } = await ask(t, 'PATCH', home, alice, 'null');
    assert.is(json.error.message, 'The body must be an object');
  });

writes('of two requests with one tag one is 412, also where the first changed nothing', async () => {
  const home = await make('lists');
  const named = { ...alice, 'If-Match': tagOf(await ask(t, 'GET', home, alice)) };
  const both = [0, 1].map(() => ask(t, 'DELETE', `${home}/stigs`, named, { slugs }));
  assert.equal((await Promise.all(both)).map(({ status }) => status).sort(), [200, 412]);
});

writes('a copy obeys If-Match and leaves the revision; a deletion makes former tags old', async () => {
  const home = await make('lists');
  const record = await ask(t, 'GET', home, alice);
  const named = { ...alice, 'If-Match': tagOf(record) };
  const copy = await ask(t, 'POST', `${home}/duplicate`, named);
  assert.is(copy.status, 201);
  const copied = copy.headers.get('Location')!;
  assert.is(copied, `/api/v1/lists/${copy.json.id}`);
  const first = { ...alice, 'If-Match': tagOf(copy) };
  assert.is((await ask(t, 'PATCH', copied, first, { name: 'Copy' })).status, 200);
  assert.is((await ask(t, 'PATCH', copied, first, { name: 'Copy 2' })).status, 412);
  assert.is(tagOf(await ask(t, 'GET', home, alice)), tagOf(record));
  const other = { ...alice, 'If-Match': '"1"' };
  assert.is((await ask(t, 'POST', `${home}/duplicate`, other)).status, 412);
  assert.is((await ask(t, 'DELETE', home, named)).status, 200);
  assert.is((await ask(t, 'POST', `${home}/restore`, named)).status, 412);
  assert.is((await ask(t, 'GET', home, alice)).status, 404);
  assert.is((await ask(t, 'POST', `${home}/restore`, { ...alice, 'If-Match': '*' })).status, 200);
});

writes(
  'an entry that the list lacks is 404 before the tag counts, and another user is 403 before both',
  async () => {
    const home = await make('lists');
    const old = { 'If-Match': '"1"' };
    const put = (who: Caller) =>
      ask(t, 'PUT', `${home}/stigs/${slugs[0]}`, { ...who, ...old }, { notes: 'n' });
    const before = tagOf(await ask(t, 'GET', home, alice));
    assertError(await put(alice), 404, 'NOT_FOUND', 'Not found');
    assert.is((await put(bob)).status, 403);
    assert.is(tagOf(await ask(t, 'GET', home, alice)), before);
    await ask(t, 'POST', `${home}/stigs`, alice, { slugs });
    assert.is((await put(alice)).status, 412);
  },
);

writes('If-Match is read to its letter', () => {
  const read = (header?: string) => {
    const match = readIfMatch(header);
    return match && [...match];
  };
  assert.equal([read(), read('*'), read(' * ')], [null, null, null]);
  assert.equal(read('"7-abc"'), [7]);
  assert.equal(read(' "7" ,, "8-a-gzip"\t, W/"9-x", "x", "", "07", "7x" '), [7, 8]);
  for (const wrong of ['', ',', '7', 'W/', '"7', '"7" "8"', '*, "7"', '"7",*', "'7'", '"7\u007f"', 'w/"7"'])
    assert.throws(() => read(wrong), /If-Match must be/, wrong);
  assert.equal(read(`${'"7",'.repeat(4000)}`), [7]);
});

writes.run();
