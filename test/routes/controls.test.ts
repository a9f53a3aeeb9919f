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
import { assertError } from '../support/service.ts';
import { rowsOf } from '../support/tables.ts';
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

lists(
  'each framework lists every active control once, with its fields in their order, in catalog order',
  async () => {
    const padded = (identifier: string) => identifier.replace(/\d+/g, (digits) => digits.padStart(3, '0'));
    const fields53 = 'id,identifier,title,family,baselines,statement,guidance';
    const fields171 = 'id,identifier,family,requirementType,statement,guidance';
    const fields8500 =
      'id,identifier,title,subjectArea,macLevels,impactCode,statement,guidance,threat,resources';
    const expected = [
      ['nist-800-53', newest.version, newest.total, fields53, order80053],
      ['nist-800-53', 'Rev 4', 826, fields53, order80053],
      ['nist-800-171', 'Rev 2', 110, fields171, padded],
      ['nist-800-171', 'Rev 3', 97, fields171, padded],
      ['dod-8500', 'DoDI 8500.2 (2003)', 157, fields8500, (identifier: string) => identifier],
    ] as const;
    for (const [framework, version, count, fields, key] of expected) {
      const { controls, ...envelope } = await list(framework, { version });
      assert.equal(envelope, { framework, version, total: count });
      const found = controls.map((each: Control) => each.identifier) as string[];
      assert.equal(
        [new Set(found).size, new Set(controls.map((each: Control) => each.id)).size],
        [count, count],
      );
      assert.equal([...new Set(controls.map((each: Control) => Object.keys(each).join()))], [fields]);
      assertSameList(found, sortedBy(found, key), `order of ${version}`);
    }
    for (const [framework, version] of [expected[0], expected[2], expected[4]])
      assert.is((await list(framework)).version, version, 'the served one');
  },
);

/** How many controls a query finds; in the query `+` is a blank. */
const totals = `
  nist-800-53?baseline=LOW | 149
  nist-800-53?baseline=+moderate+ | 287
  nist-800-53?baseline=high | 370
  nist-800-53?baseline=privacy | 96
  nist-800-53?baseline=low,moderate,high,privacy | 423
  nist-800-53?baseline=low&version=Rev+4 | 124
  nist-800-53?baseline=privacy&version=4 | 0
  nist-800-171?type=basic | 31
  nist-800-171?type=Derived | 79
  nist-800-171?type=basic&version=Rev+3 | 0
  nist-800-171?baseline=none&mac=9&impact=x | 110
  dod-8500?impact=High | 64
  dod-8500?family=Enclave+Computing+ENVIRONMENT | 48
  dod-8500?family=ec | 48
  nist-800-53?family=Access | 0
  nist-800-53?family=A | 0
  nist-800-53?family=__ | 0
  nist-800-53?family= | 0
  nist-800-53?family=["ac" | 0
  nist-800-53?family=ac","3.1 | 0
  nist-800-53?search=AC_2 | 0
  nist-800-53?search=ac-1%0Apolicy+and+procedures | 0
  dod-8500?search=coas-1%0Aalternate | 0
`;

lists('the published counts, whatever the spelling of a filter', async () => {
  for (const [query, count] of rowsOf(totals) as [string, string][]) {
    const [framework, values] = query.split('?') as [string, string];
    const { total, controls } = await list(framework, Object.fromEntries(new URLSearchParams(values)));
    assert.equal([total, controls.length], [Number(count), Number(count)], query);
  }
  // MAC levels are read in every spelling.
  for (const [level, count, spellings] of [
    ['MAC I', 70, 'MACI|MAC I|I|1|mac i|mAcI|MAC1| MAC  1 '],
    ['MAC II', 70, 'MACII|MAC II|II|2|ii'],
    ['MAC III', 64, 'MACIII|MAC III|III|3|mac 3'],
  ] as const)
    for (const mac of spellings.split('|')) {
      const { controls } = await list('dod-8500', { mac });
      assert.is(controls.length, count, mac);
      for (const { macLevels } of controls) assert.ok(macLevels.includes(level), mac);
    }
  const repeated = await t.get(`${base}/nist-800-53?baseline=low&baseline=privacy&zeppelin=1`);
  assert.equal(repeated.json, await list('nist-800-53', { baseline: 'low,privacy' }));
});

