import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import {
  baselineNames,
  order80053,
  read8500,
  read80053,
  read800171,
  readBaseline,
  sortedBy,
} from '../support/control-oracle.ts';
import { assertSameList, sharedControls } from '../support/controls.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { hasReferenceData, referenceData, shipped } from '../support/reference.ts';
import { assertError, assertSecurityHeaders } from '../support/service.ts';
import { noControl, noVersion } from '../support/words.ts';

const base = '/api/v1/controls';

// biome-ignore lint/suspicious/noExplicitAny: controls of three frameworks
type Control = any;

let t: TestApp;

const query = (values: Record<string, string>) => `?${new URLSearchParams(values)}`;

async function list(framework: string, values: Record<string, string> = {}): Promise<Control> {
  const answer = await t.get(`${base}/${framework}${query(values)}`);
  assert.is(answer.status, 200, answer.text.slice(0, 300));
  return answer.json;
}

async function total(framework: string, values: Record<string, string>): Promise<number> {
  const { total, controls } = await list(framework, values);
  assert.is(controls.length, total);
  return total;
}

async function record(framework: string, id: string, version?: string): Promise<Control> {
  const answer = await t.get(
    `${base}/${framework}/${encodeURIComponent(id)}${version === undefined ? '' : query({ version })}`,
  );
  assert.is(answer.status, 200, `${id}: ${answer.text.slice(0, 300)}`);
  return answer.json;
}

async function refused(path: string, status: number, message: string | RegExp): Promise<void> {
  const answer = await t.get(`${base}/${path}`);
  const code = { 400: 'BAD_REQUEST', 404: 'NOT_FOUND' }[status]!;
  const said = answer.json?.error?.message as string;
  if (typeof message !== 'string') assert.match(said ?? answer.text, message);
  assertError(answer, status, code, typeof message === 'string' ? message : said);
}

/** The release that is served: that of the reference data, or what is shipped. */
const newest = hasReferenceData
  ? { version: 'Rev 5.1.1', total: 1007 }
  : { version: 'Rev 5.2.0', total: 1014 };

const lists = suite('control lists');
lists.before(async () => {
  t = await sharedControls();
});

lists('the envelope: framework, version, total and every active control', async () => {
  const expected = [
    ['nist-800-53', newest.version, newest.total],
    ['nist-800-171', 'Rev 2', 110],
    ['dod-8500', 'DoDI 8500.2 (2003)', 157],
  ] as const;
  for (const [framework, version, count] of expected) {
    const { controls, ...envelope } = await list(framework);
    assert.equal(envelope, { framework, version, total: count });
    assert.is(controls.length, count);
    assert.is(new Set(controls.map((each: Control) => each.identifier)).size, count);
    assert.is(new Set(controls.map((each: Control) => each.id)).size, count);
  }
});

lists('the fields of a control are those of its framework, in their order', async () => {
  const fields = async (framework: string) => {
    const { controls } = await list(framework);
    return [...new Set(controls.map((each: Control) => Object.keys(each).join()))];
  };
  assert.equal(await fields('nist-800-53'), ['id,identifier,title,family,baselines,statement,guidance']);
  assert.equal(await fields('nist-800-171'), ['id,identifier,family,requirementType,statement,guidance']);
  assert.equal(await fields('dod-8500'), [
    'id,identifier,title,subjectArea,macLevels,impactCode,statement,guidance,threat,resources',
  ]);
});

lists('controls come in catalog order', async () => {
  const identifiers = async (framework: string, values = {}) =>
    (await list(framework, values)).controls.map((each: Control) => each.identifier) as string[];
  const inOrder = (found: string[], key: (identifier: string) => string) =>
    assertSameList(found, sortedBy(found, key), 'order');
  const found = await identifiers('nist-800-53');
  inOrder(found, order80053);
  assert.equal(found.slice(0, 4), ['AC-1', 'AC-2', 'AC-2(1)', 'AC-2(2)']);
  assert.ok(found.indexOf('AC-3') > found.indexOf('AC-2(13)'));
  assert.ok(found.indexOf('AC-10') > found.indexOf('AC-9'));
  inOrder(await identifiers('nist-800-53', { version: 'Rev 4' }), order80053);
  const padded = (identifier: string) => identifier.replace(/\d+/g, (digits) => digits.padStart(3, '0'));
  for (const version of ['Rev 2', 'Rev 3']) inOrder(await identifiers('nist-800-171', { version }), padded);
  assert.ok((await identifiers('nist-800-171')).indexOf('3.1.10') === 9);
  inOrder(await identifiers('dod-8500'), (identifier) => identifier);
});

