import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { TestApp } from '../support/app.ts';
import { sharedControls } from '../support/controls.ts';
import { bruteForce, readEdges, toGraph } from '../support/crosswalk-oracle.ts';
import { readPins } from '../support/crosswalk-pin-oracle.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { referenceData } from '../support/reference.ts';
import { assertError } from '../support/service.ts';

const resolvePath = '/api/v1/crosswalk/resolve';
const batchPath = `${resolvePath}/batch`;
const targets = ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci'];

// biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
type Json = any;
type Query = Record<string, string> | [string, string][];

let t: TestApp;

async function resolve(query: Query): Promise<Json> {
  const answer = await t.get(`${resolvePath}?${new URLSearchParams(query)}`);
  assert.is(answer.status, 200, answer.text.slice(0, 300));
  return answer.json;
}

async function refused(query: Query, message: string): Promise<void> {
  const answer = await t.get(`${resolvePath}?${new URLSearchParams(query)}`);
  assertError(answer, 400, 'BAD_REQUEST', message);
}

async function batch(body: unknown): Promise<Json> {
  const answer = await t.send('POST', batchPath, body);
  assert.is(answer.status, 200, answer.text.slice(0, 300));
  return answer.json;
}

async function refusedBatch(body: unknown, message: string): Promise<void> {
  assertError(await t.send('POST', batchPath, body), 400, 'BAD_REQUEST', message);
}

/** The text of a batch answer: parsing it would put keys like numbers first and lose `__proto__` in the schema. */
async function batchText(body: unknown): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await t.app.request(batchPath, { method: 'POST', body: text });
  const answered = await response.text();
  assert.is(response.status, 200, answered.slice(0, 300));
  return answered;
}

const ends = (paths: Json): string[] =>
  paths.map((path: Json) => `${path.controls.at(-1).framework}:${path.controls.at(-1).identifier}`);

/** Asserts that two answers begin alike: a search without end is also cut by time, so that their lengths are chance. */
function assertSameBeginning(one: Json[], other: Json[], where = ''): void {
  const both = Math.min(one.length, other.length);
  assert.ok(both > 0, where);
  assert.equal(one.slice(0, both), other.slice(0, both), where);
}

const single = suite('crosswalk: resolve');
single.before(async () => {
  t = await sharedControls();
});

single('what is missing or malformed is 400, and the message names it', async () => {
  const from = 'nist-800-53:AC-2';
  const form = 'from must have the form <framework>:<identifier>';
  await refused({}, 'from is required');
  await refused({ from }, 'to is required');
  for (const malformed of ['x', ':', 'nist-800-53:', ':AC-2', '', ' : ', 'nist-800-53: ', ' :AC-2'])
    await refused({ from: malformed, to: 'cci' }, form);
  for (const to of ['', ' ']) await refused({ from, to }, 'to must name a target framework');
  // It is split at the first colon, and what is unknown has no paths.
  const colons = await resolve({ from: 'acme:policy:7:b', to: 'cci' });
  const { framework, identifier } = colons.from;
  assert.equal([framework, identifier, colons.paths], ['acme', 'policy:7:b', []]);
});

single('identifiers in every spelling are answered in the published form, with the same paths', async () => {
  const spellings: [framework: string, published: string, texts: string][] = [
    ['nist-800-53', 'AC-2(1)', 'AC-2 (1)|ac-2(1)|AC-02(01)|ac-2.1|AC-2.01| AC-2(1) '],
    ['cci', 'CCI-000015', 'CCI-15|cci-000015|cci15|CCI000015|Cci-00015'],
    ['dod-8500', 'ECCT-1', 'ecct-1|Ecct-1'],
    ['nist-800-171', '03.01.01', ' 03.01.01'],
    ['nist-800-171', '3.1.1', '3.1.1 '],
  ];
  for (const [framework, published, texts] of spellings) {
    const to = framework === 'nist-800-53' ? 'cci' : 'nist-800-53';
    const expected = await resolve({ from: `${framework}:${published}`, to });
    assert.equal(expected.from, { framework, identifier: published, version: null });
    assert.ok(expected.paths.length > 0, published);
    for (const text of texts.split('|'))
      assert.equal(await resolve({ from: `${framework}:${text}`, to }), expected, text);
  }
  // The revisions of 800-171 are different controls, and mixed padding is neither.
  for (const mixed of ['3.01.01', '03.1.1', '3.01.1'])
    assert.equal((await resolve({ from: `nist-800-171:${mixed}`, to: 'nist-800-53' })).paths, [], mixed);
});