lists('search: a literal, case-insensitive part of identifier, title or statement', async () => {
  const { controls } = await list('nist-800-53');
  const texts = `AC-2(|(1)|aCCOUNT mANAGEMENT| and |é|\\|"|%|_|%%|AC%|*|.|'|;--|[|\u0130|AC-2(10)|AC-3(1)|`;
  for (const search of texts.split('|')) {
    const has = (text: string) => text.toLowerCase().includes(search.toLowerCase());
    const found = controls.filter((each: Control) => [each.identifier, each.title, each.statement].some(has));
    assertSameList((await list('nist-800-53', { search })).controls, found, search);
  }
});

lists('another imported revision is reached by its label in every usual form', async () => {
  for (const [framework, label, spellings] of rowsOf(`
    nist-800-53 | ${newest.version} | ${newest.version},${newest.version.toLowerCase()},Rev 5,5, Rev 5 ,REV 5
    nist-800-53 | Rev 4 | rev 4,4,Rev4
    nist-800-171 | Rev 2 | Rev 2,2
    nist-800-171 | Rev 3 | rev 3,3
    dod-8500 | DoDI 8500.2 (2003) | DoDI 8500.2 (2003),dodi 8500.2 (2003)
  `) as [string, string, string][])
    for (const version of spellings.split(','))
      assert.is((await list(framework, { version })).version, label, version);
  for (const [framework, version] of rowsOf(`
    nist-800-53 | Rev 9
    nist-800-53 | Rev 5.3.0
    nist-800-53 | Rev 3
    nist-800-171 | Rev 1
    dod-8500 | 1999
  `) as [string, string][])
    await refused(`${framework}${query({ version })}`, 404, noVersion(version));
});

lists('an unknown baseline or MAC level is 400', async () => {
  for (const [path, words] of [
    ['nist-800-53?baseline', 'low, moderate, high, privacy'],
    ['dod-8500?mac', 'MAC I, MAC II, MAC III'],
  ] as const)
    for (const value of ['none', ',', '%25', 'low;high', 'MAC', 'MAC IV', '4', 'IIII', '__proto__'])
      await refused(`${path}=${value}`, 400, `${path.split('?')[1]} must be one or more of: ${words}`);
});

/** The two-letter codes of the families of 800-171, which rule D6.3 lets one filter by. */
const codes171 = Object.fromEntries(
  `AC Access Control|AT Awareness and Training|AU Audit and Accountability|CM Configuration Management
  IA Identification and Authentication|IR Incident Response|MA Maintenance|MP Media Protection|PL Planning
  PS Personnel Security|PE Physical Protection|RA Risk Assessment|CA Security Assessment
  CA Security Assessment and Monitoring|SC System and Communications Protection|SR Supply Chain Risk Management
  SI System and Information Integrity|SA System and Services Acquisition`
    .split(/\||\n\s*/)
    .map((each) => [each.slice(3), each.slice(0, 2)]),
);

const codeOf = (framework: string, control: Control): string =>
  framework === 'nist-800-171' ? codes171[control.family]! : control.identifier.slice(0, 2);

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
  const searched = fc.tuple(fc.nat(2000), fc.nat(2), fc.nat(5000), fc.integer({ min: 1, max: 9 }), fc.nat());
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
      search: fc.option(searched, { freq: 3 }),
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
      if (limit !== null) {
        const total = expected.length;
        const pagination = { page: page ?? 1, limit, total, totalPages: Math.ceil(total / limit) };
        assert.equal(answer.pagination, pagination);
      }
      found += answer.controls.length;
    }),
    { numRuns: 80 },
  );
  assert.ok(found > 60, 'most combinations would find nothing');
});

lists.run();

const single = suite('single controls');
single.before(async () => {
  t = await sharedControls();
});

