import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { createMappingDecisions } from '../../src/catalog/crosswalk/decisions.ts';
import { inOrder, type MappingStatus } from '../../src/catalog/crosswalk/graph.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { testId } from '../support/callers.ts';
import { cciList, mappingsCsv, oscalCatalog, oscalProfile } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { assertError } from '../support/service.ts';
import { importInto, openSite, replaceBy } from '../support/site.ts';
import { rowsOf } from '../support/tables.ts';
import { noStig, noVersion } from '../support/words.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Invented sources for what the real files do not show; those are compared in test/crosswalk/coverage-real.test.ts.
const coverage = suite('coverage: sample data');

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

const named = () => {
  const { profile } = JSON.parse(oscalProfile('low', ['ac-3', 'ac-2.2']));
  return JSON.stringify({
    profile: { ...profile, metadata: { ...profile.metadata, title: 'Lantern Moderate' } },
  });
};
const rules = rowsOf(`
  high | CCI-000001
  medium | CCI-000002,CCI-000005
  low | CCI-000003
  medium |
  medium | CCI-000006,CCI-999999 | =1+1 must be on
  medium | CCI-000004
  low | CCI-000007
`).map(([severity, ccis, title], index) => ({
  ...{ severity: severity!, ccis: ccis!.split(',').filter(Boolean), ...(title && { title }) },
  ...{
    groupId: `V-${900_001 + index}`,
    ruleId: `SV-${900_001 + index}r1_rule`,
    version: `ALPH-01-00000${index}`,
  },
}));
const wrongFramework = 'framework must be one of: nist-800-53, nist-800-171, dod-8500, cci';
const title = (name: string) => `${name} Security Technical Implementation Guide`;
const alpha = { id: 'Alpha_STIG', title: title('Alpha'), rules };
const older = { ...alpha, release: 0.5, date: '1 Jan 2020', rules: rules.slice(0, 1) };
const beta = {
  id: 'Beta_STIG',
  title: title('Beta'),
  rules: [{ ...rules[0]!, groupId: 'V-1', ruleId: 'SV-1r1_rule' }],
};

/** The references of a CCI, as `revision index`. */
const indexes = (text: string) =>
  text.split('|').map((each) => [each.slice(0, 1), each.slice(2)] as [string, string]);

const sources = (stigs = [alpha, older, beta]) => [
  ...stigs.map((each) => writeXccdf(each)),
  oscalCatalog(['ac-1', 'ac-2', 'ac-2.1', 'ac-2.2', 'ac-3', 'ac-10', 'au-1'].map((id) => ({ id }))),
  oscalCatalog(
    ['ac-1', 'ac-2', 'ac-2.1', 'ac-3', 'ac-4'].map((id) => ({ id })),
    '4',
  ),
  oscalProfile('moderate', ['ac-1', 'ac-2', 'ac-2.1']),
  named(),
  cciList('2026-01-01', [
    [1, indexes('5 AC-1|4 AC-1')],
    [2, indexes('5 AC-2 (1)')],
    [3, indexes('4 AC-3')],
    [4, indexes('5 AC-10|4 AC-4')],
    [5, indexes('5 AC-2|4 AC-3')],
    [6, indexes('5 AC-3'), 'deprecated'],
    [7, indexes('5 AC-2 (2)')],
  ]),
  mappingsCsv([['nist-800-171', 'Rev 3', '03.01.01', 'nist-800-53', 'Rev 5', 'AC-2']]),
];
const paths = (texts: string[]) => {
  const folder = scratchFolder();
  const ending = (text: string) => (text.startsWith('<') ? 'xml' : text.startsWith('{') ? 'json' : 'csv');
  return texts.map((text, index) => put(folder, `${index}.${ending(text)}`, text));
};

let t: TestApp;
let folder: string;
const list = testId(1);
const of = async (address: string, who?: string): Promise<Json> => {
  const answer = await t.get(`/api/v1${address}`, who === undefined ? {} : { token: who });
  assert.is(answer.status, 200, answer.text.slice(0, 200));
  return answer.json;
};
/** Covered controls as `AC-1 1 high`. */
const counts = ({ controls }: Json): string[] =>
  controls
    .filter((each: Json) => each.covered)
    .map(
      ({ identifier, rules: { total, high, medium, low } }: Json) =>
        `${identifier} ${total} ${high}${medium}${low}`,
    );

