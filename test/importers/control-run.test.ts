import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { LedgerLine } from '../../importers/ledger-lines.ts';
import { type ImportResult, runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { dumpControls, dumpFacts, dumpGraph } from '../support/control-dump.ts';
import { cciList, controlsCsv, mappingsCsv, oscalCatalog } from '../support/control-sources.ts';
import { assertSameList, controlFolders, shippedControls } from '../support/controls.ts';
import { bruteForce, type OracleEdge, toGraph } from '../support/crosswalk-oracle.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { referenceData, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { loggedApp } from '../support/service.ts';
import { told } from '../support/told.ts';
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
      .join(' | '),
  );

const order = suite('control sources: the order of imports');

order('a reference that cannot be read changes no answer without a word', async () => {
  const answers = async (references: [string, string][], status = 'draft') => {
    const db = emptyCatalog();
    const { lines } = await importSources(db, {
      'rev5.json': oscalCatalog(rev5),
      'cci.xml': cciList('2022-03-09', [[1, references, status]]),
    });
    const { paths } = await resolve(db, 'cci:CCI-1', 'nist-800-53');
    db.close();
    assert.equal(told(lines, 'outcome'), ['imported', 'imported']);
    return [trail(paths), lines[1]!.warnings.filter((each) => !each.startsWith('not stored: ')).length];
  };
  assert.equal(await answers([['5', 'ac-2 b']]), [['AC-2 verified'], 0]);
  assert.equal(await answers([['5.1.1', 'AC-2 b']]), [['AC-2 verified'], 0]);
  assert.equal(await answers([['5', 'AC-2 b; AU-2']]), [['AC-2 verified', 'AU-2 verified'], 0]);
  assert.equal(await answers([['5', 'AC-2 b']], 'Deprecated'), [[], 0]);
  assert.equal(await answers([['6', 'AC-2 b']]), [[], 1], 'Rev 6 is no revision of D7.1 (a)');
  assert.equal(await answers([['five', 'AC-2 b']]), [[], 1]);
  const carried: [string, string] = ['4', 'AU-2'];
  assert.equal(await answers([['5', 'garbage'], carried]), [['AU-2 auto'], 1], 'as if it were not there');
  assert.equal(await answers([['6', 'AC-2'], carried]), [['AU-2 auto'], 1]);
  assert.equal(await answers([['1', 'garbage'], carried]), [['AU-2 auto'], 0], '800-53A');
});

order('a pair of a site for a CCI is verified for Rev 5 alone', async () => {
  const pairs = async (toVersion: string) => {
    const db = emptyCatalog();
    const { lines } = await importSources(db, {
      'rev5.json': oscalCatalog(rev5),
      'cci.xml': cciList('2022-03-09', [[1, []]]),
      'own.csv': mappingsCsv([['cci', '2022-03-09', 'CCI-1', 'nist-800-53', toVersion, 'AC-2']]),
    });
    const { paths } = await resolve(db, 'cci:CCI-1', 'nist-800-53');
    const pinned = await resolve(db, 'nist-800-53:AC-2', 'cci', '&version=Rev%206');
    assert.equal(trail(pinned.paths ?? []), [], 'under a pin neither');
    db.close();
    return [trail(paths), lines[2]!.warnings];
  };
  assert.equal(await pairs('Rev 5.1.1'), [['AC-2 verified'], []]);
  assert.equal(await pairs('Rev 4'), [['AC-2 auto'], []]);
  assert.equal(await pairs(''), [['AC-2 auto'], []], 'for no revision');
  assert.equal(await pairs('Rev 6'), [
    [],
    ['1 pairs make no mapping, Rev 5 is the newest that counts for a CCI: row 2: CCI-000001 -> AC-2'],
  ]);
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
  const paths = async (from: string, to: string, more = '') =>
    trail((await resolve(db, from, to, more)).paths);
  assert.equal(await paths('cci:CCI-1', 'nist-800-53'), ['AC-1 verified']);
  assert.equal(await paths('cci:CCI-2', 'nist-800-53'), ['AC-2(1) auto']);
  assert.equal(await paths('cci:CCI-3', 'nist-800-53'), [], 'withdrawn: a CCI is not followed');
  assert.equal(await paths('cci:CCI-4', 'nist-800-53'), ['AU-2 verified', 'AU-10 verified']);
  assert.equal(await paths('cci:CCI-5', 'nist-800-53'), [], 'deprecated');
  assert.equal(await paths('cci:CCI-6', 'nist-800-53'), [], 'only in the older list');
  assert.equal(await paths('nist-800-171:3.1.1', 'nist-800-53', '&maxHops=1'), [
    'AC-1 auto',
    'AC-2 auto',
    'AC-2(1) auto',
  ]);
  assert.equal(await paths('nist-800-171:03.01.01', 'nist-800-53', '&maxHops=1'), ['AC-2(1) verified']);
  assert.equal(await paths('site:S-3', 'nist-800-53', '&maxHops=1'), ['AC-1 auto', 'AC-2(1) auto']);
  assert.equal(await paths('site:S-2', 'cci'), [], 'gone in 2026');
  db.close();
});

