import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { numbers } from '../support/questions.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { linesOf, rowsOf } from '../support/tables.ts';
import type { SampleRule } from '../support/xccdf-writer.ts';

const vocabulary = ['alpha', 'beta', 'gamma_x', 'delta', 'über', 'x86', 'alphabet', 'a', '日本'];
const glue = [' ', '.', '-', '/', '\n', ', ', '_'];

/** Texts made of few words, so that random questions find something. */
const next = numbers(7);
const made = Array.from({ length: 240 }, () =>
  Array.from({ length: 1 + next(8) }, () => `${vocabulary[next(9)]}${glue[next(7)]}`)
    .join('')
    .trim(),
);
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
const plain = (groupId: string, ruleId: string, more: SampleRule = {}): SampleRule => ({
  ...{ groupId, ruleId, version: `OWN-${groupId}`, title: 'Title.', checks: ['Look.'], fixTexts: ['Do.'] },
  ...{ description: '<VulnDiscussion>Why.</VulnDiscussion>', ccis: ['CCI-000366'], ...more },
});
const twins = ['B', 'A'].map((name, twin) => ({
  id: `Twin_${name}`,
  title: `Twin ${name} STIG`,
  rules: [1, 2].map((index) =>
    plain(`V-8${twin}${index}`, `SV-8${twin}${index}r1_rule`, { title: 'Zwilling.' }),
  ),
}));

const search = suite('Search');
let t: TestApp;

search.before(async () => {
  const samples = [{ id: 'Random', title: 'Random Guide STIG', rules }, ...twins];
  t = await testApp([shipped('stigs'), writeBenchmarks(samples)]);
});
search.after(() => t.db.close());

async function ask(q: string, more = '', site = t) {
  const answer = await site.get(`/api/v1/search?q=${encodeURIComponent(q)}${more}`);
  assert.is(answer.status, 200, `${q}: ${answer.text.slice(0, 200)}`);
  return answer.json;
}

/** The V-ids of the rules that have all words: those of the relaxed search have a test of their own. */
const exactIn = ({ results, exact }: { results: { groupId: string; rank: number }[]; exact: number }) =>
  results.filter(({ rank }) => rank <= exact).map(({ groupId }) => groupId);
const groups = async (q: string, more = '&limit=100', site = t) => exactIn(await ask(q, more, site));
const inRandom = async (q: string) => (await groups(q, '&limit=100&stig=random_guide')).sort();

search('a result has the rule, its STIG, a snippet and its place', async () => {
  const rule = { title: made[20], slug: 'random_guide', version: 'V1R1' };
  assert.equal(await ask('V-7005'), {
    results: [
      {
        ...{ slug: 'random_guide', stigTitle: 'Random Guide STIG', version: 'V1R1', groupId: 'V-7005' },
        ...{ ruleId: 'SV-7005r5_rule', ruleVersion: 'RAND-7005', ruleTitle: made[20], severity: 'low' },
        ruleIdents: ['CCI-000015', 'CCI-000366'],
        snippet: {
          field: 'ids',
          text: 'V-7005 SV-7005r5_rule RAND-7005 SRG-RAND-1 V-105 SV-205 CCI-000015 CCI-000366',
          marks: [[0, 6]],
        },
        rank: 1,
      },
    ],
    ...{ relaxed: false, exact: 1, dropped: [], narrowedTo: [], suggestions: [] },
    counts: {
      severity: { high: 0, medium: 0, low: 1 },
      stigs: [{ slug: 'random_guide', title: 'Random Guide STIG', rules: 1 }],
    },
    answers: [
      {
        ...{ asked: 'V-7005', kind: 'rule', id: 'V-7005', state: 'current', ...rule },
        href: '/stigs/random_guide/rules/V-7005',
      },
    ],
    pagination: { page: 1, limit: 20, total: 1, totalPages: 1 },
  });
});

search(
  'a rule is found by each of its ids, in any case and spelling, and only of a current release',
  async () => {
    for (const q of 'v-7005 SV-7005r5_rule sv-7005R5 SV-7005 rand-7005 V-105 SV-205 "V-7005"'.split(' '))
      assert.equal(await groups(q), ['V-7005'], q);
    assert.is((await ask('CCI-15')).pagination.total, (await ask('CCI-000015')).pagination.total);
    assert.equal(await groups('SV-700'), [], 'an SV-id is not the beginning of another');
    const current = await groups('Harbor');
    assert.ok(current.length > 0 && !current.includes('V-900013'), 'a rule of V1R1 that V1R2 dropped');
    assert.equal(await groups('V-900013'), []);
  },
);