coverage.before(async () => {
  folder = scratchFolder();
  const db = await openSite(folder, paths(sources()));
  let id = 0;
  t = await testApp([], { db, newId: () => testId(++id) });
  await t.send('POST', '/api/v1/lists', { name: 'a system' });
  await t.send('POST', `/api/v1/lists/${list}/stigs`, { slugs: ['beta', 'alpha'] });
});
coverage.after(() => t.db.close());

coverage('a STIG: every active control, the newest references, Rev 4 where a CCI has no other', async () => {
  const { controls, ...json } = await of('/stigs/alpha/coverage');
  assert.equal(
    counts({ controls }),
    'AC-1 1 100|AC-2 1 010|AC-2(1) 1 010|AC-2(2) 1 001|AC-3 1 001|AC-10 1 010'.split('|'),
  );
  assert.equal(controls.at(-1), {
    ...{ identifier: 'AU-1', title: 'Lantern au-1', family: 'Family AU', covered: false },
    ...{ rules: { total: 0, high: 0, medium: 0, low: 0 }, stigs: [] },
  });
  assert.equal(json, {
    ...{ framework: 'nist-800-53', revision: 'Rev 5.1.1', baseline: null, rollup: false },
    stigs: [{ slug: 'alpha', title: alpha.title, version: 'V1R1', rules: 7, mappedRules: 5 }],
    totals: { controls: 7, covered: 6, uncovered: 1, rules: 7, mappedRules: 5, unmappedRules: 2 },
    families: [
      { family: 'Family AC', controls: 6, covered: 6 },
      { family: 'Family AU', controls: 1, covered: 0 },
    ],
    outside: [],
    unmapped: [
      {
        ...{ slug: 'alpha', groupId: 'V-900004', ruleId: 'SV-900004r1_rule', ccis: [] },
        title: 'Setting 4 must be on.',
      },
      {
        ...{ slug: 'alpha', groupId: 'V-900005', ruleId: 'SV-900005r1_rule', title: '=1+1 must be on' },
        ...{ ccis: ['CCI-000006', 'CCI-999999'], deprecated: ['CCI-000006'] },
      },
    ],
  });
});

coverage(
  'rolled up a base control has the rules of its enhancements, each once, and outside stays as it is',
  async () => {
    const flat = await of('/stigs/alpha/coverage?baseline=Moderate');
    assert.equal(counts(flat), ['AC-1 1 100', 'AC-2 1 010', 'AC-2(1) 1 010']);
    const json = await of('/stigs/alpha/coverage?baseline=moderate&rollup=TRUE');
    // The rule of AC-2 and AC-2(1) counts once; AC-2(2) is not in the baseline.
    assert.equal(counts(json), ['AC-1 1 100', 'AC-2 2 011', 'AC-2(1) 1 010']);
    assert.equal(json.controls[1].stigs, ['alpha'], 'each STIG once');
    assert.equal([json.baseline, json.rollup], ['moderate', true]);
    const outside = [
      ['AC-2(2)', 'ac-2.2'],
      ['AC-3', 'ac-3'],
      ['AC-10', 'ac-10'],
    ].map(([identifier, id]) => ({ identifier, title: `Lantern ${id}`, rules: 1 }));
    assert.equal([flat.outside, json.outside], [outside, outside]);
    assert.equal(json.totals, flat.totals);
    assert.equal([json.totals.controls, json.totals.covered, json.totals.mappedRules], [3, 3, 5]);
  },
);

