import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { mappingCommand } from '../../src/commands/mapping.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { CommandError } from '../../src/errors.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { gapstone } from '../support/child.ts';
import { dumpGraph } from '../support/control-dump.ts';
import {
  cciList,
  controlsCsv,
  mappingsCsv,
  oscalCatalog,
  type SampleCci,
} from '../support/control-sources.ts';
import { bruteForce, type OracleEdge, toGraph } from '../support/crosswalk-oracle.ts';
import { suite } from '../support/harness.ts';
import { startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { loggedApp } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Json = any;

const items: SampleCci[] = [
  [1, [['5', 'AC-1 a']]],
  [2, [['4', 'AC-2 (1)']]],
  [3, [['5', 'AC-1 (1)']]],
  [4, [['5', 'AC-2']]],
];
const sources: Record<string, string> = {
  'catalog.json': oscalCatalog([{ id: 'ac-1' }, { id: 'ac-1.1' }, { id: 'ac-2' }, { id: 'ac-2.1' }]),
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

/** A database file filled with the samples, and a connection to it as a running service has one. */
async function makeSite(): Promise<Site> {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  const db = openDatabase(file, { create: true });
  await take(db, sources);
  return { folder, file, db };
}

async function take(db: Database, texts: Record<string, string>): Promise<string[]> {
  const folder = scratchFolder();
  const { lines } = await runImport(
    db,
    Object.entries(texts).map(([name, text]) => put(folder, name, text)),
  );
  return lines.map((line) => line.outcome);
}

/** `gapstone mapping ...` in this process; gives the exit code and the message that the command ends with. */
async function mapping(site: { file: string }, ...args: string[]): Promise<[number, string]> {
  try {
    return [await mappingCommand.run([...args, '--db', site.file]), ''];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [error.exitCode, error.message];
  }
}

const set = (site: { file: string }, from: string, to: string, status: string, reason = 'as reviewed') =>
  mapping(site, 'set', '--from', from, '--to', to, '--status', status, '--reason', reason);

/** `gapstone mapping list --json` in a process of its own. */
async function listed(site: Site): Promise<Json[]> {
  const { code, stdout, stderr } = await gapstone(['mapping', 'list', '--json', '--db', site.file]);
  assert.equal([code, stderr], [0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const appOf = (db: Database) => loggedApp(db).app;

async function resolve(app: ReturnType<typeof appOf>, query: Record<string, string>): Promise<Json> {
  const response = await app.request(`/api/v1/crosswalk/resolve?${new URLSearchParams(query)}`);
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

const usage = suite('gapstone mapping: usage');

usage('what is missing or wrong is exit 2, and the message names it', async () => {
  const site = await makeSite();
  const good = ['--from', 'cci:CCI-1', '--to', 'nist-800-53:AC-1', '--status', 'rejected', '--reason', 'x'];
  const without = (name: string) => good.filter((_, index) => good[index - (index % 2)] !== name);
  const replaced = (name: string, value: string) =>
    good.map((each, index) => (good[index - 1] === name ? value : each));
  const cases: [string[], RegExp][] = [
    [[], /the mapping commands are "set" and "list"/],
    [['unset', ...good], /the mapping commands are "set" and "list"/],
    [['set', 'more', ...good], /expected no arguments, got 1/],
    [['list', 'more'], /expected no arguments, got 1/],
    [['set', ...good, '--lantern'], /lantern/],
    [['set', ...without('--from')], /^--from must be given$/],
    [['set', ...without('--to')], /^--to must be given$/],
    [['set', ...without('--status')], /^--status must be one of: auto, verified, rejected$/],
    [['set', ...without('--reason')], /^--reason must be given$/],
    [['set', ...replaced('--reason', ' ')], /^--reason must have 1 to 2000 characters$/],
    [['set', ...replaced('--reason', 'x'.repeat(2001))], /^--reason must have 1 to 2000 characters$/],
  ];
  for (const status of ['', 'no', 'rejected,auto', '__proto__'])
    cases.push([
      ['set', ...replaced('--status', status)],
      /^--status must be one of: auto, verified, rejected$/,
    ]);
  for (const name of ['--from', '--to']) {
    for (const end of ['x', ':', 'nist-800-53:', 'nist-800-53: ', ':AC-1'])
      cases.push([
        ['set', ...replaced(name, end)],
        new RegExp(`^${name} must be <framework>:<identifier>, not "${end}"$`),
      ]);
    for (const [framework, identifier] of [
      ['nist-800-53', 'Lantern'],
      ['nist-800-171', '3.01.1'],
      ['nist-800-171', '9.9.9'],
      ['cci', '15'],
    ])
      cases.push([
        ['set', ...replaced(name, `${framework}:${identifier}`)],
        new RegExp(`^${name}: "${identifier}" is no identifier of ${framework}$`),
      ]);
  }
  const before = tableDigests(site.db);
  for (const [args, message] of cases) {
    const [code, said] = await mapping(site, ...args);
    assert.match(said, message, args.join(' '));
    assert.is(code, 2, args.join(' '));
  }
  assert.equal(tableDigests(site.db), before);
  site.db.close();
});

usage('a framework key is read in any case', async () => {
  const site = await makeSite();
  assert.equal(await set(site, 'CCI:cci-1', 'NIST-800-53:ac-1', 'rejected'), [0, '']);
  const [decision] = await listed(site);
  assert.equal([decision.from, decision.to], ['nist-800-53:AC-1', 'cci:CCI-000001']);
  site.db.close();
});

usage('a pair that no source states, and a database that is not there, are exit 1', async () => {
  const site = await makeSite();
  const before = { tables: tableDigests(site.db), generation: site.db.generation() };
  const unstated: [string, string][] = [
    ['cci:CCI-1', 'nist-800-53:AC-2'],
    ['cci:CCI-999', 'nist-800-53:AC-1'],
    ['cci:CCI-1', 'cci:CCI-2'],
    ['nist-800-53:AC-1', 'nist-800-53:AC-1'],
    ['zeppelin:1', 'cci:CCI-1'],
  ];
  for (const [from, to] of unstated) {
    const [code, said] = await set(site, from, to, 'verified');
    assert.match(said, /^no imported source relates \S+ and \S+$/);
    assert.is(code, 1);
  }
  assert.equal({ tables: tableDigests(site.db), generation: site.db.generation() }, before);
  site.db.close();

  const missing = join(scratchFolder(), 'none.db');
  for (const args of [
    ['list'],
    ['set', '--from', 'cci:CCI-1', '--to', 'nist-800-53:AC-1', '--status', 'auto', '--reason', 'x'],
  ]) {
    const [code, said] = await mapping({ file: missing }, ...args);
    assert.is(code, 1);
    assert.match(said, /^there is no database at /);
    assert.not.ok(existsSync(missing), 'none is made');
  }
});

usage('as a process: exit codes, messages on stderr, data on stdout', async () => {
  const site = await makeSite();
  const base = [
    'mapping',
    'set',
    '--db',
    site.file,
    '--from',
    'cci:CCI-1',
    '--status',
    'rejected',
    '--reason',
    'too wide',
  ];
  const wrong = await gapstone(base);
  assert.equal([wrong.code, wrong.stdout, wrong.stderr], [2, '', 'gapstone: --to must be given\n']);
  const unstated = await gapstone([...base, '--to', 'nist-800-53:AC-2']);
  assert.equal([unstated.code, unstated.stdout], [1, '']);
  assert.is(unstated.stderr, 'gapstone: no imported source relates nist-800-53:AC-2 and cci:CCI-000001\n');
  const done = await gapstone([...base, '--to', 'nist-800-53:AC-1']);
  assert.equal([done.code, done.stdout, done.stderr], [0, '', '']);
  const list = await gapstone(['mapping', 'list', '--db', site.file]);
  assert.equal([list.code, list.stderr], [0, '']);
  assert.match(
    list.stdout,
    /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}nist-800-53:AC-1 {2}cci:CCI-000001 {2}rejected {2}too wide\n$/,
  );
  const help = await gapstone(['mapping', '--help']);
  assert.is(help.code, 0);
  assert.match(help.stdout, /--status S/);
  site.db.close();
});

usage.run();

const decisions = suite('gapstone mapping: decisions');

decisions('rejected hides the edge by default and shows it with status=rejected', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'site' })), [
    'AC-1 verified | S-1 auto',
    'AC-1 verified | S-2 auto',
  ]);
  assert.equal(await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected'), [0, '']);
  assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'nist-800-53' })), []);
  assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'site' })), []);
  assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'site', maxHops: '9' })), []);
  assert.equal(trail(await resolve(app, { from: 'nist-800-53:AC-1', to: 'cci', maxHops: '1' })), []);
  assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'nist-800-53', status: 'rejected' })), [
    'AC-1 rejected',
  ]);
  assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'site', status: 'rejected,auto' })), [
    'AC-1 rejected | S-1 auto',
    'AC-1 rejected | S-2 auto',
  ]);
  // A site's other paths are as they were.
  assert.equal(trail(await resolve(app, { from: 'site:S-1', to: 'nist-800-53', maxHops: '2' })), [
    'AC-1 auto',
  ]);
  const batch = await app.request('/api/v1/crosswalk/resolve/batch', {
    method: 'POST',
    body: JSON.stringify({ ccis: ['CCI-1', 'CCI-4'] }),
  });
  assert.is(await batch.text(), '{"CCI-1":[],"CCI-4":["AC-2"]}');
  // Under a pin too.
  for (const more of [{ version: 'Rev 5' }, { version: '5' }]) {
    assert.equal(
      trail(await resolve(app, { from: 'nist-800-53:AC-1', to: 'cci', maxHops: '1', ...more })),
      [],
    );
    assert.equal(
      trail(
        await resolve(app, {
          from: 'nist-800-53:AC-1',
          to: 'cci',
          maxHops: '1',
          status: 'rejected',
          ...more,
        }),
      ),
      ['CCI-000001 rejected'],
    );
  }
  site.db.close();
});

