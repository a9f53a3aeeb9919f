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
import { importInto, openSite, replaceBy } from '../support/site.ts';
import { type SampleBenchmark, writeXccdf } from '../support/xccdf-writer.ts';

const test = suite('What is gone from the catalog');

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

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
    await replaceBy(join(folder, 'g.db'), other);
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
const home = `/lists/${list}`;
const controlsOf = `/control-collections/${collection}/controls`;
/** Sends a request of a caller, and gives its answer as JSON. */
async function call(t: TestApp, who: Caller, method: string, path: string, body?: object): Promise<Json> {
  return (await ask(t, method, `/api/v1${path}`, who, body)).json;
}
const shown = async (t: TestApp, who: Caller, path = home): Promise<Json[][]> =>
  (await call(t, who, 'GET', `${path}/stigs`)).stigs.map((each: Json) => [
    ...[each.position, each.slug, each.title, each.version, each.findingCount, each.notes],
  ]);
const idsOf = (answer: Json) => answer.controls.map((each: Json) => each.identifier);

async function fill(t: TestApp, alice: Caller, guidance = true): Promise<void> {
  await call(t, alice, 'POST', '/lists', { name: 'mine' });
  await call(t, alice, 'POST', `${home}/stigs`, { slugs: ['alpha', 'beta'] });
  await call(t, alice, 'PUT', `${home}/stigs/alpha`, { notes: 'first' });
  await call(t, alice, 'POST', '/my-stigs', { slugs: ['alpha'] });
  await call(t, alice, 'POST', '/control-collections', { name: 'mine' });
  const wanted = ['AC-1', 'AC-2'].map((controlId) => ({ framework: 'nist-800-53', controlId, notes: 'n' }));
  await call(t, alice, 'POST', controlsOf, { controls: wanted });
  for (const controlId of ['AC-10', 'AC-2', 'AC-1'])
    await call(t, alice, 'POST', '/my-controls', { framework: 'nist-800-53', controlId });
  if (!guidance) return;
  const now = () => t.clock.now;
  const fields = { name: 'c', description: '', tags: [], color: '', visibility: 'PRIVATE' as const };
  const documents = (await call(t, alice, 'GET', '/regdoc')).documents.map((each: Json) => each.documentId);
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
  const { stigs, list: own } = await call(t, alice, 'GET', `${home}/stigs`);
  assert.equal([own.stigCount, stigs[0].state, stigs[0].newest], [2, 'gone', '']);
  const csv = after[`/lists/${list}/export?format=csv`]!;
  assert.match(csv, /^alpha,Alpha [^,]+,,,,0,0,0,0,[^,]+,1,,,gone,,V1R1,first$/m);
  const wanted = await call(t, alice, 'GET', `${home}/stigs?include=findings&severity=medium`);
  assert.is(wanted.stigs.map((each: Json) => each.slug).join(), 'beta');

  const [was, is] = [before, after].map((seen) => JSON.parse(seen['/my-controls']!.slice(4)).controls);
  assert.equal(idsOf({ controls: was }), ['AC-1', 'AC-2', 'AC-10']);
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
  const { html } = await loadPage(t, '/favorites', browser);
  assert.match(textOf(html), `${alpha.title} (no longer in the catalog)`);
  assert.match(textOf(html), /AC-1 NIST SP 800-53 \(no longer in the catalog\)/);
  assert.not.match(html, /href="\/(stigs\/alpha|controls\/nist-800-53\/AC-1)"/);

  await exchange(whole);
  assert.equal(await look(t, alice), before);
  t.db.close();
});

