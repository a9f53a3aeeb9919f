import * as assert from 'uvu/assert';
import { createRoleCollectionService } from '../../src/collections/catalog-collections.ts';
import { goneReferences } from '../../src/collections/gone.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { countStatements } from '../support/statements.ts';

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

for (const [kind, things] of [
  ['lists', 'lists'],
  ['control-collections', 'collections of controls'],
] as const)
  room(`a creator has at most 1,000 ${things}, however they are made`, async () => {
    const { id } = (await make(kind, alice)).json;
    const shared = (await make(kind, bob, { visibility: 'SHARED' })).json.id;
    copies(id, 998);
    const last = await make(kind, alice);
    assert.is(last.status, 201);
    const words = `One creator can have at most 1,000 ${things}. Delete one first`;
    const refused = async (path: string, body?: unknown) => {
      const { status, json } = await ask(t, 'POST', path, alice, body);
      assert.equal([status, json.error.message], [400, words], path);
    };
    await refused(`/api/v1/${kind}`, { name: 'One more' });
    const session = await sessionCaller(t, alice);
    const page = kind === 'lists' ? '/lists' : '/collections';
    const form = { name: 'By a form', visibility: 'PRIVATE' };
    const again = await loadPage(t, page, session, form);
    assert.is(again.status, 400);
    assert.match(textOf(again.html), words);
    assert.match(again.html, 'value="By a form"');
    if (kind === 'lists') {
      await refused(`/api/v1/lists/${shared}/duplicate`);
      assert.is((await loadPage(t, `/lists/${shared}/duplicate`, session, {})).status, 400);
    }
    // Another creator, and the other kind, have room.
    assert.is((await make(kind, bob)).status, 201);
    assert.is((await make(kind === 'lists' ? 'control-collections' : 'lists', alice)).status, 201);
    // A deleted one makes room, and takes it again.
    assert.is((await ask(t, 'DELETE', `/api/v1/${kind}/${last.json.id}`, alice)).status, 200);
    if (kind === 'lists') {
      const restored = await ask(t, 'POST', `/api/v1/lists/${last.json.id}/restore`, alice);
      assert.is(restored.status, 200);
      await ask(t, 'DELETE', `/api/v1/lists/${last.json.id}`, alice);
      assert.is((await ask(t, 'POST', `/api/v1/lists/${shared}/duplicate`, alice)).status, 201);
      await refused(`/api/v1/lists/${last.json.id}/restore`);
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
    const others = (await make('control-collections', bob)).json.id;
    copies(others, 5, 'deleted');
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

room('the command line makes no more either', async () => {
  const service = createRoleCollectionService(
    t.db,
    () => t.clock.now,
    () => crypto.randomUUID(),
  );
  const user = {
    kind: 'user' as const,
    ...{ subject: 'alice', email: null, organization: 'red', entitlements: new Set<never>(), expiresAt: 0 },
  };
  const visibility = 'PRIVATE' as const;
  const fields = { name: 'R', description: '', tags: [], color: '', visibility };
  const id = await service.create(user, fields, []);
  copies(id, 999);
  try {
    await service.create(user, fields, []);
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, 'at most 1,000 collections of roles');
  }
});

room('pages show a hundred lists at a time, in every order; the API has all', async () => {
  const { id } = (await make('lists', bob, { visibility: 'SHARED' })).json;
  copies(id, 249);
  await ask(t, 'POST', `/api/v1/lists/${id}/stigs`, bob, { slugs: ['harbor_linux_3'] });
  const session = await sessionCaller(t, alice);
  const all = (await ask(t, 'GET', '/api/v1/lists', alice)).json.lists.map((each: { id: string }) => each.id);
  assert.is(all.length, 250);
  const idsOf = async (query: string) => {
    const { html } = await loadPage(t, `/lists${query}`, session);
    return [...html.matchAll(/<a href="\/lists\/([0-9a-f-]{36})">/g)].map((match) => match[1]!);
  };
  for (const sort of ['', 'created', '-created', 'name', '-name', 'size', '-size', 'creator', '-creator']) {
    const pages: string[][] = [];
    for (const page of [1, 2, 3]) pages.push(await idsOf(`?page=${page}${sort && `&sort=${sort}`}`));
    assert.equal(
      pages.map(({ length }) => length),
      [100, 100, 50],
      sort,
    );
    assert.equal(pages.flat().toSorted(), all.toSorted(), `${sort}: each once`);
    if (sort === '' || sort === '-created') assert.equal(pages.flat(), all, 'newest first');
    if (sort === '-size') assert.is(pages[0]![0], id);
  }
  const { html } = await loadPage(t, '/lists?page=4', session);
  assert.match(html, 'href="/lists');
  assert.is((await loadPage(t, '/lists?page=0', session)).status, 400);
  assert.match(textOf((await loadPage(t, '/', session)).html), 'Show all 250 lists');
});

room('as many statements run for a thousand unknown slugs and controls as for one', async () => {
  const list = (await make('lists', alice)).json.id;
  const collection = (await make('control-collections', alice)).json.id;
  const slugs = (count: number) => ({ slugs: Array.from({ length: count }, (_, index) => `none_${index}`) });
  const controls = (count: number) => ({
    controls: Array.from({ length: count }, (_, index) => {
      return { framework: 'nist-800-53', controlId: `ZZ-${(index % 999) + 1}` };
    }),
  });
  const statements = countStatements();
  try {
    for (const [path, body] of [
      [`/api/v1/lists/${list}/stigs`, slugs],
      ['/api/v1/my-stigs', slugs],
      [`/api/v1/control-collections/${collection}/controls`, controls],
    ] as const)
      for (const method of ['POST', 'DELETE']) {
        const counts: number[] = [];
        for (const count of [2, 3, 1000]) {
          statements.ran = 0;
          assert.is((await ask(t, method, path, alice, body(count))).status, 200);
          counts.push(statements.ran);
        }
        assert.is(counts[2], counts[1], `${method} ${path}: ${counts}`);
      }
  } finally {
    statements.stop();
  }
});

room('slugs, aliases and identifiers find the same many at once as one by one', async () => {
  const list = (await make('lists', alice)).json.id;
  const names = 'lantern_web_server_2 no_such Harbor_Linux_3_STIG HARBOR_LINUX_3 harbor_linux_3'.split(' ');
  const added = (await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs: names })).json;
  const found: string[] = [];
  for (const name of names) {
    const one = await ask(t, 'POST', '/api/v1/my-stigs', alice, { slugs: [name] });
    if (one.json.notFound === undefined) found.push(name);
  }
  const favorites = (await ask(t, 'GET', '/api/v1/my-stigs', alice)).json.slugs as string[];
  assert.equal(
    added.notFound ?? [],
    names.filter((name) => !found.includes(name)),
  );
  assert.is(added.total, favorites.length);
  const collection = (await make('control-collections', alice)).json.id;
  const path = `/api/v1/control-collections/${collection}/controls`;
  const framework = 'nist-800-53';
  const ids = ['AC-2', 'ac-02', 'AC-2 (1)', 'ac-2.1', 'ZZ-9', 'AC-1'];
  const body = { controls: ids.map((controlId) => ({ framework, controlId })) };
  const answer = (await ask(t, 'POST', path, alice, body)).json;
  assert.equal(answer.notFound, [{ controlId: 'ZZ-9', framework }]);
  const members = (await ask(t, 'GET', path, alice)).json.controls as { controlId: string; title: string }[];
  assert.equal(
    members.map(({ controlId }) => controlId),
    ['AC-2', 'AC-2(1)', 'AC-1'].slice(0, members.length),
  );
  for (const { controlId, title } of members) {
    const one = await ask(t, 'POST', '/api/v1/my-controls', alice, { framework, controlId });
    assert.is(one.status, 200);
    const favorite = (await ask(t, 'GET', '/api/v1/my-controls', alice)).json.controls.find(
      (each: { controlId: string }) => each.controlId === controlId,
    );
    assert.is(favorite.title, title);
  }
  assert.equal(goneReferences(t.db), []);
});

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
