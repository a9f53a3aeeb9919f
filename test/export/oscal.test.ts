import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { StatementPart } from '../../src/catalog/controls/schema.ts';
import { createMappingDecisions } from '../../src/catalog/crosswalk/decisions.ts';
import { inOrder } from '../../src/catalog/crosswalk/graph.ts';
import type { Database } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { cciList, controlsCsv, mappingsCsv, oscalCatalog } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { controlsOf, oscalProblems, valuesOf } from '../support/oscal.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { told } from '../support/told.ts';
import { noVersion } from '../support/words.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// OSCAL and csv out of invented sources, for what the real files do not show (rules D30.1 and D31).
const oscal = suite('OSCAL out');

// biome-ignore lint/suspicious/noExplicitAny: a document is broken in any place
type Json = any;

const servedBy = (db: Database, framework: string) =>
  db.sqlite.prepare('SELECT * FROM controls WHERE framework = ? ORDER BY version, ordinal').all(framework);

async function appOf(...texts: string[]) {
  const db = emptyCatalog();
  const { lines } = await importTexts(db, texts);
  for (const { outcome, reason } of lines) assert.is(outcome, 'imported', reason ?? '');
  return testApp([], { db });
}

/** What publishers do not write, but a site may: markup, formulas, inserts, marks that csv and OSCAL have for themselves. */
const marks = `=1+1|'=x|''@y|-|+|@|[Assignment: organization-defined x]|{{ insert: param, a }}|[AC-2](#ac-2)|  two  blanks|
  a;b|"q"|é\u0301😀|<p>&amp;</p>|\u0001|# *x*|, :.`;
const piece = fc.oneof(
  fc.constantFrom('x\ny', ...marks.replaceAll('|\n', '|').split('|')),
  fc.string({ unit: 'binary', maxLength: 8 }).map((each) => each.toWellFormed().replaceAll('\0', '')),
);
const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(' ').trim());
const line = text.map((each) => each.replace(/[\r\n\u2028\u2029]+/g, ' ').trim());
const parts: fc.Arbitrary<StatementPart[]> = fc.letrec<{ parts: StatementPart[] }>((tie) => ({
  parts: fc.array(
    fc.record({
      id: fc.constantFrom('', 'ac-1_smt', 'ac-1_smt.a', 'no token!', '1a'),
      label: fc.constantFrom('', 'a.', '(1)'),
      prose: fc.oneof(fc.constant(''), text),
      parts: fc.oneof({ depthSize: 'small' }, fc.constant<StatementPart[]>([]), tie('parts')),
    }),
    { maxLength: 3 },
  ),
})).parts;

const identifiers = ['AC-1', 'AC-2', 'AC-2(1)', 'AC-2(12)', 'AU-3', 'SR-11(3)'];
const rows = fc.uniqueArray(
  fc.record({
    identifier: fc.constantFrom(...identifiers),
    title: fc.oneof(fc.constant(''), line),
    withdrawn: fc.boolean(),
    whole: fc.boolean(),
    statement: fc.oneof(fc.constant(''), text),
    parts,
    guidance: fc.oneof(fc.constant(''), text),
    related: fc.subarray(identifiers),
    baselines: fc.subarray(['low', 'moderate', 'high', 'privacy']),
  }),
  { selector: ({ identifier }) => identifier, minLength: 1 },
);