order('importing twice is importing once', async () => {
  const db = await filled(controlSamples);
  const before = { tables: tableDigests(db), generation: db.generation() };
  const again = await importSources(db, controlSamples);
  assert.equal([...new Set(again.lines.map((line) => line.outcome))], ['unchanged']);
  assert.equal({ tables: tableDigests(db), generation: db.generation() }, before);
  db.close();
});

order('an older CCI list changes nothing beside a newer one', async () => {
  const { 'cci-old.xml': old, 'cci-new.xml': newer, ...others } = controlSamples as Record<string, string>;
  const graphs = [];
  for (const runs of [
    [['new']],
    [['old', 'new']],
    [['new', 'old']],
    [['old'], ['new']],
    [['new'], ['old']],
  ]) {
    const db = await filled(others);
    for (const run of runs)
      await importSources(
        db,
        Object.fromEntries(run.map((name) => [`${name}.xml`, name === 'new' ? newer! : old!])),
      );
    graphs.push(dumpGraph(db));
    db.close();
  }
  for (const graph of graphs) assert.equal(graph, graphs[0]);
});

order('more frameworks than a word has bits: their paths are those of brute force', async () => {
  const many = Array.from({ length: 34 }, (_, index) => `site-${String(index).padStart(2, '0')}`);
  const pairs = many.flatMap((framework, index) => [
    [framework, '1', 'X', 'nist-800-53', 'Rev 5', index % 2 ? 'AC-1' : 'AC-2'],
    ...(index === 0 ? [] : [[framework, '1', 'X', many[index - 1]!, '1', 'X']]),
  ]);
  const db = await filled({
    'rev5.json': controlSamples['rev5.json']!,
    'site.csv': controlsCsv(
      many.map((framework) => ({ framework, version: '1', identifier: 'X', title: framework })),
    ),
    'pairs.csv': mappingsCsv(pairs),
  });
  const edges = pairs.map(
    (row): OracleEdge => ({ ends: [`${row[0]}:${row[2]}`, `${row[3]}:${row[5]}`], status: 'auto' }),
  );
  const graph = toGraph(edges);
  const key = (name: string) => (name.startsWith('nist') ? `0 ${name}` : `1 ${name}`);
  for (const source of [...many.map((framework) => `${framework}:X`), 'nist-800-53:AC-1']) {
    for (const to of ['nist-800-53', many[0]!, many[27]!, many[28]!, many[31]!, many[33]!]) {
      const expected = bruteForce(graph, source, to, 4, new Set(['auto']), key);
      assert.equal(trail((await resolve(db, source, to)).paths), trail(expected), `${source} -> ${to}`);
    }
  }
  db.close();
});

order.run();

const site = suite('control sources: a framework and a mapping of a site');

