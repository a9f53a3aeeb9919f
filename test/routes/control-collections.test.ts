import { parse } from 'csv-parse/sync';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, userCaller } from '../support/callers.ts';
import { addControls, statementOf } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { noFormat } from '../support/words.ts';

const collections = suite('Control collections');
const [n53, n171, d8500] = ['nist-800-53', 'nist-800-171', 'dod-8500'] as const;

let t: TestApp;
let alice: Caller;
let bob: Caller;

collections.before.each(async () => {
  t = await testApp([], { newId: countingIds() });
  addControls(t.db);
  alice = await userCaller(t);
  bob = await userCaller(t, { sub: 'bob' });
});

collections.after.each(() => t.db.close());

async function make(body: Record<string, unknown> = { name: 'C' }): Promise<string> {
  const { json } = await ask(t, 'POST', '/api/v1/control-collections', alice, body);
  return `/api/v1/control-collections/${json.id}`;
}

const add = (path: string, controls: unknown[], caller = alice) =>
  ask(t, 'POST', `${path}/controls`, caller, { controls });

collections(
  'controls are taken by identifier in any spelling or by id, and answered by identifier',
  async () => {
    const path = await make();
    const id = t.db.sqlite
      .prepare("SELECT id FROM control_keys WHERE identifier = 'AU-2'")
      .pluck()
      .get() as string;
    const added = await add(path, [
      { controlId: 'ac-2.1', framework: n53, notes: 'first' },
      { controlId: 'AC-02 (01)', framework: 'NIST-800-53', notes: 'second' },
      { controlId: id.toUpperCase(), framework: n53 },
      { controlId: '3.1.1', framework: n171, notes: null },
      { controlId: '03.01.01', framework: n171 },
      { controlId: 'ecct-1', framework: d8500 },
      { controlId: 'ZZ-99', framework: n53 },
      { controlId: 'AC-2', framework: d8500 },
      { controlId: id, framework: d8500 },
    ]);
    assert.equal(added.json, {
      success: true,
      added: 5,
      total: 5,
      notFound: [
        { controlId: 'ZZ-99', framework: n53 },
        { controlId: 'AC-2', framework: d8500 },
        { controlId: id, framework: d8500 },
      ],
    });
    const { controls } = (await ask(t, 'GET', path, alice)).json;
    assert.equal(
      controls.map((each: Record<string, unknown>) => [
        each.controlId,
        each.framework,
        each.position,
        each.notes,
      ]),
      [
        ['AC-2(1)', n53, 1, 'first'],
        ['AU-2', n53, 2, ''],
        ['3.1.1', n171, 3, ''],
        ['03.01.01', n171, 4, ''],
        ['ECCT-1', d8500, 5, ''],
      ],
    );
    const again = await add(path, [
      { controlId: 'AC-2(1)', framework: n53, notes: 'later' },
      { controlId: 'AC-1', framework: n53 },
    ]);
    assert.equal(again.json, { success: true, added: 1, total: 6 });
  },
);

collections('the entries joined with their controls, filtered by framework', async () => {
  const path = await make();
  await add(path, [
    { controlId: 'AC-2', framework: n53 },
    { controlId: '3.1.1', framework: n171 },
    { controlId: 'ECCT-1', framework: d8500, notes: 'n' },
  ]);
  const all = (await ask(t, 'GET', `${path}/controls`, alice)).json;
  assert.equal([all.total, all.controls.length, all.collection.name], [3, 3, 'C']);
  assert.equal(
    all.controls.map((each: Record<string, unknown>) => [
      each.identifier,
      each.title,
      each.family,
      each.statement,
    ]),
    [
      ['AC-2', 'Account Management', 'Access Control', statementOf('AC-2')],
      ['3.1.1', '', 'Access Control', statementOf('3.1.1')],
      ['ECCT-1', 'Encryption for Confidentiality', 'Enclave Computing Environment', statementOf('ECCT-1')],
    ],
  );
  const some = (await ask(t, 'GET', `${path}/controls?framework=DOD-8500`, alice)).json;
  assert.equal([some.total, some.controls[0].controlId], [1, 'ECCT-1']);
  const { json } = await ask(t, 'GET', `${path}/export`, alice);
  const csv = await ask(t, 'GET', `${path}/export?format=csv`, alice);
  const rows: Record<string, string>[] = parse(csv.text, { columns: true, record_delimiter: '\r\n' });
  const names = ['controlId', 'framework', 'identifier', 'title', 'family', 'statement', 'notes'];
  assert.equal(Object.keys(json.controls[0]), names);
  assert.equal(
    rows.map((each) => ({ ...each })),
    json.controls,
  );
  assert.is(json.total, 3);
  const wrong = await ask(t, 'GET', `${path}/export?format=xml`, alice);
  assert.is(wrong.json.error.message, noFormat('json', 'csv', 'xlsx'));
});

collections(
  'visibility is upper case in the listing and on creation, lower case in the single record',
  async () => {
    const path = await make({ name: 'C', visibility: 'Shared' });
    assert.is((await ask(t, 'GET', path, alice)).json.visibility, 'shared');
    const { collections: listed, total } = (await ask(t, 'GET', '/api/v1/control-collections', bob)).json;
    assert.equal([total, listed[0].visibility, listed[0].controlCount], [1, 'SHARED', 0]);
  },
);

collections('favorites: controls and STIGs of one user, newest first', async () => {
  const post = (body: unknown, caller = alice) => ask(t, 'POST', '/api/v1/my-controls', caller, body);
  const first = (await post({ controlId: 'ac-2 (1)', framework: n53 })).json;
  assert.equal([first.success, first.controlId, first.framework], [true, 'AC-2(1)', n53]);
  t.clock.now = new Date(t.clock.now.getTime() + 1000);
  await post({ controlId: '3.1.1', framework: n171 });
  const again = (await post({ controlId: 'AC-2(1)', framework: n53 })).json;
  assert.equal(again, first, 'adding again answers the same id');
  await post({ controlId: 'ECCT-1', framework: d8500 }, bob);
  const unknown = await post({ controlId: 'AC-99', framework: n53 });
  assert.is(unknown.status, 404);
  const { total, controls } = (await ask(t, 'GET', '/api/v1/my-controls', alice)).json;
  assert.is(total, 2);
  assert.equal(controls, [
    {
      controlId: '3.1.1',
      framework: n171,
      addedAt: '2026-11-21T12:00:01.000Z',
      identifier: '3.1.1',
      title: '',
      family: 'Access Control',
      statement: statementOf('3.1.1'),
    },
    {
      controlId: 'AC-2(1)',
      framework: n53,
      addedAt: '2026-11-21T12:00:00.000Z',
      identifier: 'AC-2(1)',
      title: 'Automated System Account Management',
      family: 'Access Control',
      statement: statementOf('AC-2(1)'),
    },
  ]);
  const some = (await ask(t, 'GET', `/api/v1/my-controls?framework=${n53}`, alice)).json;
  assert.equal([some.total, some.controls[0].controlId], [1, 'AC-2(1)']);
  for (let times = 0; times < 2; times++) {
    const removed = await ask(t, 'DELETE', '/api/v1/my-controls', alice, {
      controlId: 'ac-2.1',
      framework: n53,
    });
    assert.equal(removed.json, { success: true, controlId: 'AC-2(1)', framework: n53 });
  }
  assert.is((await ask(t, 'GET', '/api/v1/my-controls', alice)).json.total, 1);
  assert.is((await ask(t, 'GET', '/api/v1/my-controls', bob)).json.total, 1);
});

collections.run();
