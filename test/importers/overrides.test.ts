import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openDatabase } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { ask, sessionCaller, userCaller } from '../support/callers.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const test = suite('overrides of slugs');
const harbor = shipped('stigs', 'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml');
const text = readFileSync(harbor, 'utf8')
  .replaceAll('Harbor_Linux_3_STIG', 'Pier_STIG')
  .replaceAll('Harbor Linux 3 Security', 'Pier Security')
  .replaceAll('SV-9000', 'SV-8000')
  .replaceAll('HARB-03', 'PIER-01');
const pier = put(scratchFolder(), 'pier.xml', text);

test('two benchmarks with other rules of one version are never forced under one slug, fresh or stored', async () => {
  const db = openDatabase(':memory:', { create: true });
  const one = {
    overrides: new Map([
      ['Pier_STIG', 'one'],
      ['Harbor_Linux_3_STIG', 'one'],
    ]),
  };
  const refuse = async () => {
    const error = await runImport(db, [harbor, pier], one).then(
      () => null,
      (reason: Error) => reason,
    );
    assert.match(
      error?.message ?? '',
      /^two benchmarks hold other rules as V1R1: one slug, one, cannot serve both$/,
    );
  };
  const releases = () => db.sqlite.prepare('SELECT count(*) FROM stig_releases').pluck().get();
  await refuse();
  assert.is(releases(), 0);
  await runImport(db, [harbor, pier]);
  await refuse();
  assert.is(releases(), 2);
  db.close();
});

test('the rows of a file are meant at once: two slugs are exchanged, in either order', async () => {
  for (const order of [0, 1]) {
    const db = openDatabase(':memory:', { create: true });
    const newer = put(scratchFolder(), 'newer.xml', text.replace('Release: 1 ', 'Release: 2 '));
    await runImport(db, [harbor, pier]);
    const rows: [string, string][] = [
      ['Pier_STIG', 'harbor_linux_3'],
      ['Harbor_Linux_3_STIG', 'pier'],
    ];
    const overrides = new Map(order === 0 ? rows : rows.reverse());
    const held = () =>
      db.sqlite
        .prepare(
          `SELECT s.slug, r.benchmark_id, r.version, r.id = s.current_release_id AS current, s.title = r.title AS titled,
                  (SELECT count(*) FROM findings WHERE release_id = r.id) = r.finding_count AS whole,
                  (SELECT target FROM sources WHERE id = r.source_id) AS target
             FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id ORDER BY s.slug, r.release_order`,
        )
        .raw()
        .all();
    const { lines, emptiedSlugs } = await runImport(db, [harbor, newer], { overrides });
    assert.equal(
      lines.map(({ outcome, target, reason }) => [outcome, target, reason]),
      [
        ['unchanged', 'pier', 'operator override: moved from harbor_linux_3'],
        ['imported', 'harbor_linux_3', 'operator override: harbor_linux_3'],
      ],
    );
    assert.equal(emptiedSlugs, []);
    assert.equal(held(), [
      ['harbor_linux_3', 'Pier_STIG', 'V1R1', 0, 1, 1, 'harbor_linux_3'],
      ['harbor_linux_3', 'Pier_STIG', 'V1R2', 1, 1, 1, 'harbor_linux_3'],
      ['pier', 'Harbor_Linux_3_STIG', 'V1R1', 1, 1, 1, 'pier'],
    ]);
    assert.equal(db.sqlite.pragma('foreign_key_check'), []);
    const searched = 'SELECT release_id FROM searched_releases EXCEPT SELECT current_release_id FROM stigs';
    assert.equal(db.sqlite.prepare(searched).all(), [], 'what is searched is what is current');
    db.close();
  }
});

test('what an older importer stored is there before the operator’s word, though it is read anew with it', async () => {
  const db = openDatabase(':memory:', { create: true });
  await runImport(db, [harbor, pier]);
  const releases = () =>
    db.sqlite
      .prepare(
        'SELECT s.slug, r.benchmark_id FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id ORDER BY 1',
      )
      .raw()
      .all();
  const before = releases();
  db.sqlite.exec('UPDATE sources SET importer_version = 0');
  // Of Pier's other rules none may take the place of Harbor's, nor give way to them.
  const error = await runImport(db, [harbor, pier], {
    overrides: new Map([['Pier_STIG', 'harbor_linux_3']]),
  }).then(
    () => null,
    (reason: Error) => reason,
  );
  assert.is(
    error?.message,
    'two benchmarks hold other rules as V1R1: one slug, harbor_linux_3, cannot serve both',
  );
  assert.equal(releases(), before);
  const moved = await runImport(db, [harbor, pier], { overrides: new Map([['Pier_STIG', 'jetty']]) });
  assert.equal(
    moved.lines.map(({ outcome, target, reason }) => [outcome, target, reason]),
    [
      ['imported', 'harbor_linux_3', 'known benchmark id of harbor_linux_3'],
      ['imported', 'jetty', 'operator override: jetty'],
    ],
  );
  assert.equal(releases(), [
    ['harbor_linux_3', 'Harbor_Linux_3_STIG'],
    ['jetty', 'Pier_STIG'],
  ]);
  db.close();
});

test('the ledger tells where a stored release was moved', async () => {
  const db = openDatabase(':memory:', { create: true });
  await runImport(db, [pier]);
  const { lines } = await runImport(db, [pier], { overrides: new Map([['Pier_STIG', 'two']]) });
  assert.equal(
    [lines[0]!.outcome, lines[0]!.target, lines[0]!.reason],
    ['unchanged', 'two', 'operator override: moved from pier'],
  );
  db.close();
});

