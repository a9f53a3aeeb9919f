import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openCatalog } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { openSite } from '../support/site.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// Rule D32.5: what the catalog holds, by a digest that other sites can compare.
const test = suite('The catalog as a whole');

test('digest, time and counts, of the catalog as it is', async () => {
  const db = await openSite(scratchFolder(), [shipped('stigs'), shipped('controls')]);
  const t = await testApp([], { db });
  const get = async () => (await t.get('/api/v1/catalog')).json;
  const { stigs } = (await t.get('/api/v1/stigs')).json;
  const first = await get();
  assert.equal(Object.keys(first), ['digest', 'changedAt', 'sources', 'stigs', 'rules', 'bundle']);
  assert.is(first.digest, catalogDigest(db));
  assert.is(first.stigs, stigs.length);
  const rules = stigs.reduce((sum: number, each: { findingCount: number }) => sum + each.findingCount, 0);
  assert.is(first.rules, rules);
  assert.is(first.sources, db.sqlite.prepare('SELECT count(*) FROM sources').pluck().get());
  assert.is(first.bundle, null);

  const text = writeXccdf({ id: 'Other_STIG', title: 'Other STIG', rules: sampleRules(7) });
  await runImport(db, [put(scratchFolder(), 'a.xml', text)], { now: () => new Date('2026-11-22T10:00:00Z') });
  // Asked for twice at once it is made once, and both are told of the state after the import.
  const [second, third] = await Promise.all([get(), get()]);
  assert.equal(second, third);
  assert.equal(second, {
    digest: catalogDigest(db),
    changedAt: '2026-11-22T10:00:00.000Z',
    sources: first.sources + 1,
    stigs: first.stigs + 1,
    rules: first.rules + 7,
    bundle: null,
  });
  assert.is.not(second.digest, first.digest);
  // What users write is no part of it.
  assert.is((await t.send('POST', '/api/v1/lists', { name: 'L' })).status, 201);
  assert.equal(await get(), second);
  db.close();
});

test('what an import stored is answered without making the digest again; where nothing is stored it is made', async () => {
  const folder = scratchFolder();
  const db = await openSite(folder, [shipped('stigs')]);
  const digest = catalogDigest(db);
  const store = (value: string | null) => {
    // By another process, as far as the server knows: it only reads the catalog.
    const other = openCatalog(join(folder, 'g.db'));
    other.sqlite.prepare('UPDATE catalog SET digest = ?, generation = generation + 1').run(value);
    other.close();
  };
  const t = await testApp([], { db });
  const answered = async () => (await t.get('/api/v1/catalog')).json.digest;
  assert.is(await answered(), digest);
  store('f'.repeat(64));
  assert.is(await answered(), 'f'.repeat(64), 'read, not made');
  store(null);
  assert.is(await answered(), digest);
  db.close();
});

test.run();
