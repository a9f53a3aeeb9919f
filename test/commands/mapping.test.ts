import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { auditLines } from '../support/audit.ts';
import { dumpGraph } from '../support/control-dump.ts';
import {
  cciList,
  controlsCsv,
  mappingsCsv,
  oscalCatalog,
  type SampleCci,
} from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { loggedApp } from '../support/service.ts';
import { filesOf, importInto } from '../support/site.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Json = any;

const items: SampleCci[] = [
  [5, [['5', 'AC-2']], 'deprecated'],
  [1, [['5', 'AC-1 a']]],
  [2, [['4', 'AC-2 (1)']]],
  [3, [['5', 'AC-1 (1)']]],
  [4, [['5', 'AC-2']]],
];
const sources: Record<string, string> = {
  'catalog.json': oscalCatalog([
    { id: 'ac-1' },
    { id: 'ac-1.1' },
    { id: 'ac-2' },
    { id: 'ac-2.1' },
    { id: 'ac-3', withdrawnInto: ['ac-1'] },
  ]),
  'list.xml': cciList('2022-03-09', items),
  'site.csv': controlsCsv(
    ['S-1', 'S-2'].map((identifier) => ({ framework: 'site', version: '2026', identifier })),
  ),
  'pairs.csv': mappingsCsv([
    ['site', '2026', 'S-1', 'nist-800-53', 'Rev 5', 'AC-1'],
    ['site', '2026', 'S-2', 'nist-800-53', 'Rev 5', 'AC-1'],
    ['site', '2026', 'S-2', 'nist-800-53', 'Rev 5', 'AC-2(1)'],
  ]),
};

interface Site {
  folder: string;
  file: string;
  db: Database;
}

/** A catalog filled with the samples, users' data beside it, and a connection to both as a running service has one. */
async function makeSite(): Promise<Site> {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  await take({ file }, sources);
  return { folder, file, db: openDatabase(filesOf(file)) };
}

/** Imports texts as a process of its own does. */
async function take({ file }: Pick<Site, 'file'>, texts: Record<string, string>): Promise<string[]> {
  const folder = scratchFolder();
  return importInto(
    file,
    Object.entries(texts).map(([name, text]) => put(folder, name, text)),
  );
}

/** `gapstone mapping ...` in this process; gives the exit code and the message that the command ends with. */
async function mapping(site: { file: string }, ...args: string[]): Promise<[number | null, string]> {
  const { code, stderr } = await commandHere(['mapping', ...args, '--db', site.file]);
  return [code, stderr.replace(/^gapstone: |\n$/g, '')];
}

const set = (site: { file: string }, from: string, to: string, status: string, reason = 'as reviewed') =>
  mapping(site, 'set', '--from', from, '--to', to, '--status', status, '--reason', reason);

