import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';

// What one creator may have (rule D8.7; threat B9), how the pages show many lists, and that many entries are looked up
// at once.
const room = suite('Room for lists and collections');

let t: TestApp;
let alice: Caller;
let bob: Caller;

room.before.each(async () => {
  t = await testApp([shipped('stigs')]);
  addControls(t.db);
  alice = await userCaller(t);
  bob = await userCaller(t, { sub: 'bob', email: 'bob@example.org' });
});
room.after.each(() => t.db.close());

/** Puts copies of a list or collection into the database, deleted where a time says so; gives their ids. */
function copies(id: string, count: number, deletedAt: string | null = null): string[] {
  const columns = `kind, description, tags, color, icon, visibility, created_by_id, created_by_email,
    organization_id, updated_at`;
  const insert = t.db.sqlite.prepare(
    `INSERT INTO bundles (id, name, created_at, deleted_at, ${columns})
     SELECT ?, printf('%s %04d', name, ?), ?, ?, ${columns} FROM bundles WHERE id = ?`,
  );
  return Array.from({ length: count }, (_, index) => {
    const copy = crypto.randomUUID();
    const day = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
    insert.run(copy, index, day, deletedAt === null ? null : day.replace(/^2026/, '2025'), id);
    return copy;
  });
}

async function make(kind: 'lists' | 'control-collections', caller: Caller, more: object = {}) {
  return ask(t, 'POST', `/api/v1/${kind}`, caller, { name: 'N', ...more });
}

for (const [kind, things, page] of [
  ['lists', 'lists', '/systems'],
  ['control-collections', 'collections of controls', '/collections'],
] as const)
  room(`a creator has at most 1,000 ${things}, however they are made`, async () => {
    const { id } = (await make(kind, alice)).json;
    const shared = (await make(kind, bob, { visibility: 'SHARED' })).json.id;
    copies(id, 998);
    const last = await make(kind, alice);
    assert.is(last.status, 201);
    const home = `/api/v1/${kind}/${last.json.id}`;
    const words = `One creator can have at most 1,000 ${things}. Delete one first`;
    const refused = async (path: string, body?: unknown) => {
      const { status, json } = await ask(t, 'POST', path, alice, body);
      assert.equal([status, json.error.message], [400, words], path);
    };
    await refused(`/api/v1/${kind}`, { name: 'One more' });
    const session = await sessionCaller(t, alice);
    const again = await loadPage(t, page, session, { name: 'By a form', visibility: 'PRIVATE' });
    assert.is(again.status, 400);
    assert.match(textOf(again.html), words);
    if (kind === 'lists') {
      await refused(`/api/v1/lists/${shared}/duplicate`);
      assert.is((await loadPage(t, `/systems/${shared}/duplicate`, session, {})).status, 400);
    }
    // Another creator, and the other kind, have room.
    assert.is((await make(kind, bob)).status, 201);
    assert.is((await make(kind === 'lists' ? 'control-collections' : 'lists', alice)).status, 201);
    // A deleted one makes room, and takes it again.
    assert.is((await ask(t, 'DELETE', home, alice)).status, 200);
    if (kind === 'lists') {
      assert.is((await ask(t, 'POST', `${home}/restore`, alice)).status, 200);
      await ask(t, 'DELETE', home, alice);
      assert.is((await ask(t, 'POST', `/api/v1/lists/${shared}/duplicate`, alice)).status, 201);
      await refused(`${home}/restore`);
    } else assert.is((await make(kind, alice)).status, 201);
    await refused(`/api/v1/${kind}`, { name: 'One more' });
  });

room('making and deleting lists in turn ends at 5,000, until the purge removed some', async () => {
  const { id } = (await make('lists', alice)).json;
  const deleted = copies(id, 4999, 'deleted');
  const full = await make('lists', alice);
  assert.equal(
    [full.status, full.json.error.message],
    [
      400,
      'One creator can have at most 5,000 lists with the deleted ones, which are kept for 30 days. Try again later',
    ],
  );
  // What was deleted can still be restored: no list is removed before its time.
  const time = t.clock.now.toISOString();
  t.db.sqlite.prepare('UPDATE bundles SET deleted_at = ? WHERE id = ?').run(time, deleted[0]);
  assert.is((await ask(t, 'POST', `/api/v1/lists/${deleted[0]}/restore`, alice)).status, 200);
  assert.is((await make('lists', alice)).status, 400);
  t.db.sqlite.prepare('DELETE FROM bundles WHERE id = ?').run(deleted[1]);
  assert.is((await make('lists', alice)).status, 201);
});

room(
  'of deleted collections the last thousand are kept, so that making and deleting in turn grows nothing',
  async () => {
    const { id } = (await make('control-collections', alice)).json;
    copies((await make('control-collections', bob)).json.id, 5, 'deleted');
    const deleted = copies(id, 1000, 'deleted');
    const has = (each: string) =>
      t.db.sqlite.prepare('SELECT count(*) FROM bundles WHERE id = ?').pluck().get(each);
    const count = t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck();
    const before = count.get();
    for (let turn = 0; turn < 3; turn++) {
      const made = await make('control-collections', alice);
      assert.is((await ask(t, 'DELETE', `/api/v1/control-collections/${made.json.id}`, alice)).status, 200);
      assert.is(has(made.json.id), 1);
    }
    assert.is(count.get(), before);
    assert.equal(deleted.slice(0, 4).map(has), [0, 0, 0, 1], 'the oldest went');
  },
);

room('a list or collection has at most 10,000 entries', async () => {
  const { id } = (await make('lists', alice)).json;
  const fill = t.db.sqlite.prepare(
    `INSERT INTO list_stigs (list_id, slug, benchmark_id, title, version, position, notes, added_at)
     VALUES (?, ?, ?, 'T', 'V1R1', ?, '', '2026-01-01T00:00:00.000Z')`,
  );
  t.db.sqlite.transaction(() => {
    for (let at = 1; at < 10_000; at++) fill.run(id, `gone_${at}`, `Gone_${at}`, at);
  })();
  const path = `/api/v1/lists/${id}/stigs`;
  const both = await ask(t, 'POST', path, alice, { slugs: ['harbor_linux_3', 'lantern_web_server_2'] });
  assert.is(both.status, 400);
  assert.is(both.json.error.message, 'At most 10,000 entries fit into one list or collection');
  assert.is((await ask(t, 'GET', `/api/v1/lists/${id}`, alice)).json.stigCount, 9999, 'nothing was added');
  assert.is((await ask(t, 'POST', path, alice, { slugs: ['harbor_linux_3'] })).json.total, 10_000);
  assert.is((await ask(t, 'POST', path, alice, { slugs: ['lantern_web_server_2'] })).status, 400);
  assert.is((await ask(t, 'POST', path, alice, { slugs: ['harbor_linux_3', 'none'] })).status, 200);
});

room.run();
