import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { createMappingDecisions } from '../../src/catalog/crosswalk/decisions.ts';
import { planHeading, planSections } from '../../src/content/plan.ts';
import { testApp } from '../support/app.ts';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { applyTo, makeSite, planFor, rollBackIn, withSite } from '../support/content-site.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// Rule D32.5: what a bundle will do is known before, and users keep what refers to what is gone.
const test = suite('The plan of a bundle');

const folder = scratchFolder();
const xccdf = (name: string, options: Parameters<typeof writeXccdf>[0]) =>
  put(folder, `${name}.xml`, writeXccdf(options));
const own = (prefix: string, number: number) =>
  sampleRules(number).map((rule, index) => ({ ...rule, stigId: `${prefix}-${index}` }));
const kept = xccdf('kept-1', { id: 'Kept_STIG', title: 'Kept STIG', release: 1, rules: own('KEPT', 3) });
const keptNext = xccdf('kept-2', { id: 'Kept_STIG', title: 'Kept STIG', release: 2, rules: own('KEPT', 4) });
const gone = xccdf('gone', { id: 'Gone_STIG', title: 'Gone STIG', rules: own('GONE', 2) });
const fresh = xccdf('fresh', { id: 'Fresh_STIG', title: 'Fresh STIG', rules: own('FRESH', 2) });
const moved = xccdf('moved-1', { id: 'Moved_STIG', title: 'Old name STIG', rules: own('MOVED', 2) });
const movedNext = xccdf('moved-2', {
  ...{ id: 'Moved_STIG', title: 'New name STIG', release: 2, date: '01 Oct 2026', rules: own('MOVED', 2) },
});
const controls = [shipped('controls', 'nist-800-171_rev2.csv'), shipped('controls', 'nist-800-53_rev5.csv')];
const mapping = put(
  folder,
  'mapping.csv',
  readFileSync(shipped('mappings', 'nist-800-171_to_nist-800-53.csv'), 'utf8')
    .split('\n')
    .filter((line, index) => index === 0 || /^3\.1\.1,|,3\.1\.1,/.test(line))
    .join('\n'),
);
const key = sampleKey('depot');
const before = [kept, gone, moved, ...controls, mapping];
const after = [kept, keptNext, fresh, moved, movedNext, ...controls];
const bundle = (await build(await sampleCatalog([after]), key, { sequence: 4 })).file;

/** A site with a list, a favorite and a decision about what goes. */
async function makeUsed() {
  const files = await makeSite(before);
  const made = await withSite(files, async (db) => {
    const t = await testApp([], { db });
    const { id } = (await t.send('POST', '/api/v1/lists', { name: 'Ours' })).json;
    const slugs = ['kept', 'gone', 'old_name'];
    assert.is((await t.send('POST', `/api/v1/lists/${id}/stigs`, { slugs })).json.added, 3);
    await t.send('PUT', `/api/v1/lists/${id}/stigs/gone`, { notes: 'of mine' });
    await t.send('POST', '/api/v1/my-stigs', { slugs: ['gone'] });
    const [a, aId, b, bId] = db.sqlite
      .prepare<[], string[]>(
        `SELECT a.framework, a.identifier, b.framework, b.identifier FROM crosswalk_edges AS e
           JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b ORDER BY e.a, e.b LIMIT 1`,
      )
      .raw()
      .get() as [string, string, string, string];
    const decisions = createMappingDecisions(db);
    const ends = [
      { framework: a, identifier: aId },
      { framework: b, identifier: bId },
    ] as Parameters<typeof decisions.set>[0];
    const decision = { status: 'verified', reason: 'ours', decidedAt: '2026-11-01T00:00:00Z' } as const;
    await db.write(() => decisions.set(ends, decision));
    return { list: id as string, pair: [`${a}:${aId}`, `${b}:${bId}`] };
  });
  return { files, ...made };
}

const slugsOf = (rows: { slug?: unknown }[]) => rows.map(({ slug }) => slug);