decisions(
  'explain tells the decision with its reason and time, and that a status hides the path',
  async () => {
    const site = await makeSite();
    const app = appOf(site.db);
    await set(site, 'nist-800-53:AC-1', 'cci:CCI-1', 'rejected', '  too wide\nfor us ');
    const hidden = await resolve(app, { from: 'cci:CCI-1', to: 'site', explain: 'true' });
    assert.is(hidden.reason.code, 'filtered-by-status');
    const shown = await resolve(app, {
      from: 'cci:CCI-1',
      to: 'nist-800-53',
      status: 'rejected',
      explain: 'true',
    });
    const [evidence] = shown.paths[0].controls[1].evidence;
    assert.equal([evidence.source, evidence.reference], ['list.xml', 'AC-1 a']);
    const { decidedAt, ...decision } = evidence.decision;
    assert.equal(decision, { status: 'rejected', reason: 'too wide\nfor us' });
    assert.ok(Math.abs(Date.now() - Date.parse(decidedAt)) < 60_000);
    const other = await resolve(app, { from: 'cci:CCI-4', to: 'nist-800-53', explain: 'true' });
    assert.not.ok('decision' in other.paths[0].controls[1].evidence[0]);
    site.db.close();
  },
);

decisions('the ends may come in either order and any spelling; the last word counts', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  const status = async () =>
    trail(await resolve(app, { from: 'cci:CCI-2', to: 'nist-800-53', status: 'auto,verified,rejected' }));
  assert.equal(await status(), ['AC-2(1) auto']);
  const words: [string, string, string][] = [
    ['cci:CCI-2', 'nist-800-53:AC-2(1)', 'verified'],
    ['nist-800-53:ac-2.1', 'cci:cci-000002', 'rejected'],
    ['nist-800-53:AC-02 (01)', 'cci:CCI-2', 'auto'],
    ['cci:CCI-000002', 'nist-800-53:AC-2 (1)', 'verified'],
  ];
  for (const [from, to, word] of words) {
    assert.equal(await set(site, from, to, word, `${word} it is`), [0, '']);
    assert.equal(await status(), [`AC-2(1) ${word}`]);
  }
  const list = await listed(site);
  assert.is(list.length, 1);
  const { decidedAt, ...line } = list[0];
  assert.equal(line, {
    from: 'nist-800-53:AC-2(1)',
    to: 'cci:CCI-000002',
    status: 'verified',
    reason: 'verified it is',
    stale: false,
  });
  assert.match(decidedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(Object.keys(list[0]), ['from', 'to', 'status', 'reason', 'decidedAt', 'stale']);
  await set(site, 'site:S-1', 'nist-800-53:AC-1', 'verified');
  assert.equal(
    (await listed(site)).map((each) => each.to),
    ['cci:CCI-000002', 'site:S-1'],
    'in the order of the decisions',
  );
  site.db.close();
});

