import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import type { LedgerLine } from '../../importers/ledger-lines.ts';
import { type ImportResult, runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { dumpControls, dumpFacts } from '../support/control-dump.ts';
import { cciList, controlsCsv, mappingsCsv, oscalCatalog } from '../support/control-sources.ts';
import { assertSameList, controlFolders, shippedControls } from '../support/controls.ts';
import { bruteForce, type OracleEdge, toGraph } from '../support/crosswalk-oracle.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { referenceData } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { loggedApp } from '../support/service.ts';
import { linesOf, rowsOf } from '../support/tables.ts';
import { controlSamples, rev5 } from './samples.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Json = any;

/** Writes sources, named by their keys, and imports them in their order. */
async function importSources(db: Database, sources: Record<string, string>): Promise<ImportResult> {
  const folder = scratchFolder();
  return runImport(
    db,
    Object.entries(sources).map(([name, text]) => put(folder, name, text)),
  );
}

async function filled(sources: Record<string, string>): Promise<Database> {
  const db = emptyCatalog();
  const { lines } = await importSources(db, sources);
  for (const line of lines) assert.is(line.outcome, 'imported', `${line.source}: ${line.reason}`);
  return db;
}

/** Rows of our interchange for mappings, their cells between bars. */
const pairsOf = (text: string) => mappingsCsv(rowsOf(text));

/** One application for each database: to make one takes longer than to ask it. */
const readers = new WeakMap<Database, ReturnType<typeof loggedApp>['app']>();
function reader(db: Database): ReturnType<typeof loggedApp>['app'] {
  const app = readers.get(db) ?? loggedApp(db).app;
  readers.set(db, app);
  return app;
}

async function ask(db: Database, path: string): Promise<Json> {
  const response = await reader(db).request(`/api/v1/${path}`);
  const answer = await response.json();
  assert.is(response.status, 200, JSON.stringify(answer));
  return answer;
}

const resolve = (db: Database, from: string, to: string, more = '') =>
  ask(db, `crosswalk/resolve?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}${more}`);

const trail = (paths: Json): string[] =>
  paths.map((path: Json) =>
    path.controls
      .slice(1)
      .map((each: Json) => `${each.identifier} ${each.status}`)
      .join(' / '),
  );

/** Questions, as `FROM -> TO MOST_HOPS => PATHS`, and their answers. */
async function assertPaths(db: Database, questions: string): Promise<void> {
  for (const line of linesOf(questions)) {
    const [, from, to, hops, expected] = /^(.+) -> (\S+) (\d)(?: => (.*))?$/.exec(line)!;
    const { paths } = await resolve(db, from!, to!, `&maxHops=${hops}`);
    assert.is(trail(paths).join(', '), expected ?? '', line);
  }
}

const order = suite('control sources: the order of imports');

order('a pair of a site for a CCI is verified for Rev 5 alone', async () => {
  const newest =
    '1 pairs make no mapping, Rev 5 is the newest that counts for a CCI: row 2: CCI-000001 -> AC-2';
  for (const [toVersion, expected] of [
    ['Rev 5.1.1', 'AC-2 verified'],
    ['Rev 4', 'AC-2 auto'],
    ['', 'AC-2 auto'],
    ['Rev 6', ''],
  ] as const) {
    const db = emptyCatalog();
    const { lines } = await importSources(db, {
      'rev5.json': oscalCatalog(rev5),
      'cci.xml': cciList('2022-03-09', [[1, []]]),
      'own.csv': mappingsCsv([['cci', '2022-03-09', 'CCI-1', 'nist-800-53', toVersion, 'AC-2']]),
    });
    assert.is(trail((await resolve(db, 'cci:CCI-1', 'nist-800-53')).paths).join(), expected);
    const pinned = await resolve(db, 'nist-800-53:AC-2', 'cci', '&version=Rev%206');
    assert.equal(trail(pinned.paths ?? []), [], 'under a pin neither');
    assert.is(lines[2]!.warnings.join(), expected === '' ? newest : '');
    db.close();
  }
});

order('what is served of the controlSamples is what the rules say', async () => {
  const db = await filled(controlSamples);
  const { version, controls } = await ask(db, 'controls/nist-800-53');
  assert.is(version, 'Rev 5.1.1');
  // The publisher's newest printing says which controls there are; profiles rule over the interchange.
  assert.equal(
    controls.map((each: Json) => `${each.identifier} ${each.title} ${each.baselines}`),
    [
      'AC-1 Lantern ac-1 low',
      'AC-2 Lantern ac-2 ',
      'AC-2(1) Lantern ac-2.1 privacy',
      'AU-2 Lantern au-2 low',
      'AU-10 Lantern au-10 ',
    ],
  );
  // CCI-3 is withdrawn, which a CCI does not follow, CCI-5 deprecated, CCI-6 only in the older list, S-2 gone in 2026.
  await assertPaths(
    db,
    `
    cci:CCI-1 -> nist-800-53 4 => AC-1 verified
    cci:CCI-2 -> nist-800-53 4 => AC-2(1) auto
    cci:CCI-3 -> nist-800-53 4
    cci:CCI-4 -> nist-800-53 4 => AU-2 verified, AU-10 verified
    cci:CCI-5 -> nist-800-53 4
    cci:CCI-6 -> nist-800-53 4
    nist-800-171:3.1.1 -> nist-800-53 1 => AC-1 auto, AC-2 auto, AC-2(1) auto
    nist-800-171:03.01.01 -> nist-800-53 1 => AC-2(1) verified
    site:S-3 -> nist-800-53 1 => AC-1 auto, AC-2(1) auto
    site:S-1 -> nist-800-171 1 => 3.1.1 auto
    site:S-2 -> cci 4
    nist-800-171:3.1.1 -> site 1 => S-1 auto
    cci:CCI-1 -> site 4 => AC-1 verified / S-3 auto, AC-1 verified / 3.1.1 auto / S-1 auto, AC-1 verified / 3.1.1 auto / AC-2(1) auto / S-3 auto`,
  );
  db.close();
});

order('more frameworks than a word has bits: their paths are those of brute force', async () => {
  const many = Array.from({ length: 34 }, (_, index) => `site-${String(index).padStart(2, '0')}`);
  const pairs = many.flatMap((framework, index) => [
    [framework, '1', 'X', 'nist-800-53', 'Rev 5', index % 2 ? 'AC-1' : 'AC-2'],
    ...(index === 0 ? [] : [[framework, '1', 'X', many[index - 1]!, '1', 'X']]),
  ]);
  const own = many.map((framework) => ({ framework, version: '1', identifier: 'X', title: framework }));
  const db = await filled({
    'rev5.json': controlSamples['rev5.json']!,
    'site.csv': controlsCsv(own),
    'pairs.csv': mappingsCsv(pairs),
  });
  const edges = pairs.map(
    (row): OracleEdge => ({ ends: [`${row[0]}:${row[2]}`, `${row[3]}:${row[5]}`], status: 'auto' }),
  );
  const graph = toGraph(edges);
  const key = (name: string) => (name.startsWith('nist') ? `0 ${name}` : `1 ${name}`);
  for (const source of [...[0, 1, 30, 31, 32, 33].map((at) => `${many[at]}:X`), 'nist-800-53:AC-1'])
    for (const to of ['nist-800-53', many[0]!, many[28]!, many[31]!, many[33]!]) {
      const expected = bruteForce(graph, source, to, 4, new Set(['auto']), key);
      assert.equal(trail((await resolve(db, source, to)).paths), trail(expected), `${source} -> ${to}`);
    }
  db.close();
});

order.run();

const site = suite('control sources: a framework and a mapping of a site');

site('both resolve, from it and to it, and explain says where they are stated', async () => {
  const db = await filled(controlSamples);
  const { from } = await resolve(db, 'site:S-3', 'cci', '&version=2026');
  assert.equal(from, { framework: 'site', identifier: 'S-3', version: '2026' });
  assert.equal((await resolve(db, 'site:S-3', 'cci', '&version=2024')).paths, []);
  const explained = await resolve(db, 'site:S-3', 'nist-800-53', '&maxHops=1&explain=true');
  assert.equal(
    explained.paths.map((path: Json) => path.controls[1].evidence[0].reference),
    ['chapter 3', 'chapter 3'],
  );
  const listed = (await (await reader(db).request('/api/v1/controls/site')).json()) as Json;
  assert.equal(
    listed.controls.map(({ identifier }: Json) => identifier),
    ['S-1', 'S-3'],
    'a catalog of its own (rule D40.1)',
  );
  db.close();
});

site('site frameworks come after the published ones, by name', async () => {
  const db = await filled({
    'rev5.json': controlSamples['rev5.json']!,
    'b.csv': controlsCsv(
      ['zeta', 'alpha'].map((framework) => ({ framework, version: '1', identifier: 'X' })),
    ),
    'cci.xml': controlSamples['cci-new.xml']!,
    'pairs.csv': pairsOf(`
      zeta | 1 | X | nist-800-53 |  | AC-1
      alpha | 1 | X | nist-800-53 |  | AC-1
      alpha | 1 | X | nist-800-53 |  | AC-2
      zeta | 1 | X | nist-800-53 |  | AC-2`),
  });
  const order = db.sqlite.prepare('SELECT DISTINCT framework FROM crosswalk_nodes ORDER BY id').pluck().all();
  assert.equal(order, ['nist-800-53', 'cci', 'alpha', 'zeta']);
  // Frameworks of a site stand at the ends of paths alone (rule D40.2).
  await assertPaths(
    db,
    `
    nist-800-53:AC-1 -> nist-800-53 4
    alpha:X -> zeta 4 => AC-1 auto / X auto, AC-2 auto / X auto
    alpha:X -> nist-800-53 6 => AC-1 auto, AC-2 auto`,
  );
  db.close();
});

site("a mapping of the site's own never takes the published ones away", async () => {
  const {
    'site-pairs-2025.csv': _,
    'site-pairs-2026.csv': __,
    ...published
  } = controlSamples as Record<string, string>;
  const db = await filled(published);
  const before = trail((await resolve(db, 'cci:CCI-1', 'nist-800-53')).paths);
  assert.equal(before, ['AC-1 verified']);
  // The site maps from a CCI and writes the year in which it did so where the edition of the list belongs.
  await importSources(db, { 'own.csv': mappingsCsv([['cci', '2026', 'CCI-1', 'site', '2026', 'S-1']]) });
  for (const more of ['', '&version=2022-03-09'])
    assert.equal(trail((await resolve(db, 'cci:CCI-1', 'nist-800-53', `&maxHops=1${more}`)).paths), before);
  await assertPaths(db, 'cci:CCI-1 -> site 1 => S-1 auto');
  // Nor does one from Rev 5 take away another from Rev 4.
  await importSources(db, {
    'four.csv': mappingsCsv([['nist-800-53', 'Rev 4', 'AC-2', 'site', '2026', 'S-1']]),
    'five.csv': mappingsCsv([['nist-800-53', 'Rev 5', 'AC-1', 'site', '2026', 'S-1']]),
  });
  await assertPaths(db, 'site:S-1 -> nist-800-53 1 => AC-1 auto, AC-2 auto');
  db.close();
});

site('which end of a row a control stands at, and of which revision, is no matter', async () => {
  const own = ['1,S-2,active,', '2,S-1,active,', '2,S-2,withdrawn,S-1', '2,S-3,withdrawn,'];
  const db = emptyCatalog();
  const { lines } = await importSources(db, {
    'rev5.json': controlSamples['rev5.json']!,
    'cci.xml': cciList('2022-03-09', [[1, [['4', 'AC-3']]]]),
    'own.csv': `framework,version,identifier,status,withdrawnInto\nlamps,${own.join('\nlamps,')}\n`,
    // AC-4 went into AC-3, AC-3 into AC-1 and AC-2(1); S-2 into S-1; S-3 nowhere.
    'pairs.csv': pairsOf(`
      nist-800-53 | Rev 4 | AC-4 | lamps | 2 | S-1
      lamps | 2 | S-2 | nist-800-53 | Rev 5 | AU-2
      lamps | 2 | S-3 | nist-800-53 | Rev 5 | AU-2
      nist-800-53 | Rev 5 | AU-2 | lamps | 2 | S-3
      nist-800-53 | Rev 3 | AU-10 | lamps | 2 | S-1
      lamps | 2 | S-1 | nist-800-53 | Rev 3 | AU-10
      nist-800-53 | Rev 9 | AU-10 | lamps | 2 | S-1
      lamps | 2 | S-1 | nist-800-53 | Rev 9 | AU-10
      lamps | 1 | S-2 | nist-800-53 | Rev 5 | AC-2
      nist-800-53 | Rev 4 | AC-3 | cci | 2022-03-09 | CCI-1`),
  });
  await assertPaths(db, 'lamps:S-1 -> nist-800-53 1 => AC-1 auto, AC-2(1) auto, AU-2 auto');
  await assertPaths(db, 'cci:CCI-1 -> nist-800-53 1');
  assert.equal(lines.find((line) => line.source.endsWith('pairs.csv'))!.warnings, [
    '1 pairs make no mapping, withdrawn in nist-800-53: row 11: AC-3 -> CCI-000001',
    '2 pairs make no mapping, no active successor in lamps: row 4: S-3 -> AU-2, row 5: AU-2 -> S-3',
    '2 pairs make no mapping, Rev 9 of nist-800-53 is not imported: row 9: S-1 -> AU-10, row 8: AU-10 -> S-1',
    '1 pairs make no mapping, a newer version of lamps is imported: row 10: S-2 -> AC-2',
  ]);
  // Once the revision is there, its pairs count.
  const rev9 = rev5.filter((control) => !control.withdrawnInto);
  await importSources(db, { 'rev9.json': oscalCatalog(rev9, '9.0.0', '2031-01-01') });
  const { paths } = await resolve(db, 'lamps:S-1', 'nist-800-53', '&maxHops=1');
  assert.ok(trail(paths).includes('AU-10 auto'));
  db.close();
});

site('only what a publisher states for that revision is verified, a row of a site is auto', async () => {
  const db = emptyCatalog();
  await importSources(db, {
    'rev5.json': controlSamples['rev5.json']!,
    '171.csv': controlSamples['171.csv']!,
    '8500.csv': controlsCsv([{ framework: 'dod-8500', version: 'DoDI 8500.2 (2003)', identifier: 'ECCT-1' }]),
    'pairs.csv': pairsOf(`
      dod-8500 | DoDI 8500.2 (2003) | ECCT-1 | nist-800-53 | Rev 4 | AC-1
      dod-8500 | DoDI 8500.2 (2003) | ECCT-1 | nist-800-53 | Rev 5 | AC-2
      nist-800-171 | Rev 3 | 03.01.01 | nist-800-53 | Rev 5.1.1 | AC-1
      nist-800-171 | Rev 3 | 03.01.01 | nist-800-53 | Rev 4 | AC-2
      nist-800-171 | Rev 3 | 03.01.01 | nist-800-53 |  | AU-2`),
  });
  await assertPaths(db, 'dod-8500:ECCT-1 -> nist-800-53 1 => AC-1 verified, AC-2 auto');
  await assertPaths(db, 'nist-800-171:03.01.01 -> nist-800-53 1 => AC-1 verified, AC-2 auto, AU-2 auto');
  db.close();
});

site('a release is asked for with or without the zeros at its end', async () => {
  const db = emptyCatalog();
  await importSources(db, {
    'rev520.json': oscalCatalog(rev5, '5.2.0', '2025-08-26'),
    'rev510.json': oscalCatalog(rev5.slice(0, 3), '5.10.0', '2030-01-01'),
    'rev511.json': oscalCatalog(rev5.slice(0, 1), '5.1.1', '2024-02-04'),
    'cci.xml': cciList('2022-03-09', [[1, [['5', 'AC-1']]]]),
  });
  const served = async (version: string) =>
    (await ask(db, `controls/nist-800-53?version=${encodeURIComponent(version)}`)).version;
  for (const version of ['5.2.0', 'Rev 5.2.0', '5.2', 'rev 5.2']) {
    assert.is(await served(version), 'Rev 5.2.0', version);
    assert.is((await resolve(db, 'nist-800-53:AC-1', 'cci', `&version=${version}`)).paths.length, 1, version);
  }
  assert.is(await served('5.10'), 'Rev 5.10.0');
  assert.is(await served('5'), 'Rev 5.10.0');
  assert.is((await reader(db).request('/api/v1/controls/nist-800-53?version=5.1')).status, 404);
  assert.equal((await resolve(db, 'nist-800-53:AC-1', 'cci', '&version=5.1')).paths, []);
  db.close();
});

site.run();

const bad = suite('control sources: malformed ones');

bad('a mapping to an unknown control is warned about by name and row, the rest of it counts', async () => {
  const db = await filled(controlSamples);
  const { lines } = await importSources(db, {
    'own.csv': pairsOf(`
      site | 2026 | S-1 | nist-800-53 | Rev 5 | AC-1
      site | 2026 | S-1 | nist-800-53 | Rev 5 | AC-77
      site | 2026 | S-9 | nist-800-53 | Rev 5 | AC-1
      site | 2026 | S-3 | zeppelin |  | Z-1`),
  });
  const [{ outcome, warnings, counts }] = lines as [LedgerLine];
  assert.equal([outcome, counts, warnings.length], ['imported', { pairs: 4 }, 3]);
  for (const expected of [
    /unknown control of nist-800-53: row 3: S-1 -> AC-77/,
    /unknown control of site: row 4: S-9 -> AC-1/,
    /zeppelin is not imported: row 5: S-3 -> Z-1/,
  ])
    assert.match(warnings.join('\n'), expected);
  assert.ok(trail((await resolve(db, 'site:S-1', 'nist-800-53')).paths).includes('AC-1 auto'));
  db.close();
});

bad('broken ones are rejected, their neighbors not', async () => {
  const db = emptyCatalog();
  const good = Object.fromEntries(Object.entries(controlSamples).map(([name, text]) => [`b-${name}`, text]));
  const whole = await filled(good);
  const reference = dumpControls(whole);
  const bad: Record<string, [text: string, kind: string, reason: RegExp]> = {
    'a-1.json': [controlSamples['rev5.json']!.slice(0, -20), 'oscal-catalog', /^not valid JSON/],
    'a-2.csv': [
      'framework,version,identifier\nsite,2026,S-4\nsite,2026,\n',
      'controls-csv',
      /^row 3, column identifier/,
    ],
    'a-3.xml': [cciList('2031-01-01', [[2, [['5', '']]]]), 'cci-list', /CCI-000002/],
    'a-4.xml': ['<DiacapToRmf><Iac control="ECCT-1">', 'diacap-map', /line \d+, column \d+/],
    'a-5.json': [
      '{"response":{"elements":{"documents":[{"doc_identifier":"SP_800_171_3_0_0"',
      'cprt',
      /^not valid JSON/,
    ],
  };
  const sources = Object.entries(bad).map(([name, [text]]) => [name, text]);
  const { lines } = await importSources(db, { ...Object.fromEntries(sources), ...good });
  for (const [index, [, kind, reason]] of Object.values(bad).entries()) {
    assert.equal([lines[index]!.outcome, lines[index]!.kind], ['rejected', kind]);
    assert.match(lines[index]!.reason!, reason);
  }
  assert.equal(dumpControls(db), reference);
  // Nor do they change a catalog that is there.
  const before = { tables: tableDigests(whole), generation: whole.catalogVersion() };
  const again = await importSources(whole, Object.fromEntries(sources));
  assert.is(again.summary.rejected, sources.length);
  assert.equal({ tables: tableDigests(whole), generation: whole.catalogVersion() }, before);
});

bad.run();

const real = suiteIf(referenceData, 'control sources: the real files');
if (real) {
  const filesIn = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  const official = controlFolders.flatMap(filesIn);
  const interchange = shippedControls.flatMap(filesIn);
  const officialAlone = emptyCatalog();
  let summary: ImportResult['summary'];
  real.before(async () => {
    summary = (await runImport(officialAlone, official)).summary;
  });
  real.after(() => officialAlone.close());

  real('every file counts; importing twice is importing once', async () => {
    const db = officialAlone;
    assert.equal([summary.sources, summary.imported, summary.rejected], [19, 19, 0]);
    const bytes = db.sqlite
      .prepare("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'crosswalk_%'")
      .pluck()
      .get();
    assert.ok((bytes as number) < 40_000_000, `${bytes} bytes`);
    const count = (table: string) => db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
    assert.equal(
      ['nodes', 'edges', 'paths'].map((name) => count(`crosswalk_${name}`)),
      [5439, 4889, 362_750],
    );
    const generation = db.catalogVersion();
    const again = await runImport(db, official);
    assert.equal([again.summary.imported, again.summary.unchanged, db.catalogVersion()], [0, 19, generation]);
  });

  real(
    'the shipped facts first, then the official files: texts are filled in under the same ids',
    async () => {
      const db = emptyCatalog();
      await runImport(db, interchange);
      const keys = () =>
        db.sqlite
          .prepare(
            `SELECT id, framework, identifier, sort_key, CASE WHEN identifier GLOB '3.*' THEN '' ELSE title END, family
               FROM known_controls WHERE framework <> 'nist-cybersecurity-framework' ORDER BY id`,
          )
          .raw()
          .all();
      const before = keys();
      const facts = dumpFacts(db);
      const empty = db.sqlite
        .prepare("SELECT count(*) FROM controls WHERE status = 'active' AND statement = ''")
        .pluck();
      assert.is(empty.get(), 1014 + 826 + 110 + 97 + 157 + 5046);
      await runImport(db, official);
      assert.is(
        empty.get(),
        7,
        'every active control has its statement, but for what came with later releases',
      );
      // Rev 2 of 800-171 prints no titles, its machine-readable form has some; all else that favorites refer to stays.
      assertSameList(keys(), before, 'keys');
      const both = dumpFacts(db);
      for (const table of ['crosswalk_nodes', 'crosswalk_edges'])
        assert.is(both[table], facts[table], `${table}: as the facts alone give them`);
      const rows = (of: Database, where: string, columns = '*') =>
        of.sqlite
          .prepare(`SELECT ${columns} FROM controls WHERE ${where} ORDER BY framework, version, ordinal`)
          .raw()
          .all();
      const isOther = "version <> 'Rev 5.2.0'";
      assertSameList(rows(db, isOther), rows(officialAlone, isOther), 'as if the official files were alone');
      // Release 5.2.0 has the texts of the file of January 2022, and says so.
      const columns = "identifier, statement, record_json ->> '$.guidance', record_json ->> '$.related'";
      const isShared = "status = 'active' AND statement <> ''";
      assertSameList(
        rows(db, `version = 'Rev 5.2.0' AND ${isShared}`, columns),
        rows(officialAlone, `version = 'Rev 5.1.1' AND ${isShared}`, columns),
        'texts',
      );
      const lent = rows(
        db,
        "version = 'Rev 5.2.0' AND status = 'active'",
        "record_json ->> '$.textFrom'",
      ).flat();
      assert.equal(
        [
          lent.filter((each) => each === 'Rev 5.1.1 (2022-01-25)').length,
          lent.filter((each) => each === null).length,
        ],
        [1007, 7],
      );
      db.close();
    },
  );

  real('real files cut short are rejected whole', async () => {
    const db = await filled({ 'site.csv': controlSamples['site-2026.csv']! });
    const before = tableDigests(db);
    const folder = scratchFolder();
    const cut = official
      .filter((file) => !/CSF|csv$/.test(file))
      .map((file, index) => {
        const bytes = readFileSync(file);
        return put(folder, `${index}`, bytes.subarray(0, Math.floor(bytes.length * 0.6)));
      });
    const { lines } = await runImport(db, cut);
    for (const { source, outcome, reason } of lines)
      assert.ok(outcome === 'rejected' && reason!.length > 5, `${source}: ${outcome}`);
    assert.equal([lines.length, tableDigests(db)], [cut.length, before]);
    db.close();
  });

  real.run();
}