test('shows what is added, changed and removed, and what refers to it', async () => {
  const { files, list, pair } = await makeUsed();
  const folderBefore = filesIn(join(files.db, '..'));
  const plan = await planFor(files, bundle, key);
  assert.equal(filesIn(join(files.db, '..')), folderBefore);
  assert.equal(slugsOf(plan.stigs.come), ['fresh']);
  const changes = told(plan.stigs.change, 'slug', 'fromVersion', 'version', 'fromRules', 'rules');
  assert.equal(changes, ['kept V1R1 V1R2 3 4']);
  assert.equal(slugsOf(plan.stigs.go), ['gone']);
  assert.equal(plan.slugs, [{ from: 'old_name', to: 'new_name' }]);
  const releases = (rows: Record<string, unknown>[]) => told(rows, 'slug', 'version');
  assert.equal(releases(plan.releases.come), ['fresh V1R1', 'kept V1R2', 'new_name V1R1', 'new_name V1R2']);
  assert.equal(releases(plan.releases.go), ['gone V1R1', 'old_name V1R1']);
  assert.equal(plan.controls, { come: [], change: [], go: [] });
  assert.ok(plan.edges.go.length > 0 && plan.edges.come.length === 0);
  assert.equal(plan.sources.go.map(({ source }) => source).sort(), ['gone.xml', 'mapping.csv']);
  const entry = { owner: 'alice', refersTo: 'gone', title: 'Gone STIG' };
  assert.equal(plan.references, {
    go: [
      { kind: 'favorite', id: null, name: null, ...entry },
      { kind: 'list', id: list, name: 'Ours', ...entry },
    ],
    comeBack: [],
  });
  const why = "no source states the pair any more: it is this site's own now";
  assert.equal(plan.decisions, [{ from: pair[0]!, to: pair[1]!, status: 'verified', why }]);
  assert.is(plan.refusals.length, 1);
  assert.match(
    plan.refusals[0]!,
    /this site holds 2 sources that it lacks: gone\.xml \(gone\), mapping\.csv/,
  );
  assert.match(
    planHeading(plan),
    /^main 4 of 2026-10-01T00:00:00\.000Z, signed by depot, whole: catalog ([0-9a-f]{4} ){2}[0-9a-f]{4}$/,
  );
  const words = planSections(plan).map(({ title, totals }) => `${title}: ${totals}`);
  assert.equal(words.slice(0, 6), [
    'Sources that only this site holds: 2 removed',
    'References of lists, collections and favorites: 2 removed',
    "This site's mapping decisions: 1 changed",
    'Renamed slugs: 1 changed',
    'STIGs: 1 added, 1 changed, 1 removed',
    'Releases: 4 added, 2 removed',
  ]);
  // What comes with the package is removed, too, but is not the site's own, however many of it there are.
  const shippedOnes = (...names: string[]) => ({
    ...plan,
    localSources: plan.sources.go.filter(({ source }) => !names.includes(source)).map(({ sha256 }) => sha256),
  });
  const sourcesOf = (...names: string[]) =>
    planSections(shippedOnes(...names))
      .filter(({ title }) => /source/i.test(title))
      .map(({ title, totals }) => `${title}: ${totals}`);
  assert.equal(sourcesOf('mapping.csv'), [
    'Sources that only this site holds: 1 removed',
    'Other sources: 3 added, 1 removed',
  ]);
  assert.equal(sourcesOf('mapping.csv', 'gone.xml'), ['Other sources: 3 added, 2 removed']);
});

test('rolling back keeps every list, note and favorite; what is gone is shown as gone meanwhile', async () => {
  const { files, list } = await makeUsed();
  const shown = () =>
    withSite(files, async (db) => {
      const t = await testApp([], { db });
      const { stigs } = (await t.get(`/api/v1/lists/${list}/stigs`)).json;
      const rows = told(stigs as Record<string, string>[], 'slug', 'title', 'version', 'notes');
      const favorites = (await t.get('/api/v1/my-stigs')).json;
      return { rows, favorites, decisions: createMappingDecisions(db).all() };
    });
  const were = await shown();
  assert.equal(were.rows, [
    'kept Kept STIG V1R1 ',
    'gone Gone STIG V1R1 of mine',
    'old_name Old name STIG V1R1 ',
  ]);
  await applyTo(files, bundle, key, { dropLocal: true });
  const are = await shown();
  assert.equal(are.rows, ['kept Kept STIG V1R2 ', 'gone Gone STIG  of mine', 'new_name New name STIG V1R2 ']);
  assert.equal(are.favorites, were.favorites);
  assert.equal(
    are.decisions.map(({ own: isOwn }) => isOwn),
    [true],
  );
  // What comes back is told too.
  const back = (await build(await sampleCatalog([[...after, gone]]), key, { sequence: 5 })).file;
  assert.equal(
    (await planFor(files, back, key)).references.comeBack.map(({ kind }) => kind),
    ['favorite', 'list'],
  );
  await rollBackIn(files);
  assert.equal(await shown(), were);
});

test('as text, JSON and a page of its own', async () => {
  const { files } = await makeUsed();
  const cwd = scratchFolder();
  const args = ['--db', files.db];
  const trust = ['content', 'trust', 'add', `${key.file}.pub`, '--name', '<depot>', ...args];
  assert.is((await commandHere(trust, { cwd })).code, 0);
  const text = await commandHere(['content', 'plan', bundle, '--html', 'plan.html', ...args], { cwd });
  assert.is(text.code, 0, text.stderr);
  assert.match(
    text.stdout,
    /\nSTIGs: 1 added, 1 changed, 1 removed\n {2}\+ fresh V1R1, 2 rules: Fresh STIG\n {2}~ kept V1R1 to V1R2, 3 to 4 rules: Kept STIG\n {2}- gone V1R1/,
  );
  assert.match(text.stdout, /^apply would refuse it: this site holds 2 sources/m);
  const page = readFileSync(join(cwd, 'plan.html'), 'utf8');
  assert.match(page, /signed by &lt;depot&gt;/);
  assert.not.match(page, /<depot>|<script|https?:|src=/);
  assert.match(page, /<h2>This bundle would be refused<\/h2>/);
  assert.match(page, /added: fresh V1R1, 2 rules: Fresh STIG/);
  const again = await commandHere(['content', 'plan', bundle, '--html', 'plan.html', ...args], { cwd });
  assert.equal([again.code, again.stderr], [1, 'gapstone: plan.html already exists: choose another name\n']);
  const json = await commandHere(['content', 'plan', bundle, '--json', ...args], { cwd });
  const { sources, ...plan } = JSON.parse(json.stdout);
  assert.equal(slugsOf(plan.stigs.go), ['gone']);
  assert.equal([plan.bundle.channel, plan.bundle.sequence, plan.bundle.signedBy], ['main', 4, '<depot>']);
  assert.ok(sources.come.length > 0);
});

test.run();