site('both resolve, from it and to it, and explain says where they are stated', async () => {
  const db = await filled(controlSamples);
  assert.equal(trail((await resolve(db, 'site:S-1', 'nist-800-171', '&maxHops=1')).paths), ['3.1.1 auto']);
  assert.equal(trail((await resolve(db, 'nist-800-171:3.1.1', 'site', '&maxHops=1')).paths), ['S-1 auto']);
  assert.equal(trail((await resolve(db, 'cci:CCI-1', 'site')).paths), [
    'AC-1 verified | S-3 auto',
    'AC-1 verified | 3.1.1 auto | S-1 auto',
    'AC-1 verified | 3.1.1 auto | AC-2(1) auto | S-3 auto',
  ]);
  const { from } = await resolve(db, 'site:S-3', 'cci', '&version=2026');
  assert.equal(from, { framework: 'site', identifier: 'S-3', version: '2026' });
  assert.equal((await resolve(db, 'site:S-3', 'cci', '&version=2024')).paths, []);
  const explained = await resolve(db, 'site:S-3', 'nist-800-53', '&maxHops=1&explain=true');
  assert.equal(
    explained.paths.map((path: Json) => path.controls[1].evidence[0].reference),
    ['chapter 3', 'chapter 3'],
  );
  const batch = await reader(db).request('/api/v1/crosswalk/resolve/batch', {
    method: 'POST',
    body: JSON.stringify({
      from: [{ framework: 'site', identifier: 'S-1' }],
      to: ['site', 'cci', 'nist-800-171'],
    }),
  });
  const { results } = (await batch.json()) as Json;
  assert.equal(Object.keys(results['site:S-1']), ['site', 'cci', 'nist-800-171']);
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
    'pairs.csv': mappingsCsv([
      ['zeta', '1', 'X', 'nist-800-53', '', 'AC-1'],
      ['alpha', '1', 'X', 'nist-800-53', '', 'AC-1'],
      ['alpha', '1', 'X', 'nist-800-53', '', 'AC-2'],
      ['zeta', '1', 'X', 'nist-800-53', '', 'AC-2'],
    ]),
  });
  const order = db.sqlite.prepare('SELECT DISTINCT framework FROM crosswalk_nodes ORDER BY id').pluck().all();
  assert.equal(order, ['nist-800-53', 'cci', 'alpha', 'zeta']);
  // Frameworks of a site stand at the ends of paths alone (rule D40.2).
  assert.equal(trail((await resolve(db, 'nist-800-53:AC-1', 'nist-800-53')).paths), []);
  assert.equal(trail((await resolve(db, 'alpha:X', 'zeta')).paths), [
    'AC-1 auto | X auto',
    'AC-2 auto | X auto',
  ]);
  assert.equal(trail((await resolve(db, 'alpha:X', 'nist-800-53', '&maxHops=6')).paths), [
    'AC-1 auto',
    'AC-2 auto',
  ]);
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
  assert.equal(trail((await resolve(db, 'cci:CCI-1', 'site', '&maxHops=1')).paths), ['S-1 auto']);
  // Nor does one from Rev 5 take away another from Rev 4.
  await importSources(db, {
    'four.csv': mappingsCsv([['nist-800-53', 'Rev 4', 'AC-2', 'site', '2026', 'S-1']]),
    'five.csv': mappingsCsv([['nist-800-53', 'Rev 5', 'AC-1', 'site', '2026', 'S-1']]),
  });
  assert.equal(trail((await resolve(db, 'site:S-1', 'nist-800-53', '&maxHops=1')).paths), [
    'AC-1 auto',
    'AC-2 auto',
  ]);
  db.close();
});