lists('baselines: the counts of 800-53B, each control naming them from low to privacy', async () => {
  const order = ['low', 'moderate', 'high', 'privacy'];
  const counts = { low: 149, moderate: 287, high: 370, privacy: 96 };
  for (const [baseline, count] of Object.entries(counts)) {
    for (const spelling of [baseline, baseline.toUpperCase(), ` ${baseline} `])
      assert.is(await total('nist-800-53', { baseline: spelling }), count, spelling);
  }
  const { controls } = await list('nist-800-53');
  for (const { baselines, identifier } of controls)
    assert.equal(
      baselines,
      order.filter((each) => baselines.includes(each)),
      identifier,
    );
  assert.equal((await record('nist-800-53', 'AC-1')).baselines, order);
  const older = { low: 124, moderate: 261, high: 343, privacy: 0 };
  for (const [baseline, count] of Object.entries(older))
    assert.is(await total('nist-800-53', { baseline, version: 'Rev 4' }), count, baseline);
});

lists('baselines: several, comma-separated or repeated, are those of any of them', async () => {
  const union = controlsIn(await list('nist-800-53'), ({ baselines }) =>
    ['low', 'privacy'].some((each) => baselines.includes(each)),
  );
  assert.is(await total('nist-800-53', { baseline: 'low,privacy' }), union.length);
  const repeated = await t.get(`${base}/nist-800-53?baseline=low&baseline=privacy`);
  assertSameList(repeated.json.controls, union, 'union');
  assert.is(await total('nist-800-53', { baseline: 'low,moderate,high,privacy' }), 423);
});

function controlsIn({ controls }: Control, keep: (control: Control) => boolean): Control[] {
  return controls.filter(keep);
}

lists('800-171: 31 basic and 79 derived requirements; Rev 3 has no types', async () => {
  assert.is(await total('nist-800-171', { type: 'basic' }), 31);
  assert.is(await total('nist-800-171', { type: 'Derived' }), 79);
  assert.is(await total('nist-800-171', { type: 'basic,derived' }), 110);
  const { controls } = await list('nist-800-171', { type: 'basic' });
  assert.equal([...new Set(controls.map((each: Control) => each.requirementType))], ['basic']);
  const third = await list('nist-800-171', { version: 'Rev 3' });
  assert.equal([...new Set(third.controls.map((each: Control) => each.requirementType))], [null]);
  assert.is(await total('nist-800-171', { version: 'Rev 3', type: 'basic' }), 0);
});

lists('8500.2: MAC levels in every spelling, impact codes, subject areas', async () => {
  const levels: [string, number, string[]][] = [
    ['MAC I', 70, ['MACI', 'MAC I', 'I', '1', 'mac i', 'mAcI', 'MAC1', ' MAC  1 ']],
    ['MAC II', 70, ['MACII', 'MAC II', 'II', '2', 'ii']],
    ['MAC III', 64, ['MACIII', 'MAC III', 'III', '3', 'mac 3']],
  ];
  for (const [level, count, spellings] of levels) {
    for (const mac of spellings) {
      const { controls } = await list('dod-8500', { mac });
      assert.is(controls.length, count, mac);
      assert.ok(
        controls.every((each: Control) => each.macLevels.includes(level)),
        mac,
      );
    }
  }
  const either = controlsIn(await list('dod-8500'), ({ macLevels }) =>
    macLevels.some((each: string) => each !== 'MAC II'),
  );
  assert.is(await total('dod-8500', { mac: 'I,3' }), either.length);
  for (const [impact, count] of [
    ['High', 64],
    ['medium', 71],
    ['LOW', 22],
  ] as const)
    assert.is(await total('dod-8500', { impact }), count, impact);
  const areas = {
    'Enclave Computing Environment': ['EC', 48],
    'Security Design and Configuration': ['DC', 31],
    'Physical and Environmental': ['PE', 27],
    Continuity: ['CO', 24],
    'Identification and Authentication': ['IA', 9],
    'Enclave Boundary Defense': ['EB', 8],
    Personnel: ['PR', 7],
    'Vulnerability and Incident Management': ['VI', 3],
  } as const;
  const found = new Set((await list('dod-8500')).controls.map((each: Control) => each.subjectArea));
  assert.equal([...found].sort(), Object.keys(areas).sort());
  for (const [area, [code, count]] of Object.entries(areas)) {
    for (const family of [area, area.toUpperCase(), code, code.toLowerCase()])
      assert.is(await total('dod-8500', { family }), count, family);
  }
  const none = (await list('dod-8500')).controls.find((each: Control) => each.identifier === 'DCCB-1');
  assert.equal(none.macLevels, []);
});