single('a framework key is read in any case and answered as published', async () => {
  const expected = await resolve({ from: 'nist-800-53:AC-2(1)', to: 'cci', explain: 'true' });
  assert.is(expected.paths.length, 1);
  for (const [framework, to] of [
    ['NIST-800-53', 'CCI'],
    ['Nist-800-53', 'Cci'],
    [' NIST-800-53 ', ' cci '],
  ])
    assert.equal(await resolve({ from: `${framework}:AC-2(1)`, to: to!, explain: 'true' }), expected);
  // Only ours: a site's own key is another in another case, and is answered as it was sent.
  const { from, to } = await resolve({ from: 'ACME:7', to: 'Zeppelin' });
  assert.equal([from.framework, to], ['ACME', 'Zeppelin']);
});

single('an explained answer of thousands of paths is cut before it has 16 MB, and says so', async () => {
  const question = { from: 'nist-800-53:AC-2', to: 'cci', maxHops: '1000000' };
  const response = await t.app.request(
    `${resolvePath}?${new URLSearchParams({ ...question, explain: 'true' })}`,
  );
  const text = await response.text();
  assert.ok(text.length < 16_000_000, `${text.length} bytes`);
  const { paths, truncated } = JSON.parse(text) as Json;
  assert.is(truncated, true);
  const plain = (await resolve(question)).paths;
  const bare = paths.map(({ hops, controls }: Json) => ({
    hops,
    controls: controls.map(({ evidence: _, ...step }: Json) => step),
  }));
  assertSameBeginning(bare, plain);
});

single.run();

const pairs = suite('crosswalk: batch of pairs');
pairs.before(async () => {
  t = await sharedControls();
});

const reference = (framework: string, identifier: string, version?: string) =>
  version === undefined ? { framework, identifier } : { framework, identifier, version };

