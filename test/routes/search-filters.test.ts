import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { noControl, noStig } from '../support/words.ts';
import { readSheet } from '../support/xlsx-reader.ts';

interface Rule {
  slug: string;
  stigTitle: string;
  version: string;
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  ruleTitle: string;
  severity: 'high' | 'medium' | 'low';
  ruleIdents: string[];
  rank: number;
}

const filters = suite('Search by filters');
let t: TestApp;
let every: Rule[];

/** STIGs whose order by title is not that by slug, and two whose titles differ in case alone. */
const ties = ['Zebra b', 'Zebra-a', 'ZEBRA-a'].map((name, index) => ({
  ...{ id: `Tie_${index}_STIG`, title: `${name} STIG`, stem: `TIE${index}`, first: 600_001 + 1000 * index },
  rules: 3,
}));

const samples = [
  ...ties,
  {
    id: 'Formula',
    title: 'Zebra Formula STIG',
    rules: [
      {
        groupId: 'V-99',
        ruleId: 'SV-99r1_rule',
        version: '=cmd|1',
        title: '=HYPERLINK("x")',
        severity: 'low',
        ccis: ['CCI-000015', 'CCI-000366'],
      },
      {
        groupId: 'V-100',
        ruleId: 'SV-100r1_rule',
        version: '+1',
        title: 'A "quoted",\nbroken title',
        severity: 'high',
        ccis: [],
      },
    ],
  },
];

async function ask(query: string, token?: string): Promise<Rule[]> {
  const rules: Rule[] = [];
  for (let page = 1; ; page++) {
    const { status, json, text } = await t.get(
      `/api/v1/search?${query}&limit=100&page=${page}`,
      token ? { token } : {},
    );
    assert.is(status, 200, `${query}: ${text.slice(0, 200)}`);
    rules.push(...json.results);
    if (page >= json.pagination.totalPages) {
      assert.is(rules.length, json.pagination.total);
      return rules;
    }
  }
}

const namesOf = (rules: Rule[]) => rules.map(({ slug, ruleId }) => `${slug} ${ruleId}`);

filters.before(async () => {
  t = await testApp([shipped(), writeBenchmarks(samples)]);
  every = await ask('severity=high,medium,low');
});
filters.after(() => t.db.close());

filters('all severities give every current rule, by STIG and document order', async () => {
  const expected: string[] = [];
  for (const { slug } of (await t.get('/api/v1/stigs')).json.stigs)
    for (const { ruleId } of (await t.get(`/api/v1/stigs/${slug}`)).json.findings)
      expected.push(`${slug} ${ruleId}`);
  assert.equal(namesOf(every), expected);
  assert.equal(
    every.map(({ rank }) => rank),
    expected.map((_, index) => index + 1),
  );
  const { catalog, severity } = (await t.get('/api/v1/stigs/stats')).json;
  assert.is(every.length, catalog.totalFindings);
  for (const level of ['high', 'medium', 'low'] as const)
    assert.is((await ask(`severity=${level}`)).length, severity[level], level);
});

filters('filters without a question are combined, as brute force has it', async () => {
  const harbor = (rule: Rule) => rule.slug === 'harbor_linux_3';
  const lantern = (rule: Rule) => rule.slug === 'lantern_web_server_2';
  const cites = (cci: string) => (rule: Rule) => rule.ruleIdents.includes(cci);
  const lookup = (
    await t.send('POST', '/api/v1/crosswalk/resolve/batch', {
      ccis: [...new Set(every.flatMap((rule) => rule.ruleIdents))],
    })
  ).json as Record<string, string[]>;
  const addresses = (control: string) => (rule: Rule) =>
    rule.ruleIdents.some((cci) => lookup[cci]!.includes(control));
  const cases: [query: string, keep: (rule: Rule) => boolean][] = [
    ['stig=harbor_linux_3', harbor],
    ['stig=Harbor_Linux_3_STIG', harbor],
    ['stig=harbor_linux_3&stig=lantern_web_server_2', (rule) => harbor(rule) || lantern(rule)],
    ['stig=HARBOR_LINUX_3', harbor],
    ['cci=cci-366', cites('CCI-000366')],
    ['control=ac-2.1', addresses('AC-2(1)')],
    [
      'control=CM-6&stig=lantern_web_server_2&stig=zebra_formula&severity=low,high',
      (rule) => addresses('CM-6')(rule) && !harbor(rule) && rule.severity !== 'medium',
    ],
    ['q=&cci=CCI-15', cites('CCI-000015')],
  ];
  for (const [query, keep] of cases) {
    assert.equal(namesOf(await ask(query)), namesOf(every.filter(keep)), query);
  }
  assert.ok(every.some(addresses('CM-6')));
});

