import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { createCciLookup } from '../../src/catalog/crosswalk/cci-lookup.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createSearchService } from '../../src/catalog/search/queries.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import type { SampleRule } from '../support/xccdf-writer.ts';

const vocabulary = ['alpha', 'beta', 'gamma_x', 'delta', 'über', 'x86', 'alphabet', 'a', '日本'];
const glue = [' ', '.', '-', '/', '\n', ', ', '_'];

/** Texts made of few words, so that random questions find something; the same in every run. */
function madeUpTexts(): string[] {
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  return Array.from({ length: 240 }, () =>
    Array.from({ length: 1 + next(8) }, () => `${vocabulary[next(9)]}${glue[next(7)]}`)
      .join('')
      .trim(),
  );
}

const made = madeUpTexts();
const rules: SampleRule[] = Array.from({ length: 60 }, (_, index) => ({
  groupId: `V-${7000 + index}`,
  ruleId: `SV-${7000 + index}r${index}_rule`,
  version: `RAND-${7000 + index}`,
  groupTitle: 'SRG-RAND-1',
  title: made[4 * index]!,
  description: `<VulnDiscussion>${made[4 * index + 1]}</VulnDiscussion>`,
  checks: [made[4 * index + 2]!],
  fixTexts: [made[4 * index + 3]!],
  severity: ['high', 'medium', 'low'][index % 3]!,
  ccis: index % 2 === 0 ? ['CCI-000366'] : ['CCI-000015', 'CCI-000366'],
  legacyIds: index % 5 === 0 ? [`V-${100 + index}`, `SV-${200 + index}`] : [],
}));
const same = { title: 'Zwilling.', description: 'Zwilling.', checks: ['Zwilling.'], fixTexts: ['Zwilling.'] };
const samples = [
  { id: 'Random', title: 'Random Guide STIG', rules },
  ...['B', 'A'].map((name, twin) => ({
    id: `Twin_${name}`,
    title: `Twin ${name} STIG`,
    rules: [1, 2].map((index) => ({
      ...same,
      groupId: `V-8${twin}${index}`,
      ruleId: `SV-8${twin}${index}r1_rule`,
      version: `TWIN-${name}-${index}`,
    })),
  })),
];

const search = suite('Search');
let t: TestApp;

search.before(async () => {
  t = await testApp([shipped('stigs'), writeBenchmarks(samples)]);
});
search.after(() => t.db.close());

