import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { mappingsCsv } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { shipped } from '../support/reference.ts';

// The answers for ids, and the rules of one control or CCI (rule D35.2), on the shipped catalog.

const ids = suite('Ids in a question');
let t: TestApp;
let list: string;

ids.before(async () => {
  t = await testApp([shipped()]);
  list = (await t.send('POST', '/api/v1/lists', { name: 'One', visibility: 'PRIVATE' })).json.id;
  await t.send('POST', `/api/v1/lists/${list}/stigs`, { slugs: ['lantern_web_server_2'] });
});
ids.after(() => t.db.close());

async function ask(q: string, more = '') {
  const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}${more}`);
  assert.is(answer.status, 200, `${q}: ${answer.text.slice(0, 200)}`);
  return answer.json;
}
const answersTo = async (q: string, more = '') => (await ask(q, more)).answers;

const titleOf = (framework: string, id: string) =>
  t.db.sqlite
    .prepare<[string, string], string>(
      'SELECT title FROM controls WHERE framework = ? AND identifier = ? ORDER BY version DESC',
    )
    .pluck()
    .get(framework, id)!;
const ruleTitle = (groupId: string) =>
  t.db.sqlite
    .prepare<[string], string>('SELECT rule_title FROM findings WHERE group_id = ? ORDER BY id DESC')
    .pluck()
    .get(groupId)!;
const identifiers = (framework: string, status: string) =>
  t.db.sqlite
    .prepare<[string, string, string], string>(
      `SELECT DISTINCT identifier FROM controls AS c WHERE framework = ? AND status = ? AND NOT EXISTS
         (SELECT 1 FROM controls WHERE framework = c.framework AND identifier = c.identifier AND status <> ?)
        ORDER BY identifier`,
    )
    .pluck()
    .all(framework, status, status);

/** The rules that a control reaches, by the other endpoint. */
async function reachedFrom(framework: string, id: string, filter = ''): Promise<string[]> {
  const found: string[] = [];
  for (let page = 1; ; page++) {
    const path = `/api/v1/control-rules/${framework}/${encodeURIComponent(id)}`;
    const { json, status, text } = await t.get(`${path}?limit=100&page=${page}${filter}`);
    assert.is(status, 200, text.slice(0, 200));
    for (const stig of json.stigs) for (const rule of stig.rules) found.push(`${stig.slug} ${rule.ruleId}`);
    if (page >= json.pagination.totalPages) return found;
  }
}

ids('every kind and state has its answer, in the order asked, however they are separated', async () => {
  const [deprecated] = identifiers('cci', 'withdrawn');
  const harbor = { slug: 'harbor_linux_3', version: 'V1R2' };
  const rule = (asked: string, id: string) => ({
    ...{ asked, kind: 'rule', id, title: ruleTitle(id), state: 'current', ...harbor },
    href: `/stigs/harbor_linux_3/rules/${id}`,
  });
  const control = async (asked: string, framework: string, id: string, more: object = {}) => ({
    ...{ asked, kind: 'control', id, title: titleOf(framework, id), state: 'current' },
    href: `/controls/${framework}/${encodeURIComponent(id)}`,
    rules: (await reachedFrom(framework, id)).length,
    ...more,
  });
  const expected = [
    rule('V-900002', 'V-900002'),
    await control('ac-2(1)', 'nist-800-53', 'AC-2(1)'),
    rule('sv-900002', 'V-900002'),
    rule('SV-900002r100013', 'V-900002'),
    rule('SV-900002r1', 'V-900002'),
    rule('HARB-03-000020', 'V-900002'),
    rule('V-800112', 'V-900002'),
    rule('SV-800112', 'V-900002'),
    {
      ...rule('V-900013', 'V-900013'),
      ...{ state: 'removed', version: 'V1R1', href: '/stigs/harbor_linux_3/rules/V-900013?version=V1R1' },
    },
    { asked: 'V-999999', kind: 'rule', id: 'V-999999', state: 'unknown' },
    {
      ...{ asked: 'CCI-366', kind: 'cci', id: 'CCI-000366', title: titleOf('cci', 'CCI-000366') },
      ...{ state: 'current', href: '/ccis/CCI-000366' },
      rules: (await reachedFrom('cci', 'CCI-000366')).length,
    },
    {
      ...{ asked: deprecated, kind: 'cci', id: deprecated, title: titleOf('cci', deprecated!) },
      ...{ state: 'deprecated', href: `/ccis/${deprecated}` },
      rules: (await reachedFrom('cci', deprecated!)).length,
    },
    { asked: 'CCI-999999', kind: 'cci', id: 'CCI-999999', state: 'unknown' },
    await control('AC-13', 'nist-800-53', 'AC-13', { state: 'withdrawn' }),
    await control('IA-5(1)(c)', 'nist-800-53', 'IA-5(1)', { part: 'c' }),
    await control('3.1.1', 'nist-800-171', '3.1.1'),
    await control('ecan-1', 'dod-8500', 'ECAN-1'),
    { asked: 'AC-99', kind: 'control', id: 'AC-99', state: 'unknown' },
    {
      ...{ asked: 'Harbor_Linux_3_STIG', kind: 'stig', id: 'harbor_linux_3', state: 'current', ...harbor },
      ...{ title: 'Harbor Linux 3 Security Technical Implementation Guide', href: '/stigs/harbor_linux_3' },
    },
    {
      ...{ asked: 'lantern_web_server_2', kind: 'stig', id: 'lantern_web_server_2', state: 'current' },
      title: 'Lantern Web Server 2 Security Technical Implementation Guide',
      ...{ href: '/stigs/lantern_web_server_2', slug: 'lantern_web_server_2', version: 'V2R3' },
    },
    { asked: 'SRG-OS-999999-GPOS-99999', kind: 'srg', id: 'SRG-OS-999999-GPOS-99999', state: 'unknown' },
  ];
  const asked = expected.map((each) => each.asked);
  for (const between of [' ', ',', ', ', ';', ' ; ', '\n', '\r\n', '\t', ' ,\n;  '])
    assert.equal(await answersTo(asked.join(between)), expected, JSON.stringify(between));
  assert.equal(await answersTo(asked.toReversed().join(' ')), expected.toReversed());
  for (const each of expected) assert.equal(await answersTo(each.asked!), [each], each.asked);
  const spelled =
    'V900002=V-900002|v 900002=V-900002|SV900002r1_rule=V-900002|cci 366=CCI-000366|ac2=AC-2|AC_2 (1)=AC-2(1)|ia 5=IA-5';
  for (const [asked, id] of spelled.split('|').map((each) => each.split('=') as [string, string])) {
    const [answer, second] = await answersTo(asked);
    assert.equal([answer.asked, answer.id, answer.state, second], [asked, id, 'current', undefined], asked);
  }
  assert.equal(await answersTo('audit ac 2'), [], 'among other words a hyphen is wanted');
  const [named] = await answersTo('xccdf_mil.disa.stig_rule_SV-900002r100013_rule');
  assert.is(named.id, 'V-900002');
  const [part] = await answersTo('AC-2 d 3');
  assert.equal([part.asked, part.id, part.part], ['AC-2 d 3', 'AC-2', 'd 3']);
  const [srg] = await answersTo('srg-os-000080-gpos-00048');
  assert.equal(
    [srg.kind, srg.id, srg.state, srg.href],
    ['srg', 'SRG-OS-000080-GPOS-00048', 'current', '/search?q=SRG-OS-000080-GPOS-00048'],
  );
});

ids('an id among words answers, an excluded one and a part of a word do not', async () => {
  const namesIn = async (q: string, more = '') =>
    (await answersTo(q, more)).map(({ asked }: { asked: string }) => asked);
  assert.equal(await namesIn('audit V-900002 and (AC-2) "V-900003" audit.'), [
    'V-900002',
    'AC-2',
    'V-900003',
  ]);
  assert.equal(await namesIn('V-900002 -V-900003 NOT AC-2 CCI-366'), ['V-900002', 'CCI-366']);
  for (const q of 'xV-900002|host-V-900002x|CVE-2024-1234|audit logs|1.1.1.1|mode 0600|!!!'.split('|'))
    assert.equal(await namesIn(q), [], q);
  assert.equal(await namesIn('V-900002 V-900002'), ['V-900002', 'V-900002']);
  const many = Array.from({ length: 60 }, (_, index) => `V-${900_001 + index}`);
  assert.equal(await namesIn(many.slice(0, 55).join(' ')), many.slice(0, 50));
  for (const more of ['&page=2', '&page=9&limit=1']) assert.equal(await namesIn('V-900002', more), []);
  assert.equal(await namesIn('V-900002', '&page=1&stig=lantern_web_server_2'), ['V-900002']);
});

ids('one control or CCI lists exactly its rules, under the same filters and in every order', async () => {
  const some = (framework: string) => identifiers(framework, 'active').filter((_, index) => index % 80 === 0);
  const cited = t.db.sqlite
    .prepare<[], string>('SELECT DISTINCT cci FROM rule_ccis ORDER BY cci')
    .pluck()
    .all();
  const of = (framework: string, all: string[]) => all.map((id) => [framework, id] as const);
  const asked = [
    ...of(
      'cci',
      cited.filter((_, index) => index % 3 === 0),
    ),
    ...of('nist-800-53', [...some('nist-800-53'), identifiers('nist-800-53', 'withdrawn')[0]!]),
    ...of('nist-800-53', ['AC-2', 'AC-3', 'AU-12', 'CM-6', 'IA-5(1)', 'SC-8']),
    ...[...of('nist-800-171', some('nist-800-171')), ...of('dod-8500', some('dod-8500'))],
  ];
  let withRules = 0;
  const filters = ['&severity=high,low', '&stig=harbor_linux_3', `&list=${list}`];
  for (const [at, [framework, id]] of asked.entries()) {
    for (const filter of ['', filters[at % 3]!]) {
      const expected = await reachedFrom(framework, id, filter);
      if (expected.length > 0) withRules++;
      for (const q of filter === '' ? [id, ` ${id.toLowerCase()},`] : [id]) {
        const { results, exact, relaxed, dropped, pagination } = await ask(q, `&limit=100${filter}`);
        const found = results.map((each: { slug: string; ruleId: string }) => `${each.slug} ${each.ruleId}`);
        assert.equal(found, expected, `${q} ${filter}`);
        assert.equal(
          [exact, relaxed, dropped, pagination.total],
          [expected.length, false, [], expected.length],
          `${q} ${filter}`,
        );
      }
    }
  }
  assert.ok(withRules > 15, String(withRules));
  const whole = await ask('CM-6', '&limit=100');
  const [header, ...rows] = readCsv((await t.get('/api/v1/search?q=CM-6&format=csv')).text);
  assert.equal(
    rows.map((row) => row[header!.indexOf('ruleId')]),
    whole.results.map(({ ruleId }: { ruleId: string }) => ruleId),
  );
});

ids(
  'exclusions and other filters hold for the rules of a control; in quotation marks it is a text',
  async () => {
    const { results } = await ask('CM-6', '&limit=100');
    const groups = (some: { groupId: string }[]) => some.map(({ groupId }) => groupId);
    const having = async (q: string) =>
      new Set(groups((await ask(q, '&limit=100&severity=high,medium,low')).results));
    const word = results[0].ruleTitle.match(/\p{L}{5,}/gu)[1];
    const has = await having(`"${word}"`);
    const left = groups(results).filter((each) => !has.has(each));
    assert.ok(left.length < results.length);
    assert.equal(groups((await ask(`CM-6 -${word}`, '&limit=100')).results), left);
    assert.equal(groups((await ask(`NOT ${word} cm-6`, '&limit=100')).results), left);
    const cci = results[0].ruleIdents[0];
    const citing = results.filter(({ ruleIdents }: { ruleIdents: string[] }) => ruleIdents.includes(cci));
    assert.equal(groups((await ask('CM-6', `&limit=100&cci=${cci}`)).results), groups(citing));
    // Two are no control: words that rules may have.
    assert.is((await ask('CM-6 AC-2', '&limit=100')).answers.length, 2);
    const quoted = await ask('"CCI-000366"', '&limit=100');
    const listed = await ask('CCI-000366', '&limit=100');
    assert.equal(groups(quoted.results.slice(0, quoted.exact)).sort(), groups(listed.results).sort());
    for (const { snippet } of quoted.results) assert.match(snippet.text, /CCI-000366/);
  },
);

// The last: it imports a catalog into that of the others.
ids('a control of a framework that the site imported answers as others do', async () => {
  const catalog = (title: string, names: string) => {
    const metadata = { title, version: '1', 'last-modified': '2026-01-01T00:00:00Z' };
    const controls = names.split(' ').map((id) => {
      return { id, title: `Pier ${id}`, props: [{ name: 'label', value: id.toUpperCase() }] };
    });
    return JSON.stringify({ catalog: { metadata, groups: [{ title: 'Piers', controls }] } });
  };
  const maps = ['QR.AA-01', 'QY-7'].map((id) => ['quay-rules', '1', id, 'nist-800-53', 'Rev 5', 'AC-12']);
  const { lines } = await importTexts(t.db, [
    ...[catalog('Quay Rules', 'qr.aa-01 qy-7 sh-1.2 mooring'), catalog('Shore Rules', 'sh-1.2')],
    mappingsCsv(maps),
  ]);
  assert.equal(new Set(lines.map(({ outcome }) => outcome)), new Set(['imported']));
  for (const asked of ['qr.aa-01', 'Qy-7']) {
    const id = asked.toUpperCase();
    const { answers, results } = await ask(asked, '&limit=100');
    const rules = await reachedFrom('quay-rules', id);
    assert.ok(rules.length > 0);
    const found = {
      title: `Pier ${asked.toLowerCase()}`,
      href: `/controls/quay-rules/${id}`,
      rules: rules.length,
    };
    assert.equal(answers, [{ asked, kind: 'control', id, state: 'current', ...found }]);
    const names = results.map(({ slug, ruleId }: { slug: string; ruleId: string }) => `${slug} ${ruleId}`);
    assert.equal(names.sort(), rules.sort());
  }
  const several = await answersTo('What does (QR.AA-01) say, and AC-17, and qr.aa-01?');
  assert.is(several.map(({ id }: { id: string }) => id).join(), 'QR.AA-01,AC-17,QR.AA-01');
  // Two frameworks have the one; the other is a word.
  for (const q of ['sh-1.2', 'mooring']) assert.equal(await answersTo(q), []);
});

ids.run();