/** The two-letter codes of the families of 800-171, which rule D6.3 lets one filter by. */
const codes171: Record<string, string> = {
  'Access Control': 'AC',
  'Awareness and Training': 'AT',
  'Audit and Accountability': 'AU',
  'Configuration Management': 'CM',
  'Identification and Authentication': 'IA',
  'Incident Response': 'IR',
  Maintenance: 'MA',
  'Media Protection': 'MP',
  'Personnel Security': 'PS',
  'Physical Protection': 'PE',
  Planning: 'PL',
  'Risk Assessment': 'RA',
  'Security Assessment': 'CA',
  'Security Assessment and Monitoring': 'CA',
  'System and Communications Protection': 'SC',
  'System and Information Integrity': 'SI',
  'System and Services Acquisition': 'SA',
  'Supply Chain Risk Management': 'SR',
};

const codeOf = (framework: string, control: Control): string =>
  framework === 'nist-800-171' ? codes171[control.family]! : control.identifier.slice(0, 2);

lists('families: the full name or the two-letter code, any case, the whole value', async () => {
  const versions = { 'nist-800-53': [newest.version, 'Rev 4'], 'nist-800-171': ['Rev 2', 'Rev 3'] };
  const sizes: Record<string, number[]> = {};
  for (const [framework, labels] of Object.entries(versions)) {
    for (const version of labels) {
      const all = await list(framework, { version });
      const families: string[] = [...new Set<string>(all.controls.map((each: Control) => each.family))];
      sizes[version] = [];
      for (const family of families) {
        const members = controlsIn(all, (each) => each.family === family);
        const code = codeOf(framework, members[0]);
        assert.match(code, /^[A-Z]{2}$/);
        for (const spelling of [family, family.toUpperCase(), code, code.toLowerCase()])
          assertSameList((await list(framework, { version, family: spelling })).controls, members, spelling);
        sizes[version].push(members.length);
      }
    }
  }
  assert.is(sizes[newest.version]!.length, 20);
  assert.is(sizes['Rev 4']!.length, 18);
  assert.equal(sizes['Rev 2'], [22, 3, 9, 9, 11, 3, 6, 9, 2, 6, 3, 4, 16, 7]);
  assert.is(sizes['Rev 3']!.length, 17);
  for (const family of [
    'Access',
    'Access Contro',
    'A',
    'ACC',
    '%',
    '__',
    '',
    'Zeppelins',
    '["ac"',
    'ac","3.1',
  ])
    assert.is(await total('nist-800-53', { family }), 0, family);
});

lists('search: a literal, case-insensitive part of identifier, title or statement', async () => {
  const { controls } = await list('nist-800-53');
  const naive = (text: string) =>
    controls.filter((each: Control) =>
      [each.identifier, each.title, each.statement].some((field) =>
        field.toLowerCase().includes(text.toLowerCase()),
      ),
    );
  const texts = [
    'ac-2',
    'AC-2(',
    '(1)',
    'Account Management',
    'aCCOUNT mANAGEMENT',
    ' and ',
    '-',
    'é',
    '\\',
    '"',
  ];
  for (const search of [
    ...texts,
    '%',
    '_',
    '%%',
    'AC_2',
    'AC%',
    '*',
    '.',
    "'",
    ';--',
    '[',
    '\u0130',
    'zeppelin',
    '',
  ])
    assertSameList((await list('nist-800-53', { search })).controls, naive(search), search);
  assert.is(await total('nist-800-53', { search: '_' }), naive('_').length);
  assert.is(await total('nist-800-53', { search: 'AC_2' }), 0);
  assert.is(await total('nist-800-53', { search: '' }), newest.total);
  assert.is(await total('nist-800-53', { search: 'x'.repeat(200) }), 0);
});

lists('search: no match across two fields', async () => {
  assert.is(await total('nist-800-53', { search: 'ac-1\npolicy and procedures' }), 0);
  assert.is(await total('dod-8500', { search: 'coas-1\nalternate' }), 0);
});

lists('withdrawn controls are in no list, whatever is searched for', async () => {
  for (const search of ['AC-2(10)', 'AC-3(1)', 'AC-13'])
    assert.not.ok(
      (await list('nist-800-53', { search })).controls.some((each: Control) => each.identifier === search),
    );
  assert.is(await total('nist-800-53', { version: 'Rev 4' }), 826);
  assert.is(await total('nist-800-171', { version: 'Rev 3' }), 97);
});