async function ask(q: string, more = '') {
  const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}${more}`);
  assert.is(answer.status, 200, `${q}: ${answer.text.slice(0, 200)}`);
  return answer.json;
}

/** The V-ids of the rules that have all words: those of the second reading have a test of their own. */
const exactIn = ({ results, exact }: { results: { groupId: string; rank: number }[]; exact: number }) =>
  results.filter(({ rank }) => rank <= exact).map(({ groupId }) => groupId);

const groups = async (q: string, more = '&limit=100'): Promise<string[]> => exactIn(await ask(q, more));

search('a result has the rule, its STIG, a snippet and its place', async () => {
  const json = await ask('V-7005');
  assert.equal(json, {
    results: [
      {
        slug: 'random_guide',
        stigTitle: 'Random Guide STIG',
        version: 'V1R1',
        groupId: 'V-7005',
        ruleId: 'SV-7005r5_rule',
        ruleVersion: 'RAND-7005',
        ruleTitle: made[20],
        severity: 'low',
        ruleIdents: ['CCI-000015', 'CCI-000366'],
        snippet: {
          field: 'ids',
          text: 'V-7005 SV-7005r5_rule RAND-7005 SRG-RAND-1 V-105 SV-205 CCI-000015 CCI-000366',
          marks: [[0, 6]],
        },
        rank: 1,
      },
    ],
    relaxed: false,
    exact: 1,
    dropped: [],
    narrowedTo: [],
    suggestions: [],
    counts: {
      severity: { high: 0, medium: 0, low: 1 },
      stigs: [{ slug: 'random_guide', title: 'Random Guide STIG', rules: 1 }],
    },
    answers: [
      {
        asked: 'V-7005',
        kind: 'rule',
        id: 'V-7005',
        title: made[20],
        state: 'current',
        slug: 'random_guide',
        version: 'V1R1',
        href: '/stigs/random_guide/rules/V-7005',
      },
    ],
    pagination: { page: 1, limit: 20, total: 1, totalPages: 1 },
  });
});

search('a rule is found by each of its ids, in any case and spelling', async () => {
  for (const q of 'v-7005 SV-7005r5_rule sv-7005R5 SV-7005 rand-7005 V-105 SV-205 "V-7005"'.split(' '))
    assert.equal(await groups(q), ['V-7005'], q);
  assert.is((await ask('CCI-15')).pagination.total, (await ask('CCI-000015')).pagination.total);
  assert.equal(await groups('SV-700'), [], 'an SV-id is not the beginning of another');
});

search('a rule whose id is the whole question comes first, before those that speak of it', async () => {
  const path = writeBenchmarks([
    {
      id: 'Talk',
      title: 'Talk STIG',
      rules: [
        {
          groupId: 'V-1',
          ruleId: 'SV-1r1_rule',
          title: 'See V-3 V-3 V-3',
          checks: ['V-3'],
          ccis: ['CCI-000366'],
        },
        { groupId: 'V-2', ruleId: 'SV-2r1_rule', title: 'CCI-000015, CCI-000015', ccis: [] },
        {
          groupId: 'V-3',
          ruleId: 'SV-3r1_rule',
          description: `<VulnDiscussion>${'long '.repeat(500)}</VulnDiscussion>`,
          ccis: ['CCI-000015'],
        },
      ],
    },
  ]);
  const other = await testApp([path]);
  const found = async (q: string) =>
    (await other.get(`/api/v1/search?q=${q}`)).json.results.map((each: { groupId: string }) => each.groupId);
  assert.equal(await found('v-3'), ['V-3', 'V-1']);
  // One CCI lists its rules alone (rule D35.2).
  assert.equal(await found('cci-15'), ['V-3']);
  assert.equal(await found('%22cci-000015%22'), ['V-3', 'V-2']);
  other.db.close();
});

search('an SV-id finds its rule first, then every revision of its number, as brute force does', async () => {
  const rule = (groupId: string, ruleId: string, more: Partial<SampleRule> = {}): SampleRule => ({
    groupId,
    ruleId,
    version: `REV-${groupId}`,
    title: 'Title.',
    description: '<VulnDiscussion>Why.</VulnDiscussion>',
    checks: ['Look.'],
    fixTexts: ['Do.'],
    ...more,
  });
  const ours = [
    // Those that speak of an id are more relevant than those that have it.
    rule('V-1', 'SV-1r1_rule', { title: 'SV-9001r7_rule SV-9001r7_rule SV-9001r5_rule' }),
    rule('V-2', 'SV-2r1_rule', { title: 'SV-9001 and SV-9001r7' }),
    rule('V-3', 'SV-3r1_rule', { legacyIds: ['SV-9001', 'V-44'] }),
    rule('V-4', 'SV-9001r5_rule', { checks: ['long '.repeat(300)] }),
    rule('V-5', 'SV-9001r50_rule'),
    rule('V-6', 'SV-90011r5_rule', { title: 'V-9001 9001r5_rule SV 9002x' }),
    rule('V-7', 'SV-9002r1_rule', { fixTexts: ['As SV-90011r5_rule says.'] }),
    rule('V-8', 'SV-900r5_rule'),
  ];
  const theirs = [
    rule('V-11', 'SV-9001r5_rule'),
    rule('V-12', 'SV-9001r6_rule'),
    rule('V-13', 'SV-9r1_rule'),
  ];
  const other = await testApp([
    writeBenchmarks([
      { id: 'Ours', title: 'Ours STIG', rules: ours },
      { id: 'Theirs', title: 'Theirs STIG', rules: theirs },
    ]),
  ]);
  const all = [...ours, ...theirs];
  const textOf = (each: SampleRule) =>
    [each.ruleId, each.title, each.description, ...each.checks!, ...each.fixTexts!, ...(each.legacyIds ?? [])]
      .join(' | ')
      .toLowerCase();
  /** 0 for the rule of this very id, 1 for one of its number, 2 for one that speaks of it, 3 for what is not found. */
  const tierOf = (each: SampleRule, number: string, revision: string) => {
    if (each.ruleId === `SV-${number}r${revision}_rule`) return 0;
    if (each.ruleId!.startsWith(`SV-${number}r`) || each.legacyIds?.includes(`SV-${number}`)) return 1;
    return new RegExp(`(?<!\\w)sv\\W+${number}(?:r\\w*)?(?!\\w)`).test(textOf(each)) ? 2 : 3;
  };
  for (const number of ['9001', '90011', '9002', '900', '9', '1', '7']) {
    for (const revision of ['5', '50', '6', '1', '925318', '0']) {
      const expected = all.filter((each) => tierOf(each, number, revision) < 3);
      for (const q of [`SV-${number}r${revision}_rule`, `sv-${number}R${revision}`]) {
        const { results, pagination } = (await other.get(`/api/v1/search?q=${q}`)).json;
        const groupsOf = results.map((each: { groupId: string }) => each.groupId);
        assert.equal([...groupsOf].sort(), expected.map((each) => each.groupId!).sort(), q);
        assert.is(pagination.total, expected.length, q);
        const tiers = groupsOf.map((group: string) =>
          tierOf(all.find((each) => each.groupId === group)!, number, revision),
        );
        assert.equal(tiers, [...tiers].sort(), q);
        const paged: unknown[] = [];
        for (let page = 1; page <= expected.length; page++)
          paged.push(...(await other.get(`/api/v1/search?q=${q}&limit=1&page=${page}`)).json.results);
        assert.equal(paged, results, q);
      }
    }
  }
  const found = async (query: string) => exactIn((await other.get(`/api/v1/search?q=${query}`)).json);
  assert.equal(await found('SV-9001r999_rule&stig=theirs'), ['V-11', 'V-12'], 'filters hold');
  assert.equal(await found('SV-9001r999_rule+long'), ['V-4'], 'as one term of several too');
  assert.equal(await found('%22SV-9001r999_rule%22'), [], 'in quotation marks it is literal');
  const [marked] = (await other.get('/api/v1/search?q=SV-90011r999_rule')).json.results;
  const { text, marks } = marked.snippet;
  assert.equal(
    marks.map(([start, end]: [number, number]) => text.slice(start, end)),
    ['SV-90011r5_rule'],
  );
  other.db.close();
});

search('equal relevance goes by slug, then document order', async () => {
  const { results } = await ask('zwilling');
  assert.equal(
    results.map((each: { slug: string; groupId: string; rank: number }) => [
      each.slug,
      each.groupId,
      each.rank,
    ]),
    [
      ['twin_a', 'V-811', 1],
      ['twin_a', 'V-812', 2],
      ['twin_b', 'V-801', 3],
      ['twin_b', 'V-802', 4],
    ],
  );
});

search('a word in the title counts more than one in the check', async () => {
  const [first] = (await ask('ssh')).results;
  assert.match(first.ruleTitle, /\bSSH\b/i);
});

const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** Words in a row in a text, by a reading of our own: character by character. */
function holdsWords(text: string, wanted: string[], isPrefix: boolean): boolean {
  const words: string[] = [''];
  for (const character of text.toLowerCase()) {
    if (isWord(character)) words[words.length - 1] += character;
    else if (words.at(-1) !== '') words.push('');
  }
  return words.some((_, from) =>
    wanted.every((word, index) => {
      const here = words[from + index] ?? '';
      return isPrefix && index === wanted.length - 1 ? here.startsWith(word) : here === word;
    }),
  );
}

search('any mix of words, phrases and prefixes finds what brute force finds', async () => {
  const word = fc.constantFrom(...vocabulary, 'alph', 'nothing', '86');
  const term = fc.oneof(
    word.map((each) => ({ q: each.toUpperCase(), words: [each], isPrefix: false })),
    word.map((each) => ({ q: `${each}*`, words: [each], isPrefix: each.length > 1 })),
    fc
      .array(word, { minLength: 2, maxLength: 3 })
      .map((words) => ({ q: `"${words.join(' ')}"`, words, isPrefix: false })),
    fc
      .tuple(word, fc.constantFrom('.', '-', '/', '::'), word)
      .map(([a, between, b]) => ({ q: `(${a}${between}${b})`, words: [a, b], isPrefix: false })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(term, { minLength: 1, maxLength: 3 }), async (terms) => {
      const expected = rules.filter((_, index) =>
        terms.every(({ words, isPrefix }) =>
          [0, 1, 2, 3].some((field) => holdsWords(made[4 * index + field]!, words, isPrefix)),
        ),
      );
      const q = terms.map((each) => each.q).join(' ');
      const found = await groups(q, '&limit=100&stig=random_guide');
      assert.equal([...found].sort(), expected.map((rule) => rule.groupId!).sort(), q);
    }),
    { numRuns: 300 },
  );
});

search('a quoted phrase with punctuation is literal, any blanks alike', async () => {
  for (const phrase of ['alpha.beta', 'beta-delta', 'alpha, ', 'a/', '.alpha', 'x86. a', 'delta.\nbeta']) {
    const literal = phrase.trim().toLowerCase();
    const expected = rules.filter((_, index) =>
      [0, 1, 2, 3].some((field) => {
        const text = made[4 * index + field]!.replace(/\s+/g, ' ').toLowerCase();
        const wanted = literal.replace(/\s+/g, ' ');
        for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
          const before = [...text.slice(0, at)].at(-1);
          const after = [...text.slice(at + wanted.length)][0];
          if (!isWord(before) && !isWord(after)) return true;
        }
        return false;
      }),
    );
    const found = await groups(`"${phrase}"`, '&limit=100&stig=random_guide');
    assert.equal([...found].sort(), expected.map((rule) => rule.groupId!).sort(), phrase);
  }
});

search('filters narrow the result and are combined', async () => {
  const cites = (rule: SampleRule) => rule.ccis!.includes('CCI-000015');
  const isNot = (level: string) => (rule: SampleRule) => rule.severity !== level;
  const cases: [filters: string, keep: (rule: SampleRule) => boolean][] = [
    ['', () => true],
    ['&severity=high,LOW', isNot('medium')],
    ['&severity=high&severity=low', isNot('medium')],
    ...['CCI-000015', 'cci-15', 'CCI15'].map((cci) => [`&cci=${cci}`, cites] as (typeof cases)[number]),
    ['&cci=CCI-15&severity=low', (rule) => cites(rule) && rule.severity === 'low'],
    ['&stig=random_guide', () => true],
    ['&stig=twin_a', () => false],
  ];
  for (const [filters, keep] of cases) {
    const expected = rules.filter(keep).map((rule) => rule.groupId!);
    assert.equal((await groups('SRG-RAND-1', `&limit=100${filters}`)).sort(), expected.sort(), filters);
  }
});

// What broke FTS5 raw (threat P3), and more of its syntax; a line each.
const hostile = String.raw`
% _ \ ' " "" """ * ** : ; ? ^ + ( ) { } -- /* !!! “ $1 @x :match col: title: ß ſ İ ﷺ
NEAR(
NEAR(a b, 2)
title : a
{title ids} : a
a OR
OR
AND
NOT
a NOT b
NOT NOT
NOT NOT idle
-x
- title : a
^a
a + b
((a)
a)
' OR 1=1 --
"; DROP TABLE findings; --
a"b
"a" "b
*a*
a*b*
rule_search
delete
rebuild
integrity-check
2147483648
constructor
__proto__
V-1000r1 SV- CCI- AC-
ﬁle lock
supercalifragilisticexpialidociousnesses abcdefghijklmnopqrstuvwxyzabcdefghijklmn`
  .trim()
  .split('\n')
  .flatMap((line, index) => (index === 0 ? line.split(' ') : [line]))
  .concat(
    '\u202eabc',
    '\u200b',
    '\ufeff',
    '😀',
    'e\u0301',
    '\u0301',
    '\u212a',
    '\t\n',
    ' ',
    '😀*',
    'a\u200bb',
  )
  .concat(
    '9'.repeat(200),
    '('.repeat(200),
    '"'.repeat(199),
    'a '.repeat(100),
    'ab* '.repeat(50),
    'a.'.repeat(100),
  )
  .concat('*'.repeat(500), '-'.repeat(499), 'a* '.repeat(166), 'x-'.repeat(250), '1 '.repeat(250));

search('no question can fail, and every answer keeps its form', async () => {
  for (const q of hostile) {
    // With a filter: a question of exclusions alone needs one.
    const { results, pagination } = await ask(q, '&severity=high,medium,low');
    assert.is(results.length, Math.min(20, pagination.total), q);
  }
  for (const q of ['%', '\\', '""', '*', '(', '-', '^', '!!!', ' ', '😀', '\u202e', '\u0301'])
    assert.equal(await ask(q), {
      ...{ results: [], relaxed: false, exact: 0, dropped: [], narrowedTo: [], suggestions: [], answers: [] },
      counts: { severity: { high: 0, medium: 0, low: 0 }, stigs: [] },
      pagination: { page: 1, limit: 20, total: 0, totalPages: 0 },
    });
  for (const q of ['not alpha', 'alpha OR beta', 'title:alpha', 'alpha NOT', 'x'.repeat(200)])
    assert.equal(await groups(q, '&stig=random_guide'), [], q);
  assertError(await t.get('/api/v1/search?q=a%00b'), 400, 'BAD_REQUEST', 'The URL contains a NUL character');
});

search('-word, NOT word, a phrase and a prefix exclude, as brute force has it (rule D35.1)', async () => {
  const all = (await ask('', '&stig=random_guide&limit=100')).results.length;
  const of = async (q: string) => exactIn(await ask(q, '&stig=random_guide&limit=100')).sort();
  const without = (some: string[], others: string[]) => some.filter((each) => !others.includes(each));
  const every = await of('');
  assert.ok(all > 10);
  const parts = ['alpha', 'beta', '"alpha beta"', 'alph*', 'b*', '"beta,  alpha"', 'zzz'];
  for (const wanted of ['alpha', 'beta', '"alpha beta"', 'al*', ''])
    for (const part of parts)
      for (const [text, excluded] of [
        [`-${part}`, [part]],
        [`NOT ${part}`, [part]],
        [`-${part} NOT gamma`, [part, 'gamma']],
      ] as const) {
        let expected = wanted === '' ? every : await of(wanted);
        for (const each of excluded) expected = without(expected, await of(each));
        for (const q of [`${wanted} ${text}`, `${text} ${wanted}`]) assert.equal(await of(q), expected, q);
      }
  for (const [q, same] of [
    ['alpha-beta', '"alpha beta"'],
    ['alpha--beta', '"alpha beta"'],
    ['--alpha', 'alpha'],
    ['alpha - beta', 'alpha beta'],
    ['alpha not beta', 'alpha beta not'],
  ] as const)
    assert.equal(await of(q), await of(same), `${q} excludes nothing`);
});

search('exclusions alone need a filter; a snippet marks what is wanted alone', async () => {
  for (const q of ['-alpha', 'NOT alpha', '-"alpha beta"', '-alpha NOT be*', '-"a, b"', 'NOT NOT'])
    for (const format of ['json', 'csv', 'xlsx']) {
      const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}&format=${format}`);
      const message = 'q must have a word to find beside those that it excludes, or a filter';
      assertError(answer, 400, 'BAD_REQUEST', message);
      assert.is(answer.json.error.field, 'q');
    }
  const { results } = await ask('alpha -zzz -beta', '&stig=random_guide');
  assert.ok(results.length > 0);
  for (const { snippet } of results)
    for (const [start, end] of snippet.marks)
      assert.is(snippet.text.slice(start, end).toLowerCase(), 'alpha');
});