filters(
  'a filter that names what is not there is 404, a malformed one 400, with its field (rule D35.3)',
  async () => {
    const wrong = [
      ['stig', 'no_such', 404, noStig('no_such')],
      ['stig', '', 400, 'stig must not be empty'],
      ['list', 'none', 404, 'Not found'],
      ['list', 'no list', 400, 'list must be the id of a list'],
      ['list', '', 400, 'list must be the id of a list'],
      ['stig', '%20%09', 400, 'stig must not be empty'],
      ['stig', 'harbor_linux_3&stig=', 400, 'stig must not be empty'],
      ['list', '../x', 400, 'list must be the id of a list'],
      ['cci', 'cci-999999', 404, 'CCI not found: cci-999999'],
      ['cci', 'x', 400, 'cci must be a CCI such as CCI-000366'],
      ['control', 'AC-99', 404, noControl('AC-99')],
      ['control', 'zz', 400, 'control must be a control of nist-800-53 such as AC-2(1)'],
    ] as const;
    const asked = ['q=the&', 'severity=high&', ''];
    for (const [field, text, status, message] of wrong)
      for (const others of asked)
        for (const format of ['json', 'csv', 'xlsx']) {
          const answer = await t.get(`/api/v1/search?${others}${field}=${text}&format=${format}`);
          assertError(answer, status, status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST', message);
          assert.is(answer.json.error.field, field);
        }
    for (const [field, text, status, message] of wrong.slice(0, 8)) {
      const answer = await t.get(`/api/v1/control-rules/nist-800-53/AC-2?${field}=${text}`);
      assertError(answer, status, status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST', message);
      assert.is(answer.json.error.field, field);
    }
    for (const [text, status] of [
      ['CCI-999999', 404],
      ['x', 400],
      ['cci-366', 200],
    ] as const) {
      const answer = await t.get(`/api/v1/stigs/harbor_linux_3/download?format=csv&cci=${text}`);
      assert.is(answer.status, status, text);
      if (status !== 200) assert.is(answer.json.error.field, 'cci');
    }
    assert.is((await t.get('/api/v1/stigs/changelog?slug=no_such')).json.pagination.total, 0, 'rule D4.9');
  },
);

filters('results are sorted, with pages that partition them', async () => {
  const order = { high: 1, medium: 2, low: 3 };
  const byStig = new Map(every.map((rule, index) => [`${rule.slug} ${rule.ruleId}`, index]));
  const placeOf = (rule: Rule) => byStig.get(`${rule.slug} ${rule.ruleId}`)!;
  const number = (rule: Rule) => Number(/\d+/.exec(rule.groupId)![0]);
  for (const base of ['severity=high,medium,low', 'q=the']) {
    const found = await ask(base);
    const sorted = (compare: (a: Rule, b: Rule) => number) => namesOf([...found].sort(compare));
    assert.equal(
      namesOf(await ask(`${base}&sort=stig`)),
      sorted((a, b) => placeOf(a) - placeOf(b)),
    );
    assert.equal(
      namesOf(await ask(`${base}&sort=Severity`)),
      sorted((a, b) => order[a.severity] - order[b.severity] || placeOf(a) - placeOf(b)),
    );
    assert.equal(
      namesOf(await ask(`${base}&sort=id`)),
      sorted((a, b) => number(a) - number(b)),
    );
    assert.equal(
      namesOf(await ask(`${base}&sort=relevance`)),
      namesOf(found),
      'the default, or what comes to it',
    );
  }
  assert.is((await ask('q=V-99&sort=relevance'))[0]!.groupId, 'V-99', 'an id still comes first');
});

filters('csv and xlsx hold all that was found, in its order, and no cell is a formula', async () => {
  const columns =
    'slug,stigTitle,version,groupId,ruleId,ruleVersion,ruleTitle,severity,ruleIdents,rank'.split(',');
  const cellsOf = (rule: Rule, guard: string) => [
    ...[
      rule.slug,
      rule.stigTitle,
      rule.version,
      rule.groupId,
      rule.ruleId,
      rule.ruleVersion,
      rule.ruleTitle,
    ].map((text) => (/^[=+\-@]/.test(text) ? guard + text : text)),
    rule.severity,
    rule.ruleIdents.join(';'),
    String(rule.rank),
  ];
  for (const query of `severity=high,medium,low q=the&sort=severity stig=zebra_formula&sort=id q=nothing-like-it
    q=%22the%20%22`.split(/\s+/)) {
    const found = await ask(query);
    // A page is not asked for: neither its number nor its size counts.
    const csv = await t.get(`/api/v1/search?${query}&format=csv&limit=1&page=3`);
    assert.is(csv.headers.get('Content-Type'), 'text/csv; charset=utf-8');
    assert.match(csv.headers.get('Content-Disposition')!, /filename="rules_(q|severity|stig)-[^"]+\.csv"/);
    assert.equal(readCsv(csv.text), [columns, ...found.map((rule) => cellsOf(rule, "'"))], query);
    const raw = await t.get(`/api/v1/search?${query}&format=csv&raw=true`);
    assert.equal(readCsv(raw.text), [columns, ...found.map((rule) => cellsOf(rule, ''))], query);
    const answer = await t.app.request(`/api/v1/search?${query}&format=xlsx`, {
      headers: { Authorization: `Bearer ${await t.token()}` },
    });
    const sheet = readSheet(new Uint8Array(await answer.arrayBuffer()));
    assert.equal(sheet, { name: 'rules', rows: [columns, ...found.map((rule) => cellsOf(rule, ''))] }, query);
  }
  const json = await t.get('/api/v1/search?q=the');
  assert.is(json.headers.get('Content-Disposition'), null);
});

filters('more than a file holds is refused, and no page is', async () => {
  const rules = Array.from({ length: 20_001 }, (_, index) => ({
    ...{ groupId: `V-${index}`, ruleId: `SV-${index}r1_rule`, version: `BIG-${index}` },
    ...{
      title: 'T',
      description: 'D',
      checks: ['C'],
      fixTexts: ['F'],
      severity: index === 0 ? 'high' : 'low',
    },
  }));
  const big = await testApp([writeBenchmarks([{ id: 'Big', title: 'Big STIG', rules }])]);
  const all = '/api/v1/search?severity=high,low';
  assert.is((await big.get(all)).json.pagination.total, 20_001);
  for (const format of ['csv', 'xlsx'])
    assertError(
      await big.get(`${all}&format=${format}`),
      400,
      'BAD_REQUEST',
      '20,001 rules were found. An export holds 20,000: add filters',
    );
  const most = await big.get('/api/v1/search?severity=low&format=csv');
  assert.is(readCsv(most.text).length, 20_001, '20,000 and the header');
  big.db.close();
});

filters('a list narrows the rules to its STIGs, for who sees it alone', async () => {
  const bob = await t.token({ sub: 'bob', org: 'red' });
  const eve = await t.token({ sub: 'eve', org: 'blue' });
  const make = async (name: string, visibility: string, slugs: string[]) => {
    const { id } = (await t.send('POST', '/api/v1/lists', { name, visibility })).json;
    await t.send('POST', `/api/v1/lists/${id}/stigs`, { slugs });
    return id as string;
  };
  const own = await make('Own', 'PRIVATE', ['lantern_web_server_2', 'zebra_formula']);
  const shared = await make('Shared', 'SHARED', ['harbor_linux_3']);
  const empty = await make('Empty', 'PRIVATE', []);
  const of = (...slugs: string[]) => namesOf(every.filter((rule) => slugs.includes(rule.slug)));
  const rulesOf = async (control: string, query: string, token?: string) => {
    const { json } = await t.get(
      `/api/v1/control-rules/nist-800-53/${control}?limit=100&${query}`,
      token ? { token } : {},
    );
    return (json.stigs as { slug: string; rules: { ruleId: string }[] }[]).flatMap(({ slug, rules }) =>
      rules.map(({ ruleId }) => `${slug} ${ruleId}`),
    );
  };
  // Twice: what is kept for one is not for another.
  for (let round = 0; round < 2; round++) {
    assert.equal(namesOf(await ask(`list=${own}`)), of('lantern_web_server_2', 'zebra_formula'));
    assert.equal(
      namesOf(await ask(`list=${own}&stig=zebra_formula&stig=harbor_linux_3`)),
      of('zebra_formula'),
    );
    assert.equal(await ask(`list=${empty}`), []);
    assert.equal(namesOf(await ask(`list=${shared}`, bob)), of('harbor_linux_3'));
    const addressing = namesOf(await ask('control=CM-6'));
    assert.equal(
      await rulesOf('CM-6', `list=${own}`),
      addressing.filter((name) => /^(?:lantern|zebra_formula)/.test(name)),
    );
    assert.equal(
      await rulesOf('CM-6', `list=${shared}`, bob),
      addressing.filter((name) => name.startsWith('harbor')),
    );
    for (const token of [bob, eve])
      for (const path of [`search?list=${own}`, `control-rules/nist-800-53/CM-6?list=${own}`])
        assertError(await t.get(`/api/v1/${path}`, { token }), 404, 'NOT_FOUND', 'Not found');
    assertError(await t.get(`/api/v1/search?list=${shared}`, { token: eve }), 404, 'NOT_FOUND', 'Not found');
  }
  await t.send('POST', `/api/v1/lists/${own}/stigs`, { slugs: ['harbor_linux_3'] });
  const whole = of('harbor_linux_3', 'lantern_web_server_2', 'zebra_formula');
  assert.equal(namesOf(await ask(`list=${own}`)), whole, 'a change counts at once');
  await t.send('PATCH', `/api/v1/lists/${shared}`, { visibility: 'PRIVATE' });
  await t.send('DELETE', `/api/v1/lists/${own}`, {});
  assertError(await t.get(`/api/v1/search?list=${shared}`, { token: bob }), 404, 'NOT_FOUND', 'Not found');
  for (const query of [`list=${own}`, 'list=none', 'list=none&format=csv'])
    assertError(await t.get(`/api/v1/search?${query}`), 404, 'NOT_FOUND', 'Not found');
});

filters(
  'STIGs that the question names come with the rules, and are left out where there are none',
  async () => {
    const named = async (query: string) => (await t.get(`/api/v1/search?${query}`)).json.stigs;
    const harbor = {
      slug: 'harbor_linux_3',
      title: 'Harbor Linux 3 Security Technical Implementation Guide',
      version: 'V1R2',
    };
    for (const q of ['hl3', 'HL%203', 'Harbor_Linux_3_STIG', 'linux%203'])
      assert.equal(await named(`q=${q}`), [harbor], q);
    assert.equal(
      await named('q=hl3&stig=lantern_web_server_2'),
      [harbor],
      'whatever the rules are narrowed to',
    );
    for (const query of ['q=audit', 'severity=high', 'q=!!!'])
      assert.is(await named(query), undefined, query);
    // The list of STIGs keeps its literal search (rule D3.2).
    for (const search of ['hl3', 'Harbor_Linux_3_STIG'])
      assert.is(
        (await t.get(`/api/v1/stigs?search=${search}`)).json.pagination.total,
        search === 'hl3' ? 0 : 0,
      );
    assert.is((await t.get('/api/v1/stigs?search=bor%20lin')).json.pagination.total, 1);
  },
);

filters('the rules of a control are counted by severity, for several STIGs', async () => {
  const path = '/api/v1/control-rules/nist-800-53/CM-6';
  const slugs = ['harbor_linux_3', 'lantern_web_server_2', 'zebra_formula'];
  const addressing = await ask('control=CM-6');
  for (const chosen of [[], slugs.slice(0, 1), slugs.slice(1), slugs])
    for (const severity of ['', '&severity=high', '&severity=low,medium']) {
      const query = chosen.map((slug) => `stig=${slug}`).join('&') + severity;
      const { json } = await t.get(`${path}?${query}&limit=1`);
      const expected = addressing.filter(
        (rule) =>
          (chosen.length === 0 || chosen.includes(rule.slug)) &&
          (severity === '' || severity.includes(rule.severity)),
      );
      const count = (level: string) => expected.filter((rule) => rule.severity === level).length;
      assert.equal(json.counts, { high: count('high'), medium: count('medium'), low: count('low') }, query);
      assert.is(json.pagination.total, expected.length, query);
    }
  assertError(await t.get(`${path}?stig=harbor_linux_3&stig=no_such`), 404, 'NOT_FOUND', noStig('no_such'));
});

filters.run();
