import * as assert from 'uvu/assert';
import { plainRuleId, ruleKey, ruleName, ruleNumber, withoutRuleEnding } from '../src/base/rule-ids.ts';
import { suite } from './support/harness.ts';
import { rowsOf } from './support/tables.ts';

const test = suite('Ids of rules');

test('the ending, the revision and the number of rule ids of every form', () => {
  for (const [id, plain, number, name] of rowsOf(`
    SV-257777r991589_rule | SV-257777R991589 | SV-257777 | SV-257777
    SV-257777r991589 | SV-257777R991589 | SV-257777 | SV-257777
    SV-1r2.3_rule | SV-1R2.3 | SV-1r2.3 | SV-1
    SV-257777 | SV-257777 | SV-257777 | SV-257777
    sv-1R2_RULE | SV-1R2 | sv-1 | sv-1R2_RULE
    V-257777 | V-257777 | V-257777 | V-257777
    RHEL-09-000001_rule | RHEL-09-000001 | RHEL-09-000001 | RHEL-09-000001_rule
  `)) {
    assert.equal([plainRuleId(id!), ruleNumber(id!), ruleName(id!)], [plain, number, name], id);
    assert.is(withoutRuleEnding(id!).toUpperCase(), plain);
  }
  assert.is(plainRuleId(' SV-1r1_rule '), 'SV-1R1');
});

test('a rule without an SV-id has a key above all numbers', () => {
  assert.is(ruleKey('SV-257777r991589_rule'), 257777);
  assert.ok(ruleKey('RHEL-09-000001_rule') >= 2 ** 52);
});

test.run();