decisions('a decision survives the import of the same and of other editions', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected', 'kept');
  await set(site, 'site:S-1', 'nist-800-53:AC-1', 'verified', 'kept too');
  const graph = dumpGraph(site.db);
  const kept = await listed(site);
  assert.equal([...new Set(await take(site.db, sources))], ['unchanged']);
  assert.equal(dumpGraph(site.db), graph);
  const editions: Record<string, string>[] = [
    { 'older.xml': cciList('2016-06-27', items) },
    { 'reprinted.xml': `${sources['list.xml']}\n` },
    { 'newer.xml': cciList('2030-01-01', items) },
    {
      'catalog.json': oscalCatalog(
        [{ id: 'ac-1' }, { id: 'ac-1.1' }, { id: 'ac-2' }, { id: 'ac-2.1' }],
        '5.2.0',
      ),
    },
  ];
  for (const edition of editions) {
    assert.equal(await take(site.db, edition), ['imported']);
    assert.equal(dumpGraph(site.db), graph, Object.keys(edition)[0]);
    assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'nist-800-53' })), []);
  }
  assert.equal(await listed(site), kept);
  site.db.close();
});

decisions(
  'a pair that the newest source no longer states is listed as stale, and decided again when it returns',
  async () => {
    const site = await makeSite();
    const app = appOf(site.db);
    await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected', 'kept');
    await set(site, 'site:S-1', 'nist-800-53:AC-1', 'verified', 'of the site');
    const stale = async () => (await listed(site)).map((each) => each.stale);
    assert.equal(await stale(), [false, false]);

    await take(site.db, { 'newer.xml': cciList('2030-01-01', [[1, [['5', 'AC-2']]], ...items.slice(1)]) });
    assert.equal(await stale(), [true, false]);
    assert.equal(
      trail(await resolve(app, { from: 'cci:CCI-1', to: 'nist-800-53' })),
      ['AC-2 verified'],
      'it decides nothing else',
    );
    const { code, stdout } = await gapstone(['mapping', 'list', '--db', site.file]);
    assert.is(code, 0);
    assert.match(stdout, /cci:CCI-000001 {2}rejected {2}STALE {2}kept\n/);
    assert.is(
      (await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'auto'))[0],
      1,
      'nothing states it: nothing to decide',
    );

    await take(site.db, {
      'site.csv': controlsCsv([{ framework: 'site', version: '2027', identifier: 'S-1' }]),
      'pairs.csv': mappingsCsv([['site', '2027', 'S-1', 'nist-800-53', 'Rev 5', 'AC-2']]),
    });
    assert.equal(await stale(), [true, true]);

    await take(site.db, { 'newest.xml': cciList('2031-01-01', items) });
    assert.equal(await stale(), [false, true]);
    assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'nist-800-53' })), []);
    assert.equal(trail(await resolve(app, { from: 'cci:CCI-1', to: 'nist-800-53', status: 'rejected' })), [
      'AC-1 rejected',
    ]);
    site.db.close();
  },
);