search('any text of 1 to 500 characters answers 200', async () => {
  const part = fc.oneof(fc.constantFrom(...hostile, ...vocabulary), fc.string({ unit: 'binary' }));
  const any = fc
    .array(part, { minLength: 1, maxLength: 8 })
    .map((parts) => [...parts.join(' ').toWellFormed().replaceAll('\0', '')].slice(0, 500).join(''))
    .filter((q) => q !== '');
  await fc.assert(
    fc.asyncProperty(any, async (q) => {
      await ask(q, '&severity=high,medium,low');
    }),
    { numRuns: 500 },
  );
});

search('of more than 100 STIGs those with most of the rules are offered', async () => {
  const rule = (id: string): SampleRule => ({
    groupId: `V-${id}`,
    ruleId: `SV-${id}r1_rule`,
    title: 'Zebra.',
  });
  const other = await testApp([
    writeBenchmarks(
      Array.from({ length: 103 }, (_, index) => ({
        id: `Many_${index}`,
        title: `Many ${String(index).padStart(3, '0')} STIG`,
        // The first, the last but one and the last have one rule alone, the others two.
        rules: [0, 101, 102].includes(index) ? [rule(`${index}1`)] : [rule(`${index}1`), rule(`${index}2`)],
      })),
    ),
  ]);
  const service = createSearchService(other.db, createCciLookup(other.db, createCrosswalkService(other.db)));
  const { counts } = await service.search({ q: 'zebra', page: 1, limit: 1 });
  assert.is(counts.stigs.length, 103);
  assert.equal(counts.severity, { high: 0, medium: 203, low: 0 });
  assert.equal(
    counts.stigs,
    Array.from({ length: 103 }, (_, index) => {
      const number = String(index).padStart(3, '0');
      const rules = [0, 101, 102].includes(index) ? 1 : 2;
      return { slug: `many_${number}`, title: `Many ${number} STIG`, rules };
    }),
  );
  other.db.close();
});

search('only current releases are searched', async () => {
  const current = await groups('Harbor', '&limit=100');
  assert.ok(current.length > 0);
  assert.not(current.includes('V-900013'), 'a rule of V1R1 that V1R2 dropped');
  assert.equal(await groups('V-900013'), []);
});

search.run();