lists('another imported revision is reached by its label in every usual form', async () => {
  const versions: [string, string, string[]][] = [
    [
      'nist-800-53',
      newest.version,
      [newest.version, newest.version.toLowerCase(), 'Rev 5', '5', ' Rev 5 ', 'REV 5'],
    ],
    ['nist-800-53', 'Rev 4', ['Rev 4', 'rev 4', '4', 'Rev4']],
    ['nist-800-171', 'Rev 2', ['Rev 2', '2']],
    ['nist-800-171', 'Rev 3', ['Rev 3', 'rev 3', '3']],
    ['dod-8500', 'DoDI 8500.2 (2003)', ['DoDI 8500.2 (2003)', 'dodi 8500.2 (2003)']],
  ];
  for (const [framework, label, spellings] of versions)
    for (const version of spellings) assert.is((await list(framework, { version })).version, label, version);
  await refused('nist-800-53?version=Rev%209', 404, noVersion('Rev 9'));
  await refused('nist-800-53?version=Rev%205.3.0', 404, noVersion('Rev 5.3.0'));
  await refused('nist-800-53?version=Rev%203', 404, noVersion('Rev 3'));
  await refused('nist-800-171?version=Rev%201', 404, noVersion('Rev 1'));
  await refused('dod-8500?version=1999', 404, noVersion('1999'));
});

lists('an unknown baseline or MAC level is 400; a filter of another framework is ignored', async () => {
  const bad: [string, string, string][] = [
    ['nist-800-53', 'baseline', 'low, moderate, high, privacy'],
    ['dod-8500', 'mac', 'MAC I, MAC II, MAC III'],
  ];
  for (const [framework, name, words] of bad) {
    const values = [
      'none',
      '',
      ',',
      '%',
      '0',
      'low;high',
      'MAC',
      'MAC IV',
      '4',
      'IIII',
      '__proto__',
      'constructor',
    ];
    for (const value of values)
      await refused(
        `${framework}${query({ [name]: value })}`,
        400,
        `${name} must be one or more of: ${words}`,
      );
  }
  // A filter of another framework is an unknown parameter here.
  assert.is(await total('nist-800-171', { baseline: 'none', mac: '9', impact: 'x' }), 110);
  assert.is(await total('nist-800-53', { type: 'none', zeppelin: '1' }), newest.total);
});

lists('page and limit slice the list and add the pagination; without them there is none', async () => {
  const all = await list('nist-800-53', { family: 'AC' });
  assert.not.ok('pagination' in all);
  const count = all.total;
  const cases: [Record<string, string>, [number, number], Control[]][] = [
    [{ limit: '10' }, [1, 10], all.controls.slice(0, 10)],
    [{ page: '2', limit: '10' }, [2, 10], all.controls.slice(10, 20)],
    [{ limit: '1000000' }, [1, 1_000_000], all.controls],
    [{ page: '1' }, [1, count], all.controls],
    [{ page: '2' }, [2, count], []],
    [{ page: '99999', limit: '7' }, [99_999, 7], []],
    [{ page: '007', limit: '07' }, [7, 7], all.controls.slice(42, 49)],
  ];
  for (const [values, [page, limit], controls] of cases) {
    const answer = await list('nist-800-53', { family: 'AC', ...values });
    assert.is(answer.total, count);
    assertSameList(answer.controls, controls, JSON.stringify(values));
    assert.equal(answer.pagination, { page, limit, total: count, totalPages: Math.ceil(count / limit) });
  }
  const none = await list('nist-800-53', { family: 'none', limit: '5' });
  assert.equal(none.pagination, { page: 1, limit: 5, total: 0, totalPages: 0 });
  const empty = await list('nist-800-53', { family: 'none', page: '3' });
  assert.equal([empty.controls, empty.pagination.total, empty.pagination.totalPages], [[], 0, 0]);
});

lists('pages in a row give the whole list once', async () => {
  const all = await list('dod-8500', { mac: 'I' });
  const seen: Control[] = [];
  for (let page = 1; ; page++) {
    const { controls } = await list('dod-8500', { mac: 'I', page: String(page), limit: '9' });
    if (controls.length === 0) break;
    seen.push(...controls);
  }
  assertSameList(seen, all.controls, 'pages');
});

/** What the filters are drawn from, by framework. */
const filters: Record<
  string,
  { versions: string[]; words: [string, string[], (each: Control) => string[]][] }