decisions(
  'a rejected pair stays rejected under the pin of the only revision that still states it',
  async () => {
    const site = await makeSite();
    const app = appOf(site.db);
    await set(site, 'cci:CCI-2', 'nist-800-53:AC-2(1)', 'rejected');
    // The newer list refers to another control in Rev 5, and to the same as ever in Rev 4.
    await take(site.db, {
      'newer.xml': cciList('2030-01-01', [
        [
          2,
          [
            ['5', 'AC-1'],
            ['4', 'AC-2 (1)'],
          ],
        ],
      ]),
    });
    const question = { from: 'nist-800-53:AC-2(1)', to: 'cci', version: 'Rev 4' };
    assert.equal(trail(await resolve(app, question)), []);
    assert.equal(trail(await resolve(app, { ...question, status: 'rejected' })), ['CCI-000002 rejected']);
    site.db.close();
  },
);

decisions('after any decisions the paths are those of brute force over the decided edges', async () => {
  const site = await makeSite();
  const app = appOf(site.db);
  const edges: OracleEdge[] = [
    { ends: ['cci:CCI-000001', 'nist-800-53:AC-1'], status: 'verified' },
    { ends: ['cci:CCI-000002', 'nist-800-53:AC-2(1)'], status: 'auto' },
    { ends: ['cci:CCI-000003', 'nist-800-53:AC-1(1)'], status: 'verified' },
    { ends: ['cci:CCI-000004', 'nist-800-53:AC-2'], status: 'verified' },
    { ends: ['site:S-1', 'nist-800-53:AC-1'], status: 'auto' },
    { ends: ['site:S-2', 'nist-800-53:AC-1'], status: 'auto' },
    { ends: ['site:S-2', 'nist-800-53:AC-2(1)'], status: 'auto' },
  ];
  const rank = (name: string) => `${['nist-800-53', 'cci', 'site'].indexOf(name.split(':')[0]!)} ${name}`;
  const statuses = ['auto', 'verified', 'rejected'] as const;
  const decision = fc.tuple(fc.nat(edges.length - 1), fc.constantFrom(...statuses));
  await fc.assert(
    fc.asyncProperty(fc.array(decision, { minLength: 1, maxLength: 3 }), async (words) => {
      for (const [index, status] of words) {
        const [from, to] = edges[index]!.ends;
        assert.equal(await set(site, from, to, status), [0, '']);
        edges[index]!.status = status;
      }
      const graph = toGraph(edges);
      for (const source of graph.keys()) {
        for (const to of ['nist-800-53', 'cci', 'site']) {
          for (const maxHops of [4, 6]) {
            for (const admitted of [['auto', 'verified'], [...statuses]]) {
              const expected = bruteForce(graph, source, to, maxHops, new Set(admitted), rank);
              const query = { from: source, to, status: admitted.join(), maxHops: String(maxHops) };
              assert.equal((await resolve(app, query)).paths, expected, JSON.stringify(query));
            }
          }
        }
      }
    }),
    { numRuns: 15 },
  );
  site.db.close();
});

