import { renameSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import type { User } from '../../src/auth/viewer.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from '../../src/collections/catalog-collections.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { oscalCatalog, type SampleControl } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { importInto, openSite } from '../support/site.ts';
import { type SampleBenchmark, writeXccdf } from '../support/xccdf-writer.ts';

const test = suite('What is gone from the catalog');

const benchmark = (name: string, stem: string, more: SampleBenchmark = {}): SampleBenchmark => ({
  ...{ id: `${name}_STIG`, title: `${name} Security Technical Implementation Guide`, stem },
  ...{ first: 100_000 + stem.charCodeAt(0) * 100, ...more },
});
const alpha = benchmark('Alpha', 'ALPH-01');
const beta = benchmark('Beta', 'BETA-01');
const controls = [{ id: 'ac-1' }, { id: 'ac-2' }, { id: 'ac-10' }];

interface Content {
  stigs: SampleBenchmark[];
  controls: SampleControl[];
  guidance: boolean;
}
const whole: Content = { stigs: [alpha, beta], controls, guidance: true };

function sourcesOf(content: Content): string[] {
  const folder = scratchFolder();
  const texts = [...content.stigs.map((each) => writeXccdf(each)), oscalCatalog(content.controls)];
  return [
    ...texts.map((text, index) => put(folder, `${index}${text.startsWith('<') ? '.xml' : '.json'}`, text)),
    ...(content.guidance ? [shipped('regulatory'), shipped('roles')] : []),
  ];
}

/** An application over two files, and what puts another catalog in the place of its own. */
async function site(content: Content) {
  const folder = scratchFolder();
  const db = await openSite(folder, sourcesOf(content));
  const t = await testApp([], { db, newId: countingIds() });
  const alice = await userCaller(t, { entitlements: ['regdoc', 'occ'] });
  async function exchange(next: Content): Promise<void> {
    const other = join(scratchFolder(), 'g.db');
    await importInto(other, sourcesOf(next));
    renameSync(other, join(folder, 'g.db'));
    assert.ok(db.renewCatalog());
  }
  return { t, alice, exchange };
}

const user: User = {
  kind: 'user',
  ...{ subject: 'alice', email: 'alice@example.org', organization: 'red', entitlements: new Set() },
  expiresAt: 0,
};
const list = testId(1);
const collection = testId(2);
const stigs = (t: TestApp, who: Caller, id = list) => ask(t, 'GET', `/api/v1/lists/${id}/stigs`, who);
const shown = async (t: TestApp, who: Caller, id = list) =>
  (await stigs(t, who, id)).json.stigs.map((each: Record<string, unknown>) => [
    ...[each.position, each.slug, each.title, each.version, each.findingCount, each.notes],
  ]);

async function fill(t: TestApp, alice: Caller): Promise<void> {
  await ask(t, 'POST', '/api/v1/lists', alice, { name: 'mine' });
  await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs: ['alpha', 'beta'] });
  await ask(t, 'PUT', `/api/v1/lists/${list}/stigs/alpha`, alice, { notes: 'first' });
  await ask(t, 'POST', '/api/v1/my-stigs', alice, { slugs: ['alpha'] });
  await ask(t, 'POST', '/api/v1/control-collections', alice, { name: 'mine' });
  const wanted = ['AC-1', 'AC-2'].map((controlId) => ({ framework: 'nist-800-53', controlId, notes: 'n' }));
  await ask(t, 'POST', `/api/v1/control-collections/${collection}/controls`, alice, { controls: wanted });
  for (const controlId of ['AC-10', 'AC-2', 'AC-1'])
    await ask(t, 'POST', '/api/v1/my-controls', alice, { framework: 'nist-800-53', controlId });
  const now = () => t.clock.now;
  const fields = { name: 'c', description: '', tags: [], color: '', visibility: 'PRIVATE' as const };
  const { json } = await ask(t, 'GET', '/api/v1/regdoc', alice);
  const documents = json.documents.map((each: { documentId: string }) => each.documentId);
  await createDocumentCollectionService(t.db, now, () => testId(90)).create(user, fields, documents);
  await createRoleCollectionService(t.db, now, () => testId(91)).create(user, fields, ['15-1244.00']);
}

const addresses = [
  ...['/lists', '/lists?include=slugs', `/lists/${list}`, `/lists/${list}/stigs?include=findings`],
  ...[`/lists/${list}/export`, `/lists/${list}/export?format=csv`, '/my-stigs', '/my-controls'],
  ...[`/control-collections/${collection}`, `/control-collections/${collection}/controls`],
  ...[`/control-collections/${collection}/export?format=csv`, `/regdoc-collections/${testId(90)}/export`],
  ...['/regdoc-collections', '/role-collections', `/role-collections/${testId(91)}/export`],
];
async function look(t: TestApp, who: Caller): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  for (const address of addresses) {
    const { status, text } = await ask(t, 'GET', `/api/v1${address}`, who);
    seen[address] = `${status} ${text}`;
  }
  return seen;
}

