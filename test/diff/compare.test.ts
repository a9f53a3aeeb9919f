import * as assert from 'uvu/assert';
import { type ComparableRule, compareRules, fieldChanges } from '../../src/catalog/stigs/compare.ts';
import { suite } from '../support/harness.ts';

const comparing = suite('Changes of rules');

const rule = (more: Partial<ComparableRule> = {}): ComparableRule => ({
  groupId: 'V-1',
  ruleId: 'SV-1r1_rule',
  ruleVersion: 'S-1',
  legacyIds: [],
  ruleTitle: 'The door must be locked.',
  severity: 'medium',
  vulnDiscussion: 'An open door lets in.',
  checkContent: 'Run: door --state\nIf it is open, this is a finding.',
  fixText: 'Run: door --lock',
  ccis: ['CCI-000001', 'CCI-000002'],
  ...more,
});

function classesOf(more: Partial<ComparableRule>): string[] {
  return compareRules([rule()], [rule(more)]).changed[0]?.classes ?? [];
}

comparing('each class, and which is the primary one', () => {
  const { checkContent: check, fixText: fix } = rule();
  const cases: [Partial<ComparableRule>, string[]][] = [
    [{}, []],
    [{ ruleTitle: 'The door must be shut.' }, ['cosmetic']],
    [{ vulnDiscussion: 'An open door lets in' }, ['cosmetic']],
    [{ checkContent: check.replace('\n', '\r\n') }, ['cosmetic']],
    [{ checkContent: `${check} \n` }, ['cosmetic']],
    [{ fixText: fix.replace(' ', '\u00a0 ') }, ['cosmetic']],
    // A blank where there was none, and a mark, make another command.
    [{ checkContent: check.replace('--state', '-- state') }, ['check']],
    [{ checkContent: check.replace('--state', '-state') }, ['check']],
    [{ fixText: 'Run: door --lock.' }, ['fix']],
    [{ fixText: '' }, ['fix']],
    [{ severity: 'high' }, ['severity']],
    [{ ccis: ['CCI-000001'] }, ['mapping']],
    [{ ccis: ['CCI-000002', 'CCI-000001'] }, []],
    [{ ccis: ['CCI-000002', 'CCI-000001', 'CCI-000002'] }, []],
    [
      { ruleTitle: 'T', ccis: [], severity: 'low', fixText: 'F', checkContent: 'C' },
      ['check', 'fix', 'severity', 'mapping', 'cosmetic'],
    ],
    [{ ruleTitle: 'T', ccis: [], severity: 'low', fixText: 'F' }, ['fix', 'severity', 'mapping', 'cosmetic']],
    [{ ruleTitle: 'T', ccis: [] }, ['mapping', 'cosmetic']],
  ];
  for (const [more, expected] of cases) {
    const comparison = compareRules([rule()], [rule(more)]);
    assert.equal(classesOf(more), expected, JSON.stringify(more));
    assert.is(comparison.changed[0]?.class, expected[0], JSON.stringify(more));
    assert.is(comparison.summary.unchanged, expected.length === 0 ? 1 : 0);
  }
});

comparing('the fields that differ, with old and new', () => {
  assert.equal(
    fieldChanges(
      rule(),
      rule({ severity: 'low', fixText: 'Lock it.', ccis: ['CCI-000003', 'CCI-000002'], ruleTitle: 'T' }),
    ),
    [
      { field: 'title', class: 'cosmetic', old: 'The door must be locked.', new: 'T' },
      { field: 'severity', class: 'severity', old: 'medium', new: 'low' },
      { field: 'fix', class: 'fix', old: 'Run: door --lock', new: 'Lock it.' },
      {
        field: 'ccis',
        class: 'mapping',
        old: ['CCI-000001', 'CCI-000002'],
        new: ['CCI-000003', 'CCI-000002'],
        added: ['CCI-000003'],
        removed: ['CCI-000001'],
      },
    ],
  );
});

comparing('a rule whose identifiers alone changed is renumbered, whichever they are', () => {
  for (const ids of [
    { ruleId: 'SV-1r2_rule' },
    { groupId: 'V-2' },
    { groupId: 'V-2', ruleId: 'SV-2r1_rule' },
  ]) {
    const comparison = compareRules([rule()], [rule(ids)]);
    const { groupId, ruleId, ruleVersion } = rule();
    assert.equal(comparison.renumbered, [
      {
        matchedBy: 'stigId',
        old: { groupId, ruleId, ruleVersion },
        new: { groupId, ruleId, ruleVersion, ...ids },
        ruleTitle: 'The door must be locked.',
        severity: 'medium',
      },
    ]);
    assert.equal(comparison.changed, []);
    const isNewGroup = 'groupId' in ids;
    assert.equal(comparison.groupIds, {
      added: isNewGroup ? ['V-2'] : [],
      removed: isNewGroup ? ['V-1'] : [],
    });
  }
  assert.is(compareRules([rule()], [rule({ ruleVersion: 'S-9' })]).renumbered[0]?.matchedBy, 'groupId');
});

comparing.run();