test('it can be moved, annotated, copied and removed, and is not added', async () => {
  const { t, alice, exchange } = await site(whole);
  await fill(t, alice);
  await exchange({ stigs: [beta], controls: controls.slice(1), guidance: false });
  const send = (method: string, path: string, body?: object) => call(t, alice, method, path, body);
  const put = await send('PUT', `${home}/stigs/alpha`, { notes: 'kept', position: 9 });
  assert.equal([put.stigSlug, put.notes, put.position], ['alpha', 'kept', 9]);
  const copy = `/lists/${(await send('POST', `${home}/duplicate`)).id}`;
  const entries = [
    [2, 'beta', beta.title, 'V1R1', 3, ''],
    [9, 'alpha', alpha.title, '', 0, 'kept'],
  ];
  assert.equal([await shown(t, alice), await shown(t, alice, copy)], [entries, entries]);

  const again = { slugs: ['alpha', 'beta'] };
  const added = await send('POST', `${home}/stigs`, again);
  assert.equal([added.added, added.total, added.notFound], [0, 2, ['alpha']]);
  const favorite = await send('POST', '/my-stigs', again);
  assert.equal([favorite.added, favorite.total, favorite.notFound], [1, 2, ['alpha']]);
  const control = { framework: 'nist-800-53', controlId: 'ac-01' };
  assert.is((await send('POST', '/my-controls', control)).error.code, 'NOT_FOUND');
  const more = await send('POST', controlsOf, { controls: [control] });
  assert.equal([more.added, more.notFound], [0, [{ controlId: 'ac-01', framework: 'nist-800-53' }]]);

  assert.is((await send('DELETE', `${home}/stigs`, { slugs: ['alpha', 'none'] })).removed, 1);
  assert.equal(await shown(t, alice), entries.slice(0, 1));
  assert.is((await send('DELETE', '/my-stigs', { slugs: ['alpha'] })).removed, 1);
  assert.is((await send('DELETE', '/my-controls', control)).controlId, 'AC-1');
  assert.equal(idsOf(await send('GET', '/my-controls')), ['AC-2', 'AC-10']);
  assert.is((await send('DELETE', controlsOf, { controls: [control] })).removed, 1);
  t.db.close();
});

test('an entry follows its STIG to a new slug; two that come to mean one STIG are both shown', async () => {
  const { t, alice, exchange } = await site({ ...whole, guidance: false });
  await fill(t, alice, false);
  const send = (method: string, path: string, body?: object) => call(t, alice, method, path, body);
  // Alpha goes on under the title of Omega; Beta is another product that is printed under Alpha's old title.
  const omega = { ...alpha, title: 'Omega Security Technical Implementation Guide', release: 2 };
  await exchange({ stigs: [alpha, omega, beta], controls, guidance: false });
  assert.equal((await shown(t, alice))[0], [1, 'omega', omega.title, 'V1R2', 3, 'first']);
  for (const name of ['alpha', 'Alpha_STIG', 'omega']) {
    const again = await send('POST', `${home}/stigs`, { slugs: [name] });
    assert.equal([again.added, again.total, again.notFound], [0, 2, undefined], name);
    const set = await send('PUT', `${home}/stigs/${name}`, { notes: name });
    assert.equal([set.stigSlug, set.notes], ['omega', name]);
  }
  assert.equal((await send('GET', '/my-stigs')).slugs, ['omega']);

  // Beta's benchmark becomes a release of Omega's too: its entry means the same STIG.
  t.db.sqlite.exec("UPDATE list_stigs SET slug = 'old', benchmark_id = 'alpha_stig' WHERE slug = 'beta'");
  const places = (await shown(t, alice)).map(([position, slug]) => `${position} ${slug}`);
  assert.equal(places, ['1 omega', '2 omega']);
  await send('PUT', `${home}/stigs/omega`, { notes: 'of both' });
  const after = (await shown(t, alice)).map(([position, , , , , notes]) => `${position} ${notes}`);
  assert.equal(after, ['1 of both', '2 of both']);
  const { lists } = await send('GET', '/lists?include=slugs');
  assert.equal(lists[0].stigSlugs, ['omega', 'omega']);
  assert.is((await send('DELETE', `${home}/stigs`, { slugs: ['Alpha_STIG'] })).removed, 2);
  assert.equal(await shown(t, alice), []);
  t.db.close();
});

test('a slug that another STIG has now does not take an entry from its own', async () => {
  const { t, alice, exchange } = await site({ ...whole, guidance: false });
  await fill(t, alice, false);
  const send = (method: string, path: string) => call(t, alice, method, path, { slugs: ['alpha'] });
  // Alpha is called Omega, and another product has the title that was Alpha's.
  const omega = { ...alpha, title: 'Omega Security Technical Implementation Guide' };
  const other = { ...benchmark('Other', 'OTHR-01'), title: alpha.title! };
  await exchange({ stigs: [omega, other, beta], controls, guidance: false });
  const before = await shown(t, alice);
  assert.equal(before[0], [1, 'omega', omega.title, 'V1R1', 3, 'first']);
  const added = await send('POST', `${home}/stigs`);
  assert.equal([added.added, added.total], [1, 3]);
  assert.equal(await shown(t, alice), [...before, [3, 'alpha', alpha.title, 'V1R1', 3, '']]);
  const favorite = await send('POST', '/my-stigs');
  assert.equal([favorite.added, favorite.total], [1, 2]);
  assert.is((await send('DELETE', `${home}/stigs`)).removed, 1);
  assert.equal(await shown(t, alice), before);
  t.db.close();
});

test.run();
