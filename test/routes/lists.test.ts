import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import * as assert from 'uvu/assert';
import type { Database } from '../../src/db/database.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import {
  ask,
  type Caller,
  countingIds,
  integrationCaller,
  sessionCaller,
  testId,
  userCaller,
} from '../support/callers.ts';
import { rejects, suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { countStatements } from '../support/statements.ts';

const lists = suite('Lists');
const slugs = ['harbor_linux_3', 'lantern_web_server_2'];

const highOnly = writeBenchmarks([
  { id: 'High', title: 'High STIG', rules: [{ groupId: 'V-1', ruleId: 'SV-1r1_rule', severity: 'high' }] },
]);

let t: TestApp;
let alice: Caller;
let bob: Caller;

lists.before.each(async () => {
  t = await testApp([shipped('stigs'), highOnly], { newId: countingIds() });
  alice = await userCaller(t);
  bob = await userCaller(t, { sub: 'bob' });
});

lists.after.each(() => t.db.close());

async function make(body: Record<string, unknown> = { name: 'L' }, caller = alice): Promise<string> {
  const { json } = await ask(t, 'POST', '/api/v1/lists', caller, body);
  return `/api/v1/lists/${json.id}`;
}

const wait = (milliseconds: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + milliseconds);
};

lists('a list is made with what is given, and the rest has its defaults', async () => {
  const fields = {
    name: '  Web servers ',
    description: 'All of them',
    tags: ['b', 'a'],
    color: '#2A6fdb',
    icon: 'server',
    visibility: 'shared',
  };
  const { json } = await ask(t, 'POST', '/api/v1/lists', alice, fields);
  assert.equal(json, {
    id: testId(1),
    ...fields,
    name: 'Web servers',
    visibility: 'SHARED',
    stigCount: 0,
    createdById: 'alice',
    createdByEmail: 'alice@example.org',
    organizationId: 'red',
    createdAt: '2026-11-21T12:00:00.000Z',
    updatedAt: '2026-11-21T12:00:00.000Z',
    seenAt: null,
  });
  const bare = await userCaller(t, { email: undefined, org: undefined });
  const own = (await ask(t, 'POST', '/api/v1/lists', bare, { name: 'N' })).json;
  assert.equal(
    [own.createdByEmail, own.organizationId, own.color, own.icon, own.description, own.tags, own.visibility],
    [null, null, '', '', '', [], 'PRIVATE'],
  );
});

lists('PATCH changes what it names, "" clears color and icon, nothing is no change', async () => {
  const path = await make({ name: 'L', color: '#112233', icon: 'x', tags: ['a'], visibility: 'SHARED' });
  wait(1000);
  const same = (await ask(t, 'PATCH', path, alice, {})).json;
  assert.is(same.updatedAt, '2026-11-21T12:00:00.000Z');
  for (const field of ['color', 'icon'])
    assert.is((await ask(t, 'PATCH', path, alice, { name: 'M', [field]: null })).status, 400, field);
  const cleared = (await ask(t, 'PATCH', path, alice, { color: '', icon: '' })).json;
  assert.equal(
    [cleared.color, cleared.icon, cleared.name, cleared.tags, cleared.visibility, cleared.updatedAt],
    ['', '', 'L', ['a'], 'SHARED', '2026-11-21T12:00:01.000Z'],
  );
  assert.is((await ask(t, 'GET', path, bob)).status, 200);
  const hiddenNow = (await ask(t, 'PATCH', path, alice, { visibility: 'private', tags: [] })).json;
  assert.equal([hiddenNow.visibility, hiddenNow.tags], ['PRIVATE', []]);
  assert.is((await ask(t, 'GET', path, bob)).status, 404);
  const sent = await ask(t, 'PATCH', path, alice, hiddenNow);
  assert.is(sent.status, 200, 'a list may be sent back as it was answered');
});

