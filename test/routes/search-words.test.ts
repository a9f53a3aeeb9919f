import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import type { SampleRule } from '../support/xccdf-writer.ts';

// What the second reading takes for a word, an id or a phrase (rule D35.1), where it is easily mistaken.

const rule = (number: number, title: string, more: Partial<SampleRule> = {}): SampleRule => ({
  groupId: `V-${number}`,
  ruleId: `SV-${number}r1_rule`,
  version: `PLOVER-01-${number}`,
  title,
  description: '<VulnDiscussion>Why.</VulnDiscussion>',
  checks: ['Look.'],
  fixTexts: ['Do.'],
  groupTitle: `SRG-OS-${number}-GPOS-00001`,
  ...more,
});
const common = Array.from({ length: 620 }, (_, index) =>
  rule(20_000 + index, `Alpha beta, ${index % 2 === 0 ? 'even' : 'odd'}`),
);
const rules = [
  ...common,
  rule(30_001, 'Set mode 0600'),
  rule(30_002, 'Another mode'),
  rule(30_003, 'One event'),
  rule(30_004, 'Look at /etc/plover/plover_config'),
  rule(30_005, 'A long title of many other words so that it is not the best of those with', {
    checks: [`${'Other words come first. '.repeat(40)} alpha.beta`],
  }),
  rule(30_006, 'Only gamma'),
  rule(30_007, 'Old form', { version: 'PLOVER 1105' }),
  rule(30_008, 'Short form', { version: 'PLVR0030' }),
];

const wordsSuite = suite('Words of the second reading');
let t: TestApp;

wordsSuite.before(async () => {
  t = await testApp([writeBenchmarks([{ id: 'Plover_STIG', title: 'Plover STIG', rules }])]);
});
wordsSuite.after(() => t.db.close());

async function ask(q: string, more = '&limit=100') {
  const answer = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}${more}`);
  assert.is(answer.status, 200, `${q}: ${answer.text.slice(0, 200)}`);
  return answer.json;
}
const found = async (q: string, more?: string): Promise<string[]> =>
  (await ask(q, more)).results.map((each: { groupId: string }) => each.groupId);

wordsSuite('a word and a number are no id, unless ids of the catalog begin so', async () => {
  assert.equal(await found('mode 0600'), ['V-30001', 'V-30002']);
  assert.equal(await found('event 4624'), ['V-30003']);
  for (const [q, expected] of [
    ['PLOVER-01-30001', ['V-30001']],
    ['plover 1105', ['V-30007']],
    ['PLVR0030', ['V-30008']],
    // In no source, but an id all the same: its words are not looked for.
    ['PLOVER-01-99999', []],
    ['plover 9999', []],
    ['PLVR9999', []],
    ['V-99999', []],
    ['SV-99999r1_rule', []],
    ['CCI-999999', []],
    ['AC-99', []],
    ['SRG-OS-999999-GPOS-99999', []],
  ] as const) {
    const { relaxed, results, suggestions } = await ask(q);
    assert.equal([relaxed, suggestions], [false, []], q);
    assert.equal(
      results.map((each: { groupId: string }) => each.groupId),
      expected,
      q,
    );
  }
});

wordsSuite('the words of a path that occurs nowhere count, where nothing else is found', async () => {
  assert.equal(await found('/etc/plover/plover_config'), ['V-30004']);
  assert.equal(await found('/etc/nowhere/plover_config'), ['V-30004']);
  assert.equal(await found('nowhere.gamma'), ['V-30006']);
  assert.equal(await found('gamma.nowhere event'), ['V-30003'], 'a whole term comes first');
  assert.equal(await found('"nowhere gamma"'), [], 'a phrase is one word');
  assert.equal(await found('V-12345 V-12346'), [], 'an id has no words');
});

wordsSuite('a literal phrase is found however many rules have its words, and excluded alike', async () => {
  assert.equal(await found('"alpha.beta" zzz'), ['V-30005']);
  assert.equal(await found('"alpha.beta" gamma'), ['V-30006', 'V-30005']);
  assert.equal(await found('"alpha.beta" zzz', '&limit=100&stig=plover'), ['V-30005']);
  assert.equal(await found('alpha -"alpha beta," zzz'), ['V-30005'], 'also where the best are excluded');
  assert.equal(await found('gamma alpha NOT "beta, odd" NOT "beta, even"'), ['V-30006', 'V-30005']);
  assert.equal(await found('alpha zzz -"alpha beta"'), [], 'without punctuation any will do');
  assert.equal(await found('first zzz'), ['V-30005']);
  assert.equal(await found('first zzz -"alpha.beta"'), []);
});

wordsSuite('what is named is a word as typed, without the punctuation around it', async () => {
  const { dropped, suggestions } = await ask('What, (the) gamam?');
  assert.equal(dropped, []);
  assert.equal(suggestions, [{ word: 'gamam', instead: 'gamma' }]);
  assert.equal((await ask('What, (the) gamma?')).dropped, ['What', 'the']);
});

wordsSuite.run();