test('the same bytes twice beside a release that is moved are told as new, not as moved', async () => {
  const db = openDatabase(':memory:', { create: true });
  await runImport(db, [pier]);
  const copy = put(scratchFolder(), 'copy.xml', readFileSync(harbor));
  const { lines } = await runImport(db, [pier, harbor, copy], { overrides: new Map([['Pier_STIG', 'two']]) });
  assert.equal(
    lines.map(({ outcome, target, reason }) => [outcome, target, reason]),
    [
      ['unchanged', 'two', 'operator override: moved from pier'],
      ['imported', 'harbor_linux_3', 'new slug from the title: harbor_linux_3'],
      ['unchanged', 'harbor_linux_3', null],
    ],
  );
  db.close();
});

test('a slug that is left without a release is told of with what refers to it, and reads as gone', async () => {
  const t = await testApp([harbor, pier]);
  const ann = await userCaller(t, { sub: 'ann' });
  const bob = await userCaller(t, { sub: 'bob' });
  const slugs = ['pier', 'harbor_linux_3'];
  const lists: string[] = [];
  for (const who of [ann, bob]) {
    lists.push((await ask(t, 'POST', '/api/v1/lists', who, { name: 'L' })).json.id);
    await ask(t, 'POST', `/api/v1/lists/${lists.at(-1)}/stigs`, who, { slugs });
  }
  await ask(t, 'POST', '/api/v1/my-stigs', ann, { slugs });
  const kept = () =>
    ['list_stigs', 'favorite_stigs'].map((table) => t.db.sqlite.prepare(`SELECT * FROM ${table}`).all());
  const before = kept();
  const remark = '2 list entries and 1 favorite refer to pier, which no longer has a release';

  const overrides = new Map([['Pier_STIG', 'jetty']]);
  const { lines, emptiedSlugs } = await runImport(t.db, [pier], { overrides });
  assert.is(lines[0]!.reason, `operator override: moved from pier; ${remark}`);
  assert.equal(emptiedSlugs, [{ slug: 'pier', listEntries: 2, favorites: 1 }]);
  assert.equal(kept(), before, 'users’ data stays where it is');
  assert.equal(
    (await runImport(t.db, [pier], { overrides })).emptiedSlugs,
    [],
    'told once, by the run that moved',
  );

  const { stigs } = (await ask(t, 'GET', `/api/v1/lists/${lists[0]}/stigs`, ann)).json;
  const states = stigs.map((each: Record<string, unknown>) => [each.slug, each.version, each.status]);
  assert.equal(states, [
    ['pier', '', ''],
    ['harbor_linux_3', 'V1R1', 'accepted'],
  ]);
  const reader = await sessionCaller(t, ann);
  const list = textOf((await loadPage(t, `/lists/${lists[0]}`, reader)).html);
  assert.match(
    list,
    /1 Pier Security Technical Implementation Guide \(no longer in the catalog\) Edit/,
    'no counts',
  );
  assert.match(
    list,
    /2 Harbor Linux 3 Security Technical Implementation Guide V1R1 14 ▲ CAT I: 3 ◆ CAT II: 8 ● CAT III: 3 Edit/,
  );
  const favorites = textOf((await loadPage(t, '/favorites', reader)).html);
  assert.match(favorites, /Pier Security Technical Implementation Guide \(no longer in the catalog\)/);

  // Moved back under its slug, it is what it was; the slug between had no reader.
  const back = await runImport(t.db, [pier], { overrides: new Map([['Pier_STIG', 'pier']]) });
  assert.equal([back.lines[0]!.reason, back.emptiedSlugs], ['operator override: moved from jetty', []]);
  t.db.close();
});

test('a new release that takes the others along says so too; a slug that keeps or gets a release is not left', async () => {
  const t = await testApp([harbor, pier]);
  const ann = await userCaller(t);
  await ask(t, 'POST', '/api/v1/my-stigs', ann, { slugs: ['pier', 'harbor_linux_3'] });
  const newer = put(scratchFolder(), 'newer.xml', text.replace('Release: 1 ', 'Release: 2 '));
  const moved = await runImport(t.db, [newer], { overrides: new Map([['Pier_STIG', 'jetty']]) });
  assert.is(
    moved.lines[0]!.reason,
    'operator override: jetty; 0 list entries and 1 favorite refer to pier, which no longer has a release',
  );
  const taken = await runImport(t.db, [newer], {
    overrides: new Map([
      ['Harbor_Linux_3_STIG', 'pier'],
      ['Pier_STIG', 'harbor_linux_3'],
    ]),
  });
  assert.equal(taken.emptiedSlugs, [], 'both slugs have releases again');
  t.db.close();
});

test('the command tells of a slug that is left, and of a dry run too', async () => {
  const file = join(scratchFolder(), 'x.db');
  const t = await testApp([pier], { db: openDatabase(file, { create: true }) });
  const ann = await userCaller(t);
  await ask(t, 'POST', '/api/v1/my-stigs', ann, { slugs: ['pier'] });
  const slugs = put(scratchFolder(), 'slugs.csv', 'benchmarkId,slug\nPier_STIG,jetty\n');
  const run = (...more: string[]) =>
    gapstone(['import', pier, '--slugs', slugs, '--json', '--db', file, ...more]);
  const told =
    'warning: after --slugs, 0 list entries and 1 favorite refer to pier, which no longer has a release\n';
  const dry = await run('--dry-run');
  assert.equal([dry.code, dry.stderr], [0, `${told}dry run: nothing was changed\n`]);
  const done = await run();
  assert.equal([done.code, done.stderr], [0, told]);
  t.db.close();
});

test.run();
