import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { allExchanges, beginExchange, lastExchange } from '../../src/content/exchanges.ts';
import type { Manifest } from '../../src/content/manifest.ts';
import { type Database, type Files, openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest, storedDigest } from '../../src/db/digest.ts';
import { holdCatalog, replaceCatalog } from '../../src/db/replace.ts';
import { testApp } from '../support/app.ts';
import { build, resigned, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { applyTo, makeSite, openForContent, planFor, rollBackIn, withSite } from '../support/content-site.ts';
import { rejects, suite } from '../support/harness.ts';
import { operations } from '../support/operations.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { importInto } from '../support/site.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// Rule D32: a bundle is applied whole or not at all, in its turn, and taken back.
const test = suite('A bundle that is applied');

const controls = [
  shipped('controls', 'nist-800-171_rev2.csv'),
  shipped('controls', 'nist-800-53_rev5.csv'),
  shipped('mappings', 'nist-800-171_to_nist-800-53.csv'),
];
const harbor = shipped('stigs', 'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml');
const lantern = shipped('stigs', 'U_Lantern_Web_Server_2_STIG_V2R3_Manual-xccdf.xml');
const guidance = [shipped('regulatory'), shipped('roles')];
const local = put(
  scratchFolder(),
  'local.xml',
  writeXccdf({ id: 'Local_STIG', title: 'Local STIG', rules: sampleRules(3) }),
);

const key = sampleKey('depot');
/** A quarter, the next, and the one after it. */
const quarters = [
  [harbor, ...controls, ...guidance],
  [harbor, ...controls, ...guidance, shipped('stigs')],
  [harbor, ...controls, ...guidance, shipped('stigs'), local],
];
const catalogs = await Promise.all(quarters.map((paths) => sampleCatalog([paths])));
const [first, second, third] = (await Promise.all(
  catalogs.map((catalog, index) => build(catalog, key, { sequence: index + 1 })),
)) as [Built, Built, Built];
type Built = Awaited<ReturnType<typeof build>>;
/** The digest of the catalog, which is also the one that is stored with it: whoever wrote the catalog left it. */
const digestOf = (files: Files) =>
  withSite(files, (db) => {
    const digest = catalogDigest(db);
    assert.is(storedDigest(db.sqlite), digest);
    return digest;
  });
const statesOf = (files: Files) =>
  withSite(files, (db) => allExchanges(db).map(({ sequence, state }) => `${sequence} ${state}`));
/** What lies in the folder of a site, but for its two files. */
const besides = ({ db, usersDb }: Files) =>
  readdirSync(dirname(db))
    .filter((name) => ![db, usersDb].map((file) => basename(file)).includes(name))
    .sort();

/** What every endpoint of the catalog answers: bytes by address. */
async function answersOf(db: Database): Promise<Map<string, string>> {
  const t = await testApp([], { db });
  const token = await t.token({ entitlements: ['regdoc', 'occ'] });
  const answers = new Map<string, string>();
  for (const { method, path } of operations) {
    // Users' data; of the catalog as a whole the time when it was applied.
    if (method !== 'GET' || !path.startsWith('/api/v1/')) continue;
    if (/\$|\{id\}|my-|session|\/lists|collections|role-mapping|\/catalog$/.test(path)) continue;
    const { status, text } = await t.get(path, { token });
    if (status === 200) answers.set(path, text);
  }
  return answers;
}

test('three sites of different histories have one digest, and answer the same bytes', async () => {
  const sites = [
    await makeSite(),
    await makeSite([harbor], controls, guidance),
    await makeSite([shipped('stigs'), ...controls], [local], guidance),
  ];
  await applyTo(sites[1]!, first.file, key);
  const all = [];
  for (const [index, files] of sites.entries()) {
    await applyTo(files, third.file, key);
    if (index === 1) {
      assert.is(await digestOf(files), third.manifest.digest);
      continue;
    }
    all.push(
      await withSite(files, async (db) => ({ digest: catalogDigest(db), answers: await answersOf(db) })),
    );
    assert.not.ok(existsSync(`${files.db}-wal`), 'it is left as one file');
  }
  assert.is(all[0]!.digest, third.manifest.digest);
  assert.ok(all[0]!.answers.size >= 25, `${all[0]!.answers.size} answers`);
  for (const each of all.slice(1)) assert.equal(each, all[0]);
});

test('comes in its turn: greater than all of its channel, or the very one that was rolled back', async () => {
  const files = await makeSite();
  await applyTo(files, second.file, key);
  const refused = (bundle: string, why: RegExp) => rejects(applyTo(files, bundle, key), why);
  await refused(first.file, /its sequence 1 is not greater than 2, which the channel main had already/);
  await refused(second.file, /it is applied already: sequence 2 of the channel main/);
  const twin = (await build(catalogs[1]!, key, { sequence: 2, now: new Date('2026-10-02') })).file;
  await refused(twin, /its sequence 2 is not greater than 2/);
  assert.equal(await statesOf(files), ['2 applied']);
  await applyTo(files, third.file, key);
  await rollBackIn(files);
  assert.is(await digestOf(files), second.manifest.digest);
  await refused(second.file, /its sequence 2 is not greater than 3/);
  await applyTo(files, third.file, key);
  assert.is(await digestOf(files), third.manifest.digest);
  assert.equal(await statesOf(files), ['2 applied', '3 rolled-back', '3 applied']);
  // Another channel counts by itself.
  const other = { ...key, channel: 'other' };
  const ofOther = (await build(catalogs[2]!, key, { channel: 'other', sequence: 1 })).file;
  await rejects(applyTo(files, ofOther, key), /it is of the channel other, but depot may sign main/);
  await applyTo(files, ofOther, other);
  assert.equal((await statesOf(files)).at(-1), '1 applied');
});

test('names the sources that only the site holds, and goes without them on demand alone', async () => {
  const files = await makeSite(quarters[1]!, [local]);
  const before = { digest: await digestOf(files), besides: besides(files) };
  const refusal =
    /is refused: this site holds 1 source that it lacks: local\.xml \(local\); see "gapstone content plan"/;
  await rejects(applyTo(files, second.file, key), refusal);
  assert.equal({ digest: await digestOf(files), besides: besides(files) }, before);
  assert.equal(await statesOf(files), []);
  const plan = await planFor(files, second.file, key);
  assert.match(plan.refusals[0]!, /this site holds 1 source/);
  await applyTo(files, second.file, key, { dropLocal: true });
  assert.is(await digestOf(files), second.manifest.digest);
  // What was there is not lost yet.
  await rollBackIn(files);
  assert.is(await digestOf(files), before.digest);
});

test('another schema or digest than was signed is refused, and nothing is left behind', async () => {
  const files = await makeSite([harbor]);
  const before = { digest: await digestOf(files), besides: besides(files) };
  const changes: [Partial<Manifest>, RegExp][] = [
    [{ schema: 99 }, /of schema 99, this version of Gapstone needs \d+: use a newer Gapstone/],
    [{ schema: 1 }, /of schema 1, .*: have it built again/],
    [{ digest: 'a'.repeat(64) }, /its manifest says aaaa/],
  ];
  for (const [change, why] of changes) {
    const bundle = resigned(first.file, key, (manifest) => void Object.assign(manifest, change));
    await rejects(applyTo(files, bundle, key, { dropLocal: true }), why);
  }
  assert.equal({ digest: await digestOf(files), besides: besides(files) }, before);
  assert.equal(await statesOf(files), []);
});

test('is rolled back once, and two catalogs are kept', async () => {
  const files = await makeSite();
  await rejects(rollBackIn(files), /no bundle was applied here/);
  await applyTo(files, first.file, key);
  assert.equal(besides(files), []);
  await rejects(rollBackIn(files), /no catalog from before the last bundle is kept/);
  await applyTo(files, second.file, key);
  assert.equal(besides(files), ['g.db.before-2']);
  await applyTo(files, third.file, key);
  assert.equal(besides(files), ['g.db.before-3']);
  const { exchange } = await rollBackIn(files);
  assert.is(exchange.state, 'rolled-back');
  assert.is(await digestOf(files), second.manifest.digest);
  assert.equal(besides(files), ['g.db.undone-3']);
  await rejects(rollBackIn(files), /\(channel main, sequence 3\) was rolled back already/);
  await applyTo(files, third.file, key);
  assert.equal(besides(files), ['g.db.before-4']);
});

test('tells of the bundle by its digest, for as long as the catalog is the one of the bundle', async () => {
  const files = await makeSite();
  const summary = () =>
    withSite(files, async (db) => (await (await testApp([], { db })).get('/api/v1/catalog')).json);
  await applyTo(files, first.file, key);
  const of = (sequence: number) => ({
    ...{ channel: 'main', sequence, signedBy: 'depot', appliedAt: '2026-11-22T10:00:00.000Z' },
  });
  const one = await summary();
  assert.equal({ digest: one.digest, bundle: one.bundle }, { digest: first.manifest.digest, bundle: of(1) });
  await applyTo(files, second.file, key);
  assert.equal((await summary()).bundle, of(2));
  const page = await withSite(files, async (db) => {
    const t = await testApp([], { db });
    return textOf((await loadPage(t, '/content', await sessionCaller(t, await userCaller(t, {})))).html);
  });
  const { digest } = second.manifest;
  const shown = `First twelve ${digest.slice(0, 4)} ${digest.slice(4, 8)} ${digest.slice(8, 12)} SHA-256 ${digest} Changed`;
  assert.ok(page.includes(shown), page);
  assert.match(page, /Channel main Sequence 2 Signed by depot Applied 2026-11-22 10:00 UTC/);
  await rollBackIn(files);
  assert.equal((await summary()).bundle, of(1));
  await importInto(files.db, [local]);
  assert.is((await summary()).bundle, null);
});

test('a reader keeps its state while a bundle is applied, and then reads the new catalog', async () => {
  const files = await makeSite([harbor]);
  using reader = openDatabase(files);
  const read = () => reader.sqlite.prepare('SELECT slug FROM stigs ORDER BY slug').pluck().all();
  const generation = reader.catalogVersion();
  reader.sqlite.exec('BEGIN');
  assert.equal(read(), ['harbor_linux_3']);
  await applyTo(files, third.file, key, { dropLocal: true });
  assert.equal(read(), ['harbor_linux_3']);
  reader.sqlite.exec('COMMIT');
  assert.equal(read(), ['harbor_linux_3', 'lantern_web_server_2', 'local']);
  assert.is.not(reader.catalogVersion(), generation);
  assert.equal(reader.sqlite.pragma('catalog.integrity_check', { simple: true }), 'ok');
  assert.equal(reader.sqlite.prepare('PRAGMA catalog.journal_mode').pluck().get(), 'wal');
});

test('an import that writes is waited for, and what it changed is not overwritten', async () => {
  const files = await makeSite([harbor]);
  const other = await sampleCatalog([[lantern]]);
  using importer = openCatalog(files.db);
  using held = holdCatalog(files.db);
  // It takes the lock in the moment in which the exchange gives it up.
  const exec = held.exec.bind(held);
  held.exec = (sql) => {
    const result = exec(sql);
    if (sql === 'ROLLBACK') importer.sqlite.exec('BEGIN IMMEDIATE; UPDATE catalog SET generation = 7');
    return result;
  };
  setTimeout(() => importer.sqlite.exec('COMMIT'), 200);
  await rejects(
    replaceCatalog(held, files.db, other, () => true),
    /g\.db was changed meanwhile: run the command again/,
  );
  assert.is(importer.sqlite.prepare('SELECT generation FROM catalog').pluck().get(), 7);
  assert.equal(importer.sqlite.prepare('SELECT slug FROM stigs').pluck().all(), ['harbor_linux_3']);
});

/** Runs something in the moment between the release of a catalog and the transaction that replaces its content. */
async function whileReleased(file: string, work: () => Promise<unknown>, run: () => Promise<unknown>) {
  const { backup } = Sqlite.prototype;
  Sqlite.prototype.backup = async function (to, options) {
    if (to === file) {
      Sqlite.prototype.backup = backup;
      await work();
    }
    return backup.call(this, to, options);
  };
  await run();
  assert.is(Sqlite.prototype.backup, backup);
}

test('of two calls at once one is made, and its record and the way back stay', async () => {
  const files = await makeSite(quarters[0]!);
  const isChanged = /g\.db was changed meanwhile: run the command again/;
  const refused = () => rejects(applyTo(files, second.file, key), /it is applied already/);
  const state = async () => [await digestOf(files), await statesOf(files), besides(files)];
  await applyTo(files, second.file, key);
  const before = [second.manifest.digest, ['2 applied'], ['g.db.before-1']];
  await whileReleased(files.db, refused, () => rejects(applyTo(files, third.file, key), isChanged));
  assert.equal(await state(), before);
  await whileReleased(files.db, refused, () => rejects(rollBackIn(files), isChanged));
  assert.equal(await state(), before);
  // The second one is made.
  const back = () => rollBackIn(files);
  await whileReleased(files.db, back, () => rejects(applyTo(files, third.file, key), isChanged));
  assert.equal(await state(), [first.manifest.digest, ['2 rolled-back'], ['g.db.undone-1']]);
});

test('an error after the exchange does not undo its record', async () => {
  const files = await makeSite(quarters[0]!);
  const { pragma } = Sqlite.prototype;
  let failed = 0;
  Sqlite.prototype.pragma = function (source, options) {
    if (source !== 'wal_checkpoint(TRUNCATE)') return pragma.call(this, source, options);
    failed++;
    throw Object.assign(new Error('out of memory'), { code: 'SQLITE_NOMEM' });
  };
  await applyTo(files, second.file, key).finally(() => {
    Sqlite.prototype.pragma = pragma;
  });
  assert.is(failed, 1);
  assert.equal(
    [await digestOf(files), await statesOf(files), besides(files)],
    [second.manifest.digest, ['2 applied'], ['g.db.before-1']],
  );
});

class Killed extends Error {}

test('killed between the exchange and its record, the next call writes it down', async () => {
  const files = await makeSite(quarters[0]!);
  const kill = (at: string) => (action: string) => {
    if (action === at) throw new Killed('killed');
  };
  // Before the exchange: nothing has happened.
  await rejects(applyTo(files, second.file, key, { fail: kill('content.apply-start') }), /killed/);
  assert.equal([await digestOf(files), besides(files)], [first.manifest.digest, []]);
  // After it: the catalog is the new one.
  await rejects(applyTo(files, second.file, key, { fail: kill('content.apply') }), /could not be recorded/);
  assert.is(await digestOf(files), second.manifest.digest);
  assert.equal(await statesOf(files), ['2 begun']);
  const { exchange, keptAs } = await applyTo(files, second.file, key);
  assert.equal([exchange.sequence, exchange.state, keptAs], [2, 'applied', `${files.db}.before-1`]);
  await rejects(applyTo(files, second.file, key), /it is applied already/);
  // The same of going back.
  await rejects(rollBackIn(files, kill('content.rollback')), /could not be recorded/);
  assert.equal([await digestOf(files), await statesOf(files)], [first.manifest.digest, ['2 applied']]);
  assert.is((await rollBackIn(files)).exchange.state, 'rolled-back');
  assert.equal(await statesOf(files), ['2 rolled-back']);
});

test('killed between the exchange and its record, and then imported, it stays recorded', async () => {
  const files = await makeSite(quarters[0]!);
  const fail = (action: string) => {
    if (action === 'content.apply') throw new Killed('killed');
  };
  await rejects(applyTo(files, second.file, key, { fail }), /could not be recorded/);
  await importInto(files.db, [local]);
  await rejects(applyTo(files, first.file, key), /its sequence 1 is not greater than 2/);
  assert.equal([await statesOf(files), besides(files)], [['2 applied'], ['g.db.before-1']]);
  // The bundle is not what is there.
  await rejects(applyTo(files, second.file, key), /this site holds 1 source/);
  await rollBackIn(files);
  assert.is(await digestOf(files), first.manifest.digest);
});

test('killed before the exchange, the next call forgets it', async () => {
  const files = await makeSite(quarters[0]!);
  const row = {
    ...{ bundle: second.id, channel: 'main', sequence: 2, digest: second.manifest.digest, signedBy: 'depot' },
    ...{ fingerprint: key.fingerprint, builtAt: second.manifest.builtAt, appliedAt: second.manifest.builtAt },
  };
  await withSite(files, (db) => db.write(() => beginExchange(db, row)));
  copyFileSync(files.db, `${files.db}.before-1`);
  const { exchange } = await applyTo(files, second.file, key);
  assert.equal([exchange.sequence, await statesOf(files)], [2, ['2 applied']]);
  // Of going back: the catalog was copied, no more.
  copyFileSync(files.db, `${files.db}.undone-${exchange.id}`);
  await applyTo(files, third.file, key);
  assert.is(await digestOf(files), third.manifest.digest);
  // What a killed call unpacked is taken away by the next.
  for (const name of ['content', 'before-2', 'undone-2'])
    put(dirname(files.db), `g.db.${name}.part-abcdef/g.db`, 'half');
  await rollBackIn(files);
  await applyTo(files, third.file, key);
  assert.equal(besides(files), ['g.db.before-3'.replace('3', String((await lastOf(files)).id))]);
});

const lastOf = (files: Files) => withSite(files, (db) => lastExchange(db)!);

test('an exchange that cannot be recorded is not made', async () => {
  const files = await makeSite(quarters[0]!);
  using site = openForContent(files, () => {
    throw new Error('the audit stream is full');
  });
  const { applyBundle } = await import('../../src/content/apply.ts');
  const { readBundle } = await import('../../src/content/read-bundle.ts');
  const now = new Date();
  const read = (unpackTo?: string) =>
    readBundle(second.file, [key], { now, ...(unpackTo === undefined ? {} : { unpackTo }) });
  await rejects(applyBundle(site, await read(), read, { now, dropLocal: false }), /the audit stream is full/);
  assert.equal(
    [await digestOf(files), besides(files).filter((name) => !/-(wal|shm)$/.test(name))],
    [first.manifest.digest, []],
  );
});

test.run();
