import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { matchesGlob } from '../../../importers/controls/resolve-profiles.ts';
import { runImport } from '../../../importers/run.ts';
import { createControlService } from '../../../src/catalog/controls/queries.ts';
import { catalogDigest } from '../../../src/db/digest.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { emptyCatalog } from '../../support/prepared.ts';
import { reference, referenceData } from '../../support/reference.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { told } from '../../support/told.ts';

const profiles = suite('profiles that catalogs resolve');

interface Control {
  id: string;
  controls?: Control[];
  params?: object[];
  props?: object[];
}

function catalog(title: string, controls: Control[], version = '1.0'): string {
  const write = ({ id, controls: below = [], ...more }: Control): object => ({
    id,
    title: `Lamp ${id}`,
    parts: [{ id: `${id}_smt`, name: 'statement', prose: `Keep ${id}.` }],
    controls: below.map(write),
    ...more,
  });
  const metadata = { title, version, 'last-modified': '2026-01-01T00:00:00Z' };
  return JSON.stringify({ catalog: { metadata, groups: [{ title: 'All', controls: controls.map(write) }] } });
}

function profile(title: string, imports: object[], modify: object = {}, resources: object[] = []): string {
  const metadata = { title, version: '1', 'last-modified': '2026-01-02T00:00:00Z' };
  return JSON.stringify({ profile: { metadata, imports, modify, 'back-matter': { resources } } });
}

const params = [
  { id: 'ac-1_prm_1', label: 'hours', values: ['8'] },
  { id: 'ac-1_prm_2', label: 'oil' },
];

const nist = catalog(
  'NIST SP 800-53 Revision 5',
  [
    { id: 'ac-1', params },
    { id: 'ac-2', controls: [{ id: 'ac-2.1' }, { id: 'ac-2.12' }] },
    { id: 'ac-20', controls: [{ id: 'ac-20.1' }] },
  ],
  '5.1.1',
);
/** `glow` is below `lamp`, `a.1` beside `a`: the identifiers say neither. */
const harbor = catalog('Harbor Rules 2.0', [
  { id: 'lamp', controls: [{ id: 'glow', controls: [{ id: 'glow-1' }] }] },
  { id: 'a' },
  { id: 'a.1' },
]);
const r5 = 'https://example.org/NIST_SP-800-53_rev5_catalog.json';
const only = (...ids: string[]) => ({ 'include-controls': [{ 'with-ids': ids }] });
const matching = (...patterns: string[]) => ({ matching: patterns.map((pattern) => ({ pattern })) });

async function importing(files: Record<string, string>) {
  const folder = scratchFolder();
  const db = emptyCatalog();
  const paths = Object.entries(files).map(([name, text]) => put(folder, name, text));
  const { lines } = await runImport(db, paths);
  const service = createControlService(db);
  const members = (framework: string, baseline: string) =>
    db.sqlite
      .prepare<[string, string], string>(
        `SELECT identifier FROM controls WHERE framework = ? AND EXISTS
           (SELECT 1 FROM json_each(filter_words) WHERE value = ?) ORDER BY ordinal`,
      )
      .pluck()
      .all(framework, baseline)
      .join(' ');
  const warnings = lines.flatMap((line) => line.warnings);
  return { db, lines, service, members, warnings };
}

/** The members of one profile of 800-53, and its warnings. */
async function resolved(imports: object[]) {
  const { members, warnings, lines, db } = await importing({
    'nist.json': nist,
    'p.json': profile('Acme', imports),
  });
  assert.equal(told(lines, 'outcome'), ['imported', 'imported']);
  const found = [members('nist-800-53', 'acme'), ...warnings];
  db.close();
  return found;
}