> = {
  'nist-800-53': {
    versions: ['Rev 5', 'Rev 4'],
    words: [['baseline', ['low', 'moderate', 'high', 'privacy'], (each) => each.baselines]],
  },
  'nist-800-171': {
    versions: ['Rev 2', 'Rev 3'],
    words: [['type', ['basic', 'derived'], (each) => [each.requirementType]]],
  },
  'dod-8500': {
    versions: ['DoDI 8500.2 (2003)'],
    words: [
      ['mac', ['MAC I', 'MAC II', 'MAC III'], (each) => each.macLevels],
      ['impact', ['Low', 'Medium', 'High'], (each) => [each.impactCode]],
    ],
  },
};

lists('filters are combined: random combinations give what a naive filter gives', async () => {
  const catalogs: Record<string, Control[]> = {};
  for (const [framework, { versions }] of Object.entries(filters)) {
    for (const version of versions) {
      const { controls } = await list(framework, { version });
      for (const each of controls)
        each.searched = [
          each.identifier,
          each.title ?? (await record(framework, each.identifier, version)).title,
          each.statement,
        ];
      catalogs[`${framework} ${version}`] = controls;
    }
  }
  const randomCase = (text: string, seed: number) =>
    [...text]
      .map((each, index) => ((seed >> (index % 30)) & 1 ? each.toUpperCase() : each.toLowerCase()))
      .join('');
  const combination = fc.constantFrom(...Object.keys(filters)).chain((framework) =>
    fc.record({
      framework: fc.constant(framework),
      version: fc.constantFrom(...filters[framework]!.versions),
      words: fc.tuple(
        ...filters[framework]!.words.map(([, words]) =>
          fc.option(fc.uniqueArray(fc.constantFrom(...words), { minLength: 1 }), { freq: 2 }),
        ),
      ),
      family: fc.option(fc.tuple(fc.nat(2000), fc.boolean(), fc.nat()), { freq: 2 }),
      search: fc.option(
        fc.tuple(fc.nat(2000), fc.nat(2), fc.nat(5000), fc.integer({ min: 1, max: 9 }), fc.nat()),
        {
          freq: 3,
        },
      ),
      page: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 1 }),
      limit: fc.option(fc.integer({ min: 1, max: 120 }), { freq: 1 }),
    }),
  );
  let found = 0;
  await fc.assert(
    fc.asyncProperty(combination, async ({ framework, version, words, family, search, page, limit }) => {
      const all = catalogs[`${framework} ${version}`]!;
      const values = new URLSearchParams({ version });
      let expected = all;
      for (const [index, chosen] of words.entries()) {
        if (chosen === null) continue;
        const [name, , of] = filters[framework]!.words[index]!;
        values.set(name, chosen.join(','));
        expected = expected.filter((each) => of(each).some((word) => chosen.includes(word)));
      }
      if (family !== null) {
        const one = all[family[0] % all.length]!;
        const [name, code] = [one.family ?? one.subjectArea, codeOf(framework, one)];
        values.set('family', randomCase(family[1] ? name : code, family[2]));
        expected = expected.filter((each) =>
          family[1] ? (each.family ?? each.subjectArea) === name : codeOf(framework, each) === code,
        );
      }
      if (search !== null) {
        const field: string = all[search[0] % all.length]!.searched[search[1]];
        const from = search[2] % Math.max(1, field.length);
        const text = randomCase(field.slice(from, from + search[3]), search[4]);
        values.set('search', text);
        expected = expected.filter((each) =>
          each.searched.some((part: string) => part.toLowerCase().includes(text.toLowerCase())),
        );
      }
      if (page !== null) values.set('page', String(page));
      if (limit !== null) values.set('limit', String(limit));
      // Schemas are checked elsewhere; here the answers themselves are.
      const response = await t.app.request(`${base}/${framework}?${values}`);
      const answer = (await response.json()) as Control;
      const size = limit ?? (page === null ? Number.POSITIVE_INFINITY : Math.max(1, expected.length));
      const start = page === null || page === 1 ? 0 : (page - 1) * size;
      assert.is(answer.total, expected.length, `${values}`);
      assertSameList(
        answer.controls,
        expected.slice(start, start + size).map(({ searched: _, ...control }) => control),
        `${values}`,
      );
      assert.is('pagination' in answer, page !== null || limit !== null);
      found += answer.controls.length;
    }),
    { numRuns: 120 },
  );
  assert.ok(found > 100, 'most combinations would find nothing');
});

lists.run();

const single = suite('single controls');
single.before(async () => {
  t = await sharedControls();
});

