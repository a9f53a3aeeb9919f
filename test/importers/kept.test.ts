import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';

// What users keep outlives every import, and what is gone from the catalog is shown with what is known of it.
const kept = suite('Users’ data and imports');

let t: TestApp;
let alice: Caller;
let list: string;
let collection: string;

const n53 = 'nist-800-53';
const wanted = [
  { controlId: 'AC-2', framework: n53, notes: 'keep' },
  { controlId: '3.1.1', framework: 'nist-800-171' },
  { controlId: 'ECCT-1', framework: 'dod-8500' },
];

kept.before(async () => {
  t = await testApp([shipped('stigs'), shipped('controls')], { newId: countingIds() });
  alice = await userCaller(t);
  list = `/api/v1/lists/${(await ask(t, 'POST', '/api/v1/lists', alice, { name: 'L' })).json.id}`;
  const made = await ask(t, 'POST', '/api/v1/control-collections', alice, { name: 'C' });
  collection = `/api/v1/control-collections/${made.json.id}`;
  const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
  await ask(t, 'POST', `${list}/stigs`, alice, { slugs });
  await ask(t, 'PUT', `${list}/stigs/harbor_linux_3`, alice, { notes: 'keep' });
  await ask(t, 'POST', '/api/v1/my-stigs', alice, { slugs });
  const added = await ask(t, 'POST', `${collection}/controls`, alice, { controls: wanted });
  assert.equal(added.json, { success: true, added: 3, total: 3 });
  for (const { notes: _, ...control } of wanted) await ask(t, 'POST', '/api/v1/my-controls', alice, control);
});

kept.after(() => t.db.close());

async function everything(): Promise<unknown[]> {
  const paths = [list, `${list}/stigs?include=findings`, collection, `${collection}/controls`];
  const all = [...paths, '/api/v1/my-stigs', '/api/v1/my-controls'];
  return Promise.all(all.map(async (path) => (await ask(t, 'GET', path, alice)).json));
}

kept('importing all again, changed or not, changes nothing that users keep', async () => {
  const before = await everything();
  await runImport(t.db, [shipped('stigs'), shipped('controls')]);
  assert.equal(await everything(), before);
  // As if an older importer had read them: every row of the catalog is made anew.
  t.db.sqlite.prepare('UPDATE sources SET importer_version = 0').run();
  const { summary } = await runImport(t.db, [shipped('stigs'), shipped('controls')]);
  assert.ok(summary.imported >= 9);
  assert.equal(await everything(), before);
  assert.equal(t.db.sqlite.pragma('foreign_key_check'), []);
});

kept('a new release is shown in the list, the entry stays', async () => {
  const file = readdirSync(shipped('stigs')).find((name) => name.includes('Lantern'))!;
  const text = readFileSync(join(shipped('stigs'), file), 'utf8');
  const newer = text.replace(/Release: 3 /g, 'Release: 4 ').replace(/(severity=")medium/, '$1high');
  assert.is.not(newer, text);
  const before = (await ask(t, 'GET', `${list}/stigs`, alice)).json.stigs[1];
  await runImport(t.db, [put(scratchFolder(), 'newer.xml', newer)]);
  const after = (await ask(t, 'GET', `${list}/stigs`, alice)).json.stigs[1];
  assert.equal([before.version, after.version, after.catI], ['V2R3', 'V2R4', before.catI + 1]);
  assert.equal([after.addedAt, after.position], [before.addedAt, before.position]);
});

kept('a control that is gone is shown, and can be removed but not added', async () => {
  t.db.sqlite.prepare("DELETE FROM controls WHERE identifier IN ('AC-2', 'ECCT-1')").run();
  const { controls } = (await ask(t, 'GET', `${collection}/controls`, alice)).json;
  const gone = controls[0];
  assert.equal(
    [gone.controlId, gone.title, gone.family, gone.statement, gone.notes],
    ['AC-2', 'Account Management', 'Access Control', '', 'keep'],
  );
  assert.equal(
    controls.map((each: { controlId: string }) => each.controlId),
    ['AC-2', '3.1.1', 'ECCT-1'],
  );
  assert.is((await ask(t, 'GET', '/api/v1/my-controls', alice)).json.total, 3);
  assert.is((await ask(t, 'POST', '/api/v1/my-controls', alice, wanted[0])).status, 404);
  const added = await ask(t, 'POST', `${collection}/controls`, alice, { controls: [wanted[0]] });
  assert.equal([added.json.added, added.json.notFound], [0, [{ controlId: 'AC-2', framework: n53 }]]);
  const removed = await ask(t, 'DELETE', `${collection}/controls`, alice, { controls: [wanted[0]] });
  assert.equal(removed.json, { success: true, removed: 1 });
  await ask(t, 'DELETE', '/api/v1/my-controls', alice, wanted[0]);
  assert.is((await ask(t, 'GET', '/api/v1/my-controls', alice)).json.total, 2);
});

kept.run();