profiles('a profile selects as OSCAL says', async () => {
  const all = 'AC-1 AC-2 AC-2(1) AC-2(12) AC-20 AC-20(1)';
  const children = { 'with-child-controls': 'yes' };
  const including = (...list: object[]) => ({ 'include-controls': list });
  const excluding = (...list: object[]) => ({ 'exclude-controls': list });
  const ids = (...list: string[]) => ({ 'with-ids': list });
  const cases: [object, ...string[]][] = [
    [{ 'include-all': {} }, all],
    [{}, all],
    [including({ ...ids('ac-2'), ...children }), 'AC-2 AC-2(1) AC-2(12)'],
    [including(matching('AC-2*')), 'AC-2 AC-2(1) AC-2(12) AC-20 AC-20(1)'],
    [including(matching('ac-?', '*(12)')), 'AC-1 AC-2 AC-2(12)'],
    [including({ ...matching('ac-20'), ...children }), 'AC-20 AC-20(1)'],
    // Identifiers in any spelling, in excludes as in includes; what is excluded is out, however it came in.
    [{ ...only('AC-02', 'ac-2(12)', 'AC-1'), ...excluding(ids('AC-01')) }, 'AC-2 AC-2(12)'],
    [{ 'include-all': {}, ...excluding({ ...ids('AC-2'), ...children }, matching('*20.*')) }, 'AC-1 AC-20'],
    [
      {
        ...including({ ...ids('ac-1', 'ac-9', 'x'), ...matching('zz*') }),
        ...excluding({ ...ids('ac-8'), ...matching('q?') }),
      },
      'AC-1',
      'the acme baseline names 2 unknown controls: ac-9, x',
      'the acme baseline names no control by 1 patterns: zz*',
      'the acme baseline excludes 1 unknown controls: ac-8',
      'the acme baseline excludes no control by 1 patterns: q?',
    ],
  ];
  for (const [each, ...expected] of cases)
    assert.equal(await resolved([{ href: r5, ...each }]), expected, JSON.stringify(each));
  // Several imports add up, each with its own exclusions.
  const twice = [
    { href: r5, ...only('ac-1', 'ac-2'), ...excluding(ids('ac-1')) },
    { href: r5, ...only('ac-1') },
  ];
  assert.equal(await resolved(twice), ['AC-1 AC-2']);
});

profiles('a profile of several catalogs is a baseline in each', async () => {
  const below = [{ 'with-ids': ['LAMP', 'a'], 'with-child-controls': 'yes' }];
  const imports = [
    { href: r5, ...only('ac-20') },
    { href: 'files/Harbor.json', 'include-controls': below },
  ];
  const files = { 'nist.json': nist, 'harbor.json': harbor, 'p.json': profile('Acme', imports) };
  const { members, warnings, service } = await importing(files);
  assert.equal(warnings, []);
  assert.is(members('nist-800-53', 'acme'), 'AC-20');
  assert.is(members('harbor-rules', 'acme'), 'a glow glow-1 lamp');
  assert.equal(told(service.baselines('harbor-rules').baselines, 'name', 'controls'), ['acme 4']);
});

profiles('a profile imports others, by title, file or name', async () => {
  const set = (value: string) => ({ 'set-parameters': [{ 'param-id': 'ac-1_prm_1', values: [value] }] });
  const files = {
    'a.json': profile(
      'Top',
      [{ href: '#mid', 'include-all': {}, 'exclude-controls': [{ 'with-ids': ['ac-1'] }] }],
      set('3'),
      [{ uuid: 'mid', title: 'The Middle' }],
    ),
    'b.json': profile('The Middle', [{ href: './base.json', ...only('ac-1', 'ac-2', 'ac-20') }], {
      alters: [{}, {}],
    }),
    'base.json': profile('Base', [{ href: r5, ...only('ac-1', 'AC-2') }], set('2')),
    'low.json': profile('NIST Special Publication 800-53 Revision 5.1.1 LOW IMPACT BASELINE', [
      { href: r5, ...only('ac-20') },
    ]),
    'own.json': profile('Own', [
      { href: 'https://example.org/NIST_SP-800-53_rev5_LOW-baseline_profile.json', 'include-all': {} },
    ]),
    'loop.json': profile('Loop', [
      { href: 'loop.json', 'include-all': {} },
      { href: r5, ...only('ac-2') },
    ]),
    'none.json': profile('None', [{ href: 'gone_profile.json', 'include-all': {} }]),
    'nist.json': nist,
  };
  const { members, warnings, service, db } = await importing(files);
  for (const [name, expected] of [
    ['top', 'AC-2'],
    ['the-middle', 'AC-1 AC-2'],
    ['base', 'AC-1 AC-2'],
    ['own', 'AC-20'],
    ['loop', 'AC-2'],
    ['none', ''],
  ])
    assert.is(members('nist-800-53', name!), expected, name);
  assert.equal(
    new Set(warnings),
    new Set([
      'alterations of controls are not applied: 2',
      'the the-middle baseline names 1 unknown controls: ac-20',
      'the loop baseline imports itself by "loop.json"',
      'the none baseline imports "gone_profile.json", which is not imported',
      'no imported catalog has the controls of the none baseline',
    ]),
  );
  // A profile passes on what those that it imports set, unless it sets another value.
  assert.equal(told(service.one('nist-800-53', 'AC-1').parameters[0]!.values, 'source', 'value'), [
    'nist-800-53 8',
    'base 2',
    'the-middle 2',
    'top 3',
  ]);
  const back = await importing(Object.fromEntries(Object.entries(files).reverse()));
  assert.is(catalogDigest(back.db), catalogDigest(db));
});