search('an id finds its rule first, then every revision of its number, as brute force does', async () => {
  const ours = [
    // Those that speak of an id are more relevant than those that have it.
    plain('V-1', 'SV-1r1_rule', { title: 'SV-9001r7_rule SV-9001r7_rule SV-9001r5_rule V-3 V-3' }),
    plain('V-2', 'SV-2r1_rule', { title: 'SV-9001 and SV-9001r7 CCI-000015, CCI-000015' }),
    plain('V-3', 'SV-3r1_rule', { legacyIds: ['SV-9001', 'V-44'], ccis: ['CCI-000015'] }),
    plain('V-4', 'SV-9001r5_rule', { checks: ['long '.repeat(300)] }),
    plain('V-5', 'SV-9001r50_rule'),
    plain('V-6', 'SV-90011r5_rule', { title: 'V-9001 9001r5_rule SV 9002x' }),
    plain('V-7', 'SV-9002r1_rule', { fixTexts: ['As SV-90011r5_rule says.'] }),
    plain('V-8', 'SV-900r5_rule'),
  ];
  const theirs = [
    plain('V-11', 'SV-9001r5_rule'),
    plain('V-12', 'SV-9001r6_rule'),
    plain('V-13', 'SV-9r1_rule'),
  ];
  const other = await testApp([
    writeBenchmarks([
      { id: 'Ours', title: 'Ours STIG', rules: ours },
      { id: 'Theirs', title: 'Theirs STIG', rules: theirs },
    ]),
  ]);
  const all = [...ours, ...theirs];
  const textOf = (each: SampleRule) =>
    [each.ruleId, each.title, ...each.checks!, ...each.fixTexts!, ...(each.legacyIds ?? [])].join(' | ');
  /** 0 for the rule of this very id, 1 for one of its number, 2 for one that speaks of it, 3 for what is not found. */
  const tierOf = (each: SampleRule, number: string, revision: string) => {
    if (each.ruleId === `SV-${number}r${revision}_rule`) return 0;
    if (each.ruleId!.startsWith(`SV-${number}r`) || each.legacyIds?.includes(`SV-${number}`)) return 1;
    return new RegExp(`(?<!\\w)sv\\W+${number}(?:r\\w*)?(?!\\w)`, 'i').test(textOf(each)) ? 2 : 3;
  };
  for (const number of ['9001', '90011', '9002', '900', '9', '1'])
    for (const revision of ['5', '50', '6', '1', '0']) {
      const expected = all.filter((each) => tierOf(each, number, revision) < 3);
      for (const q of [`SV-${number}r${revision}_rule`, `sv-${number}R${revision}`]) {
        const found = (await ask(q, '', other)).results.map((each: SampleRule) => each.groupId);
        assert.equal([...found].sort(), expected.map((each) => each.groupId!).sort(), q);
        const tiers = found.map((group: string) =>
          tierOf(all.find((each) => each.groupId === group)!, number, revision),
        );
        assert.equal(tiers, [...tiers].sort(), q);
      }
    }
  for (const [q, more, found] of rowsOf(`
    SV-9001r999_rule | &stig=theirs | V-11,V-12
    SV-9001r999_rule long | | V-4
    "SV-9001r999_rule" | |
    v-3 | | V-3,V-1
    cci-15 | | V-3
    "cci-000015" | | V-3,V-2
  `))
    assert.is((await groups(q!, more, other)).join(), found, q);
  const [{ snippet }] = (await ask('SV-90011r999_rule', '', other)).results;
  const marked = snippet.marks.map(([start, end]: [number, number]) => snippet.text.slice(start, end));
  assert.equal(marked, ['SV-90011r5_rule']);
  other.db.close();
});

search(
  'equal relevance goes by slug, then document order; the title counts more than the check',
  async () => {
    assert.equal(await groups('zwilling'), ['V-811', 'V-812', 'V-801', 'V-802']);
    assert.match((await ask('ssh')).results[0].ruleTitle, /\bSSH\b/i);
  },
);

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

/** The rules of which a text is so. */
const having = (...tests: ((text: string) => boolean)[]) =>
  rules
    .filter((_, index) => tests.every((is) => made.slice(4 * index, 4 * index + 4).some(is)))
    .map(({ groupId }) => groupId!)
    .sort();