pairs('each pair is resolved as if it were asked for alone', async () => {
  const known =
    `nist-800-53:AC-2 nist-800-53:SC-13 nist-800-171:3.1.1 nist-800-171:03.15.01 dod-8500:IAIA-1`.split(
      /\s+/,
    );
  const more = ['cci:CCI-000015', 'cci:CCI-002523', 'nist-800-53:ZZ-1', 'acme:X', 'nist-800-53:AC-2(10)'];
  const question = fc.record({
    from: fc.uniqueArray(fc.constantFrom(...known, ...more), { minLength: 1, maxLength: 4 }),
    to: fc.uniqueArray(fc.constantFrom(...targets, 'acme'), { minLength: 1, maxLength: 3 }),
    status: fc.option(fc.uniqueArray(fc.constantFrom('auto', 'verified', 'rejected'), { minLength: 1 }), {
      nil: undefined,
    }),
    maxHops: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    version: fc.option(fc.constantFrom('Rev 5', '4', 'Rev 3', 'Rev 9', '2022-03-09'), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(question, async ({ from, to, status, maxHops, version }) => {
      const split = from.map((each) => each.split(':') as [string, string]);
      const body = {
        from: split.map(([framework, id]) => reference(framework, id, version)),
        to,
        status,
        maxHops,
      };
      const answer = await batch(body);
      assert.equal(answer.from, body.from);
      assert.equal(answer.to, to);
      assert.equal(Object.keys(answer.results), from);
      for (const source of from) {
        assert.equal(Object.keys(answer.results[source]), to);
        for (const target of to) {
          const query = new URLSearchParams({ from: source, to: target });
          for (const each of status ?? []) query.append('status', each);
          if (maxHops !== undefined) query.set('maxHops', String(maxHops));
          if (version !== undefined) query.set('version', version);
          const alone = (await (await t.app.request(`${resolvePath}?${query}`)).json()) as Json;
          const found = answer.results[source][target];
          // Beyond four hops a search may be cut by time.
          if (alone.truncated || answer.truncated?.includes(`${source} ${target}`))
            assertSameBeginning(found, alone.paths, `${query}`);
          else assert.equal(found, alone.paths, `${query}`);
        }
      }
    }),
    { numRuns: 8 },
  );
});

pairs('keys of the results are as they were sent, from is answered in the published form', async () => {
  const body = {
    from: [
      reference('nist-800-53', 'ac-2.1', 'Rev 5'),
      reference('cci', 'CCI-15'),
      reference('nist-800-53', 'AC-2(1)'),
      reference('acme', 'X 1'),
    ],
    to: ['nist-800-171', 'cci', 'zeppelin'],
  };
  const { from, to, results } = await batch(body);
  assert.equal(from, [
    reference('nist-800-53', 'AC-2(1)', 'Rev 5'),
    reference('cci', 'CCI-000015'),
    reference('nist-800-53', 'AC-2(1)'),
    reference('acme', 'X 1'),
  ]);
  assert.equal(to, body.to);
  assert.equal(Object.keys(results), ['nist-800-53:ac-2.1', 'cci:CCI-15', 'nist-800-53:AC-2(1)', 'acme:X 1']);
  assert.equal(results['acme:X 1'], { 'nist-800-171': [], cci: [], zeppelin: [] });
  const [path] = results['nist-800-53:ac-2.1'].cci;
  assert.is(path.controls[0].identifier, 'AC-2(1)', 'in a path an identifier is in the published form');
  // Blanks and case are kept in the keys, and not in what they name.
  const odd = await batch({ from: [reference('NIST-800-53', ' ac-2 ')], to: ['Nist-800-171', ' zeppelin '] });
  const { paths } = await resolve({ from: 'nist-800-53:AC-2', to: 'nist-800-171' });
  assert.equal(odd.from, [reference('nist-800-53', 'AC-2')]);
  assert.equal(odd.results, { 'NIST-800-53: ac-2 ': { 'Nist-800-171': paths, ' zeppelin ': [] } });
});

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => reference('cci', `CCI-${index + 1}`));
const one = [reference('cci', 'CCI-366')];
const to = ['nist-800-53'];

/** Bodies that are refused beside those of openapi.test.ts, each with its message. */
const refusedBodies: [message: string, ...bodies: unknown[]][] = [
  ['The body must be an object', '[]', 'null', '7'],
  ['The request body is not valid JSON', '', '{', '\u00a0{}', '{"from":[]}x'],
  ['from must be an array of control references', {}, { to }, { from: one[0], to }, { from: 'x', to }],
  ['to must be an array of framework keys', { from: one }, { from: one, to: { length: 1 } }],
  ['from must contain 1 to 250 control references', { from: many(251), to }],
  [
    'from and to together must not make more than 250 pairs',
    { from: many(126), to: ['nist-800-53', 'cci'] },
    { from: many(84), to: ['cci', 'cci', 'cci'] },
  ],
  ['from.identifier must not be empty', { from: [reference('cci', ' ')], to }],
  [
    'maxHops must be a positive integer',
    '{"ccis":["CCI-1"],"maxHops":1e400}',
    { from: one, to, maxHops: null },
  ],
  [
    'Give either ccis or from, not both',
    { ccis: ['CCI-366'], from: one, to },
    { ccis: null, from: null },
    { ccis: ['CCI-366'], from: [] },
  ],
];

pairs('a wrong body is 400 with its message, and the largest is taken', async () => {
  for (const [message, ...bodies] of refusedBodies)
    for (const body of bodies) await refusedBatch(body, message);
  for (const entry of ['cci:CCI-366', null, { framework: 7, identifier: 'x' }, { ...one[0], version: 5 }])
    assert.is((await t.send('POST', batchPath, { from: [entry], to })).status, 400, JSON.stringify(entry));
  for (const given of [['nist-800-53'], 7, '', null])
    assert.is((await t.send('POST', batchPath, { ccis: ['CCI-366'], to: given })).status, 400);
  for (const body of [
    { from: many(250), to, maxHops: 1 },
    { from: many(125), to: ['nist-800-53', 'cci'], maxHops: 1 },
  ])
    assert.is(Object.keys((await batch(body)).results).length, body.from.length);
  const ccis = many(250).map(({ identifier }) => identifier);
  assert.is(Object.keys(await batch({ ccis })).length, 250);
  assert.equal(await batch({ ccis: Array(250).fill('CCI-366') }), { 'CCI-366': ['CM-6'] });
});

pairs('hostile keys are ordinary texts', async () => {
  const hostile = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a"b', '\\', 'é'];
  const text = await batchText({
    from: [...hostile.map((each) => reference(each, each)), reference('cci', 'CCI-000366')],
    to: [...hostile, 'nist-800-53'],
  });
  const { results } = JSON.parse(text);
  assert.equal(Object.keys(results), [...hostile.map((each) => `${each}:${each}`), 'cci:CCI-000366']);
  for (const each of hostile) {
    const row = results[`${each}:${each}`];
    assert.equal(Object.keys(row), [...hostile, 'nist-800-53']);
    for (const [, paths] of Object.entries(row)) assert.equal(paths, []);
  }
  assert.equal(ends(results['cci:CCI-000366']['nist-800-53']), ['nist-800-53:CM-6']);
  assert.is(({} as Record<string, unknown>).framework, undefined, 'no prototype was changed');
  const own = await batchText(
    '{"__proto__":{"ccis":["CCI-15"]},"from":[{"framework":"cci","identifier":"CCI-366","__proto__":{"version":"9"}}],"to":["nist-800-53"]}',
  );
  assert.equal(ends(JSON.parse(own).results['cci:CCI-366']['nist-800-53']), ['nist-800-53:CM-6']);
});

pairs('a repeated pair is answered once; two spellings are two keys', async () => {
  const from = ['CCI-000366', 'CCI-366', 'CCI-000366'].map((id) => reference('cci', id));
  const answer = await batch({ from, to: ['nist-800-53', 'nist-800-53'], status: ['VERIFIED', 'auto'] });
  const paths = { 'nist-800-53': answer.results['cci:CCI-366']['nist-800-53'] };
  assert.equal(answer.results, { 'cci:CCI-000366': paths, 'cci:CCI-366': paths });
  assert.equal([answer.from.length, answer.to], [3, ['nist-800-53', 'nist-800-53']]);
  const nothingSpecial = await batch({ from, to, status: [], maxHops: 2 ** 53 });
  assert.equal(nothingSpecial.results, answer.results);
});

pairs('one reference under two versions is 400; the same version twice is not', async () => {
  const message = 'from must not contain the same reference with two versions';
  const to = ['cci'];
  await refusedBatch(
    { from: [reference('nist-800-53', 'AC-2', '5'), reference('nist-800-53', 'AC-2', '4')], to },
    message,
  );
  await refusedBatch(
    { from: [reference('nist-800-53', 'AC-2'), reference('nist-800-53', 'AC-2', '4')], to },
    message,
  );
  const { results } = await batch({
    from: [
      reference('nist-800-53', 'AC-2', '4'),
      reference('nist-800-53', 'ac-2', '5'),
      reference('nist-800-53', 'AC-2', '4'),
    ],
    to,
    maxHops: 1,
  });
  assert.equal(Object.keys(results), ['nist-800-53:AC-2', 'nist-800-53:ac-2']);
  assert.is.not(results['nist-800-53:AC-2'].cci.length, results['nist-800-53:ac-2'].cci.length);
});

pairs('deep pairs that are cut are named at the top, under the keys that were sent', async () => {
  const from = [reference('nist-800-53', 'ac-2'), reference('nist-800-53', 'ZZ-9')];
  const answer = await batch({ from, to: ['cci', 'nist-800-171'], maxHops: 1_000_000 });
  assert.ok(answer.truncated.includes('nist-800-53:ac-2 cci'));
  assert.ok(answer.truncated.every((each: string) => each.startsWith('nist-800-53:ac-2 ')));
  assert.equal(answer.results['nist-800-53:ZZ-9'], { cci: [], 'nist-800-171': [] });
  const shallow = (await batch({ from, to: ['cci'] })).results['nist-800-53:ac-2'].cci;
  assert.equal(answer.results['nist-800-53:ac-2'].cci.slice(0, shallow.length), shallow);
  assert.not.ok('truncated' in (await batch({ from, to: ['cci', 'nist-800-171'], maxHops: 4 })));
});

pairs(
  '250 pairs of any depth answer with under 16 MB, and each that is cut is the beginning of the whole',
  async () => {
    // The sources with the most paths of up to 4 hops to CCIs.
    const from = t.db.sqlite
      .prepare<[], { framework: string; identifier: string }>(
        `SELECT n.framework, n.identifier FROM crosswalk_paths AS p JOIN crosswalk_nodes AS n ON n.id = p.source
        WHERE p.target = (SELECT count(DISTINCT framework) - 1 FROM crosswalk_nodes)
        GROUP BY p.source ORDER BY count(*) DESC, p.source LIMIT 250`,
      )
      .all();
    const text = await batchText({ from, to: ['cci'], maxHops: 1_000_000 });
    assert.ok(text.length < 16_000_000, `${text.length} bytes`);
    const { results, truncated } = JSON.parse(text) as Json;
    assert.is(truncated.length, 250);
    for (const { framework, identifier } of from.slice(0, 10)) {
      const key = `${framework}:${identifier}`;
      const alone = (await resolve({ from: key, to: 'cci', maxHops: '1000000' })).paths;
      assertSameBeginning(results[key].cci, alone);
    }
    // A small batch is never cut.
    const few = await batch({ from: from.slice(0, 5), to: targets, maxHops: 4 });
    assert.not.ok('truncated' in few);
    const [first] = from.map(({ framework, identifier }) => `${framework}:${identifier}`);
    assert.equal(few.results[first!].cci, (await resolve({ from: first!, to: 'cci' })).paths);
  },
);

pairs.run();

const lookup = suite('crosswalk: CCI lookup');
lookup.before(async () => {
  t = await sharedControls();
});

lookup('a flat map from each CCI, as it was sent and in request order, to its controls', async () => {
  const ccis = 'CCI-002523|cci-000015|CCI-15|CCI-000366|CCI-999999|nonsense|| CCI-366 '.split('|');
  const answer = await batch({ ccis });
  assert.equal(Object.keys(answer), ccis);
  assert.equal(answer, {
    'CCI-002523': ['SC-37', 'SC-37(1)'],
    'cci-000015': ['AC-2(1)'],
    'CCI-15': ['AC-2(1)'],
    'CCI-000366': ['CM-6'],
    'CCI-999999': [],
    nonsense: [],
    '': [],
    ' CCI-366 ': ['CM-6'],
  });
});

lookup(
  'the target is read in any case; keys keep their order, those like numbers and hostile ones too',
  async () => {
    assert.equal(await batch({ ccis: ['CCI-000015'], to: 'NIST-800-53' }), { 'CCI-000015': ['AC-2(1)'] });
    const ccis = ['b', '10', '9', '__proto__', 'constructor', 'a"b', 'CCI-366', '1'];
    const pairOf = (cci: string) => `${JSON.stringify(cci)}:${cci === 'CCI-366' ? '["CM-6"]' : '[]'}`;
    assert.is(await batchText({ ccis }), `{${ccis.map(pairOf).join()}}`);
  },
);

lookup('a deprecated CCI and one without a usable reference are keys with an empty array', async () => {
  const status = t.db.sqlite
    .prepare(
      "SELECT identifier FROM controls WHERE framework = 'cci' AND version = '2025-01-23' AND status = 'withdrawn'",
    )
    .pluck();
  const deprecated = status.all() as string[];
  assert.is(deprecated.length, 91);
  const answer = await batch({ ccis: [...deprecated, 'CCI-002734'] });
  assert.is(Object.keys(answer).length, 92);
  for (const [cci, controls] of Object.entries(answer)) assert.equal(controls, [], cci);
});

lookup(
  'to another framework, with a status and a depth: the distinct ends of resolve, in catalog order',
  async () => {
    const ccis = ['CCI-000015', 'CCI-000366', 'CCI-002523', 'CCI-000001'];
    const padded = (identifier: string) => identifier.replace(/\d+/g, (digits) => digits.padStart(5, '0'));
    const order = (identifier: string) => `${/^3\./.test(identifier) ? 0 : 1} ${padded(identifier)}`;
    for (const question of [
      ...[{}, { to: 'nist-800-171' }, { to: 'cci' }, { to: 'acme' }, { to: 'dod-8500', maxHops: 6 }],
      ...[{ to: 'nist-800-171', status: 'verified' }, { status: 'auto' }, { to: 'nist-800-171', maxHops: 1 }],
    ] as Json[]) {
      const { status, maxHops, to = 'nist-800-53' } = question;
      const answer = await batch({ ccis, ...question, ...(status && { status: [status] }) });
      for (const cci of ccis) {
        const more = { ...(status && { status }), ...(maxHops && { maxHops: String(maxHops) }) };
        const { paths } = await resolve({ from: `cci:${cci}`, to, ...more });
        const found = new Set<string>(paths.map((path: Json) => path.controls.at(-1).identifier));
        const sorted = [...found].sort((a, b) => (order(a) < order(b) ? -1 : 1));
        assert.equal(answer[cci], sorted, JSON.stringify([cci, question]));
      }
    }
  },
);

lookup.run();

const pinned = suiteIf(referenceData, 'crosswalk: version pins');
if (pinned) {
  const graph = toGraph(readEdges());
  const pins = readPins(graph);
  const both = new Set(['auto', 'verified']);
  pinned.before(async () => {
    t = await sharedControls();
  });

  /** Every n-th of a list. */
  const some = <T>(items: Iterable<T>, count: number): T[] => {
    const all = [...items];
    return all.filter((_, index) => index % Math.ceil(all.length / count) === 0);
  };
  const ofGraph = (framework: string) => [...graph.keys()].filter((name) => name.startsWith(`${framework}:`));
  const named = (framework: string, ids: string[]) => ids.map((id) => `${framework}:${id}`);
  const known = [...pins.known].filter((each) => each.startsWith('cci:'));
  const asked53 = [...some(ofGraph('nist-800-53'), 15), ...some(named('nist-800-53', pins.rev4), 20)];
  // Labels, and the version of the oracle that they mean.
  const samples: [string[], Record<string, string>][] = [
    [[...asked53, 'nist-800-53:AC-2', 'nist-800-53:SC-13'], { 'Rev 5': '5', 'Rev 4': '4', 'Rev 3': '3' }],
    [
      [...some(ofGraph('cci'), 16), ...some(known, 10)],
      Object.fromEntries(['2025-01-23', '2022-03-09', '2016-06-27'].map((each) => [each, each])),
    ],
    [some(ofGraph('nist-800-171'), 8), { 'Rev 2': '2', 'Rev 3': '3' }],
    [some(ofGraph('dod-8500'), 6), { 'DoDI 8500.2 (2003)': 'DoDI 8500.2 (2003)' }],
  ];

  pinned('the paths of a pinned source are those of an independent derivation, in order', async () => {
    const sources = new Set(samples.flatMap(([names]) => names));
    assert.ok(sources.size > 50);
    let paths = 0;
    let beyond = 0;
    for (const [names, labels] of samples) {
      for (const [label, version] of Object.entries(labels)) {
        for (const source of names) {
          const walk = pins.pinned(source, version);
          for (const to of targets) {
            const expected = bruteForce(walk, source, to, 4, both, pins.order);
            const query = new URLSearchParams({ from: source, to, version: label });
            const answer = (await (await t.app.request(`${resolvePath}?${query}`)).json()) as Json;
            if (JSON.stringify(answer.paths) !== JSON.stringify(expected))
              assert.equal(answer.paths.map(line), expected.map(line), `${source} at ${label} -> ${to}`);
            paths += expected.length;
            if (version === '4' || version === '2016-06-27')
              beyond += expected.filter(
                (path) => !(graph.get(source) ?? []).some((each) => each.name === line(path).split(' ')[1]),
              ).length;
          }
        }
      }
    }
    assert.ok(paths > 2000 && beyond > 10, `${paths} ${beyond}`);
  });

  function line(path: Json): string {
    return path.controls
      .map((each: Json) => `${each.framework}:${each.identifier} ${each.status}`)
      .join(' | ');
  }

  pinned('what has no paths under a pin, and is no error', async () => {
    const none: [from: string, versions: string][] = [
      ['nist-800-53:AC-2', 'Rev 9|9|5.3.0|Rev 5.3.0|Rev 50|x|Rev|-5|__proto__|2022-03-09'],
      ['cci:CCI-000015', '2023-01-01|2022|Rev 5|5'],
      ['dod-8500:ECCT-1', '1999|Rev 5'],
      ['nist-800-171:3.1.1', 'Rev 1|Rev 3|Rev 4'],
      ['nist-800-171:03.01.01', 'Rev 2'],
      // AP-1, of the privacy appendix of Rev 4, is in the CCI list but not in NIST's Rev 4 catalog.
      ['nist-800-53:AP-1', 'Rev 4|Rev 3|Rev 5'],
    ];
    for (const [from, versions] of none)
      for (const version of versions.split('|'))
        for (const to of ['nist-800-53', 'cci']) {
          const answer = await resolve({ from, to, version, maxHops: '6' });
          assert.equal([answer.paths, answer.from.version], [[], version], `${from} at ${version} -> ${to}`);
        }
  });

  pinned('fewer and more hops, single statuses', async () => {
    const versions = { cci: ['2016-06-27', '2022-03-09', '2025-01-23'], 'nist-800-53': ['4', '5', '3'] };
    for (const source of ['nist-800-53:AC-2', 'nist-800-53:SC-13', 'nist-800-53:AC-2(10)', 'cci:CCI-000015'])
      for (const version of versions[source.split(':')[0] as 'cci']) {
        const walk = pins.pinned(source, version);
        const same = async (to: string, hops: number, statuses: string[]) => {
          const more = { version, maxHops: `${hops}`, status: statuses.join() };
          const answer = await resolve({ from: source, to, ...more });
          const expected = bruteForce(walk, source, to, hops, new Set(statuses), pins.order);
          assert.equal(
            answer.paths.map(line),
            expected.map(line),
            `${source} at ${version} -> ${to} in ${hops}`,
          );
          assert.is(answer.truncated, undefined);
        };
        for (const to of targets) {
          for (const hops of to === 'cci' ? [1, 3] : [1, 2, 3, 6]) await same(to, hops, ['auto', 'verified']);
          for (const status of ['auto', 'verified', 'rejected']) await same(to, 4, [status]);
        }
      }
  });

  pinned.run();
}