site('which end of a row a control stands at, and of which revision, is no matter', async () => {
  const own = controlsCsv(
    [
      ['1', 'S-2', ''],
      ['2', 'S-1', ''],
      ['2', 'S-2', 'S-1'],
      ['2', 'S-3', ''],
    ].map(([version, identifier, into], row) => ({
      framework: 'lamps',
      version: version!,
      identifier: identifier!,
      status: into !== '' || row === 3 ? 'withdrawn' : 'active',
      withdrawnInto: into!,
    })),
  );
  const db = emptyCatalog();
  const { lines } = await importSources(db, {
    'rev5.json': controlSamples['rev5.json']!,
    'cci.xml': cciList('2022-03-09', [[1, [['4', 'AC-3']]]]),
    'own.csv': own,
    'pairs.csv': mappingsCsv([
      // AC-4 went into AC-3, AC-3 into AC-1 and AC-2(1); S-2 into S-1; S-3 nowhere.
      ['nist-800-53', 'Rev 4', 'AC-4', 'lamps', '2', 'S-1'],
      ['lamps', '2', 'S-2', 'nist-800-53', 'Rev 5', 'AU-2'],
      ['lamps', '2', 'S-3', 'nist-800-53', 'Rev 5', 'AU-2'],
      ['nist-800-53', 'Rev 5', 'AU-2', 'lamps', '2', 'S-3'],
      ['nist-800-53', 'Rev 3', 'AU-10', 'lamps', '2', 'S-1'],
      ['lamps', '2', 'S-1', 'nist-800-53', 'Rev 3', 'AU-10'],
      ['nist-800-53', 'Rev 9', 'AU-10', 'lamps', '2', 'S-1'],
      ['lamps', '2', 'S-1', 'nist-800-53', 'Rev 9', 'AU-10'],
      ['lamps', '1', 'S-2', 'nist-800-53', 'Rev 5', 'AC-2'],
      ['nist-800-53', 'Rev 4', 'AC-3', 'cci', '2022-03-09', 'CCI-1'],
    ]),
  });
  assert.equal(trail((await resolve(db, 'lamps:S-1', 'nist-800-53', '&maxHops=1')).paths), [
    'AC-1 auto',
    'AC-2(1) auto',
    'AU-2 auto',
  ]);
  assert.equal((await resolve(db, 'cci:CCI-1', 'nist-800-53', '&maxHops=1')).paths, []);
  assert.equal(lines.find((line) => line.source.endsWith('pairs.csv'))!.warnings, [
    '1 pairs make no mapping, withdrawn in nist-800-53: row 11: AC-3 -> CCI-000001',
    '2 pairs make no mapping, no active successor in lamps: row 4: S-3 -> AU-2, row 5: AU-2 -> S-3',
    '2 pairs make no mapping, Rev 9 of nist-800-53 is not imported: row 9: S-1 -> AU-10, row 8: AU-10 -> S-1',
    '1 pairs make no mapping, a newer version of lamps is imported: row 10: S-2 -> AC-2',
  ]);
  // Once the revision is there, its pairs count.
  await importSources(db, {
    'rev9.json': oscalCatalog(
      rev5.filter((control) => !control.withdrawnInto),
      '9.0.0',
      '2031-01-01',
    ),
  });
  assert.ok(
    trail((await resolve(db, 'lamps:S-1', 'nist-800-53', '&maxHops=1')).paths).includes('AU-10 auto'),
  );
  db.close();
});

