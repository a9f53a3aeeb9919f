import * as assert from 'uvu/assert';
import { closureRows, writeClosure } from '../../importers/crosswalk/closure.ts';
import { runImport } from '../../importers/run.ts';
import { createGraph, type GraphNode } from '../../src/catalog/crosswalk/graph.ts';
import type { Database } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { testApp } from '../support/app.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { oscalCatalog } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';

// Catalogs, profiles and mapping-collections of anybody (rules D40.1 and D40.2), in small invented ones;
// test/export/oscal-real.test.ts has CSF 2.0.
const frameworks = suite('Frameworks from OSCAL');

const metadata = (title: string) =>
  `"metadata": {"title": "${title}", "version": "1", "last-modified": "2026-01-01T00:00:00Z"}`;
const harbor = (title = 'Harbor Rules 2.0') => {
  const controls = ['hb-1', 'hb-2', 'hb-3'].map(
    (
      id,
    ) => `{"id":"${id}", "title":"Pier ${id}", "props":[{"name":"label", "value":"Pier (${id.toUpperCase()}.x)"}],
      "parts":[{"name":"statement", "prose":"Moor."}]}`,
  );
  return `{"catalog":{${metadata(title)}, "groups":[{"title":"Piers", "controls":[${controls}]}]}}`;
};
const nist = oscalCatalog(['ac-1', 'ac-2', 'ac-2.1', 'ac-3'].map((id) => ({ id })));
const profile = `{"profile":{${metadata('Small Harbor')},
  "imports":[{"href":"harbor.json", "include-controls":[{"with-ids":["hb-1", "#hb-3", "hb-9"]}]}]}}`;

interface Map {
  relationship?: string;
  from?: string[];
  to?: string[];
  more?: object;
}

const mapOf = ({ relationship = 'subset-of', from = ['hb-1'], to = ['ac-1'], more }: Map) => ({
  relationship,
  sources: from.map((id) => ({ type: 'control', 'id-ref': id })),
  targets: to.map((id) => ({ type: 'control', 'id-ref': id })),
  ...more,
});

const collection = (maps: Map[], resources: object[] = [], hrefs = ['harbor.json', 'sp800-53r5.json']) =>
  `{"mapping-collection":{${metadata('Harbor to NIST')}, "mappings":[{
    "source-resource":{"type":"catalog", "href":"${hrefs[0]}"}, "target-resource":{"type":"catalog", "href":"${hrefs[1]}"},
    "maps":${JSON.stringify(maps.map(mapOf))}}], "back-matter":{"resources":${JSON.stringify(resources)}}}}`;
const mapping = collection([
  { from: ['hb-1', '#HB-2'], to: ['#ac-2.1', 'ac-3_smt.a'], more: { remarks: ' as  said ' } },
  { relationship: 'equal-to', to: ['ac-1'], more: { props: [{ name: 'reference', value: '§ 1' }] } },
  { relationship: 'no-relationship', to: ['ac-2'] },
  { from: ['hb-9'] },
]);

const edgesOf = (db: Database): string[] =>
  (
    db.sqlite
      .prepare(
        `SELECT b.framework || ' ' || b.identifier || ' ' || a.identifier || ' ' || e.status
           FROM crosswalk_edges AS e JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b
          ORDER BY 1`,
      )
      .pluck()
      .all() as string[]
  ).sort();
const edges = (name: string) => [
  `${name} HB-1.x AC-1 auto`,
  `${name} HB-1.x AC-2(1) auto`,
  `${name} HB-1.x AC-3 auto`,
  `${name} HB-2.x AC-2(1) auto`,
  `${name} HB-2.x AC-3 auto`,
];