profiles('profiles that import one another often are resolved once each', async () => {
  const files: Record<string, string> = { 'nist.json': nist };
  for (let at = 0; at < 40; at++)
    files[`quay${at}.json`] = profile(
      `Quay ${at}`,
      ['ac-1', 'ac-2'].map((id) => ({ href: at === 39 ? r5 : `quay${at + 1}.json`, ...only(id) })),
      at === 39 ? { 'set-parameters': [{ 'param-id': 'ac-1_prm_2', values: ['whale'] }] } : {},
    );
  const { members, service } = await importing(files);
  assert.is(members('nist-800-53', 'quay-0'), 'AC-1 AC-2');
  assert.is(service.one('nist-800-53', 'AC-1').parameters[1]!.values!.length, 40);
});

profiles('a parameter that no control has is named', async () => {
  const set = ['ac-1_prm_2', 'ac-1_prm_9', 'zz'].map((id) => ({ 'param-id': id, values: ['1'] }));
  const imports = [
    { href: r5, ...only('ac-2') },
    { href: r5, 'include-controls': [matching('ac-1')] },
  ];
  const files = { 'nist.json': nist, 'p.json': profile('Pier', imports, { 'set-parameters': set }) };
  assert.equal((await importing(files)).warnings, [
    'the pier baseline sets 2 unknown parameters: ac-1_prm_9, zz',
  ]);
});

profiles('values, each choice, the label and the constraints of a parameter are served', async () => {
  const insert = '{{ insert: param, ac-1_prm_2 }}';
  const settings = [
    { 'param-id': 'ac-1_prm_1', values: ['1'], constraints: [{ description: 'at *most* 9' }] },
    {
      'param-id': 'ac-1_prm_1',
      values: ['4', '5'],
      label: 'hours of **light**',
      constraints: [{ description: 'odd' }],
    },
    { 'param-id': 'ac-1_prm_2', select: { 'how-many': 'one', choice: ['whale', `more ${insert}`] } },
  ];
  const value = profile('Acme', [{ href: r5, ...only('ac-1') }], { 'set-parameters': settings });
  const xml = `<profile xmlns="http://csrc.nist.gov/ns/oscal/1.0"><metadata><title>Beta</title><last-modified>2026-01-02T00:00:00Z</last-modified>
    <version>1</version></metadata><import href="${r5}"><include-all/></import><modify><set-parameter param-id="ac-1_prm_2">
    <select><choice>whale</choice><choice>more <insert type="param" id-ref="ac-1_prm_2"/></choice></select></set-parameter><alter control-id="ac-1"/></modify></profile>`;
  const { service, warnings } = await importing({ 'p.json': value, 'x.xml': xml, 'nist.json': nist });
  const values = service
    .one('nist-800-53', 'AC-1')
    .parameters.map((each) => each.values.map((v) => `${v.source}: ${v.value}`));
  const choices = ['whale', 'more [Assignment: organization-defined oil]'];
  assert.equal(values, [
    ['nist-800-53: 8', 'acme: 4; 5', 'acme: hours of light', 'acme: at most 9; odd'],
    ['acme', 'beta'].flatMap((name) => choices.map((choice) => `${name}: ${choice}`)),
  ]);
  assert.equal(warnings, ['alterations of controls are not applied: 1']);
});

profiles('a pattern with many stars takes steps that grow with text and pattern alone', () => {
  assert.ok(matchesGlob('', '*') && matchesGlob('abcabd', '*ab?') && !matchesGlob('ac-2', 'ac-2?'));
  assert.not.ok(matchesGlob('a'.repeat(200), `${'a*'.repeat(100)}b`));
});

profiles.run();

const field = suiteIf(referenceData, 'profiles of the field');
field?.('are baselines', async () => {
  const read = (name: string) => readFileSync(reference('..', 'field', name), 'utf8');
  const files = { 'p-all.json': read('p-all.json'), 'p-childyes.json': read('p-childyes.json') };
  const { members } = await importing({ ...files, 'nist.json': nist });
  assert.is(members('nist-800-53', 'acme-d'), 'AC-1 AC-2 AC-2(1) AC-2(12) AC-20 AC-20(1)');
  assert.is(members('nist-800-53', 'acme-b'), 'AC-1 AC-2 AC-2(1) AC-2(12)');
});
field?.run();