oscal('a catalog of 800-53 with any texts, as OSCAL and as csv, imports to the same', async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom('', 'Access & Light'), async (made, family) => {
      const csv = controlsCsv(
        made.map(({ withdrawn, whole, parts, related, baselines, identifier, ...each }) => {
          // A statement is what its parts say, where they are held; a cell has no blanks at its ends.
          const said = rendered(parts);
          const statementParts = withdrawn || whole || said === '' || said !== said.trim() ? [] : parts;
          const statement =
            statementParts.length > 0 ? rendered(statementParts) : withdrawn ? '' : each.statement;
          const title = escaped(each.title === identifier ? '' : each.title);
          const [into, others] = withdrawn ? [related.join(';'), ''] : ['', related.join(';')];
          return {
            ...{ framework: 'nist-800-53', version: 'Rev 5.1.1', identifier, title, family },
            ...{ status: withdrawn ? 'withdrawn' : 'active', withdrawnInto: into, related: others },
            ...{ statement: escaped(statement), baselines: baselines.join(';') },
            statementParts: statementParts.length === 0 ? '' : JSON.stringify(statementParts),
            guidance: withdrawn ? '' : escaped(each.guidance),
          };
        }),
      );
      const app = await appOf(csv);
      const before = servedBy(app.db, 'nist-800-53');
      assert.is(before.length, made.length);
      const path = '/api/v1/controls/nist-800-53';
      const document = await app.get(`${path}/export`);
      const problems = oscalProblems(document.json);
      assert.not(
        problems.some((each) => !/is nowhere|occurs twice/.test(each)),
        problems.join(),
      );
      const profiles = [];
      for (const { name } of (await app.get(`${path}/baselines`)).json.baselines)
        if (made.some((each) => !each.withdrawn && each.baselines.includes(name as 'low')))
          profiles.push((await app.get(`${path}/export?baseline=${name}`)).text);
      const texts = [
        [document.text, ...profiles],
        [(await app.get(`${path}/export?format=csv`)).text],
        [(await app.get(`${path}/export?format=csv&raw=true`)).text],
      ];
      for (const [index, each] of texts.entries()) {
        const again = await appOf(...each);
        assert.equal(servedBy(again.db, 'nist-800-53'), before, ['oscal', 'csv', 'raw csv'][index]);
        again.db.close();
      }
      app.db.close();
    }),
    { numRuns: 12 },
  );
});

/** A cell that keeps what would be taken for the guard against formulas. */
const escaped = (cell: string) => (/^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(cell) ? `'${cell}` : cell);

function rendered(parts: StatementPart[], depth = 0): string {
  return parts
    .flatMap(({ label, prose, parts: below }) => {
      const own = [label, prose].filter((each) => each !== '').join(' ');
      return [own === '' ? '' : '  '.repeat(depth) + own, rendered(below, depth + 1)];
    })
    .filter((each) => each !== '')
    .join('\n');
}