coverage('an imported baseline by its name, and a revision with its own references', async () => {
  assert.equal(counts(await of('/stigs/alpha/coverage?baseline=lantern-moderate')), [
    'AC-2(2) 1 001',
    'AC-3 1 001',
  ]);
  const rev4 = await of('/stigs/alpha/coverage?revision=4');
  assert.equal(rev4.revision, 'Rev 4');
  assert.equal(counts(rev4), ['AC-1 1 100', 'AC-3 2 011', 'AC-4 1 010']);
  assert.equal(rev4.totals.mappedRules, 4);
  for (const revision of ['rev 5', '5.1.1', 'Rev%205.1.1'])
    assert.equal(await of(`/stigs/alpha/coverage?revision=${revision}`), await of('/stigs/alpha/coverage'));
  // A known baseline that a revision lacks would be a coverage of nothing.
  const none = await t.get('/api/v1/stigs/alpha/coverage?revision=4&baseline=moderate');
  assert.equal([none.status, none.json.error.message], [400, 'baseline: no control of Rev 4 is in moderate']);
  const narrowed = await t.get('/api/v1/stigs/alpha/coverage?format=csv&baseline=moderate&rollup=true');
  assert.match(narrowed.headers.get('Content-Disposition')!, /_coverage_baseline-moderate_rollup-true\.csv"/);
  // Nor does a column say which controls these are.
  for (const [query, name] of [
    ['', 'alpha_V1R1_coverage'],
    ['&revision=4', 'alpha_V1R1_coverage_revision-Rev-4'],
    ['&framework=cci', 'alpha_V1R1_coverage_framework-cci'],
  ]) {
    const { headers } = await t.get(`/api/v1/stigs/alpha/coverage?format=csv${query}`);
    assert.match(headers.get('Content-Disposition')!, `filename="${name}.csv"`);
  }
});

coverage('an older release of one revision keeps the references that are carried over', async () => {
  const next = oscalCatalog(
    ['ac-1', 'ac-2', 'ac-2.1', 'ac-3', 'ac-11'].map((id) => ({ id })),
    '5.2.0',
    '2025-08-26',
  );
  const both = await testApp(paths([...sources(), next]));
  const of = async (query: string): Promise<Json> =>
    (await both.get(`/api/v1/stigs/alpha/coverage${query}`)).json;
  const served = await of('');
  assert.equal([served.revision, served.totals.controls], ['Rev 5.2.0', 5]);
  const before = await of('?revision=5.1.1');
  assert.equal([before.revision, before.totals.controls], ['Rev 5.1.1', 7]);
  // AC-3 by a reference to Rev 4 alone; AC-10 and AC-2(2) are no nodes of the crosswalk any more.
  assert.equal(counts(before), ['AC-1 1 100', 'AC-2 1 010', 'AC-2(1) 1 010', 'AC-3 1 001']);
  assert.equal(counts(served), counts(before));
  both.db.close();
});

coverage('a retained release, an alias, and the format that is asked for', async () => {
  const json = await of('/stigs/Alpha_STIG/coverage?version=v1r0.5');
  const old = { slug: 'alpha', title: alpha.title, version: 'V1R0.5', rules: 1, mappedRules: 1 };
  assert.equal(json.stigs, [old]);
  const csv = await t.get('/api/v1/stigs/alpha/coverage?format=csv&baseline=moderate');
  assert.is(csv.headers.get('Content-Type'), 'text/csv; charset=utf-8');
  const rows = readCsv(csv.text).map((row) => row.join());
  assert.equal(rows.slice(0, 2), [
    'section,identifier,title,family,covered,total,high,medium,low,stigs',
    'control,AC-1,Lantern ac-1,Family AC,true,1,1,0,0,alpha',
  ]);
  assert.is(rows.at(-1), 'outside,AC-10,Lantern ac-10,,,1,,,,');
});

coverage('a list: each STIG by title, and which of them address a control', async () => {
  const json = await of(`/lists/${list}/coverage`);
  assert.equal(
    json.stigs.map(({ slug, rules, mappedRules }: Json) => [slug, rules, mappedRules]),
    [
      ['alpha', 7, 5],
      ['beta', 1, 1],
    ],
  );
  assert.equal(json.controls[0].rules, { total: 2, high: 2, medium: 0, low: 0 });
  assert.equal(json.controls[0].stigs, ['alpha', 'beta']);
  const csv = await t.get(`/api/v1/lists/${list}/coverage?format=csv`);
  assert.is(readCsv(csv.text)[1]!.at(-1), 'alpha;beta');
  assert.match(csv.headers.get('Content-Disposition')!, /filename="a_system_coverage\.csv"/);
});

coverage(
  'a baseline that its framework has not is refused in words, before the object is looked for',
  async () => {
    const known = 'low, moderate, high, privacy, lantern-moderate';
    for (const [query, words] of rowsOf(`
    baseline=bogus | one of: ${known}
    baseline=low,high | one of: ${known}
    baseline= | one of: ${known}
    baseline=__proto__ | one of: ${known}
    framework=dod-8500&baseline=low | one of: MAC I, MAC II, MAC III
    framework=dod-8500&baseline=MAC+IV | one of: MAC I, MAC II, MAC III
    framework=nist-800-171&baseline=low | left out: there is none of nist-800-171
    framework=cci&baseline=policy | left out: there is none of cci
  `))
      for (const address of ['/stigs/alpha', '/stigs/none', `/lists/${list}`, '/lists/none']) {
        const message = `baseline must be ${words}`;
        assertError(await t.get(`/api/v1${address}/coverage?${query}`), 400, 'BAD_REQUEST', message);
      }
    const at = (address: string) => t.get(`/api/v1/stigs/${address}`);
    for (const revision of ['3', 'Rev 6', "5' OR 1=1", '']) {
      const answer = await at(`alpha/coverage?revision=${encodeURIComponent(revision)}`);
      assertError(answer, 404, 'NOT_FOUND', noVersion(revision));
    }
    for (const framework of ['foo', '__proto__', 'nist-800-54', ' '])
      for (const path of ['alpha/coverage', 'none/worksheet']) {
        const answer = await at(`${path}?framework=${encodeURIComponent(framework)}`);
        assertError(answer, 400, 'BAD_REQUEST', wrongFramework);
        assert.is(answer.json.error.field, 'framework');
      }
    assertError(await at('none/coverage'), 404, 'NOT_FOUND', noStig('none'));
    assertError(await at('alpha/coverage?version=V9R9'), 404, 'NOT_FOUND', noVersion('V9R9'));
  },
);

coverage(
  'a decision about a mapping counts at once, under an older revision too, and can be taken back',
  async () => {
    const decisions = createMappingDecisions(t.db);
    const node = (name: string) => {
      const [framework, identifier] = name.split(':') as [string, string];
      return { framework, identifier };
    };
    const decide = (cci: string, control: string, status: MappingStatus | null) =>
      t.db.write(() => {
        const pair = inOrder(node(`cci:${cci}`), node(`nist-800-53:${control}`));
        if (status === null) decisions.remove(pair);
        else decisions.set(pair, { status, reason: 'r', decidedAt: '2026-01-01' });
      });
    const both = async () => [
      await of('/stigs/alpha/coverage'),
      await of('/stigs/alpha/coverage?revision=4'),
    ];
    const decided = [
      ['CCI-000001', 'AC-1', 'rejected'],
      ['CCI-000001', 'AU-1', 'verified'],
      ['CCI-000005', 'AC-3', 'rejected'],
    ] as const;
    const before = await both();
    for (const [cci, control, status] of decided) await decide(cci, control, status);
    const [json, older] = await both();
    const ones = counts(json).filter((each) => /^A[CU]-1 /.test(each));
    assert.equal([ones, counts(older)], [['AU-1 1 100'], ['AC-3 1 001', 'AC-4 1 010']]);
    for (const [cci, control] of decided) await decide(cci, control, null);
    assert.equal(await both(), before);
  },
);

coverage('an entry that is gone stands without a version and without rules, and comes back', async () => {
  const exchange = async (texts: string[]): Promise<void> => {
    const other = join(scratchFolder(), 'g.db');
    await importInto(other, paths(texts));
    await replaceBy(join(folder, 'g.db'), other);
  };
  const before: Answer = await t.get(`/api/v1/lists/${list}/coverage`);
  await exchange(sources([beta]));
  const json = await of(`/lists/${list}/coverage`);
  assert.equal(json.stigs, [
    { slug: 'alpha', title: alpha.title, version: null, rules: 0, mappedRules: 0 },
    { slug: 'beta', title: beta.title, version: 'V1R1', rules: 1, mappedRules: 1 },
  ]);
  const totals = { controls: 7, covered: 1, uncovered: 6, rules: 1, mappedRules: 1, unmappedRules: 0 };
  assert.equal(json.totals, totals);
  await exchange(sources());
  assert.is((await t.get(`/api/v1/lists/${list}/coverage`)).text, before.text);
});

coverage.run();