site('only what a publisher states for that revision is verified, a row of a site is auto', async () => {
  const db = emptyCatalog();
  await importSources(db, {
    'rev5.json': controlSamples['rev5.json']!,
    '171.csv': controlSamples['171.csv']!,
    '8500.csv': controlsCsv([{ framework: 'dod-8500', version: 'DoDI 8500.2 (2003)', identifier: 'ECCT-1' }]),
    'pairs.csv': mappingsCsv([
      ['dod-8500', 'DoDI 8500.2 (2003)', 'ECCT-1', 'nist-800-53', 'Rev 4', 'AC-1'],
      ['dod-8500', 'DoDI 8500.2 (2003)', 'ECCT-1', 'nist-800-53', 'Rev 5', 'AC-2'],
      ['nist-800-171', 'Rev 3', '03.01.01', 'nist-800-53', 'Rev 5.1.1', 'AC-1'],
      ['nist-800-171', 'Rev 3', '03.01.01', 'nist-800-53', 'Rev 4', 'AC-2'],
      ['nist-800-171', 'Rev 3', '03.01.01', 'nist-800-53', '', 'AU-2'],
    ]),
  });
  assert.equal(trail((await resolve(db, 'dod-8500:ECCT-1', 'nist-800-53', '&maxHops=1')).paths), [
    'AC-1 verified',
    'AC-2 auto',
  ]);
  assert.equal(trail((await resolve(db, 'nist-800-171:03.01.01', 'nist-800-53', '&maxHops=1')).paths), [
    'AC-1 verified',
    'AC-2 auto',
    'AU-2 auto',
  ]);
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

/** Imports one bad source into a filled catalog: it must be named and refused, and nothing may change. */
async function refuse(
  db: Database,
  text: string | Buffer,
  kind: string,
  reason: string | RegExp,
): Promise<LedgerLine> {
  const before = { tables: tableDigests(db), generation: db.generation() };
  const file = put(scratchFolder(), 'bad.file', text);
  const { lines } = await runImport(db, [file]);
  const [line] = lines;
  assert.equal(
    [lines.length, line!.source, line!.outcome, line!.kind],
    [1, file, 'rejected', kind],
    line!.reason ?? '',
  );
  if (typeof reason === 'string') assert.is(line!.reason, reason);
  else assert.match(line!.reason ?? '', reason);
  assert.ok(line!.reason!.length < 400 && !/[\u0000-\u001f]/.test(line!.reason!), line!.reason!);
  assert.equal({ tables: tableDigests(db), generation: db.generation() }, before, 'nothing was stored');
  return line!;
}

let catalog: Database;
bad.before(async () => {
  catalog = await filled(controlSamples);
});
bad.after(() => catalog.close());

bad('a CSV whose header begins like none of ours is no source; named alone it is a failure', async () => {
  const folder = scratchFolder();
  const before = tableDigests(catalog);
  const headers = [
    'Framework,version,identifier',
    'identifier,framework,version',
    'frameworks;version;identifier',
  ];
  for (const header of headers) {
    const file = put(folder, 'own.csv', `${header}\nsite,2026,S-1\n`);
    const { lines, loneUnknown } = await runImport(catalog, [file]);
    assert.equal([lines[0]!.outcome, lines[0]!.kind, loneUnknown], ['skipped', 'other', [file]], header);
  }
  assert.equal(tableDigests(catalog), before);
});

bad('a framework key with a colon is refused, naming row and column', async () => {
  await refuse(
    catalog,
    'framework,version,identifier\nsite:x,1,S-1\n',
    'controls-csv',
    /^row 2, column framework/,
  );
  await refuse(
    catalog,
    mappingsCsv([['site:x', '1', 'S-1', 'nist-800-53', '', 'AC-1']]),
    'mappings-csv',
    /^row 2, column fromFramework/,
  );
  await refuse(
    catalog,
    mappingsCsv([['site', '1', 'S-1', 'nist:800-53', '', 'AC-1']]),
    'mappings-csv',
    /^row 2, column toFramework/,
  );
});

bad('a mapping to an unknown control is warned about by name and row, the rest of it counts', async () => {
  const db = await filled(controlSamples);
  const { lines } = await importSources(db, {
    'own.csv': mappingsCsv([
      ['site', '2026', 'S-1', 'nist-800-53', 'Rev 5', 'AC-1'],
      ['site', '2026', 'S-1', 'nist-800-53', 'Rev 5', 'AC-77'],
      ['site', '2026', 'S-9', 'nist-800-53', 'Rev 5', 'AC-1'],
      ['site', '2026', 'S-3', 'zeppelin', '', 'Z-1'],
    ]),
  });
  const [{ outcome, warnings, counts }] = lines as [LedgerLine];
  assert.equal([outcome, counts], ['imported', { pairs: 4 }]);
  assert.is(warnings.length, 3);
  const about = (pair: RegExp, row: string, what: RegExp) => {
    const warning = warnings.find((each) => pair.test(each)) ?? '';
    assert.match(warning, what, warnings.join('\n'));
    assert.ok(warning.includes(row), `the warning names ${row}: ${warning}`);
  };
  about(/S-1 -> AC-77/, 'row 3', /unknown control of nist-800-53/);
  about(/S-9 -> AC-1/, 'row 4', /unknown control of site/);
  about(/S-3 -> Z-1/, 'row 5', /zeppelin is not imported/);
  assert.ok(trail((await resolve(db, 'site:S-1', 'nist-800-53')).paths).includes('AC-1 auto'));
  db.close();
});

bad('XML and JSON cut anywhere are rejected, their neighbors not', async () => {
  const iac = `<IMPORT_FILE xmlns="urn:FindingImport"><IACONTROL><CONTROL_NUMBER>ECCT-1</CONTROL_NUMBER></IACONTROL></IMPORT_FILE>`;
  const map =
    '<DiacapToRmf><Iac control="ECCT-1"><NistControl revision="4">AC-1</NistControl></Iac></DiacapToRmf>';
  await refuse(catalog, iac, 'dod-8500', 'ECCT-1 has no CONTROL_NAME');
  await refuse(catalog, map.replace('ECCT-1', 'Lantern'), 'diacap-map', /"Lantern"/);
  await refuse(catalog, map.replace('"4"', '"6"'), 'diacap-map', 'ECCT-1: AC-1 has the revision "6"');
  await refuse(catalog, '<DiacapToRmf/>', 'diacap-map', 'the map has no pairs');
  for (const text of [iac, map]) {
    const before = tableDigests(catalog);
    const { lines } = await runImport(catalog, [
      put(scratchFolder(), 'cut.xml', text.slice(0, text.length * 0.8)),
    ]);
    assert.equal([lines[0]!.outcome, tableDigests(catalog)], ['rejected', before]);
  }
  await refuse(
    catalog,
    '{"response":{"elements":{"documents":[{"doc_identifier":"SP_800_171_3_0_0"',
    'cprt',
    /^not valid JSON/,
  );

  const db = emptyCatalog();
  const good = Object.fromEntries(Object.entries(controlSamples).map(([name, text]) => [`a-${name}`, text]));
  const reference = dumpControls(await filled(good));
  const { lines } = await importSources(db, {
    'bad-1.json': controlSamples['rev5.json']!.slice(0, -20),
    ...good,
    'bad-2.csv': 'framework,version,identifier\nsite,2026,S-4\nsite,2026,\n',
    'bad-3.xml': cciList('2031-01-01', [
      [1, [['5', 'AC-1']]],
      [2, [['5', '']]],
    ]),
  });
  assert.equal(
    lines.filter((line) => line.outcome === 'rejected').map((line) => line.source.replace(/.*\//, '')),
    ['bad-1.json', 'bad-2.csv', 'bad-3.xml'],
  );
  assert.equal(dumpControls(db), reference);
  db.close();
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
  let officialAlone: Database;
  let graph: Record<string, string>;
  real.after(() => officialAlone.close());

  async function after<T>(dump: (db: Database) => T, ...runs: string[][]): Promise<T> {
    const db = emptyCatalog();
    for (const paths of runs) await runImport(db, paths);
    const result = dump(db);
    db.close();
    return result;
  }

  const shuffled = (files: string[]): string[] =>
    fc.sample(fc.shuffledSubarray(files, { minLength: files.length }), 1)[0]!;

  real(
    'the closure takes less time than what it is made from and under 40 MB of file; importing twice is importing once',
    async () => {
      const db = emptyCatalog();
      officialAlone = db;
      const { summary } = await runImport(db, official);
      assert.equal([summary.sources, summary.imported, summary.rejected], [19, 19, 0]);
      const { parse, controls, closure } = summary.phases as Record<string, number>;
      // Measured against other phases of the same run, so that a slow machine is no failure: about a third of them.
      assert.ok(closure! < parse! + controls!, `closure ${closure} ms, parse ${parse}, controls ${controls}`);
      const bytes = db.sqlite
        .prepare("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'crosswalk_%'")
        .pluck()
        .get();
      assert.ok((bytes as number) < 40_000_000, `${bytes} bytes`);
      graph = dumpGraph(db);
      assert.match(graph.crosswalk_nodes!, /^5439 rows/);
      assert.match(graph.crosswalk_edges!, /^4889 rows/);
      assert.match(graph.crosswalk_paths!, /^362750 rows/);

      const before = { facts: dumpFacts(db), generation: db.generation() };
      const again = await runImport(db, official);
      assert.equal([again.summary.imported, again.summary.unchanged], [0, 19]);
      assert.equal({ facts: dumpFacts(db), generation: db.generation() }, before);
    },
  );

  real(
    'the shipped facts first, then the official files: texts are filled in under the same ids',
    async () => {
      const db = emptyCatalog();
      await runImport(db, interchange);
      // The list of 2025 also refers to controls of Release 5.2.0, which no official file here has.
      const facts = dumpGraph(db);
      assert.equal(await after(dumpGraph, [...official, shipped('controls', 'nist-800-53_rev5.csv')]), facts);
      const keys = () =>
        db.sqlite
          .prepare(
            'SELECT id, framework, identifier, sort_key, title, family FROM known_controls ORDER BY id',
          )
          .all() as Record<string, string>[];
      const before = keys();
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
      const [csf, now] = [true, false].map((isCsf) =>
        keys().filter(({ framework }) => (framework === 'nist-cybersecurity-framework') === isCsf),
      ) as [Record<string, string>[], Record<string, string>[]];
      assert.equal([now.length, csf.length], [before.length, 219]);
      for (const [index, key] of now.entries()) {
        const untitled = /^3\./.test(key.identifier!) && before[index]!.title === '';
        assert.equal(untitled ? { ...key, title: '' } : key, before[index]);
      }
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
      assert.equal(
        db.sqlite
          .prepare(
            `SELECT record_json ->> '$.textFrom', count(*) FROM controls
              WHERE version = 'Rev 5.2.0' AND status = 'active' GROUP BY 1 ORDER BY 2`,
          )
          .raw()
          .all(),
        [
          [null, 7],
          ['Rev 5.1.1 (2022-01-25)', 1007],
        ],
      );
      db.close();

      // The other way round the texts stay; and so does everything in any order and two runs.
      await runImport(officialAlone, interchange);
      assert.equal(dumpFacts(officialAlone), both);
      const mixed = shuffled([...official, ...interchange]);
      const runs = [mixed.slice(0, 12), mixed.slice(12)];
      assert.equal(await after(dumpFacts, ...runs), both, mixed.join('\n'));
    },
  );

  real('real files cut short are rejected whole', async () => {
    const db = await filled({ 'site.csv': controlSamples['site-2026.csv']! });
    for (const file of official.filter((each) => !/CSF/.test(each))) {
      const bytes = readFileSync(file);
      const cut = bytes.subarray(0, Math.floor(bytes.length * 0.6) + (/csv$/.test(file) ? 3 : 0));
      const before = tableDigests(db);
      const { lines } = await runImport(db, [put(scratchFolder(), 'cut', cut)]);
      // A CSV that was cut at the end of a row is a shorter CSV.
      if (/csv$/.test(file) && lines[0]!.outcome === 'imported') continue;
      assert.is(lines[0]!.outcome, 'rejected', file);
      assert.ok(lines[0]!.reason!.length > 5);
      assert.equal(tableDigests(db), before, file);
    }
    db.close();
  });

  real.run();
}
