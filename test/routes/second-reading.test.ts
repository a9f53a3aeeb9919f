import { stemmer } from 'stemmer';
import * as assert from 'uvu/assert';
import { stopWords } from '../../src/catalog/search/stop-words.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import type { SampleRule } from '../support/xccdf-writer.ts';

// The second reading (rule D35.1) against a brute force of our own, over made-up rules.

const words =
  `lock locked locks account accounts session sessions idle remote desktop rdp expire expires the must
  banner audit auditing removable media usb zebra`.split(/\s+/);
let seed = 3;
const next = (below: number) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * below);
};
const sentence = () => Array.from({ length: 2 + next(5) }, () => words[next(words.length)]!).join(' ');
const levels = ['high', 'medium', 'low'];

/** A rule with made-up texts; `group` and what else is given stay. */
const madeRule = (number: number): SampleRule => ({
  groupId: `V-${number}`,
  ruleId: `SV-${number}r1_rule`,
  version: `MADE-00-${String(number).padStart(6, '0')}`,
  groupTitle: `SRG-OS-${String(number % 7).padStart(6, '0')}-GPOS-00001`,
  title: sentence(),
  description: `<VulnDiscussion>${sentence()}</VulnDiscussion>`,
  checks: [sentence()],
  fixTexts: [sentence()],
  severity: levels[number % 3]!,
  ccis: [number % 2 === 0 ? 'CCI-000366' : 'CCI-000015'],
});
const gull = Array.from({ length: 40 }, (_, index) => madeRule(1000 + index));
const heron = Array.from({ length: 40 }, (_, index) => madeRule(2000 + index));
// Nine rules have `gannet` and ten `petrel`.
for (let index = 0; index < 10; index++) {
  if (index < 9) gull[index]!.title += ' gannet';
  heron[index]!.title += ' petrel';
}
gull[20]!.title += ' gannets';
heron[20]!.title += ' petrels';
gull[22]!.title = 'remote desktop audit';
gull[30]!.checks = ['Look at /etc/gull.conf now'];
gull[31]!.checks = ['Look at gull conf now'];

const rules = [
  ...gull.map((rule) => ({ slug: 'gull_linux_9', rule })),
  ...heron.map((rule) => ({ slug: 'heron_server', rule })),
];
const synonyms = 'words,reason\nrdp;remote desktop,\nusb;removable media,what they are\n';

const reading = suite('The second reading');
let t: TestApp;

reading.before(async () => {
  t = await testApp([
    writeBenchmarks([
      { id: 'Gull_Linux_9_STIG', title: 'Gull Linux 9 Security Technical Implementation Guide', rules: gull },
      {
        id: 'Heron_Server_STIG',
        title: 'Heron Server Security Technical Implementation Guide',
        rules: heron,
      },
    ]),
    put(scratchFolder(), 'synonyms.csv', synonyms),
  ]);
});
reading.after(() => t.db.close());

interface Answer {
  results: { slug: string; groupId: string; rank: number; severity: string }[];
  relaxed: boolean;
  exact: number;
  dropped: string[];
  narrowedTo: string[];
  suggestions: { word: string; instead: string }[];
  counts: { severity: Record<string, number>; stigs: { slug: string; title: string; rules: number }[] };
  pagination: { total: number; totalPages: number };
}