single('one control by every spelling of its identifier, and by its id', async () => {
  const one = await record('nist-800-53', 'AC-2(1)');
  assert.equal([one.identifier, one.framework, one.version], ['AC-2(1)', 'nist-800-53', newest.version]);
  const spellings = [
    'AC-2%281%29',
    'AC-2(1)',
    'AC-2%20(1)',
    'AC-2%20%281%29',
    'ac-2(1)',
    'AC-02(01)',
    'AC-002(001)',
  ];
  const more = ['ac-2.1', 'AC-2.1', 'Ac-02.01', 'AC-2%20%28%201%20%29', '%41C-2(1)', '%20AC-2(1)%20', one.id];
  for (const spelling of [...spellings, ...more, one.id.toUpperCase()]) {
    const answer = await t.get(`${base}/nist-800-53/${spelling}`);
    assert.is(answer.status, 200, spelling);
    assert.equal(answer.json, one, spelling);
  }
  // A blank that nobody encoded, as a URL parser passes it on.
  assert.equal((await t.get(`${base}/nist-800-53/AC-2 (1)`)).json, one);
  assert.is((await record('nist-800-171', ' 3.1.1 ')).identifier, '3.1.1');
  assert.is((await record('dod-8500', 'ecct-1')).identifier, 'ECCT-1');
});

single('what is no control is 404, what is no text 400', async () => {
  const unknown = [
    'AC-2.',
    'AC-2(1).',
    'AC-2%2e',
    'AC-2%EF%BC%881%EF%BC%89',
    'AC%E2%88%922',
    'AC-99',
    'ZZ-1',
    'AC-2(99)',
  ];
  const forged = [
    'AC-2%2F',
    '%2FAC-2',
    '..%2f',
    '..%2fdod-8500',
    '%2e%2e%2fnist-800-171%2f3.1.1',
    'AC-2%2F..%2FAC-3',
  ];
  const odd = [
    'AC-2%25281%2529',
    'AC-2+(1)',
    'AC',
    '-',
    '%20',
    "'%20OR%201=1--",
    '%',
    'AC-0',
    'AC-2(0)',
    'AC-2%0A',
  ];
  const others = [
    '3.1.1',
    'ECCT-1',
    'CCI-000015',
    '00000000-0000-5000-8000-000000000000',
    '__proto__',
    'constructor',
  ];
  for (const id of [
    ...unknown,
    ...forged,
    ...odd.filter((each) => each !== '%' && each !== 'AC-2%0A'),
    ...others,
  ]) {
    const answer = await t.get(`${base}/nist-800-53/${id}`);
    const shown = decodeURIComponent(id);
    assertError(answer, 404, 'NOT_FOUND', noControl(shown));
  }
  const long = await t.get(`${base}/nist-800-53/${'x'.repeat(200)}`);
  assertError(long, 404, 'NOT_FOUND', noControl('x'.repeat(64)));
  for (const id of ['%00', 'AC-2%00', '%zz', 'AC-2%zz', '%', '%E0%A4', '%ED%A0%80', 'AC-2%f'])
    assert.is((await t.get(`${base}/nist-800-53/${id}`)).status, 400, id);
  for (const path of ['nist-800-53/', 'nist-800-53/AC-2/', 'nist-800-53/AC-2/x', 'acme'])
    assert.is((await t.get(`${base}/${path}`)).status, 404, path);
  // An id belongs to its framework.
  const id = (await record('dod-8500', 'ECCT-1')).id;
  await refused(`nist-800-53/${id}`, 404, noControl(id));
});

single('the record adds framework and version, and of 800-53 status, related and the parts', async () => {
  for (const framework of ['nist-800-53', 'nist-800-171', 'dod-8500']) {
    const { controls, version } = await list(framework);
    for (const listed of controls.filter((_: Control, index: number) => index % 29 === 0)) {
      const one = await record(framework, listed.identifier);
      assert.equal([one.framework, one.version], [framework, version]);
      for (const name of Object.keys(listed))
        assert.equal(one[name], listed[name], `${listed.identifier} ${name}`);
      assert.not.ok('withdrawn' in one);
    }
  }
  const one = await record('nist-800-53', 'AC-2');
  assert.is(one.status, 'active');
  assert.ok(Array.isArray(one.related) && Array.isArray(one.statementParts));
  if (hasReferenceData) assert.ok(one.related.includes('AC-3') && one.statementParts.length > 10);
});

single('withdrawn controls have an empty statement and say where they went', async () => {
  const some = { 'AC-2(10)': ['AC-2'], 'AC-3(1)': ['AC-6'], 'AC-13': ['AC-2', 'AU-6'] };
  for (const [identifier, incorporatedInto] of Object.entries(some)) {
    const { statement, guidance, baselines, status, withdrawn } = await record('nist-800-53', identifier);
    assert.equal([statement, guidance, baselines, status], ['', '', [], 'withdrawn'], identifier);
    assert.equal(withdrawn, { incorporatedInto }, identifier);
  }
  // What Rev 5 withdrew is whole in Rev 4.
  const older = await record('nist-800-53', 'AC-2(10)', 'Rev 4');
  assert.equal([older.status, older.version, 'withdrawn' in older], ['active', 'Rev 4', false]);
  const third = await record('nist-800-171', '03.01.13');
  assert.equal([third.status, third.statement, third.version], ['withdrawn', '', 'Rev 3']);
  assert.ok(third.withdrawn.incorporatedInto.length > 0);
});