search('any mix of words, phrases and prefixes finds what brute force finds', async () => {
  const word = fc.constantFrom(...vocabulary, 'alph', 'nothing', '86');
  const phrase = fc.array(word, { minLength: 2, maxLength: 3 });
  const path = fc.tuple(word, fc.constantFrom('.', '-', '/', '::'), word);
  const term = fc.oneof(
    word.map((each) => ({ q: each.toUpperCase(), words: [each], isPrefix: false })),
    word.map((each) => ({ q: `${each}*`, words: [each], isPrefix: each.length > 1 })),
    phrase.map((words) => ({ q: `"${words.join(' ')}"`, words, isPrefix: false })),
    path.map(([a, between, b]) => ({ q: `(${a}${between}${b})`, words: [a, b], isPrefix: false })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(term, { minLength: 1, maxLength: 3 }), async (terms) => {
      const expected = having(
        ...terms.map(
          ({ words, isPrefix }) =>
            (text: string) =>
              holdsWords(text, words, isPrefix),
        ),
      );
      const q = terms.map((each) => each.q).join(' ');
      assert.equal(await inRandom(q), expected, q);
    }),
    { numRuns: 150 },
  );
});

search('a quoted phrase with punctuation is literal, any blanks alike', async () => {
  for (const phrase of ['alpha.beta', 'beta-delta', 'alpha, ', 'a/', '.alpha', 'x86. a', 'delta.\nbeta']) {
    const wanted = phrase.trim().toLowerCase().replace(/\s+/g, ' ');
    const expected = having((each) => {
      const text = each.replace(/\s+/g, ' ').toLowerCase();
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
        const [before, after] = [[...text.slice(0, at)].at(-1), [...text.slice(at + wanted.length)][0]];
        if (!isWord(before) && !isWord(after)) return true;
      }
      return false;
    });
    assert.equal(await inRandom(`"${phrase}"`), expected, phrase);
  }
});

// What broke FTS5 raw (threat P3), and more of its syntax; a line each.
const lines = linesOf(String.raw`
% _ \ ' " "" """ * ** : ; ? ^ + ( ) { } -- /* !!! “ $1 @x :match col: title: ß ſ İ ﷺ OR AND NOT -x ^a a" *a* a*b* ((a) a)
NEAR(a b, 2)
{title ids} : a
a NOT b
NOT NOT idle
' OR 1=1 --
"; DROP TABLE findings; --
"a" "b
rule_search delete rebuild integrity-check
constructor __proto__
V-1000r1 SV- CCI- AC-
supercalifragilisticexpialidociousnesses abcdefghijklmnopqrstuvwxyzabcdefghijklmn`);
const hostile = [
  ...[...lines[0]!.split(' '), ...lines.slice(1)],
  ...['\u202eabc', '\u200b', '\ufeff', '😀', 'e\u0301', '\u0301', '\u212a', '\t\n', ' ', '😀*', 'a\u200bb'],
  ...['9'.repeat(200), '('.repeat(200), '"'.repeat(199), 'a '.repeat(100), 'ab* '.repeat(50)],
  ...['*'.repeat(500), '-'.repeat(499), 'a* '.repeat(166), 'x-'.repeat(250), '1 '.repeat(250)],
];

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
    assert.equal(await inRandom(q), [], q);
  assertError(await t.get('/api/v1/search?q=a%00b'), 400, 'BAD_REQUEST', 'The URL contains a NUL character');
});

search('any text of 1 to 500 characters answers 200', async () => {
  const part = fc.oneof(fc.constantFrom(...hostile, ...vocabulary), fc.string({ unit: 'binary' }));
  const any = fc
    .array(part, { minLength: 1, maxLength: 8 })
    .map((parts) => [...parts.join(' ').toWellFormed().replaceAll('\0', '')].slice(0, 500).join(''))
    .filter((q) => q !== '');
  const answers = fc.asyncProperty(any, async (q) => void (await ask(q, '&severity=high,medium,low')));
  await fc.assert(answers, { numRuns: 150 });
});

search('-word, NOT word, a phrase and a prefix exclude, as brute force has it (rule D35.1)', async () => {
  const without = (some: string[], others: string[]) => some.filter((each) => !others.includes(each));
  const every = await inRandom('');
  assert.is(every.length, 60);
  for (const wanted of ['alpha', 'beta', '"alpha beta"', 'al*', ''])
    for (const part of ['alpha', 'beta', '"alpha beta"', 'alph*', 'b*', '"beta,  alpha"', 'zzz'])
      for (const [text, excluded] of [
        [`-${part}`, [part]],
        [`-${part} NOT gamma`, [part, 'gamma']],
      ] as const) {
        let expected = wanted === '' ? every : await inRandom(wanted);
        for (const each of excluded) expected = without(expected, await inRandom(each));
        for (const q of [`${wanted} ${text}`, `${text} ${wanted}`])
          assert.equal(await inRandom(q), expected, q);
      }
  for (const [q, same] of rowsOf(`
    alpha-beta | "alpha beta"
    alpha--beta | "alpha beta"
    --alpha | alpha
    alpha - beta | alpha beta
    alpha not beta | alpha beta not
  `))
    assert.equal(await inRandom(q!), await inRandom(same!), `${q} excludes nothing`);
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

search.run();