lists('listing: newest first, then by id; include=slugs adds the STIGs in their order', async () => {
  const first = await make({ name: 'first' });
  const second = await make({ name: 'second' });
  wait(5);
  await make({ name: 'newest' });
  await ask(t, 'POST', `${first}/stigs`, alice, { slugs });
  await ask(t, 'PUT', `${first}/stigs/${slugs[0]}`, alice, { position: 9 });
  const plain = (await ask(t, 'GET', '/api/v1/lists', alice)).json.lists;
  assert.equal(
    plain.map((each: { name: string }) => each.name),
    ['newest', 'first', 'second'],
  );
  assert.not.ok('stigSlugs' in plain[0]);
  const withSlugs = (await ask(t, 'GET', '/api/v1/lists?include=Slugs&ignored=1', alice)).json.lists;
  assert.equal(
    withSlugs.map((each: { stigSlugs: string[] }) => each.stigSlugs),
    [[], [slugs[1], slugs[0]], []],
  );
  assert.not.ok('stigSlugs' in (await ask(t, 'GET', second, alice)).json);
});

lists('adding: each slug once, unknown ones told, positions appended', async () => {
  const path = `${await make()}/stigs`;
  const added = await ask(t, 'POST', path, alice, {
    slugs: [slugs[1], 'nobody', slugs[1], 'NOBODY', 'nobody'],
  });
  assert.equal(added.json, { success: true, added: 1, total: 1, notFound: ['nobody', 'NOBODY'] });
  assert.is((await ask(t, 'PUT', `${path}/${slugs[1]}`, alice, { position: 41, notes: 'n' })).status, 200);
  wait(1000);
  assert.equal((await ask(t, 'POST', path, alice, { slugs })).json, { success: true, added: 1, total: 2 });
  const page = (await ask(t, 'GET', path, alice)).json;
  assert.equal(
    page.stigs.map((each: Record<string, unknown>) => [each.slug, each.position, each.notes, each.addedAt]),
    [
      [slugs[1], 41, 'n', '2026-11-21T12:00:00.000Z'],
      [slugs[0], 42, '', '2026-11-21T12:00:01.000Z'],
    ],
  );
  // After the highest position that can be set there is another, which a note alone leaves.
  await ask(t, 'PUT', `${path}/${slugs[1]}`, alice, { position: 2 ** 31 - 1 });
  await ask(t, 'POST', path, alice, { slugs: ['high'] });
  const beyond = await ask(t, 'PUT', `${path}/high`, alice, { notes: 'n' });
  assert.equal([beyond.status, beyond.json.position], [200, 2 ** 31]);
  const none = await ask(t, 'DELETE', path, alice, { slugs: ['nobody'] });
  assert.equal(none.json, { success: true, removed: 0 });
  const one = await ask(t, 'DELETE', path, alice, { slugs: [slugs[1], slugs[1]] });
  assert.equal(one.json, { success: true, removed: 1 });
  assert.is((await ask(t, 'PUT', `${path}/${slugs[1]}`, alice, { notes: 'x' })).status, 404);
});

lists('with a severity, STIGs without a match are dropped, and the counts of the others stay', async () => {
  const path = `${await make()}/stigs`;
  await ask(t, 'POST', path, alice, { slugs: [...slugs, 'high'] });
  type Entry = { slug: string; findingCount: number; findings: { ruleSeverity: string }[] };
  const entriesOf = async (query: string): Promise<Entry[]> =>
    (await ask(t, 'GET', `${path}?${query}`, alice)).json.stigs;
  const all = await entriesOf('include=FINDINGS');
  for (const { slug, findingCount, findings } of all) {
    assert.is(findings.length, findingCount);
    const record = (await ask(t, 'GET', `/api/v1/stigs/${slug}`, alice)).json.findings;
    const expected = record.map(
      ({ severity, title: _, description: __, ruleVersion: ___, ...each }: Record<string, unknown>) => {
        return { ...each, ruleSeverity: severity };
      },
    );
    assert.equal(findings, expected);
  }
  for (const severities of ['high', 'LOW', 'low,high']) {
    const is = (each: { ruleSeverity: string }) => severities.toLowerCase().includes(each.ruleSeverity);
    const left = all
      .map((each) => ({ ...each, findings: each.findings.filter(is) }))
      .filter(({ findings }) => findings.length > 0);
    assert.is(left.length, severities === 'LOW' ? 2 : 3);
    assert.equal(await entriesOf(`include=findings&severity=${severities}`), left, severities);
    assert.is((await entriesOf(`severity=${severities}`)).length, 3, 'without findings it is ignored');
  }
});