oscal("a site's own framework with any identifiers goes out and comes back", async () => {
  const identifier = line.filter((each) => each !== '');
  const own = fc.uniqueArray(
    fc.record({ identifier, title: line, statement: text, family: line, familyCode: line }),
    { selector: (each) => each.identifier, minLength: 1, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(own, async (made) => {
      const csv = controlsCsv(
        made.map((each) => ({
          framework: 'acme baseline',
          version: '2026',
          ...Object.fromEntries(Object.entries(each).map(([name, cell]) => [name, escaped(cell)])),
        })),
      );
      const app = await appOf(csv);
      const before = servedBy(app.db, 'acme baseline');
      const exported = await app.get('/api/v1/controls/acme%20baseline/export?format=csv');
      const again = await appOf(exported.text);
      assert.equal(servedBy(again.db, 'acme baseline'), before);
      const { json, text } = await app.get('/api/v1/controls/acme%20baseline/export');
      assert.equal(oscalProblems(json), []);
      assert.is(controlsOf(json).length, made.length);
      const third = await appOf(text);
      assert.equal(servedBy(third.db, 'acme baseline'), before);
      for (const each of [app, again, third]) each.db.close();
    }),
    { numRuns: 12 },
  );
});

oscal('a lead of a statement that has parts keeps them, and one that has none is the statement', async () => {
  const item = (label: string, prose: string, parts: StatementPart[] = []) => ({
    ...{ id: `ac-1_smt.${label.charCodeAt(0)}`, label, prose, parts },
  });
  const items = [item('a.', 'is lit;'), item('b.', 'has oil.')];
  const shown = items.map(({ id, label, prose }) => ({
    ...{ id, name: 'item', props: [{ name: 'label', value: label }], prose },
  }));
  const lead = { id: 'ac-1_smt', name: 'statement', prose: 'The lamp:' };
  for (const [statementParts, expected] of [
    [[{ ...item('', 'The lamp:'), id: 'ac-1_smt' }, ...items], { ...lead, parts: shown }],
    [
      [{ ...item('', 'The lamp:', items), id: 'ac-1_lead' }],
      {
        ...{ id: 'ac-1_smt', name: 'statement' },
        parts: [{ ...lead, id: 'ac-1_lead', name: 'item', parts: shown }],
      },
    ],
  ] as [StatementPart[], object][]) {
    const row = { framework: 'nist-800-53', version: 'Rev 5.1.1', identifier: 'AC-1', title: 'Lamps' };
    const statement = rendered(statementParts);
    const app = await appOf(
      controlsCsv([{ ...row, statement, statementParts: JSON.stringify(statementParts) }]),
    );
    const { json, text } = await app.get('/api/v1/controls/nist-800-53/export');
    assert.equal(oscalProblems(json), []);
    assert.equal(controlsOf(json)[0].parts, [expected]);
    const again = await appOf(text);
    assert.equal(servedBy(again.db, 'nist-800-53'), servedBy(app.db, 'nist-800-53'));
  }
});

oscal('what is shipped, which has no texts, goes out as OSCAL and comes back', async () => {
  const app = await testApp([shipped('controls')]);
  const path = '/api/v1/controls/nist-800-53';
  const { json, text } = await app.get(`${path}/export`);
  assert.equal(oscalProblems(json), []);
  const again = await appOf(text, (await app.get(`${path}/export?version=4`)).text);
  const without = (rows: unknown[]) =>
    (rows as Record<string, string>[]).map(({ filter_words, list_json, record_json, ...row }) => row);
  assert.equal(without(servedBy(again.db, 'nist-800-53')), without(servedBy(app.db, 'nist-800-53')));
  // Of a publisher's file that lacks a statement the import still says so.
  const broken = JSON.parse(text);
  for (const control of controlsOf(broken))
    control.props = control.props.filter((each: { name: string }) => each.name !== 'text');
  const { lines } = await importTexts(emptyCatalog(), [JSON.stringify(broken)]);
  assert.equal(told(lines, 'outcome', 'reason'), ['rejected AC-1 has no statement and is not withdrawn']);
});

oscal('a named baseline lists, filters, counts, goes out and comes back', async () => {
  const profile = (title: string, ids: string[], changed = '2024-01-01') =>
    JSON.stringify({
      profile: {
        metadata: { title, version: '1', 'last-modified': `${changed}T00:00:00Z` },
        imports: [{ href: 'sp800-53_rev5.json', 'include-controls': [{ 'with-ids': ids }] }],
      },
    });
  const catalog = oscalCatalog(['ac-1', 'ac-2', 'ac-2.1', 'au-1'].map((id) => ({ id })));
  const db = emptyCatalog();
  const { lines } = await importTexts(db, [
    catalog,
    profile('Lantern Overlay', ['ac-1', 'ac-99', 'au-77.1']),
    profile('LANTERN: overlay', ['ac-1', 'ac-2.1'], '2025-01-01'),
    profile('Gone', ['sc-1']),
  ]);
  assert.is(told(lines, 'outcome').join(), 'imported,imported,imported,imported');
  const unknown = 'the lantern-overlay baseline names 2 unknown controls: AC-99, AU-77(1)';
  assert.ok(lines[1]!.warnings.join().includes(unknown), lines[1]!.warnings.join());
  assert.match(lines[3]!.warnings.join(), /the gone baseline names 1 unknown controls: SC-1/);
  const app = await testApp([], { db });
  const path = '/api/v1/controls/nist-800-53';
  const baselinesOf = async ({ get }: typeof app) =>
    told((await get(`${path}/baselines`)).json.baselines, 'name', 'title', 'controls').join(', ');
  const overlay = 'lantern-overlay LANTERN: overlay 2';
  assert.is(await baselinesOf(app), `gone Gone 0, ${overlay}`, 'of one name the newer one counts');
  const listed = (await app.get(`${path}?baseline=Lantern-OVERLAY`)).json;
  assert.equal(told(listed.controls, 'identifier'), ['AC-1', 'AC-2(1)']);
  assert.equal(listed.controls[0].baselines, [], 'answers name baselines of NIST alone');
  const { text, json } = await app.get(`${path}/export?baseline=lantern-overlay`);
  assert.equal(oscalProblems(json), []);
  assert.is(await baselinesOf(await appOf(catalog, text)), overlay);
  const csv = await app.get(`${path}/export?baseline=lantern-overlay&format=csv`);
  assert.is(csv.text.split('\r\n').length, 4, 'a header, two controls, an end');

  const refused = async (query: string) => {
    const { status, json } = await app.get(`/api/v1/controls/${query}`);
    return [status, json.error.message];
  };
  const known = 'baseline must be one or more of: low, moderate, high, privacy, gone, lantern-overlay';
  for (const asked of ['nist-800-53', 'nist-800-53/export'])
    assert.equal(await refused(`${asked}?baseline=lantern`), [400, known]);
  for (const name of ['gone', 'low']) {
    const told = `baseline: no control of Rev 5.1.1 is in ${name}`;
    assert.equal(await refused(`nist-800-53/export?baseline=${name}`), [400, told]);
  }
  assert.equal(await refused('nist-800-53/export?version=9'), [404, noVersion('9')]);
  assert.equal(await refused('nist-800-53/baselines?version=9'), [404, noVersion('9')]);
  for (const query of ['export', 'baselines', 'baselines?version=1', 'export?version=1'])
    assert.equal(await refused(`acme/${query}`), [404, 'Framework not found: acme'], query);
  assert.equal((await app.get('/api/v1/controls/cci/baselines')).json, { baselines: [] });
});

/** A reference of a CCI: the revision, and the index. */
const stated = (text: string): [string, string] => [text.slice(0, 1), text.slice(2)];

oscal('a mapping-collection has what an operator decided, and only edges that are there', async () => {
  const app = await appOf(
    oscalCatalog(['ac-1', 'ac-2', 'ac-3'].map((id) => ({ id }))),
    cciList('2026-01-01', [
      [1, ['5 AC-1 a', '5 AC-1 a 1', '4 AC-1'].map(stated)],
      [2, ['4 AC-2 (b)'].map(stated)],
      [3, ['5 AC-3'].map(stated)],
      [4, []],
      [5, ['5 AC-1'].map(stated), 'deprecated'],
    ]),
    controlsCsv(
      ['1.1 (a)', '1.1 [a'].map((identifier) => ({ framework: 'acme', version: '2026', identifier })),
    ),
    mappingsCsv([['acme', '2026', '1.1 (a)', 'acme', '2026', '1.1 [a', '=cmd']]),
  );
  const decisions = createMappingDecisions(app.db);
  const cci = (n: number) => ({ framework: 'cci', identifier: `CCI-00000${n}` });
  const control = (n: number) => ({ framework: 'nist-800-53', identifier: `AC-${n}` });
  const decidedAt = '2026-01-01T00:00:00.000Z';
  const decide = (status: 'verified' | 'rejected', a: number, b: number) =>
    decisions.set(inOrder(cci(a), control(b)), { status, reason: `why\n${a}`, decidedAt });
  decide('rejected', 3, 3);
  decide('verified', 2, 2);
  decide('verified', 4, 3);
  const { json } = await app.get('/api/v1/crosswalk/export?from=CCI&to=nist-800-53');
  assert.equal(oscalProblems(json), []);
  const [mapping, ...others] = json['mapping-collection'].mappings;
  assert.equal(others, []);
  assert.equal(
    mapping.maps.map((map: Record<string, { 'id-ref': string }[]> & { props: [] }) => [
      ...[map.sources![0]!['id-ref'], map.targets![0]!['id-ref']],
      ...['status', 'reference', 'decision'].map((name) => valuesOf(map.props, name)),
    ]),
    [
      ['cci-000001', 'ac-1', ['verified'], ['AC-1 a', 'AC-1 a 1'], []],
      ['cci-000002', 'ac-2', ['verified'], ['AC-2 (b)'], ['verified']],
      ['cci-000004', 'ac-3', ['verified'], [], ['verified']],
    ],
  );
  assert.equal(mapping['source-gap-summary']['unmapped-controls'], [{ 'with-ids': ['cci-000003'] }]);
  const csv = await app.get('/api/v1/crosswalk/export?from=cci&to=nist-800-53&format=csv');
  // Each stated pair, but for what was rejected, then what the site alone relates.
  assert.equal(csv.text.trimEnd().split('\r\n'), [
    'fromFramework,fromVersion,fromIdentifier,toFramework,toVersion,toIdentifier,reference',
    'cci,2026-01-01,CCI-000001,nist-800-53,Rev 5,AC-1,AC-1 a',
    'cci,2026-01-01,CCI-000001,nist-800-53,Rev 5,AC-1,AC-1 a 1',
    'cci,2026-01-01,CCI-000002,nist-800-53,Rev 4,AC-2,AC-2 (b)',
    'cci,2026-01-01,CCI-000001,nist-800-53,Rev 4,AC-1,AC-1',
    'cci,2026-01-01,CCI-000005,nist-800-53,Rev 5,AC-1,AC-1',
    'cci,2026-01-01,CCI-000004,nist-800-53,Rev 5.1.1,AC-3,why 4',
  ]);

  const within = await app.get('/api/v1/crosswalk/export?from=acme&to=acme');
  assert.equal(oscalProblems(within.json), []);
  assert.is(within.json['mapping-collection'].mappings[0].maps.length, 1, 'each edge once');
  const cells = await app.get('/api/v1/crosswalk/export?from=acme&to=acme&format=csv');
  assert.match(cells.text, /,'=cmd\r\n/);
  for (const [query, status, message] of [
    ['from=cci&to=acme', 404, 'No direct mappings between cci and acme'],
    [`from=${'x'.repeat(90)}&to=acme`, 404, `Framework not found: ${'x'.repeat(64)}`],
    ['from=cci&to=nowhere', 404, 'Framework not found: nowhere'],
    ['from=cci', 400, 'to is required'],
    ['from=%20&to=cci', 400, 'from must name a target framework'],
  ] as const) {
    const answer = await app.get(`/api/v1/crosswalk/export?${query}`);
    assert.equal([answer.status, answer.json.error.message], [status, message]);
  }
});

oscal('a release without dates, controls, or with odd texts is a valid component', async () => {
  const rule = (more: object) => ({ ccis: [], ...more });
  const bare = writeXccdf({
    date: null,
    statusDate: null,
    title: 'Lantern  <Harbor> Security Technical Implementation Guide',
    rules: [
      rule({ title: ' a\n b\u2028c ', ccis: ['CCI-000001', 'CCI-000002'] }),
      rule({ version: ' ', ccis: ['CCI-000009'] }),
      rule({}),
    ],
  });
  for (const lists of [
    [],
    [
      oscalCatalog([{ id: 'ac-1' }]),
      cciList('2026-01-01', [
        [1, [stated('5 AC-1')]],
        [2, [stated('4 AC-1 c')]],
      ]),
    ],
  ]) {
    const app = await appOf(bare, ...lists);
    const [{ slug }] = (await app.get('/api/v1/stigs')).json.stigs;
    const ids = told((await app.get(`/api/v1/stigs/${slug}`)).json.findings, 'ruleId');
    const path = `/api/v1/stigs/${slug}/download?format=oscal`;
    const { json, text, headers } = await app.get(path);
    assert.equal(oscalProblems(json), []);
    assert.match(headers.get('Content-Disposition')!, /V1R1_component-definition\.json"/);
    const { metadata, components } = json['component-definition'];
    assert.equal([metadata['last-modified'], metadata.version], ['1970-01-01T00:00:00Z', 'V1R1']);
    assert.equal(valuesOf(components[0].props, 'Rule_Id'), ids);
    assert.equal(valuesOf(components[0].props, 'Rule_Description')[0], 'a b c');
    assert.equal(valuesOf(components[0].props, 'unmapped'), lists.length === 0 ? ids : ids.slice(1));
    const [implementation] = components[0]['control-implementations'] ?? [];
    if (lists.length === 0) assert.is(implementation, undefined);
    else {
      const [requirement] = implementation['implemented-requirements'];
      assert.equal([requirement['control-id'], requirement.description], ['ac-1', '1 rule']);
      assert.equal(valuesOf(requirement.props, 'rev-4-reference'), ['CCI-000002']);
      assert.match(implementation.description, /DISA CCI list of 2026-01-01/);
    }
    // The same data and request give the same bytes, on another machine too.
    const other = await appOf(...[...lists].reverse(), bare);
    assert.is((await other.get(path)).text, text);
    app.db.close();
    other.db.close();
  }
});

oscal('a parameter has its published label and values, and the words of its statement', async () => {
  const alt = [{ name: 'alt-label', value: 'oil for each lamp' }];
  const params = [
    { id: 'ac-1_prm_1', label: 'organization-defined frequency' },
    { id: 'ac-1_prm_2', label: 'frequency', values: ['weekly', 'monthly'] },
    { id: 'ac-1_prm_3', label: 'Assignment: organization-defined *lamp*' },
    { id: 'ac-1_prm_4', label: 'oil', props: alt },
    { id: 'ac-1_prm_5', label: 'Organization-defined  wick' },
  ];
  const prose = params.map(({ id }) => `{{ insert: param, ${id} }}`).join(', ');
  const parts = [{ id: 'ac-1_smt', name: 'statement', prose }];
  const value = JSON.parse(oscalCatalog([{ id: 'ac-1' }]));
  Object.assign(value.catalog.groups[0].controls[0], { params, parts });
  const app = await appOf(JSON.stringify(value));
  const path = '/api/v1/controls/nist-800-53';
  const { json } = await app.get(`${path}/export`);
  const exported = controlsOf(json)[0].params;
  const labels = exported.map(({ label }: Json) => label).join('|');
  const [frequency, lamp] = ['organization-defined frequency', 'Assignment: organization-defined lamp'];
  assert.is(labels, `${frequency}|frequency|${lamp}|oil|Organization-defined wick`);
  assert.equal(exported[1].values, ['weekly', 'monthly']);
  const { parameters } = (await app.get(`${path}/AC-1`)).json;
  assert.equal(parameters[1].values, [{ source: 'nist-800-53', value: 'weekly; monthly' }]);
  const said = told(parameters, 'text').map((each) => each.replace('[Assignment: organization-defined ', ''));
  assert.is(said.join(' '), 'frequency] frequency] lamp] oil for each lamp] wick]');
  const again = await appOf(JSON.stringify(json));
  assert.equal(servedBy(again.db, 'nist-800-53'), servedBy(app.db, 'nist-800-53'));
  assert.equal((await again.get(`${path}/export`)).json.catalog.groups, json.catalog.groups);
});

oscal.run();