single('one control by every spelling of its identifier, and by its id', async () => {
  const one = await record('nist-800-53', 'AC-2(1)');
  assert.equal([one.identifier, one.framework, one.version], ['AC-2(1)', 'nist-800-53', newest.version]);
  const spellings = `AC-2%281%29 AC-2(1) AC-2%20(1) AC-2%20%281%29 ac-2(1) AC-02(01) AC-002(001) ac-2.1 AC-2.1
    Ac-02.01 AC-2%20%28%201%20%29 %41C-2(1) %20AC-2(1)%20 ${one.id} ${one.id.toUpperCase()}`;
  for (const spelling of spellings.split(/\s+/))
    assert.equal((await t.get(`${base}/nist-800-53/${spelling}`)).json, one, spelling);
  // A blank that nobody encoded, as a URL parser passes it on.
  assert.equal((await t.get(`${base}/nist-800-53/AC-2 (1)`)).json, one);
  assert.is((await record('nist-800-171', ' 3.1.1 ')).identifier, '3.1.1');
  assert.is((await record('dod-8500', 'ecct-1')).identifier, 'ECCT-1');
  const { macLevels, confidentialityLevels } = await record('dod-8500', 'DCCB-1');
  assert.equal([macLevels, confidentialityLevels], [[], []], 'published without levels');
});

single('what is no control is 404, what is no text 400', async () => {
  const unknown = `AC-2. AC-2(1). AC-2%2e AC-2%EF%BC%881%EF%BC%89 AC%E2%88%922 AC-99 ZZ-1 AC-2(99)
    AC-2%2F %2FAC-2 ..%2f ..%2fdod-8500 %2e%2e%2fnist-800-171%2f3.1.1 AC-2%2F..%2FAC-3
    AC-2%25281%2529 AC-2+(1) AC - %20 '%20OR%201=1-- AC-0 AC-2(0)
    3.1.1 ECCT-1 CCI-000015 00000000-0000-5000-8000-000000000000 __proto__ constructor`;
  for (const id of unknown.split(/\s+/)) {
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

single('withdrawn controls have an empty statement and say where they went', async () => {
  const some = { 'AC-2(10)': ['AC-2'], 'AC-13': ['AC-2', 'AU-6'] };
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

single('ids are the same in every revision and on every machine', async () => {
  const other = await testApp([shipped('controls')]);
  const idsOf = async (app: TestApp, framework: string, version: string) => {
    const { controls } = (await app.get(`${base}/${framework}${query({ version })}`)).json;
    return new Map<string, string>(controls.map((each: Control) => [each.identifier, each.id]));
  };
  for (const [framework, { versions }] of Object.entries(filters))
    for (const version of versions) {
      const [mine, theirs] = [await idsOf(t, framework, version), await idsOf(other, framework, version)];
      const isOlder = version === 'Rev 5' && hasReferenceData;
      assert.is(theirs.size - mine.size, isOlder ? 7 : 0, 'Release 5.2.0 is shipped');
      for (const [identifier, id] of mine) {
        assert.is(theirs.get(identifier), id, `${version} ${identifier}`);
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }
    }
  other.db.close();
  const [fifth, fourth] = [await idsOf(t, 'nist-800-53', '5'), await idsOf(t, 'nist-800-53', '4')];
  const shared = [...fourth.keys()].filter((identifier) => fifth.has(identifier));
  assert.ok(shared.length > 700);
  for (const identifier of shared) assert.is(fourth.get(identifier), fifth.get(identifier));
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
      const baselinesOf = (id: string) => [...members.keys()].filter((name) => members.get(name)!.has(id));
      assertSameList(
        controls.map((each: Control) => [each.identifier, each.title, each.family, ...each.baselines]),
        oracle
          .filter((each) => !each.withdrawn)
          .map(({ identifier, title, family }) => [identifier, title, family, ...baselinesOf(identifier)]),
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
    const bare = ({ identifier, title, subjectArea, macLevels, impactCode }: Control) => {
      return { identifier, title, subjectArea, macLevels, impactCode };
    };
    assertSameList(controls.map(bare), oracle.map(bare), '8500.2');
    for (const each of oracle)
      assert.equal(
        (await record('dod-8500', each.identifier)).confidentialityLevels,
        each.confidentialityLevels,
      );
    for (const each of controls) assert.ok(each.statement.length > 0, each.identifier);
  });

  real.run();
}
