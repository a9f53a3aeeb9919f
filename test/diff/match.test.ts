import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { RuleIds } from '../../src/catalog/stigs/ids.ts';
import { matchRules } from '../../src/catalog/stigs/match.ts';
import { suite } from '../support/harness.ts';

const matching = suite('Rules across releases');

const rule = (groupId: string, ruleVersion: string, ruleId = '', legacyIds: string[] = []): RuleIds => ({
  groupId,
  ruleId: ruleId || `${groupId.replace('V-', 'SV-')}r1_rule`,
  ruleVersion,
  legacyIds,
});

/** The pairs of a matching as `old V-id/STIG id > new V-id/STIG id by what`. */
function pairsOf(olds: RuleIds[], news: RuleIds[]): string[] {
  return matchRules(olds, news).pairs.map(
    ({ old, new: now, matchedBy }) =>
      `${old.groupId}/${old.ruleVersion} > ${now.groupId}/${now.ruleVersion} ${matchedBy}`,
  );
}

matching('the STIG id counts first, then the V-id, then any number that two rules share', () => {
  const olds = [
    rule('V-1', 'A'),
    rule('V-2', 'B'),
    rule('V-3', 'C'),
    rule('V-4', 'D'),
    rule('V-5', 'E', 'SV-55r3_rule'),
    rule('V-6', 'F', '', ['V-600']),
    rule('V-7', 'G'),
  ];
  const news = [
    rule('V-102', 'B'),
    rule('V-1', 'A'),
    rule('V-3', 'C2'),
    rule('V-104', 'D2', '', ['V-4']),
    rule('V-105', 'E2', '', ['SV-55']),
    rule('V-106', 'F2', '', ['V-600']),
    rule('V-107', 'G2'),
  ];
  assert.equal(pairsOf(olds, news), [
    'V-2/B > V-102/B stigId',
    'V-1/A > V-1/A stigId',
    'V-3/C > V-3/C2 groupId',
    'V-4/D > V-104/D2 legacyId',
    'V-5/E > V-105/E2 legacyId',
    'V-6/F > V-106/F2 legacyId',
  ]);
  assert.equal(pairsOf([rule(' V-3 ', 'C')], [rule('V-3', 'C2')]), [' V-3 /C > V-3/C2 groupId']);
  const { removed, added } = matchRules(olds, news);
  assert.equal(removed, [olds[6]]);
  assert.equal(added, [news[6]]);
});

matching('two that contradict each other, case, blanks, and two rules that became one', () => {
  // Old rules, new rules, and their pairs: where two identifiers say different things the STIG id wins.
  for (const [olds, news, pairs] of [
    [
      [rule('V-1', 'A'), rule('V-2', 'B')],
      [rule('V-1', 'B'), rule('V-2', 'A')],
      ['V-2/B > V-1/B stigId', 'V-1/A > V-2/A stigId'],
    ],
    [
      [rule('V-1', 'A'), rule('V-2', 'B')],
      [rule('V-9', 'Z', '', ['V-2', 'V-1'])],
      ['V-2/B > V-9/Z legacyId'],
    ],
    [[rule('v-1 ', 'a')], [rule('V-9', ' A')], ['v-1 /a > V-9/ A stigId']],
    [[rule('', '', ' ', ['', ' '])], [rule('', '', ' ', ['', ' '])], []],
  ] as const)
    assert.equal(pairsOf([...olds], [...news]), pairs);
});

matching('rules that share a STIG id or a group are told apart by their other numbers', () => {
  const olds = [rule('V-1', 'A', 'SV-11r1_rule'), rule('V-1', 'A', 'SV-12r1_rule'), rule('V-3', 'A')];
  const news = [rule('V-3', 'A'), rule('V-1', 'A', 'SV-12r9'), rule('V-1', 'A', 'SV-11r2_rule')];
  const found = matchRules(olds, news).pairs.map(({ old }) => olds.indexOf(old));
  assert.equal(found, [2, 1, 0]);
  // One of them is gone: the other keeps its own.
  assert.equal(
    matchRules(olds.slice(0, 2), news.slice(1, 2)).removed.map((each) => each.ruleId),
    ['SV-11r1_rule'],
  );
});

// Few numbers, so that identifiers collide in every way.
const number = fc.integer({ min: 1, max: 6 });
const anyRule = fc.record({
  groupId: number.map((n) => `V-${n}`),
  ruleId: fc.tuple(number, number).map(([n, revision]) => `SV-${n}r${revision}_rule`),
  ruleVersion: number.map((n) => `S-${n}`),
  legacyIds: fc.array(
    number.map((n) => `V-${n}`),
    { maxLength: 2 },
  ),
});

matching('every rule is matched once at most and none is lost, in document order', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 12 }), fc.array(anyRule, { maxLength: 12 }), (olds, news) => {
      const { pairs, removed, added } = matchRules(olds, news);
      const usedOlds = pairs.map((pair) => olds.indexOf(pair.old));
      const usedNews = pairs.map((pair) => news.indexOf(pair.new));
      assert.is(new Set(usedOlds).size, pairs.length);
      assert.equal(
        [...usedNews].sort((a, b) => a - b),
        usedNews,
      );
      assert.equal(
        removed,
        olds.filter((_, index) => !usedOlds.includes(index)),
      );
      assert.equal(
        added,
        news.filter((_, index) => !usedNews.includes(index)),
      );
      // Nothing is left over on both sides that one of the identifiers would join.
      for (const old of removed)
        for (const now of added) {
          assert.is.not(old.ruleVersion, now.ruleVersion);
          assert.is.not(old.groupId, now.groupId);
          assert.not(now.legacyIds.some((id) => old.legacyIds.includes(id) || id === old.groupId));
        }
    }),
    { numRuns: 500 },
  );
});

matching('a release against itself, in any order, matches every rule with itself', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyRule, {
        selector: (each) => `${each.groupId}${each.ruleVersion}${each.ruleId.replace(/r\d+_rule/, '')}`,
      }),
      fc.nat(),
      (rules, seed) => {
        const turn = rules.length === 0 ? 0 : seed % rules.length;
        const turned = [...rules.slice(turn), ...rules.slice(0, turn)];
        for (const { old, new: now, matchedBy } of matchRules(rules, turned).pairs) {
          assert.is(old, now);
          assert.is(matchedBy, 'stigId');
        }
        assert.is(matchRules(rules, turned).pairs.length, rules.length);
      },
    ),
  );
});

matching.run();