/** `gapstone mapping list --json` in a process of its own. */
async function listed(site: Site): Promise<Json[]> {
  const { code, stdout, stderr } = await commandHere(['mapping', 'list', '--json', '--db', site.file]);
  assert.equal([code, stderr], [0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Users' data with every decision. */
const decided = ({ db }: Site) =>
  ['mapping_decisions', 'mapping_changes'].map((table) => db.sqlite.prepare(`SELECT * FROM ${table}`).all());

const appOf = (db: Database) => loggedApp(db).app;

async function asked(app: ReturnType<typeof appOf>, query: string): Promise<Json> {
  const response = await app.request(`/api/v1/crosswalk/resolve?${query.replaceAll(' ', '%20')}`);
  assert.is(response.status, 200);
  return response.json();
}

const trail = ({ paths }: Json): string[] =>
  paths.map((path: Json) =>
    path.controls
      .slice(1)
      .map((each: Json) => `${each.identifier} ${each.status}`)
      .join(' | '),
  );

const decisions = suite('gapstone mapping: decisions');

decisions('a control that is not known is exit 1', async () => {
  const site = await makeSite();
  const before = { tables: decided(site), generation: site.db.catalogVersion() };
  for (const [from, to, message] of [
    ['cci:CCI-999', 'nist-800-53:AC-1', 'cci:CCI-000999 is not in an imported catalog'],
    ['zeppelin:1', 'cci:CCI-1', 'zeppelin:1 is not in an imported catalog'],
    ['cci:CCI-5', 'nist-800-53:AC-2', 'cci:CCI-000005 is withdrawn'],
    ['cci:CCI-1', 'nist-800-53:AC-3', 'nist-800-53:AC-3 is withdrawn'],
  ] as const)
    assert.equal(await set(site, from, to, 'rejected'), [1, message]);
  assert.equal({ tables: decided(site), generation: site.db.catalogVersion() }, before);
  site.db.close();
});

decisions('rejected hides the edge, under a pin too, and shows it with status=rejected', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  const cci = 'from=cci:CCI-1&to=';
  const back = 'from=nist-800-53:AC-1&to=cci&maxHops=1';
  assert.equal(await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected'), [0, '']);
  const shown = ['AC-1 rejected | S-1 auto', 'AC-1 rejected | S-2 auto'];
  for (const [query, paths] of [
    [`${cci}nist-800-53`, []],
    [`${cci}site&maxHops=9`, []],
    [`${cci}site&status=rejected,auto`, shown],
    [`${back}&version=Rev 5`, []],
    [`${back}&version=5&status=rejected`, ['CCI-000001 rejected']],
  ] as const)
    assert.equal(trail(await asked(app, query)), paths, query);
  const body = JSON.stringify({ ccis: ['CCI-1', 'CCI-4'] });
  const batch = await app.request('/api/v1/crosswalk/resolve/batch', { method: 'POST', body });
  assert.is(await batch.text(), '{"CCI-1":[],"CCI-4":["AC-2"]}');
  site.db.close();
});

decisions('the ends may come in either order and any spelling; the last word counts', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  const status = async () =>
    trail(await asked(app, 'from=cci:CCI-2&to=nist-800-53&status=auto,verified,rejected'));
  assert.equal(await status(), ['AC-2(1) auto']);
  const words: [string, string, string][] = [
    ['cci:CCI-2', 'nist-800-53:AC-2(1)', 'verified'],
    ['nist-800-53:ac-2.1', 'cci:cci-000002', 'rejected'],
    ['nist-800-53:AC-02 (01)', 'cci:CCI-2', 'auto'],
    ['cci:CCI-000002', 'nist-800-53:AC-2 (1)', 'verified'],
  ];
  for (const [from, to, word] of words) {
    assert.equal(await set(site, from, to, word, ` ${word} it is\n`), [0, '']);
    assert.equal(await status(), [`AC-2(1) ${word}`]);
  }
  await set(site, 'site:S-1', 'nist-800-53:AC-1', 'verified');
  const [{ decidedAt: _, ...first }, second] = await listed(site);
  assert.equal(first, {
    ...{ from: 'nist-800-53:AC-2(1)', to: 'cci:CCI-000002', status: 'verified' },
    ...{ reason: 'verified it is', own: false, stale: false },
  });
  assert.is(second.to, 'site:S-1', 'in the order of the decisions');
  // Taken back in whatever spelling a pair of a source has its status again, once.
  const remove = () => mapping(site, 'remove', '--from', 'cci:CCI-2', '--to', 'nist-800-53:ac-2.1');
  assert.equal(await remove(), [0, '']);
  assert.equal(await status(), ['AC-2(1) auto']);
  assert.equal(await remove(), [1, 'there is no decision about nist-800-53:AC-2(1) and cci:CCI-000002']);
  const deeds = auditLines(join(site.folder, 'gapstone-audit.jsonl'))
    .filter(({ action }) => action === 'mapping.remove')
    .map(({ objectId, outcome }) => `${objectId} ${outcome}`);
  const pair = 'nist-800-53:AC-2(1) cci:CCI-000002';
  assert.equal(deeds, [`${pair} success`, `${pair} failure`]);
  site.db.close();
});

decisions('a decision survives the import of the same and of other editions', async () => {
  const site = await makeSite();
  await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected', 'kept');
  await set(site, 'site:S-1', 'nist-800-53:AC-1', 'verified', 'kept too');
  const graph = dumpGraph(site.db);
  const kept = await listed(site);
  assert.equal([...new Set(await take(site, sources))], ['unchanged']);
  const controls = ['ac-1', 'ac-1.1', 'ac-2', 'ac-2.1'].map((id) => ({ id }));
  for (const [name, text] of [
    ['older.xml', cciList('2016-06-27', items)],
    ['reprinted.xml', `${sources['list.xml']}\n`],
    ['newer.xml', cciList('2030-01-01', items)],
    ['catalog.json', oscalCatalog(controls, '5.2.0')],
  ] as const) {
    assert.equal(await take(site, { [name]: text }), ['imported']);
    assert.equal(dumpGraph(site.db), graph, name);
    assert.equal(trail(await asked(appOf(site.db), 'from=cci:CCI-1&to=nist-800-53')), []);
  }
  assert.equal(await listed(site), kept);
  site.db.close();
});

decisions('a pair that no newest source states is the site’s own until one states it again', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected', 'kept');
  await set(site, 'site:S-1', 'nist-800-53:AC-1', 'verified', 'of the site');
  const marks = async () =>
    (await listed(site)).map((each) => `${each.own ? 'own' : ''} ${each.stale ? 'stale' : ''}`.trim()).join();
  const paths = async (query: string) => trail(await asked(app, query));
  const every = 'status=auto,verified,rejected';
  const list = async () => (await commandHere(['mapping', 'list', '--db', site.file])).stdout;
  const ofSite = (version: string, ...names: string[]) =>
    controlsCsv(names.map((identifier) => ({ framework: 'site', version, identifier })));
  assert.is(await marks(), ',');

  await take(site, { 'newer.xml': cciList('2030-01-01', [[1, [['5', 'AC-2']]], ...items.slice(2)]) });
  assert.is(await marks(), 'own,');
  const found = await paths(`from=cci:CCI-1&to=nist-800-53&${every}`);
  assert.equal(found, ['AC-2 verified'], 'a rejected one makes no edge');
  assert.match(await list(), /cci:CCI-000001 {2}rejected {2}OWN {2}kept\n/);

  await take(site, {
    'site.csv': ofSite('2027', 'S-1', 'S-2'),
    'pairs.csv': mappingsCsv([['site', '2027', 'S-1', 'nist-800-53', 'Rev 5', 'AC-2']]),
  });
  assert.is(await marks(), 'own,own');
  assert.equal(
    await paths('from=site:S-1&to=nist-800-53&maxHops=1'),
    ['AC-1 verified', 'AC-2 auto'],
    'what an operator verified stands until it is taken back',
  );

  await take(site, { 'newest.xml': cciList('2031-01-01', items) });
  assert.is(await marks(), ',own');
  assert.equal(await paths('from=cci:CCI-1&to=nist-800-53'), []);
  assert.equal(await paths('from=cci:CCI-1&to=nist-800-53&status=rejected'), ['AC-1 rejected']);

  await take(site, { 'gone.csv': ofSite('2028', 'S-2') });
  assert.is(await marks(), ',own stale');
  assert.equal(await paths('from=site:S-1&to=nist-800-53'), []);
  assert.match(await list(), /verified {2}OWN {2}STALE {2}of/);
  const back = await mapping(site, 'remove', '--from', 'site:S-1', '--to', 'nist-800-53:AC-1');
  assert.equal(back, [0, ''], 'it can be taken back all the same');
  site.db.close();
});

decisions('any two known controls may be related; explain says whose word it is', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  const before = [dumpGraph(site.db), catalogDigest(site.db)];
  const paths = async (query: string) => trail(await asked(app, query));
  const direct = 'from=cci:CCI-4&to=site';
  assert.equal(await set(site, 'site:S-1', 'cci:CCI-4', 'verified', 'seen in the plan'), [0, '']);
  assert.equal(await paths(direct), ['S-1 verified']);
  // It is found by the lookup too; but it is stated for no version.
  const body = JSON.stringify({ ccis: ['CCI-4'], to: 'site' });
  const lookup = await app.request('/api/v1/crosswalk/resolve/batch', { method: 'POST', body });
  assert.is(await lookup.text(), '{"CCI-4":["S-1"]}');
  for (const version of ['2022-03-09', '2026']) assert.equal(await paths(`${direct}&version=${version}`), []);

  const explained = await asked(app, 'from=nist-800-53:AC-2&to=site&explain=true');
  const [, first, second] = explained.paths[0].controls;
  assert.is(first.evidence[0].source, 'list.xml');
  const [line] = await listed(site);
  const { decidedAt, ...rest } = line;
  const word = { status: 'verified', reason: 'seen in the plan' };
  assert.equal(rest, { from: 'cci:CCI-000004', to: 'site:S-1', ...word, own: true, stale: false });
  assert.equal(second.evidence, [
    {
      own: true,
      from: { framework: 'cci', identifier: 'CCI-000004' },
      to: { framework: 'site', identifier: 'S-1' },
      decision: { ...word, decidedAt },
    },
  ]);
  const after = [dumpGraph(site.db), catalogDigest(site.db)];
  assert.equal(after, before, 'no word of the site is in the catalog');
  site.db.close();
});