test('it is shown as gone with what was seen of it, and is back when the catalog has it again', async () => {
  const { t, alice, exchange } = await site(whole);
  await fill(t, alice);
  const before = await look(t, alice);
  assert.equal(
    Object.values(before).map((each) => each.slice(0, 3)),
    addresses.map(() => '200'),
  );
  const gone = { stigs: [beta], controls: controls.slice(1), guidance: false };
  await exchange(gone);

  assert.equal(await shown(t, alice), [
    [1, 'alpha', alpha.title, '', 0, 'first'],
    [2, 'beta', beta.title, 'V1R1', 3, ''],
  ]);
  const after = await look(t, alice);
  for (const address of ['/lists', '/lists?include=slugs', '/my-stigs', `/lists/${list}`])
    assert.is(after[address], before[address], address);
  const exported = JSON.parse(after[`/lists/${list}/export`]!.slice(4));
  const { addedAt: _, ...entry } = exported.stigs[0];
  assert.equal(entry, {
    ...{ slug: 'alpha', title: alpha.title, version: '', status: '', statusDate: null },
    ...{ findingCount: 0, catI: 0, catII: 0, catIII: 0, position: 1 },
    ...{ release: null, newest: '', state: 'gone' },
  });
  assert.match(after[`/lists/${list}/stigs?include=findings`]!, /"slug":"alpha".*?"findings":\[\]/);
  assert.equal((await stigs(t, alice)).json.list.stigCount, 2);
  const wanted = await ask(t, 'GET', `/api/v1/lists/${list}/stigs?include=findings&severity=medium`, alice);
  assert.equal(
    wanted.json.stigs.map((each: { slug: string }) => each.slug),
    ['beta'],
  );

  const was = JSON.parse(before['/my-controls']!.slice(4)).controls;
  const is = JSON.parse(after['/my-controls']!.slice(4)).controls;
  assert.equal(
    was.map((each: { identifier: string }) => each.identifier),
    ['AC-1', 'AC-2', 'AC-10'],
  );
  assert.not(was[0].statement === '');
  assert.equal(is, [{ ...was[0], statement: '' }, ...was.slice(1)]);
  assert.is(after[`/control-collections/${collection}`], before[`/control-collections/${collection}`]);
  const documents = `/regdoc-collections/${testId(90)}/export`;
  assert.is(after[documents], before[documents]);
  const role = JSON.parse(before[`/role-collections/${testId(91)}/export`]!.slice(4));
  role.roles[0].stigMappingCount = 0;
  assert.equal(JSON.parse(after[`/role-collections/${testId(91)}/export`]!.slice(4)), role);

  // The pages say so, and lead nowhere.
  const browser = await sessionCaller(t, alice);
  for (const page of [`/lists/${list}`, '/favorites']) {
    const { html } = await loadPage(t, page, browser);
    assert.match(textOf(html), new RegExp(`${alpha.title} \\(no longer in the catalog\\)`), page);
    assert.not.match(html, /href="\/stigs\/alpha"/, page);
  }
  for (const page of [`/collections/${collection}`, '/favorites']) {
    const { html } = await loadPage(t, page, browser);
    assert.match(textOf(html), /AC-1 NIST SP 800-53 \(no longer in the catalog\)/, page);
    assert.not.match(html, /href="\/controls\/nist-800-53\/AC-1"/, page);
    assert.match(html, /href="\/controls\/nist-800-53\/AC-2"/, page);
  }

  await exchange(whole);
  assert.equal(await look(t, alice), before);
  t.db.close();
});

test('it can be moved, annotated, copied and removed, and is not added', async () => {
  const { t, alice, exchange } = await site(whole);
  await fill(t, alice);
  await exchange({ stigs: [beta], controls: controls.slice(1), guidance: false });
  const put = await ask(t, 'PUT', `/api/v1/lists/${list}/stigs/alpha`, alice, { notes: 'kept', position: 9 });
  assert.equal([put.status, put.json.stigSlug, put.json.notes, put.json.position], [200, 'alpha', 'kept', 9]);
  const copy = (await ask(t, 'POST', `/api/v1/lists/${list}/duplicate`, alice)).json.id;
  const entries = [
    [2, 'beta', beta.title, 'V1R1', 3, ''],
    [9, 'alpha', alpha.title, '', 0, 'kept'],
  ];
  assert.equal([await shown(t, alice), await shown(t, alice, copy)], [entries, entries]);

  const again = { slugs: ['alpha', 'beta'] };
  const added = await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, again);
  assert.equal([added.json.added, added.json.total, added.json.notFound], [0, 2, ['alpha']]);
  const favorite = await ask(t, 'POST', '/api/v1/my-stigs', alice, again);
  assert.equal([favorite.json.added, favorite.json.total, favorite.json.notFound], [1, 2, ['alpha']]);
  const control = { framework: 'nist-800-53', controlId: 'ac-01' };
  assert.is((await ask(t, 'POST', '/api/v1/my-controls', alice, control)).status, 404);
  const more = await ask(t, 'POST', `/api/v1/control-collections/${collection}/controls`, alice, {
    controls: [control],
  });
  assert.equal(
    [more.json.added, more.json.notFound],
    [0, [{ controlId: 'ac-01', framework: 'nist-800-53' }]],
  );

  const removed = async (path: string, body: object) => (await ask(t, 'DELETE', path, alice, body)).json;
  assert.is((await removed(`/api/v1/lists/${list}/stigs`, { slugs: ['alpha', 'none'] })).removed, 1);
  assert.equal(await shown(t, alice), entries.slice(0, 1));
  assert.is((await removed('/api/v1/my-stigs', { slugs: ['alpha'] })).removed, 1);
  assert.is((await removed('/api/v1/my-controls', control)).controlId, 'AC-1');
  assert.equal(
    (await ask(t, 'GET', '/api/v1/my-controls', alice)).json.controls.map(
      (each: { identifier: string }) => each.identifier,
    ),
    ['AC-2', 'AC-10'],
  );
  const taken = { controls: [control] };
  assert.is((await removed(`/api/v1/control-collections/${collection}/controls`, taken)).removed, 1);
  t.db.close();
});