single('the revisions of 800-171 are never taken for one another', async () => {
  const second = await record('nist-800-171', '3.1.1');
  const third = await record('nist-800-171', '03.01.01');
  assert.equal([second.version, second.identifier], ['Rev 2', '3.1.1']);
  assert.equal([third.version, third.identifier, third.requirementType], ['Rev 3', '03.01.01', null]);
  assert.is.not(second.id, third.id);
  assert.equal(await record('nist-800-171', '03.01.01', 'Rev 3'), third);
  assert.equal(await record('nist-800-171', third.id), third);
  assert.equal(await record('nist-800-171', second.id, '2'), second);
  for (const id of ['3.01.1', '3.01.01', '03.1.1', '03.01.1', '3.1.01', '3.1', '03.01', '3.1.1.1', '3.1.1a'])
    await refused(`nist-800-171/${id}`, 404, noControl(id));
  const elsewhere = (id: string, here: string, there: string) =>
    noControl(`${id} is not in ${here}. It is in ${there}`);
  await refused('nist-800-171/03.01.01?version=Rev%202', 404, elsewhere('03.01.01', 'Rev 2', 'Rev 3'));
  await refused('nist-800-171/3.1.1?version=3', 404, elsewhere('3.1.1', 'Rev 3', 'Rev 2'));
  await refused(`nist-800-171/${second.id}?version=3`, 404, elsewhere(second.id, 'Rev 3', 'Rev 2'));
  await refused('nist-800-171/3.1.1?version=4', 404, noVersion('4'));
});

single('DCCB-1 has no MAC level and no confidentiality level, as published', async () => {
  const one = await record('dod-8500', 'DCCB-1');
  assert.equal([one.macLevels, one.confidentialityLevels], [[], []]);
});

