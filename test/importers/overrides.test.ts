import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openDatabase } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { ask, userCaller } from '../support/callers.ts';
import { withoutProgress } from '../support/child.ts';
import { rejects, suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const test = suite('overrides of slugs');
const harbor = shipped('stigs', 'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml');
const text = readFileSync(harbor, 'utf8')
  .replaceAll('Harbor_Linux_3_STIG', 'Pier_STIG')
  .replaceAll('Harbor Linux 3 Security', 'Pier Security')
  .replaceAll('SV-9000', 'SV-8000')
  .replaceAll('HARB-03', 'PIER-01');
const pier = put(scratchFolder(), 'pier.xml', text);

test('two benchmarks with other rules of one version are never forced under one slug, fresh or stored', async () => {
  const db = emptyCatalog();
  const overrides = new Map(['Pier_STIG', 'Harbor_Linux_3_STIG'].map((id) => [id, 'one']));
  const refuse = () =>
    rejects(
      runImport(db, [harbor, pier], { overrides }),
      /^two benchmarks have different rules in V1R1: they cannot share the slug one$/,
    );
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
    const db = emptyCatalog();
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
    const { lines, slugChanges } = await runImport(db, [harbor, newer], { overrides });
    const all = lines.flatMap((line) => line.warnings).sort();
    const warnings = all.filter((each) => !each.startsWith('not stored: '));
    assert.equal(warnings, ['harbor_linux_3 is pier now', 'pier is harbor_linux_3 now']);
    assert.equal(told(lines, 'outcome', 'target', 'reason'), [
      'unchanged pier moved from harbor_linux_3',
      'imported harbor_linux_3 operator override: harbor_linux_3',
    ]);
    assert.equal(
      slugChanges.sort((a, b) => (a.from < b.from ? -1 : 1)),
      [
        { from: 'harbor_linux_3', to: 'pier' },
        { from: 'pier', to: 'harbor_linux_3' },
      ],
    );
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
  const db = emptyCatalog();
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
  await rejects(
    runImport(db, [harbor, pier], { overrides: new Map([['Pier_STIG', 'harbor_linux_3']]) }),
    /^two benchmarks have different rules in V1R1: they cannot share the slug harbor_linux_3$/,
  );
  assert.equal(releases(), before);
  const moved = await runImport(db, [harbor, pier], { overrides: new Map([['Pier_STIG', 'jetty']]) });
  assert.equal(told(moved.lines, 'outcome', 'target', 'reason'), [
    'imported harbor_linux_3 new slug from the title: harbor_linux_3',
    'imported jetty operator override: jetty',
  ]);
  assert.equal(releases(), [
    ['harbor_linux_3', 'Harbor_Linux_3_STIG'],
    ['jetty', 'Pier_STIG'],
  ]);
  db.close();
});

test('what users keep follows a STIG to its other slug, which is told', async () => {
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

  const overrides = new Map([['Pier_STIG', 'jetty']]);
  const { lines, slugChanges } = await runImport(t.db, [pier], { overrides });
  assert.is(lines[0]!.reason, 'moved from pier');
  assert.equal(lines[0]!.warnings, ['pier is jetty now']);
  assert.equal(slugChanges, [{ from: 'pier', to: 'jetty' }]);
  assert.equal(kept(), before, 'users’ data stays as it is');
  assert.equal(
    (await runImport(t.db, [pier], { overrides })).slugChanges,
    [],
    'told once, by the run that moved',
  );

  const { stigs } = (await ask(t, 'GET', `/api/v1/lists/${lists[0]}/stigs`, ann)).json;
  const states = stigs.map((each: Record<string, unknown>) => [each.slug, each.version, each.status]);
  assert.equal(states, [
    ['jetty', 'V1R1', 'accepted'],
    ['harbor_linux_3', 'V1R1', 'accepted'],
  ]);
  assert.equal((await ask(t, 'GET', '/api/v1/my-stigs', ann)).json.slugs, ['harbor_linux_3', 'jetty']);

  // The row is stored: a run without it means the same, until it is taken back.
  assert.equal((await runImport(t.db, [pier])).lines[0]!.target, 'jetty');
  const back = await runImport(t.db, [pier], { overrides: new Map([['Pier_STIG', '']]) });
  assert.equal([back.lines[0]!.reason, back.lines[0]!.target], ['moved from jetty', 'pier']);
  t.db.close();
});

test('two STIGs that turn out to be one leave what users keep to that one', async () => {
  const of = (id: string, title: string, release: number, stem = 'A', first = 100) =>
    put(scratchFolder(), 'a.xml', writeXccdf({ id, title, release, rules: 20, stem, first }));
  const t = await testApp([of('Old_STIG', 'Old STIG', 1), of('New_STIG', 'New STIG', 9, 'B', 300_000)]);
  const ann = await userCaller(t);
  const list = `/api/v1/lists/${(await ask(t, 'POST', '/api/v1/lists', ann, { name: 'L' })).json.id}/stigs`;
  await ask(t, 'POST', list, ann, { slugs: ['old', 'new'] });
  await ask(t, 'POST', '/api/v1/my-stigs', ann, { slugs: ['old'] });
  const { slugChanges } = await runImport(t.db, [of('Old_STIG', 'New STIG', 2)]);
  assert.equal(slugChanges, [{ from: 'old', to: 'new' }]);
  // Where a list has both, neither entry is lost.
  const { stigs } = (await ask(t, 'GET', list, ann)).json;
  assert.equal(told(stigs, 'slug', 'version'), ['new V1R9', 'new V1R9']);
  assert.equal((await ask(t, 'GET', '/api/v1/my-stigs', ann)).json.slugs, ['new']);
  t.db.close();
});

test('the command tells of a slug that changes, and of a dry run too', async () => {
  const file = join(scratchFolder(), 'x.db');
  assert.is((await commandHere(['import', pier, '--db', file])).code, 0);
  const files = { db: file, usersDb: file.replace('x.db', 'x-users.db') };
  const t = await testApp([], { db: openDatabase(files) });
  const ann = await userCaller(t);
  await ask(t, 'POST', '/api/v1/my-stigs', ann, { slugs: ['pier'] });
  const slugs = put(scratchFolder(), 'slugs.csv', 'benchmarkId,slug\nPier_STIG,jetty\n');
  const run = (...more: string[]) =>
    commandHere(['import', pier, '--slugs', slugs, '--json', '--db', file, ...more]);
  const told = 'warning: pier is jetty now: 0 list entries and 1 favorite refer to it\n';
  const dry = await run('--dry-run');
  assert.equal([dry.code, withoutProgress(dry.stderr)], [0, `${told}dry run: nothing was changed\n`]);
  const done = await run();
  assert.equal([done.code, withoutProgress(done.stderr)], [0, told]);
  t.db.close();
});

test.run();