test('an entry follows its STIG to a new slug; two that come to mean one STIG are both shown', async () => {
  const { t, alice, exchange } = await site({ ...whole, guidance: false });
  await fill(t, alice).catch(() => undefined);
  // Alpha goes on under the title of Omega; Beta is another product that is printed under Alpha's old title.
  const omega = { ...alpha, title: 'Omega Security Technical Implementation Guide', release: 2 };
  await exchange({ stigs: [alpha, omega, beta], controls, guidance: false });
  const [first] = await shown(t, alice);
  assert.equal(first, [1, 'omega', omega.title, 'V1R2', 3, 'first']);
  for (const name of ['alpha', 'Alpha_STIG', 'omega']) {
    const again = await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs: [name] });
    assert.equal([again.json.added, again.json.total, again.json.notFound], [0, 2, undefined], name);
    const set = await ask(t, 'PUT', `/api/v1/lists/${list}/stigs/${name}`, alice, { notes: name });
    assert.equal([set.json.stigSlug, set.json.notes], ['omega', name]);
  }
  assert.equal((await ask(t, 'GET', '/api/v1/my-stigs', alice)).json.slugs, ['omega']);

  // Beta's benchmark becomes a release of Omega's too: its entry means the same STIG.
  t.db.sqlite
    .prepare("UPDATE list_stigs SET slug = 'beta-of-old', benchmark_id = 'alpha_stig' WHERE slug = 'beta'")
    .run();
  assert.equal(
    (await shown(t, alice)).map((each: unknown[]) => each.slice(0, 2)),
    [
      [1, 'omega'],
      [2, 'omega'],
    ],
  );
  const lists = await ask(t, 'GET', '/api/v1/lists?include=slugs', alice);
  assert.equal(lists.json.lists[0].stigSlugs, ['omega', 'omega']);
  await ask(t, 'PUT', `/api/v1/lists/${list}/stigs/omega`, alice, { notes: 'of both' });
  assert.equal(
    (await shown(t, alice)).map((each: unknown[]) => each[5]),
    ['of both', 'of both'],
  );
  const removed = await ask(t, 'DELETE', `/api/v1/lists/${list}/stigs`, alice, { slugs: ['Alpha_STIG'] });
  assert.is(removed.json.removed, 2);
  assert.equal(await shown(t, alice), []);
  t.db.close();
});

test('a slug that another STIG has now does not take an entry from its own', async () => {
  const { t, alice, exchange } = await site({ ...whole, guidance: false });
  await fill(t, alice).catch(() => undefined);
  // Alpha is called Omega, and another product has the title that was Alpha's.
  const omega = { ...alpha, title: 'Omega Security Technical Implementation Guide' };
  const other = { ...benchmark('Other', 'OTHR-01'), title: alpha.title! };
  await exchange({ stigs: [omega, other, beta], controls, guidance: false });
  const before = await shown(t, alice);
  assert.equal(before[0], [1, 'omega', omega.title, 'V1R1', 3, 'first']);
  const added = await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs: ['alpha'] });
  assert.equal([added.json.added, added.json.total], [1, 3]);
  assert.equal(await shown(t, alice), [...before, [3, 'alpha', alpha.title, 'V1R1', 3, '']]);
  const favorite = await ask(t, 'POST', '/api/v1/my-stigs', alice, { slugs: ['alpha'] });
  assert.equal([favorite.json.added, favorite.json.total], [1, 2]);
  const removed = await ask(t, 'DELETE', `/api/v1/lists/${list}/stigs`, alice, { slugs: ['alpha'] });
  assert.is(removed.json.removed, 1);
  assert.equal(await shown(t, alice), before);
  t.db.close();
});

test.run();