single('ids are the same in every revision and on every machine', async () => {
  const other = await testApp([shipped('controls')]);
  try {
    const idsOf = async (app: TestApp, framework: string, version: string) => {
      const { controls } = (await app.get(`${base}/${framework}${query({ version })}`)).json;
      return new Map<string, string>(controls.map((each: Control) => [each.identifier, each.id]));
    };
    for (const [framework, { versions }] of Object.entries(filters)) {
      for (const version of versions) {
        const mine = await idsOf(t, framework, version);
        const theirs = await idsOf(other, framework, version);
        const isOlder = version === 'Rev 5' && hasReferenceData;
        assert.is(theirs.size - mine.size, isOlder ? 7 : 0, 'Release 5.2.0 is shipped');
        assertSameList(
          [...mine.keys()].map((identifier) => [identifier, theirs.get(identifier)]),
          [...mine],
          version,
        );
        for (const id of mine.values())
          assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
    }
    const [fifth, fourth] = [await idsOf(t, 'nist-800-53', '5'), await idsOf(t, 'nist-800-53', '4')];
    const shared = [...fourth.keys()].filter((identifier) => fifth.has(identifier));
    assert.ok(shared.length > 700);
    for (const identifier of shared) assert.is(fourth.get(identifier), fifth.get(identifier));
  } finally {
    other.db.close();
  }
});

single('the catalogs are public: an Authorization header is ignored, good or bad', async () => {
  for (const path of [
    'nist-800-53?family=AC',
    'nist-800-53/AC-2',
    'nist-800-171/3.1.1',
    'dod-8500?limit=1',
  ]) {
    const plain = await t.get(`${base}/${path}`, { token: null });
    assert.is(plain.status, 200);
    assertSecurityHeaders(plain.headers);
    for (const Authorization of [
      'Bearer nonsense',
      'Bearer',
      'Basic x',
      '',
      'Bearer gsi_x',
      `Bearer ${await t.token()}`,
    ]) {
      const answer = await t.get(`${base}/${path}`, { headers: { Authorization } });
      assert.equal([answer.status, answer.text], [200, plain.text], Authorization);
    }
  }
});

single('answers carry an ETag, and 304 when the caller has them', async () => {
  const tags = new Set<string>();
  const paths = ['nist-800-53', 'nist-800-53?limit=1', 'nist-800-53/AC-2', 'nist-800-53/AC-3', 'dod-8500'];
  for (const path of paths) {
    const answer = await t.get(`${base}/${path}`, { token: null });
    const tag = answer.headers.get('ETag')!;
    assert.match(tag, /^"[\w-]+"$/);
    assert.is(answer.headers.get('Cache-Control'), 'no-cache');
    assert.is(answer.headers.get('Vary'), 'Accept-Encoding');
    tags.add(tag);
    const again = await t.get(`${base}/${path}`, { headers: { 'If-None-Match': tag } });
    assert.equal([again.status, again.text, again.headers.get('ETag')], [304, '', tag]);
    const changed = await t.get(`${base}/${path}`, { headers: { 'If-None-Match': '"other"' } });
    assert.is(changed.status, 200);
    const head = await t.get(`${base}/${path}`, { method: 'HEAD' });
    assert.equal([head.status, head.text, head.headers.get('ETag')], [200, '', tag]);
  }
  assert.is(tags.size, paths.length);
});

single('other methods are 405 with Allow', async () => {
  for (const path of ['nist-800-53', 'nist-800-53/AC-2', 'dod-8500/ECCT-1']) {
    const answer = await t.send('POST', `${base}/${path}`, {});
    assert.equal([answer.status, answer.headers.get('Allow')], [405, 'GET, HEAD']);
  }
});

single.run();

const real = suiteIf(referenceData, 'controls of the real files');
if (real) {
  real.before(async () => {
    t = await sharedControls();
  });

  for (const revision of [4, 5] as const) {
    real(`800-53 Rev ${revision}: identifiers, titles, families, baselines and withdrawals`, async () => {
      const oracle = read80053(revision);
      const counts = { 4: [922, 96], 5: [1189, 182] }[revision];
      assert.equal([oracle.length, oracle.filter((each) => each.withdrawn).length], counts);
      const members = new Map(baselineNames(revision).map((name) => [name, readBaseline(revision, name)]));
      const version = String(revision);
      const { controls } = await list('nist-800-53', { version });
      assertSameList(
        controls.map(({ identifier, title, family, baselines }: Control) => ({
          identifier,
          title,
          family,
          baselines,
        })),
        oracle
          .filter((each) => !each.withdrawn)
          .map(({ identifier, title, family }) => ({
            identifier,
            title,
            family,
            baselines: [...members.keys()].filter((name) => members.get(name)!.has(identifier)),
          })),
        version,
      );
      for (const each of oracle.filter(({ withdrawn }) => withdrawn)) {
        const one = await record('nist-800-53', each.identifier, version);
        assert.equal(
          [one.title, one.family, one.status, one.statement],
          [each.title, each.family, 'withdrawn', ''],
        );
        assert.equal(one.withdrawn, { incorporatedInto: each.went }, each.identifier);
      }
      for (const each of controls) assert.ok(each.statement.length > 0, each.identifier);
    });
  }

  real('800-171 Rev 2 and Rev 3: identifiers, families, types and withdrawals', async () => {
    for (const revision of [2, 3] as const) {
      const oracle = read800171(revision);
      const version = `Rev ${revision}`;
      const { controls } = await list('nist-800-171', { version });
      assertSameList(
        controls.map((each: Control) => [each.identifier, each.family, each.requirementType]),
        oracle.filter((each) => !each.withdrawn).map((each) => [each.identifier, each.family, each.type]),
        version,
      );
      for (const each of controls)
        assert.ok(each.statement.length > 0 && each.guidance.length > 0, each.identifier);
      for (const each of oracle.filter(({ withdrawn }) => withdrawn)) {
        const one = await record('nist-800-171', each.identifier);
        assert.equal([one.version, one.status, one.statement], ['Rev 3', 'withdrawn', ''], each.identifier);
        assert.equal(one.withdrawn, { incorporatedInto: each.went }, each.identifier);
      }
    }
  });

  real('8500.2: names, subject areas, levels and impact', async () => {
    const { controls } = await list('dod-8500');
    const oracle = read8500();
    assert.is(oracle.length, 157);
    assertSameList(
      controls.map(({ identifier, title, subjectArea, macLevels, impactCode }: Control) => ({
        identifier,
        title,
        subjectArea,
        macLevels,
        impactCode,
      })),
      oracle.map(({ confidentialityLevels: _, ...each }) => each),
      '8500.2',
    );
    for (const each of oracle)
      assert.equal(
        (await record('dod-8500', each.identifier)).confidentialityLevels,
        each.confidentialityLevels,
      );
    for (const each of controls) assert.ok(each.statement.length > 0, each.identifier);
  });

  real.run();
}