decisions(
  'a rejected pair stays rejected under the pin of the only revision that still states it',
  async () => {
    const site = await makeSite();
    const app = appOf(site.db);
    await set(site, 'cci:CCI-2', 'nist-800-53:AC-2(1)', 'rejected');
    // The newer list refers to another control in Rev 5, and to the same as ever in Rev 4.
    const references: SampleCci[1] = [
      ['5', 'AC-1'],
      ['4', 'AC-2 (1)'],
    ];
    await take(site, { 'newer.xml': cciList('2030-01-01', [[2, references]]) });
    const question = 'from=nist-800-53:AC-2(1)&to=cci&version=Rev 4';
    assert.equal(trail(await asked(app, question)), []);
    assert.equal(trail(await asked(app, `${question}&status=rejected`)), ['CCI-000002 rejected']);
    site.db.close();
  },
);

decisions('a service on another connection sees each decision at once', async () => {
  const site = await makeSite();
  const service = openDatabase(filesOf(site.file));
  const app = appOf(service);
  const question = 'from=cci:CCI-1&to=site';
  const versions = [service.catalogVersion()];
  const tag = async () => (await app.request(`/api/v1/crosswalk/resolve?${question}`)).headers.get('ETag');
  const before = await tag();
  assert.is(trail(await asked(app, `${question}&maxHops=7`)).length, 2, 'the walked graph is loaded');
  await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected');
  versions.push(service.catalogVersion());
  assert.equal(trail(await asked(app, `${question}&maxHops=7`)), []);
  assert.is.not(await tag(), before);
  await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'verified');
  versions.push(service.catalogVersion());
  assert.is(new Set(versions).size, 3);
  assert.is(site.db.catalogVersion(), versions[2], 'equal on all connections');
  assert.is(await tag(), before, 'the same answer has the same tag');
  service.close();
  site.db.close();
});

decisions.run();
