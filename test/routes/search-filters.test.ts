import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { rowsOf } from '../support/tables.ts';
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

const samples = [
  {
    id: 'Formula',
    title: 'Zebra Formula STIG',
    rules: [
      {
        ...{ groupId: 'V-99', ruleId: 'SV-99r1_rule', version: '=cmd|1', title: '=HYPERLINK("x")' },
        ...{ severity: 'low', ccis: ['CCI-000015', 'CCI-000366'] },
      },
      {
        ...{ groupId: 'V-100', ruleId: 'SV-100r1_rule', version: '+1', severity: 'high', ccis: [] },
        title: 'A "quoted",\nbroken title',
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

filters(
  'a filter that names what is not there is 404, a malformed one 400, with its field (rule D35.3)',
  async () => {
    const wrong = rowsOf(`
    stig | no_such | 404 | ${noStig('no_such')}
    stig | | 400 | stig must not be empty
    stig | %20%09 | 400 | stig must not be empty
    stig | harbor_linux_3&stig= | 400 | stig must not be empty
    stig | harbor_linux_3&stig=no_such | 404 | ${noStig('no_such')}
    list | none | 404 | Not found
    list | no list | 400 | list must be the id of a list
    list | | 400 | list must be the id of a list
    list | ../x | 400 | list must be the id of a list
    cci | cci-999999 | 404 | CCI not found: cci-999999
    cci | x | 400 | cci must be a CCI such as CCI-000366
    control | AC-99 | 404 | ${noControl('AC-99')}
    control | zz | 400 | control must be a control of nist-800-53 such as AC-2(1)
  `) as [string, string, string, string][];
    const refused = async (path: string, [field, , status, message]: (typeof wrong)[number]) => {
      const answer = await t.get(`/api/v1/${path}`);
      assertError(answer, Number(status), status === '404' ? 'NOT_FOUND' : 'BAD_REQUEST', message);
      assert.is(answer.json.error.field, field, path);
    };
    for (const row of wrong) {
      const query = `${row[0]}=${row[1]}`;
      for (const others of ['q=the&format=csv&', 'severity=high&', 'format=xlsx&'])
        await refused(`search?${others}${query}`, row);
      if (/stig|list/.test(row[0])) await refused(`control-rules/nist-800-53/AC-2?${query}`, row);
      if (row[0] === 'cci') await refused(`stigs/harbor_linux_3/download?format=csv&${query}`, row);
    }
  },
);

filters('csv and xlsx hold all that was found, in its order, and no cell is a formula', async () => {
  const columns =
    'slug,stigTitle,version,groupId,ruleId,ruleVersion,ruleTitle,severity,ruleIdents,rank'.split(',');
  const cellsOf = (rule: Rule, guard: string) =>
    columns.map((name) => {
      const text = [rule[name as keyof Rule]].flat().join(';');
      return /^[=+\-@]/.test(text) ? guard + text : text;
    });
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
  const of = (...slugs: string[]) => namesOf(every.filter((rule) => slugs.includes(rule.slug)));
  // Twice: what is kept for one is not for another.
  for (let round = 0; round < 2; round++) {
    assert.equal(namesOf(await ask(`list=${own}`)), of('lantern_web_server_2', 'zebra_formula'));
    const both = `list=${own}&stig=zebra_formula&stig=harbor_linux_3`;
    assert.equal(namesOf(await ask(both)), of('zebra_formula'));
    assert.equal(namesOf(await ask(`list=${shared}`, bob)), of('harbor_linux_3'));
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
    assert.is((await t.get('/api/v1/stigs?search=hl3')).json.pagination.total, 0);
    assert.is((await t.get('/api/v1/stigs?search=bor%20lin')).json.pagination.total, 1);
  },
);

filters('the rules of a control are counted by severity, for several STIGs', async () => {
  const addressing = await ask('control=CM-6');
  for (const chosen of [[], ['harbor_linux_3'], ['lantern_web_server_2', 'zebra_formula']])
    for (const severity of ['', '&severity=high', '&severity=low,medium']) {
      const query = chosen.map((slug) => `stig=${slug}`).join('&') + severity;
      const { json } = await t.get(`/api/v1/control-rules/nist-800-53/CM-6?${query}&limit=1`);
      const expected = addressing.filter(
        (rule) =>
          (chosen.length === 0 || chosen.includes(rule.slug)) &&
          (severity === '' || severity.includes(rule.severity)),
      );
      const count = (level: string) => expected.filter((rule) => rule.severity === level).length;
      assert.equal(json.counts, { high: count('high'), medium: count('medium'), low: count('low') }, query);
    }
});

filters.run();
