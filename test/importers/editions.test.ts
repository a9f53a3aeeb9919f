import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { controlsCsv, oscalCatalog } from '../support/control-sources.ts';
import { suite, testIf } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { noControl } from '../support/words.ts';

// Several releases and editions of 800-53 beside each other (rules D6.2 and F5.2).
const editions = suite('Editions of a catalog');

async function importAll(db: Database, files: Record<string, string>): Promise<void> {
  const folder = scratchFolder();
  const paths = Object.entries(files).map(([name, text]) => put(folder, name, text));
  const { summary } = await runImport(db, paths);
  assert.is(summary.imported, paths.length);
}

interface Row {
  identifier: string;
  status: string;
  title: string;
  statement: string;
  textFrom: string | null;
  edition: string;
}

const controlsOf = (db: Database, version: string) =>
  db.sqlite
    .prepare<[string], Row>(
      `SELECT c.identifier, c.status, c.title, c.statement, c.record_json ->> '$.textFrom' AS textFrom, v.edition
         FROM controls AS c JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
        WHERE c.version = ? ORDER BY c.ordinal`,
    )
    .all(version);

const csv = (version: string, identifiers: string[], more: Record<string, string> = {}) =>
  controlsCsv(
    identifiers.map((identifier) => ({
      framework: 'nist-800-53',
      version,
      identifier,
      title: `Bell ${identifier}`,
      ...more,
    })),
  );

editions('its own file gives a release its own texts; frameworks of a site lend none', async () => {
  const db = emptyCatalog();
  await importAll(db, {
    'facts.csv': csv('Rev 5.2.0', ['AC-1']),
    'later.csv': csv('Rev 5.9.0', ['SA-24']),
    'r4.json': oscalCatalog([{ id: 'sa-24' }], '4', '2015-01-01'),
    'r520.json': oscalCatalog([{ id: 'ac-1' }], '5.2.0', '2025-08-26'),
    'r511.json': oscalCatalog([{ id: 'ac-1' }], '5.1.1', '2022-01-25'),
    'own.csv': controlsCsv([
      { framework: 'site', version: '1', identifier: 'S-1', statement: 'Ring the bell.' },
      { framework: 'site', version: '2', identifier: 'S-1' },
    ]),
  });
  const [own] = controlsOf(db, 'Rev 5.2.0');
  assert.equal([own!.textFrom, own!.edition], [null, '2025-08-26']);
  for (const [{ statement, textFrom }] of [controlsOf(db, '2'), controlsOf(db, 'Rev 5.9.0')] as [Row][])
    assert.equal([statement, textFrom], ['', null], 'nor does another revision');
  db.close();
});

editions('a carried text of an older release says so, until the own text is there', async () => {
  const row = {
    framework: 'nist-800-53',
    version: 'Rev 5.2.0',
    identifier: 'AC-1',
    statement: 'Former text.',
  };
  const carried = controlsCsv([{ ...row, textFrom: 'Rev 5.1.1 (2022-01-25)' }]);
  const own = oscalCatalog([{ id: 'ac-1' }], '5.2.0', '2025-08-26');
  const told = async (files: Record<string, string>) => {
    const db = emptyCatalog();
    await importAll(db, files);
    const [{ statement, textFrom }] = controlsOf(db, 'Rev 5.2.0') as [Row];
    db.close();
    return [statement, textFrom];
  };
  assert.equal(await told({ 'a.csv': carried }), ['Former text.', 'Rev 5.1.1 (2022-01-25)']);
  for (const files of [
    { 'a.csv': carried, 'b.json': own },
    { 'a.json': own, 'b.csv': carried },
  ])
    assert.equal(await told(files), ['Keep lantern ac-1 lit.', null]);
});

editions('whatever releases state which texts, each control has the nearest one at or below', async () => {
  const releases = ['5.0', '5.1', '5.1.1', '5.2.0', '5.10.0'];
  const ids = ['AC-1', 'AC-2', 'AC-3'];
  const cell = fc.constantFrom('absent', 'bare', 'text', 'withdrawn');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell, cell), { minLength: releases.length, maxLength: releases.length }),
      fc.shuffledSubarray(releases, { minLength: releases.length }),
      async (table, order) => {
        const folder = scratchFolder();
        const files = order.flatMap((release) => {
          const row = table[releases.indexOf(release)]!;
          const rows = ids.flatMap((identifier, column) => {
            const state = row[column]!;
            if (state === 'absent') return [];
            const status = state === 'withdrawn' ? 'withdrawn' : 'active';
            const statement = state === 'text' ? `${identifier} of ${release}` : '';
            return [{ framework: 'nist-800-53', version: `Rev ${release}`, identifier, status, statement }];
          });
          return rows.length === 0 ? [] : [put(folder, `${release}.csv`, controlsCsv(rows))];
        });
        const db = emptyCatalog();
        await runImport(db, files);
        for (const [index, release] of releases.entries()) {
          const found = controlsOf(db, `Rev ${release}`);
          const expected = ids.flatMap((identifier, column) => {
            const state = table[index]![column]!;
            if (state === 'absent') return [];
            if (state === 'withdrawn') return [[identifier, '', null]];
            const nearest = releases
              .slice(0, index + 1)
              .filter((_, at) => table[at]![column] === 'text')
              .at(-1);
            if (nearest === undefined) return [[identifier, '', null]];
            const lent = nearest === release ? null : `Rev ${nearest}`;
            return [[identifier, `${identifier} of ${nearest}`, lent]];
          });
          assert.equal(
            found.map(({ identifier, statement, textFrom }) => [identifier, statement, textFrom]),
            expected,
            release,
          );
        }
        db.close();
      },
    ),
    { numRuns: 15 },
  );
});