lists('PUT sets notes or position, keeps the other, and moves no other entry', async () => {
  const path = `${await make()}/stigs`;
  await ask(t, 'POST', path, alice, { slugs });
  const entry = `${path}/${slugs[1]}`;
  assert.equal((await ask(t, 'PUT', entry, alice, { notes: 'a' })).json.position, 2);
  const moved = (await ask(t, 'PUT', entry, alice, { position: 1 })).json;
  assert.equal([moved.notes, moved.position], ['a', 1]);
  assert.equal((await ask(t, 'PUT', entry, alice, {})).json, moved);
  const both = (await ask(t, 'GET', path, alice)).json.stigs;
  assert.equal(
    both.map((each: { slug: string; position: number }) => [each.slug, each.position]),
    [
      [slugs[0], 1],
      [slugs[1], 1],
    ],
    'of equal positions the slug decides',
  );
  assert.equal((await ask(t, 'PUT', entry, alice, { notes: '' })).json.notes, '');
});

lists('a duplicate is private and the caller’s, with entries, notes and order', async () => {
  const path = await make({ name: 'x'.repeat(198), visibility: 'SHARED', tags: ['a'], color: '#000000' });
  await ask(t, 'POST', `${path}/stigs`, alice, { slugs });
  await ask(t, 'PUT', `${path}/stigs/${slugs[0]}`, alice, { position: 5, notes: 'note' });
  wait(1000);
  const copy = (await ask(t, 'POST', `${path}/duplicate`, bob)).json;
  assert.is(copy.name, `${'x'.repeat(198)} (`);
  assert.equal(
    [copy.visibility, copy.createdById, copy.stigCount, copy.tags, copy.color, copy.createdAt],
    ['PRIVATE', 'bob', 2, ['a'], '#000000', '2026-11-21T12:00:01.000Z'],
  );
  const own = `/api/v1/lists/${copy.id}`;
  assert.is((await ask(t, 'GET', own, alice)).status, 404);
  const entries = (await ask(t, 'GET', `${own}/stigs`, bob)).json.stigs;
  assert.equal(
    entries.map((each: Record<string, unknown>) => [each.slug, each.position, each.notes]),
    [
      [slugs[1], 2, ''],
      [slugs[0], 5, 'note'],
    ],
  );
  await ask(t, 'DELETE', `${own}/stigs`, bob, { slugs });
  assert.is((await ask(t, 'GET', path, alice)).json.stigCount, 2);
  const short = (await ask(t, 'POST', `${await make({ name: 'Web' })}/duplicate`, alice)).json;
  assert.is(short.name, 'Web (copy)');
});