decisions.run();

const running = suite('gapstone mapping: a running service');

running('a service on another connection sees each decision at once', async () => {
  const site = await makeSite();
  const service = openDatabase(site.file);
  const app = appOf(service);
  const question = { from: 'cci:CCI-1', to: 'site' };
  const generation = service.generation();
  const tag = async () =>
    (await app.request(`/api/v1/crosswalk/resolve?${new URLSearchParams(question)}`)).headers.get('ETag');
  const before = await tag();
  assert.is(trail(await resolve(app, question)).length, 2);
  assert.is(trail(await resolve(app, { ...question, maxHops: '7' })).length, 2, 'the walked graph is loaded');
  await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'rejected');
  assert.is(service.generation(), generation + 1);
  assert.equal(trail(await resolve(app, question)), []);
  assert.equal(trail(await resolve(app, { ...question, maxHops: '7' })), []);
  assert.is.not(await tag(), before);
  await set(site, 'cci:CCI-1', 'nist-800-53:AC-1', 'verified');
  assert.is(service.generation(), generation + 2);
  assert.is(await tag(), before, 'the same answer has the same tag');
  const changed = service.sqlite.prepare('SELECT changed_at FROM catalog').pluck().get() as string;
  assert.ok(Math.abs(Date.now() - Date.parse(changed)) < 60_000);
  service.close();
  site.db.close();
});

running('so does a served process, and a refused decision changes nothing for it', async () => {
  const site = await makeSite();
  site.db.close();
  const server = await startServer(site.folder, ['serve', '--db', site.file, '--port', '0']);
  try {
    const paths = async () =>
      trail(
        await (await fetch(`${server.url}/api/v1/crosswalk/resolve?from=cci:CCI-4&to=nist-800-53`)).json(),
      );
    assert.equal(await paths(), ['AC-2 verified']);
    const args = [
      'mapping',
      'set',
      '--db',
      site.file,
      '--status',
      'rejected',
      '--reason',
      'x',
      '--from',
      'cci:CCI-4',
      '--to',
    ];
    assert.is((await gapstone([...args, 'nist-800-53:AC-1'])).code, 1);
    assert.equal(await paths(), ['AC-2 verified']);
    assert.is((await gapstone([...args, 'nist-800-53:AC-2'])).code, 0);
    assert.equal(await paths(), []);
  } finally {
    server.child.kill('SIGTERM');
    await server.ended;
  }
});

running.run();
