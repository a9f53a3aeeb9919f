import * as assert from 'uvu/assert';
import { createServices } from '../../src/services.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { stigsAndControls } from '../support/controls.ts';
import { suiteIf } from '../support/harness.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';
import { readBenchmark, versionString } from '../support/xccdf-reader.ts';

// What the ids of a question name (rule D35.2), on the real files: every id of every release is read from its XML.

const onReal = suiteIf(referenceData, 'Answers for ids');

interface Answer {
  asked: string;
  kind: string;
  id: string;
  title?: string;
  state: string;
  href?: string;
  slug?: string;
  version?: string;
  part?: string;
  rules?: number;
}

const ask = async (t: TestApp, q: string, more = ''): Promise<Answer[]> => {
  const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}&limit=1${more}`);
  assert.is(answer.status, 200, answer.text.slice(0, 200));
  return answer.json.answers;
};

let real: TestApp;
onReal?.('every id of every release answers: V-, SV-, STIG and legacy ids, removed ones too', async () => {
  real = await testApp(stigsAndControls);
  const served = new Map(
    real.db.sqlite
      .prepare<[], { name: string; slug: string; version: string; order: number; isCurrent: 0 | 1 }>(
        `SELECT r.benchmark_id || ' ' || r.version AS name, s.slug, r.version, r.release_order AS "order",
                r.id = s.current_release_id AS isCurrent
           FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id`,
      )
      .all()
      .map((row) => [row.name, row]),
  );
  type Known = { slug: string; version: string; order: number; isCurrent: 0 | 1; id: string; title: string };
  const known = new Map<string, Known[]>();
  const removed = new Set<string>();
  for (const { text } of await benchmarkFiles()) {
    const benchmark = readBenchmark(text);
    const release = served.get(`${benchmark.id} ${versionString(benchmark)}`);
    if (release === undefined) continue;
    for (const rule of benchmark.rules) {
      const number = /^SV-\d+/.exec(rule.ruleId)?.[0];
      const ids = [rule.groupId, rule.ruleId, number, rule.version.split(' - ')[0], ...rule.legacyIds];
      for (const id of new Set(ids))
        if (id)
          known.set(id, [...(known.get(id) ?? []), { ...release, id: rule.groupId, title: rule.title }]);
    }
  }
  assert.ok(known.size > 15_000, String(known.size));

  /** What is wrong with an answer; null for nothing. */
  function wrongWith(asked: string, answer: Answer | undefined): string | null {
    if (answer?.asked !== asked && answer?.asked !== asked.replace(/_rule$/, '')) return 'another id';
    // A rule that has another revision now is there.
    const all = [...known.get(asked)!, ...(known.get(/^SV-\d+(?=r)/.exec(asked)?.[0] ?? '') ?? [])];
    const current = all.filter(({ isCurrent }) => isCurrent);
    const state = current.length > 0 ? 'current' : 'removed';
    if (state === 'removed') removed.add(asked);
    // The rules of an SRG bear the ids of its requirements.
    if (asked.startsWith('SRG-'))
      return answer.kind === 'srg' && answer.state === state && answer.href === `/search?q=${asked}`
        ? null
        : `not ${state}`;
    const { slug, version, id } = answer;
    if (answer.kind !== 'rule' || answer.state !== state) return `not ${state}`;
    const right = (current.length > 0 ? current : all).filter((each) => each.slug === slug && each.id === id);
    if (!right.some((each) => each.version === version)) return 'another rule';
    if (right.some(({ order }) => order > right.find((each) => each.version === version)!.order))
      return 'not the last release';
    if (!right.some((each) => each.version === version && each.title === answer.title))
      return 'another title';
    const release = state === 'removed' ? `?version=${version}` : '';
    return answer.href === `/stigs/${slug}/rules/${id}${release}` ? null : 'another address';
  }

  // The search itself, of which most do not ask, takes thirty times as long.
  const now = () => real.clock.now;
  const context = { catalog: real.db, users: real.db, now, newId: () => '', banner: null };
  const { answers } = createServices(context);
  const wrong: string[] = [];
  const ids = [...known.keys()];
  for (let from = 0; from < ids.length && wrong.length < 20; ) {
    let q = '';
    const part: string[] = [];
    while (from < ids.length && part.length < 50 && q.length + ids[from]!.length < 498) {
      part.push(ids[from]!);
      q += `${part.length === 1 ? '' : [' ', ', ', '; ', '\n'][from % 4]}${ids[from++]}`;
    }
    const found = from % 10 === 0 ? await ask(real, q) : ((await answers(q)) as Answer[]);
    assert.is(found.length, part.length, q);
    for (const [index, id] of part.entries()) {
      const what = wrongWith(id, found[index]);
      if (what !== null) wrong.push(`${id}: ${what}: ${JSON.stringify(found[index])}`);
    }
  }
  assert.equal(wrong, []);
  assert.ok(removed.size > 100, String(removed.size));
});

onReal?.('a removed rule names the last release that has it, an older revision the rule of now', async () => {
  assert.equal(await ask(real, 'V-257933'), [
    {
      ...{
        asked: 'V-257933',
        kind: 'rule',
        id: 'V-257933',
        state: 'removed',
        slug: 'red_hat_enterprise_linux_9',
      },
      title: (await ask(real, 'V-257933'))[0]!.title!,
      version: 'V2R3',
      href: '/stigs/red_hat_enterprise_linux_9/rules/V-257933?version=V2R3',
    },
  ]);
  const [older] = await ask(real, 'SV-257777r1_rule');
  assert.equal([older!.id, older!.state, older!.version], ['V-257777', 'current', 'V2R8']);
});

onReal?.(
  'controls in any spelling with their parts, CCIs, STIGs, requirements, and what is in no source',
  async () => {
    const cases: [asked: string, expected: Partial<Answer>][] = [
      ['AC-2', { kind: 'control', id: 'AC-2', state: 'current', href: '/controls/nist-800-53/AC-2' }],
      ['ac-02(01)', { kind: 'control', id: 'AC-2(1)', state: 'current', rules: 35 }],
      ['IA-5(1)(c)', { kind: 'control', id: 'IA-5(1)', part: 'c' }],
      ['AC-2 d 3', { kind: 'control', id: 'AC-2', part: 'd 3' }],
      ['AC-99', { kind: 'control', id: 'AC-99', state: 'unknown' }],
      ['3.1.1', { kind: 'control', id: '3.1.1', state: 'current', href: '/controls/nist-800-171/3.1.1' }],
      ['CCI-366', { kind: 'cci', id: 'CCI-000366', state: 'current', href: '/ccis/CCI-000366' }],
      ['CCI-999999', { kind: 'cci', id: 'CCI-999999', state: 'unknown' }],
      ['V-9999999', { kind: 'rule', id: 'V-9999999', state: 'unknown' }],
      [
        'RHEL_9_STIG',
        {
          kind: 'stig',
          id: 'red_hat_enterprise_linux_9',
          slug: 'red_hat_enterprise_linux_9',
          version: 'V2R8',
          href: '/stigs/red_hat_enterprise_linux_9',
        },
      ],
      ['kubernetes', { kind: 'stig', id: 'kubernetes' }],
      ['SRG-OS-000023-GPOS-00006', { kind: 'srg', id: 'SRG-OS-000023-GPOS-00006', state: 'current' }],
      ['AC-13', { kind: 'control', id: 'AC-13', state: 'withdrawn' }],
    ];
    for (const [asked, expected] of cases) {
      const [answer, ...others] = await ask(real, asked);
      assert.equal(others, [], asked);
      const { asked: said, ...rest } = answer!;
      assert.is(said, asked);
      assert.equal(
        Object.fromEntries(Object.keys(expected).map((key) => [key, rest[key as keyof typeof rest]])),
        expected,
        asked,
      );
      assert.is(rest.href === undefined, expected.state === 'unknown', asked);
    }
    for (const text of [
      'kubernetes audit',
      'a plain question',
      'CVE-2024-1234',
      'host-42.example',
      '"V-257777"x',
    ])
      assert.equal(
        (await ask(real, text)).filter(({ kind }) => kind !== 'rule'),
        [],
        text,
      );
    const many = Array.from({ length: 60 }, (_, index) => `V-${index + 100}`).join(' ');
    assert.is((await ask(real, many)).length, 50);
    assert.equal(await ask(real, 'AC-2', '&page=2'), []);
  },
);

onReal?.('one control or CCI lists exactly the rules that lead to it, under the same filters', async () => {
  for (const [framework, id] of [
    ['nist-800-53', 'AC-2(1)'],
    ['nist-800-53', 'CM-6'],
    ['nist-800-171', '3.1.1'],
    ['cci', 'CCI-000366'],
    ['nist-800-53', 'PM-9'],
  ])
    for (const filter of [
      '',
      '&severity=high',
      '&stig=red_hat_enterprise_linux_9',
      '&severity=low&stig=kubernetes',
    ]) {
      const expected: string[] = [];
      const found: string[] = [];
      for (let page = 1; ; page++) {
        const path = `/api/v1/control-rules/${framework}/${encodeURIComponent(id!)}`;
        const { json, status } = await real.get(`${path}?limit=100&page=${page}${filter}`);
        assert.is(status, 200, JSON.stringify(json));
        for (const stig of json.stigs)
          for (const rule of stig.rules) expected.push(`${stig.slug} ${rule.groupId}`);
        if (page >= json.pagination.totalPages) break;
      }
      for (let page = 1; ; page++) {
        const { json } = await real.get(
          `/api/v1/search?q=${encodeURIComponent(id!)}&limit=100&page=${page}${filter}`,
        );
        for (const each of json.results) found.push(`${each.slug} ${each.groupId}`);
        assert.is(json.relaxed, false);
        assert.is(json.exact, json.pagination.total);
        if (filter === '' && page === 1) assert.is(json.answers[0].rules, json.pagination.total, id);
        if (page >= json.pagination.totalPages) break;
      }
      assert.equal(found, expected, `${id} ${filter}`);
    }
  real.db.close();
});

onReal?.run();