lists(
  'exports: json without notes, csv with the same columns and notes, formulas escaped unless raw',
  async () => {
    const path = await make({ name: 'Réseau "A"/=1', description: 'd' });
    await ask(t, 'POST', `${path}/stigs`, alice, { slugs });
    await ask(t, 'PUT', `${path}/stigs/${slugs[0]}`, alice, { notes: 'two\nlines, "said"' });
    const { json, headers } = await ask(t, 'GET', `${path}/export`, alice);
    assert.equal(json.list, { id: path.split('/').at(-1), name: 'Réseau "A"/=1', description: 'd' });
    const [{ statusDate, catI, catII, catIII, ...first }] = json.stigs;
    assert.equal(first, {
      ...{ slug: 'harbor_linux_3', title: 'Harbor Linux 3 Security Technical Implementation Guide' },
      ...{ version: 'V1R2', status: 'accepted', findingCount: catI + catII + catIII, position: 1 },
      ...{ addedAt: '2026-11-21T12:00:00.000Z', release: null, newest: 'V1R2', state: 'current' },
    });
    assert.ok(catI > 0 && statusDate !== null);
    assert.match(
      headers.get('Content-Disposition')!,
      /^attachment; filename="R_seau_A_1\.json"; filename\*=/,
    );
    const csv = await ask(t, 'GET', `${path}/export?format=CSV`, alice);
    assert.is(csv.headers.get('Content-Type'), 'text/csv; charset=utf-8');
    const rows: Record<string, string>[] = parse(csv.text, { columns: true, record_delimiter: '\r\n' });
    const columns = [...Object.keys(json.stigs[0]), 'releaseDate', 'addedVersion', 'notes'];
    assert.equal(Object.keys(rows[0]!), columns);
    const { stigs } = (await ask(t, 'GET', `${path}/stigs`, alice)).json;
    for (const [index, { releaseDate, addedVersion, notes, ...row }] of rows.entries()) {
      const cells = Object.entries(json.stigs[index]).map(([name, value]) => [name, String(value ?? '')]);
      assert.equal(row, Object.fromEntries(cells));
      const stig = (await ask(t, 'GET', `/api/v1/stigs/${row.slug}`, alice)).json;
      assert.equal([releaseDate, addedVersion, notes], [stig.releaseDate, stig.version, stigs[index].notes]);
    }
    t.db.sqlite.prepare("UPDATE stig_printings SET title = '=cmd()' WHERE version = 'V1R2'").run();
    assert.match((await ask(t, 'GET', `${path}/export?format=csv`, alice)).text, /,'=cmd\(\),/);
    assert.match((await ask(t, 'GET', `${path}/export?format=csv&raw=true`, alice)).text, /,=cmd\(\),/);
  },
);

lists('a deleted list comes back with its entries within 30 days, and not a moment later', async () => {
  const path = await make({ name: 'L', visibility: 'SHARED' });
  await ask(t, 'POST', `${path}/stigs`, alice, { slugs });
  const before = (await ask(t, 'GET', path, alice)).json;
  const day = 24 * 3600 * 1000;
  const atEnd = async (milliseconds: number) => {
    assert.is((await ask(t, 'DELETE', path, await userCaller(t))).status, 200);
    wait(milliseconds);
    alice = await userCaller(t);
    bob = await userCaller(t, { sub: 'bob' });
    assert.is((await ask(t, 'DELETE', path, alice)).status, 404, 'it is deleted once');
    assert.equal((await ask(t, 'GET', '/api/v1/lists', alice)).json.lists, []);
    assert.is((await ask(t, 'POST', `${path}/restore`, bob)).status, 404);
    return ask(t, 'POST', `${path}/restore`, alice);
  };
  const restored = await atEnd(30 * day);
  assert.is(restored.status, 200);
  assert.equal({ ...restored.json, updatedAt: before.updatedAt }, before);
  assert.is((await ask(t, 'GET', path, bob)).json.stigCount, 2);
  assert.is((await ask(t, 'POST', `${path}/restore`, bob)).status, 403, 'active, visible, not the creator');
  assert.is((await atEnd(30 * day + 1)).status, 404);
});

lists(
  'as many questions are asked of the database for hundreds of lists and collections as for one',
  async () => {
    const statements = countStatements();
    const session = await sessionCaller(t, await userCaller(t, { entitlements: ['regdoc', 'occ'] }));
    const paths = `/api/v1/lists /api/v1/lists?include=slugs /systems /api/v1/control-collections /collections
      /api/v1/regdoc-collections /api/v1/role-collections /documents /roles`.split(/\s+/);
    const questions: number[][] = paths.map(() => []);
    try {
      // What is asked once, for one what the catalog's generation is, is asked before.
      for (const count of [1, 2, 300]) {
        for (const kind of ['list', 'control-collection', 'regdoc-collection', 'role-collection'])
          for (let made = 0; made < count; made++) insertBundle(t.db, kind, randomUUID());
        for (const [index, path] of paths.entries()) {
          statements.ran = 0;
          assert.is((await t.app.request(path, { headers: session })).status, 200, path);
          questions[index]!.push(statements.ran);
        }
      }
    } finally {
      statements.stop();
    }
    assert.equal(
      questions.map(([, , many]) => many),
      questions.map(([, two]) => two),
      paths.join(' '),
    );
  },
);

lists('counts and slugs of many lists are those that each list has', async () => {
  for (const own of [[], slugs, slugs.slice(1), slugs.toReversed(), [], slugs.slice(0, 1)]) {
    const path = await make({
      name: own.join() || 'none',
      visibility: own.length === 1 ? 'SHARED' : 'PRIVATE',
      description: `"\\\u2028\u{1f680}\ufeff</script>\b\t${own.length}`,
    });
    for (const slug of own) await ask(t, 'POST', `${path}/stigs`, alice, { slugs: [slug] });
  }
  for (const caller of [alice, bob]) {
    const plain = (await ask(t, 'GET', '/api/v1/lists', caller)).json.lists;
    const { lists: all } = (await ask(t, 'GET', '/api/v1/lists?include=slugs', caller)).json;
    assert.is(all.length, caller === alice ? 6 : 2);
    for (const [index, { stigSlugs, ...list }] of all.entries()) {
      assert.equal(list, plain[index]);
      assert.equal(list, (await ask(t, 'GET', `/api/v1/lists/${list.id}`, caller)).json);
      assert.is(stigSlugs.join(), list.name === 'none' ? '' : list.name);
      assert.is(list.stigCount, stigSlugs.length);
    }
  }
});

lists(
  'an integration token sees what is assigned, until it is deleted or expires; its text is not stored',
  async () => {
    const one = await make({ name: 'one' });
    await make({ name: 'two', visibility: 'SHARED' });
    const id = one.split('/').at(-1)!;
    const program = await integrationCaller(t, testId(900), [id], { lifetime: 60 });
    const names = async () =>
      (await ask(t, 'GET', '/api/v1/lists', program)).json.lists?.map((each: { name: string }) => each.name);
    assert.equal(await names(), ['one']);
    await ask(t, 'DELETE', one, alice);
    assert.equal(await names(), []);
    await ask(t, 'POST', `${one}/restore`, alice);
    assert.equal(await names(), ['one']);
    wait(60_000);
    const guessed = { Authorization: `Bearer gsi_${'A'.repeat(43)}` };
    for (const caller of [program, guessed])
      assert.is((await ask(t, 'GET', '/api/v1/lists', caller)).status, 401);
    const foreign = integrationCaller(t, testId(901), [id], { organization: 'blue' });
    await rejects(foreign, /does not belong to the organization blue/);
    await rejects(integrationCaller(t, testId(902), [testId(999)]), /^list \S+ does not exist$/);
    const stored = JSON.stringify(t.db.sqlite.prepare('SELECT * FROM integration_tokens').all());
    assert.not.ok(stored.includes('gsi_') || stored.includes(program.Authorization!.slice(11)));
  },
);

/** Puts a bundle of alice's into the database. */
function insertBundle({ sqlite, audience }: Database, kind: string, id: string): void {
  audience.concern('alice', 'red');
  sqlite
    .prepare(
      "INSERT INTO bundles VALUES (?, ?, 'N', '', '[]', '', '', 'PRIVATE', 'alice', NULL, 'red', ?, ?, NULL, 1)",
    )
    .run(id, kind, '2026-11-21T12:00:00.000Z', '2026-11-21T12:00:00.000Z');
}

lists.run();