frameworks('they answer wherever a framework is taken, and explain says the relationship', async () => {
  const db = emptyCatalog();
  const { lines } = await importTexts(db, [nist, harbor(), profile, mapping]);
  assert.equal(told(lines, 'kind', 'outcome', 'warnings'), [
    'oscal-catalog imported ',
    'oscal-catalog imported ',
    'oscal-profile imported the small-harbor baseline names 1 unknown controls: hb-9',
    'oscal-mapping imported 1 maps state that there is no relationship,' +
      '1 pairs make no mapping, unknown control of harbor-rules: hb-9 -> AC-1',
  ]);
  const { get } = await testApp([], { db });
  const { baselines } = (await get('/api/v1/controls/harbor-rules/baselines')).json;
  assert.equal([baselines.length, baselines[0].name, baselines[0].controls], [1, 'small-harbor', 2]);
  const list = (await get('/api/v1/controls/harbor-rules?baseline=small-harbor&family=piers')).json;
  assert.equal([list.version, list.total, list.controls[1].identifier], ['2.0', 2, 'HB-3.x']);
  const record = (await get('/api/v1/controls/harbor-rules/HB-1.x')).json;
  assert.equal([record.framework, record.title, record.statement], ['harbor-rules', 'Pier hb-1', 'Moor.']);
  assert.equal([record.baselines, list.controls[0].baselines], [['small-harbor'], ['small-harbor']]);
  const csv = (await get('/api/v1/controls/harbor-rules/export?format=csv&baseline=small-harbor')).text;
  assert.match(csv, /\r\nharbor-rules,2\.0,HB-1\.x,Pier hb-1,Piers,/);
  const { paths } = (
    await get('/api/v1/crosswalk/resolve?from=nist-800-53:AC-1&to=harbor-rules&explain=true&version=5')
  ).json;
  assert.is(paths.length, 1);
  const [{ reference, relationship, from, to }] = paths[0].controls[1].evidence;
  assert.equal([reference, relationship], ['§ 1', 'equal-to']);
  assert.equal(from, { framework: 'harbor-rules', version: '2.0', identifier: 'HB-1.x' });
  assert.equal(to, { framework: 'nist-800-53', version: 'Rev 5', identifier: 'AC-1' });
  const pinned = await get('/api/v1/crosswalk/resolve?from=harbor-rules:HB-2.x&to=nist-800-53&version=2.0');
  assert.is(pinned.json.paths.length, 2);
});

frameworks('the operator names the framework, and mappings follow', async () => {
  const db = emptyCatalog();
  await importTexts(db, [nist, harbor(), profile, mapping]);
  const named = await importTexts(db, [harbor(), nist], { framework: 'quay' });
  assert.equal(told(named.lines, 'outcome', 'target'), [
    'imported quay 2.0',
    'unchanged nist-800-53 Rev 5.1.1',
  ]);
  assert.equal(edgesOf(db), edges('quay'));
  assert.is(
    db.sqlite.prepare("SELECT framework FROM baselines WHERE name = 'small-harbor'").pluck().get(),
    'quay',
  );
  for (const framework of ['quay', undefined]) {
    const { lines } = await importTexts(db, [harbor()], framework === undefined ? {} : { framework });
    assert.equal([lines[0]!.outcome, lines[0]!.target], ['unchanged', 'quay 2.0']);
  }
  const other = emptyCatalog();
  await importTexts(other, [mapping, profile, nist, harbor()], { framework: 'quay' });
  assert.is(catalogDigest(other), catalogDigest(db));
  for (const each of [db, other]) each.close();
});

frameworks('what a resource names decides where two frameworks have the ids, else the ids', async () => {
  const db = emptyCatalog();
  const named = (title: string) => [{ uuid: 'a', title }];
  await importTexts(db, [
    nist,
    harbor(),
    harbor('Quay Rules'),
    collection([{ from: ['hb-2'] }], named('Quay Rules'), ['#a', '#b']),
    collection([{ from: ['hb-3'] }], named('Harbor Rules v2.0'), ['#a', '#b']),
    collection([{ from: ['ac-2'], to: ['hb-1'] }], named('Quay Rules'), ['x', '#a']),
  ]);
  assert.equal(edgesOf(db), [
    'harbor-rules HB-3.x AC-1 auto',
    'quay-rules HB-1.x AC-2 auto',
    'quay-rules HB-2.x AC-1 auto',
  ]);
  db.close();
});