async function ask(q: string, more = ''): Promise<Answer> {
  const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}&limit=100${more}`);
  assert.is(answer.status, 200, `${q}: ${answer.text.slice(0, 200)}`);
  return answer.json;
}

const named = ({ slug, groupId }: { slug: string; groupId?: string }) => `${slug} ${groupId}`;
const exactOf = ({ results, exact }: Answer) => results.slice(0, exact).map(named).sort();
const othersOf = ({ results, exact }: Answer) => results.slice(exact).map(named).sort();

const textsOf = ({ title, description, checks, fixTexts }: SampleRule) =>
  [title, description!.replace(/<[^>]*>/g, ' '), ...checks!, ...fixTexts!].map((text) => text!.toLowerCase());
const wordsOf = (text: string) => text.match(/[\p{L}\p{N}_]+/gu) ?? [];
const hasWord = (rule: SampleRule, is: (word: string) => boolean) =>
  textsOf(rule).some((text) => wordsOf(text).some(is));
const hasPhrase = (rule: SampleRule, phrase: string) =>
  textsOf(rule).some((text) => ` ${wordsOf(text).join(' ')} `.includes(` ${phrase} `));
const matching = (is: (rule: SampleRule) => boolean) =>
  rules.filter(({ rule }) => is(rule)).map(({ slug, rule }) => named({ slug, groupId: rule.groupId! }));

/** Whether a rule has a word in any form, or what may stand for it. */
function widely(rule: SampleRule, word: string): boolean {
  const groups = [
    ['rdp', 'remote desktop'],
    ['usb', 'removable media'],
  ];
  const instead = groups.find((group) => group.includes(word))?.filter((each) => each !== word) ?? [];
  return (
    hasWord(rule, (each) => stemmer(each) === stemmer(word)) ||
    instead.some((each) =>
      each.includes(' ') ? hasPhrase(rule, each) : hasWord(rule, (one) => one === each),
    )
  );
}

reading('finds what brute force finds: any form of any word, synonyms, without stop words', async () => {
  let relaxed = 0;
  for (let round = 0; round < 120; round++) {
    const asked = [...new Set(Array.from({ length: 2 + next(4) }, () => words[next(words.length)]!))];
    const answer = await ask(asked.join(' '));
    const exact = matching((rule) => asked.every((word) => hasWord(rule, (each) => each === word)));
    assert.equal(exactOf(answer), exact.sort(), asked.join(' '));
    const others = othersOf(answer);
    assert.is(answer.relaxed, others.length > 0, asked.join(' '));
    if (exact.length >= 10) {
      assert.equal(others, [], asked.join(' '));
      continue;
    }
    const kept = asked.filter((word) => !stopWords.has(word));
    const any = matching((rule) => (kept.length === 0 ? asked : kept).some((word) => widely(rule, word)));
    assert.equal(others, any.filter((each) => !exact.includes(each)).sort(), asked.join(' '));
    assert.equal(
      answer.dropped,
      others.length === 0 || kept.length === 0 ? [] : asked.filter((word) => stopWords.has(word)),
      asked.join(' '),
    );
    if (others.length > 0) relaxed++;
  }
  assert.ok(relaxed > 40, String(relaxed));
});

reading('nine rules with all words are too few, ten are enough', async () => {
  const few = await ask('gannet');
  assert.equal([few.exact, few.relaxed, othersOf(few)], [9, true, ['gull_linux_9 V-1020']]);
  const enough = await ask('petrel');
  assert.equal([enough.exact, enough.relaxed, enough.pagination.total], [10, false, 10]);
});

reading(
  'rules with all words are counted under stig and list, not under severity, cci and control',
  async () => {
    for (const filter of ['&severity=high', '&cci=CCI-000366']) {
      const answer = await ask('petrel', filter);
      assert.is.not(answer.exact, 10, filter);
      assert.is(answer.relaxed, false, filter);
    }
    const inGull = await ask('petrel session', '&stig=gull_linux_9');
    assert.is(inGull.exact, 0);
    assert.ok(inGull.relaxed && inGull.results.every(({ slug }) => slug === 'gull_linux_9'));
    const { id } = (await t.send('POST', '/api/v1/lists', { name: 'One', visibility: 'PRIVATE' })).json;
    await t.send('POST', `/api/v1/lists/${id}/stigs`, { slugs: ['gull_linux_9'] });
    assert.equal(await ask('petrel session', `&list=${id}`), { ...inGull, pinned: [] });
  },
);

reading('filters and exclusions hold for what is added', async () => {
  const q = 'gannet remote idle';
  const all = await ask(q);
  const severityOf = new Map(rules.map(({ slug, rule }) => [named({ slug, groupId: rule.groupId! }), rule]));
  const high = await ask(q, '&severity=high');
  assert.equal(
    othersOf(high),
    othersOf(all).filter((each) => severityOf.get(each)!.severity === 'high'),
  );
  for (const [excluded, has] of [
    ['-zebra', (rule: SampleRule) => hasWord(rule, (each) => each === 'zebra')],
    ['NOT zebra', (rule: SampleRule) => hasWord(rule, (each) => each === 'zebra')],
    ['-aud*', (rule: SampleRule) => hasWord(rule, (each) => each.startsWith('aud'))],
    ['-"remote desktop"', (rule: SampleRule) => hasPhrase(rule, 'remote desktop')],
  ] as const) {
    const answer = await ask(`${q} ${excluded}`);
    const left = othersOf(all).filter((each) => !has(severityOf.get(each)!));
    assert.ok(left.length < othersOf(all).length, excluded);
    assert.equal(othersOf(answer), left, excluded);
    // Of one form alone: the others may stand.
    assert.equal(answer.dropped, []);
  }
  assert.ok(
    othersOf(await ask(`${q} -locked`)).some((each) =>
      hasWord(severityOf.get(each)!, (one) => one === 'lock'),
    ),
  );
});

reading('a phrase and a prefix count as one word, a literal phrase to the letter', async () => {
  const phrase = await ask('"remote desktop" gannet zzz');
  assert.equal(
    othersOf(phrase),
    matching((rule) => hasPhrase(rule, 'remote desktop') || widely(rule, 'gannet')).sort(),
  );
  const prefix = await ask('ban* zzz');
  assert.equal(othersOf(prefix), matching((rule) => hasWord(rule, (each) => each.startsWith('ban'))).sort());
  assert.equal(othersOf(await ask('"gull.conf" zzz')), ['gull_linux_9 V-1030']);
  assert.equal(othersOf(await ask('gull.conf zzz')), ['gull_linux_9 V-1030', 'gull_linux_9 V-1031']);
});

reading('a name of a STIG narrows what is added, unless stig is given or nothing is left', async () => {
  for (const q of ['idle zzz gull 9', 'gull linux 9 idle zzz', 'Gull_Linux_9_STIG idle zzz']) {
    const answer = await ask(q);
    assert.equal(answer.narrowedTo, ['gull_linux_9'], q);
    assert.equal(
      othersOf(answer),
      matching((rule) => widely(rule, 'idle'))
        .filter((each) => each.startsWith('gull'))
        .sort(),
      q,
    );
  }
  const given = await ask('idle zzz gull linux 9', '&stig=heron_server');
  assert.equal(given.narrowedTo, []);
  assert.ok(given.relaxed && given.results.every(({ slug }) => slug === 'heron_server'));
  const nothing = await ask('petrel gull linux 9');
  assert.equal(nothing.narrowedTo, []);
  assert.ok(othersOf(nothing).length > 0);
});

reading('at most 100 are added; every order holds for each group', async () => {
  const many = await testApp([
    writeBenchmarks([
      {
        id: 'Many',
        title: 'Many STIG',
        rules: Array.from({ length: 230 }, (_, index) => ({
          ...madeRule(3000 + index),
          title: index < 5 ? 'gannet idle session' : `${['gannet', 'idle', 'session'][index % 3]} ${index}`,
        })),
      },
    ]),
  ]);
  for (const sort of ['relevance', 'severity', 'stig', 'id']) {
    const of = async (more: string) =>
      (await many.get(`/api/v1/search?q=gannet+idle+session+zzz&sort=${sort}${more}`)).json as Answer;
    const whole = [...(await of('&limit=100')).results];
    assert.equal([whole.length, (await of('')).pagination.total, (await of('')).exact], [100, 100, 0], sort);
    assert.equal(
      whole.map(({ rank }) => rank),
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
    if (sort === 'id') {
      const ids = whole.map(({ groupId }) => Number(groupId.slice(2)));
      assert.equal(
        ids,
        ids.toSorted((a, b) => a - b),
      );
    }
    if (sort === 'severity') {
      const order = whole.map(({ severity }) => levels.indexOf(severity));
      assert.equal(
        order,
        order.toSorted((a, b) => a - b),
      );
    }
    const { counts } = await of('&page=3');
    for (const level of levels)
      assert.is(counts.severity[level], whole.filter(({ severity }) => severity === level).length, level);
    assert.equal(counts.stigs, [{ slug: 'many', title: 'Many STIG', rules: 100 }]);
  }
  many.db.close();
});

reading('a word that no rule has gets its nearest, any word that one has an answer', async () => {
  for (const [word, instead] of [
    ['gannte', 'gannet'],
    ['sesion', 'session'],
    ['bannner', 'banner'],
    ['dektop', 'desktop'],
  ])
    assert.equal((await ask(`${word} zebra`)).suggestions, [{ word, instead }], word);
  assert.equal((await ask('zebra')).suggestions, []);
  for (const q of ['the', 'how long until the lock', 'zzz yyy idle', 'what must the'])
    assert.ok((await ask(q)).pagination.total > 0, q);
  const only = await ask('qqq the must');
  assert.ok(only.pagination.total > 0 && only.dropped.length === 0, 'where nothing else occurs, they count');
});

reading.run();