editions('a fresh start answers IA-13 and 1,014 controls; the answers say whose text it is', async () => {
  const folder = scratchFolder();
  const t = await testApp([shipped('controls')]);
  const get = async (path: string) => (await t.get(`/api/v1/controls/nist-800-53${path}`)).json;
  const one = await get('/IA-13');
  assert.equal(
    [one.identifier, one.title, one.version, one.edition, one.baselines, 'textFrom' in one],
    ['IA-13', 'Identity Providers and Authorization Servers', 'Rev 5.2.0', null, [], false],
  );
  const { total, version, controls } = await get('');
  assert.equal([total, controls.length, version], [1014, 1014, 'Rev 5.2.0']);
  assert.is((await get('?version=4')).total, 826);

  await runImport(t.db, [put(folder, 'r511.json', oscalCatalog([{ id: 'ac-1' }], '5.1.1', '2022-01-25'))]);
  const textFrom = 'Rev 5.1.1 (2022-01-25)';
  const [listed, other] = (await get('')).controls;
  assert.equal([listed.identifier, listed.textFrom, 'textFrom' in other], ['AC-1', textFrom, false]);
  assert.ok(listed.statement.length > 0);
  const record = await get('/AC-1');
  assert.equal([record.version, record.edition, record.textFrom], ['Rev 5.2.0', null, textFrom]);
  const page = async (path: string) => textOf((await loadPage(t, path, {})).html);
  assert.match(
    await page('/controls/nist-800-53/AC-1'),
    'This is the text of Rev 5.1.1 (2022-01-25). The text of Rev 5.2.0 may',
  );
  assert.not.match(await page('/controls/nist-800-53/AC-1?version=5.1.1'), 'This is the text of');
  const former = await get('/AC-1?version=5.1.1');
  assert.equal([former.version, former.edition, 'textFrom' in former], ['Rev 5.1.1', '2022-01-25', false]);
  const gone = await t.get('/api/v1/controls/nist-800-53/IA-13?version=5.1.1');
  assert.equal(
    [gone.status, gone.json.error.message],
    [404, noControl('IA-13 is not in Rev 5.1.1. It is in Rev 5.2.0')],
  );
  assert.is((await get('?search=lantern')).total, 1, 'the text is searched');
  t.db.close();
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, editions);

onReal('Rev 4, 5.1.1 and 5.2.0 stand beside each other once NIST’s files are imported', async () => {
  const t = await testApp([shipped('controls'), reference('oscal')]);
  const counts = { '4': 826, 'Rev 5.1.1': 1007, '5.1.1': 1007, '5.2.0': 1014, '5.2': 1014, '5': 1014 };
  for (const [version, count] of Object.entries(counts)) {
    const { json } = await t.get(`/api/v1/controls/nist-800-53?version=${encodeURIComponent(version)}`);
    assert.is(json.total, count, version);
  }
  const ac2 = (await t.get('/api/v1/controls/nist-800-53/AC-2')).json;
  const former = (await t.get('/api/v1/controls/nist-800-53/AC-2?version=5.1.1')).json;
  for (const name of ['statement', 'guidance', 'statementParts', 'related', 'baselines'])
    assert.equal(ac2[name], former[name], name);
  assert.equal(
    [ac2.version, ac2.textFrom, former.edition],
    ['Rev 5.2.0', 'Rev 5.1.1 (2022-01-25)', '2022-01-25'],
  );
  for (const baseline of ['low', 'moderate', 'high', 'privacy']) {
    const total = async (version: string) =>
      (await t.get(`/api/v1/controls/nist-800-53?version=${version}&baseline=${baseline}`)).json.total;
    assert.is(await total('5.2.0'), await total('5.1.1'), baseline);
  }
  t.db.close();
});

editions.run();