frameworks('each mapping of a collection is of the catalogs that its own resources name', async () => {
  // What is named by nothing: the ids of each mapping decide alone.
  const parts = (
    [
      [['#q', '#n'], { from: ['hb-1'] }],
      [['../harbor.json', '#n'], { from: ['hb-2'], to: ['ac-2'] }],
      [['#n', '#n'], { from: ['dk-1'], to: ['ac-3'] }],
      [['#n', '#n'], { from: ['ac-1', 'ac-2'], to: ['dk-2'] }],
    ] as [string[], Map][]
  ).map(([hrefs, map]) => JSON.parse(collection([map], [], hrefs))['mapping-collection']);
  const resources = [{ uuid: 'q', rlinks: [{ href: 'files/Quay.json?raw#x' }] }];
  const whole = {
    ...parts[0],
    mappings: parts.flatMap(({ mappings }) => mappings),
    'back-matter': { resources },
  };
  const folder = scratchFolder();
  const files = {
    'nist.json': nist,
    'harbor.json': harbor(),
    'quay.json': harbor('Quay Rules'),
    'dock.json': harbor('Dock Rules').replaceAll('hb-', 'dk-').replaceAll('HB-', 'DK-'),
    'mapping.json': JSON.stringify({ 'mapping-collection': whole }),
  };
  const db = emptyCatalog();
  const paths = Object.entries(files).map(([name, text]) => put(folder, name, text));
  assert.is((await runImport(db, paths)).summary.warnings, 0);
  assert.equal(edgesOf(db), [
    'dock-rules DK-1.x AC-3 auto',
    'dock-rules DK-2.x AC-1 auto',
    'dock-rules DK-2.x AC-2 auto',
    'harbor-rules HB-2.x AC-2 auto',
    'quay-rules HB-1.x AC-1 auto',
  ]);
  db.close();
});

frameworks('broken collections and profiles are rejected in one line each, and change nothing', async () => {
  const db = emptyCatalog();
  await importTexts(db, [nist, harbor(), mapping]);
  const digest = catalogDigest(db);
  const many = { from: Array(1000).fill('hb-1'), to: Array(51).fill('ac-1') };
  const quoted = (value: string) => ({
    props: [{ name: 'stated', ns: 'urn:uuid:b4297738-d13c-598a-9893-4e8748ea0db2', value }],
  });
  const longIds = harbor().replaceAll('HB-1', 'Y'.repeat(200));
  for (const [text, reason] of [
    ['{"mapping-collection":{"metadata":{}}}', /^\/mapping-collection\/metadata\/title: expected string/],
    [collection([]), /^the mapping-collection relates no controls$/],
    [collection([{ relationship: 'no-relationship' }]), /relates no controls$/],
    [collection([many]), /^more than 50000 pairs$/],
    [
      collection([{}]).replace(
        '"maps":',
        `"props":[${Array(50_001).fill('{"name":"a","value":"b"}')}],"maps":`,
      ),
      /^more than 50000 pairs$/,
    ],
    [
      harbor().replace('"controls":[', `"controls":[${'{"id":"a","title":"b"},'.repeat(10_000)}`),
      /^more than 10000 controls$/,
    ],
    [longIds, /^"Y{60}\.\.\." has more than 200 characters$/],
    [collection([{ from: [] }]), /sources: Too small/],
    [collection([{ more: quoted('[1]') }]), /^the quoted pair \[1\] is not a list of 8 texts$/],
    [
      collection([{ more: quoted('["cci","1","x","nist-800-53","5","AC-1","",""]') }]),
      /does not name controls$/,
    ],
    [mapping.slice(0, -3), /^not valid JSON/],
    [
      profile.replace('"hb-9"', '"hb-9",'.repeat(10_000).slice(0, -1)),
      /^more than 10000 controls or parameters, or 100 imports$/,
    ],
  ] as const) {
    const { lines } = await importTexts(db, [text]);
    const [, model] = /^\{"(catalog|profile|mapping)/.exec(text)!;
    const kind = `oscal-${model}`;
    assert.equal([lines.length, lines[0]!.kind, lines[0]!.outcome], [1, kind, 'rejected']);
    assert.match(lines[0]!.reason!, reason);
  }
  assert.is(catalogDigest(db), digest);
  db.close();
});

frameworks('a closure that would be too large is not written to its end', () => {
  const nodes = ['nist-800-53', 'nist-800-53', 'a', 'b', 'c'].map((framework, at) => ({
    framework,
    identifier: `${at}`,
  }));
  const [a, b, ...others] = nodes as [GraphNode, GraphNode, ...GraphNode[]];
  const graph = createGraph(
    others.flatMap((own) => [a, b].map((each) => ({ a: each, b: own, status: 'auto' as const }))),
  );
  const all = graph.nodes.flatMap((node) => closureRows(graph, node)).length;
  using db = emptyCatalog();
  assert.is(writeClosure(db.sqlite, graph, all - 1), false);
  db.sqlite.exec('DELETE FROM crosswalk_paths');
  assert.is(writeClosure(db.sqlite, graph, all), true);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM crosswalk_paths').pluck().get(), all);
});

frameworks.run();
