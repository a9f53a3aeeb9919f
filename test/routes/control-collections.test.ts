import { parse } from 'csv-parse/sync';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, userCaller } from '../support/callers.ts';
import { addControls, statementOf } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { rowsOf } from '../support/tables.ts';
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
    const keys = t.db.sqlite.prepare("SELECT id FROM control_keys WHERE identifier = 'AU-2'").pluck();
    const id = keys.get() as string;
    const entries = (text: string) =>
      rowsOf(text).map(([controlId, framework, notes]) => ({
        controlId,
        framework,
        ...(notes && { notes }),
      }));
    const unknown = entries(`
    ZZ-99 | ${n53}
    AC-2 | ${d8500}
    ${id} | ${d8500}
  `);
    const known = entries(`
    ac-2.1 | ${n53} | first
    AC-02 (01) | NIST-800-53 | second
    ${id.toUpperCase()} | ${n53}
    3.1.1 | ${n171}
    03.01.01 | ${n171}
    ecct-1 | ${d8500}
  `);
    const added = await add(path, [...known, ...unknown]);
    assert.equal(added.json, { success: true, added: 5, total: 5, notFound: unknown });
    const { controls } = (await ask(t, 'GET', path, alice)).json;
    const shown = controls.map((each: Record<string, unknown>) =>
      [each.position, each.controlId, each.framework, each.notes].map(String),
    );
    assert.equal(
      shown,
      rowsOf(`
      1 | AC-2(1) | ${n53} | first
      2 | AU-2 | ${n53} |
      3 | 3.1.1 | ${n171} |
      4 | 03.01.01 | ${n171} |
      5 | ECCT-1 | ${d8500} |
    `),
    );
    const again = await add(path, entries(`AC-2(1) | ${n53} | later \n AC-1 | ${n53}`));
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
  const texts = all.controls.map((each: Record<string, unknown>) => [
    ...[each.identifier, each.title, each.family, each.statement],
  ]);
  assert.equal(texts, [
    ['AC-2', 'Account Management', 'Access Control', statementOf('AC-2')],
    ['3.1.1', '', 'Access Control', statementOf('3.1.1')],
    ['ECCT-1', 'Encryption for Confidentiality', 'Enclave Computing Environment', statementOf('ECCT-1')],
  ]);
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

collections('favorites: controls of one user, newest first', async () => {
  const post = (controlId: string, framework: string, caller = alice) =>
    ask(t, 'POST', '/api/v1/my-controls', caller, { controlId, framework });
  const favorites = async (query = '', caller = alice) =>
    (await ask(t, 'GET', `/api/v1/my-controls${query}`, caller)).json;
  const first = (await post('ac-2 (1)', n53)).json;
  assert.equal([first.success, first.controlId, first.framework], [true, 'AC-2(1)', n53]);
  t.clock.now = new Date(t.clock.now.getTime() + 1000);
  await post('3.1.1', n171);
  assert.equal((await post('AC-2(1)', n53)).json, first, 'adding again answers the same id');
  await post('ECCT-1', d8500, bob);
  assert.is((await post('AC-99', n53)).status, 404);
  const shown = (framework: string, identifier: string, title: string, second: number) => ({
    ...{ controlId: identifier, framework, identifier, title, family: 'Access Control' },
    ...{ addedAt: `2026-11-21T12:00:0${second}.000Z`, statement: statementOf(identifier) },
  });
  const older = shown(n53, 'AC-2(1)', 'Automated System Account Management', 0);
  assert.equal(await favorites(), { total: 2, controls: [shown(n171, '3.1.1', '', 1), older] });
  assert.equal(await favorites(`?framework=${n53}`), { total: 1, controls: [older] });
  for (let times = 0; times < 2; times++) {
    const body = { controlId: 'ac-2.1', framework: n53 };
    const removed = await ask(t, 'DELETE', '/api/v1/my-controls', alice, body);
    assert.equal(removed.json, { success: true, controlId: 'AC-2(1)', framework: n53 });
  }
  assert.equal([(await favorites()).total, (await favorites('', bob)).total], [1, 1]);
});

collections.run();
