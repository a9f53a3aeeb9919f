import * as assert from 'uvu/assert';
import { compareCodePoints } from '../../../src/base/text.ts';
import { canonicalIdentifier, familyCodeOf, sortKey } from '../../../src/catalog/controls/identifier.ts';
import { suite } from '../../support/harness.ts';

const test = suite('identifiers of controls');

const none = (framework: string, ...texts: string[]) => {
  for (const text of texts) assert.is(canonicalIdentifier(framework, text), null, text);
};

test('the spellings of a control of 800-53 mean one control', () => {
  for (const text of ['AC-2(1)', 'AC-2 (1)', 'ac-2(1)', 'AC-02(01)', 'ac-2.1', 'Ac-02.01', ' AC-2 ( 1 ) '])
    assert.is(canonicalIdentifier('nist-800-53', text), 'AC-2(1)', text);
  for (const text of ['AC-2', 'ac-2', 'AC-02', 'ac-002'])
    assert.is(canonicalIdentifier('nist-800-53', text), 'AC-2', text);
  none('nist-800-53', '', 'AC', 'AC-', 'AC-0', 'AC-2(0)', 'AC-2()', 'AC-2(1', 'AC-2 1', 'AC2', 'AC-2(a)');
  none(
    'nist-800-53',
    'AC-2(1)(2)',
    'AC-2.1.1',
    'AC-1234',
    'ACC-2',
    'A-2',
    'AC-2（1）',
    'ÀC-2',
    'AC-٢',
    'AC-2\n(1)',
  );
});

test('the revisions of 800-171 are never confused', () => {
  for (const text of ['3.1.1', '3.13.16', '03.01.01', '03.17.03'])
    assert.is(canonicalIdentifier('nist-800-171', ` ${text} `), text);
  none('nist-800-171', '3.01.1', '3.1.01', '03.1.1', '03.01.1', '3.01.01', '3.0.1', '03.00.01', '03.01.00');
  none('nist-800-171', '3.1', '3.1.1.1', '2.1.1', '3.1.111', '03.01.001', '3.1.1a', '');
});

test('IA controls and CCIs are read whatever their case and padding', () => {
  assert.is(canonicalIdentifier('dod-8500', 'ecct-1'), 'ECCT-1');
  none('dod-8500', 'ECCT', 'ECCT-4', 'ECCT-0', 'ECC-1', 'ECCTX-1', 'ECCT 1');
  for (const text of ['CCI-15', 'cci-000015', 'CCI-000015', 'cci15'])
    assert.is(canonicalIdentifier('cci', text), 'CCI-000015');
  none('cci', 'CCI-', 'CCI-1234567', 'CCI-0000015', 'CC-15', '15', 'CCI--15');
});

test('an identifier of another framework is taken as it stands', () => {
  assert.is(canonicalIdentifier('site-policy', '  Policy 7 (b) '), 'Policy 7 (b)');
  none('site-policy', '', ' ');
});

test('the sort keys order identifiers as the catalog does', () => {
  const sorted = (framework: string, texts: string[]) =>
    [...texts].sort((a, b) => compareCodePoints(sortKey(framework, a), sortKey(framework, b)));
  const inOrder = (framework: string, ...texts: string[]) =>
    assert.equal(sorted(framework, [...texts].reverse()), texts);
  inOrder('nist-800-53', 'AC-1', 'AC-2', 'AC-2(1)', 'AC-2(2)', 'AC-2(10)', 'AC-3', 'AC-10', 'AT-1');
  inOrder('nist-800-171', '3.1.1', '3.1.2', '3.1.10', '3.2.1', '3.10.1', '03.01.01', '03.01.10', '03.10.01');
  inOrder('dod-8500', 'COAS-1', 'COAS-2', 'DCCB-1');
  inOrder('cci', 'CCI-000002', 'CCI-000010', 'CCI-005147');
  inOrder('iso-27001', 'A.05', 'A.5', 'A.5.2', 'A.5.10', 'A.10', 'Control 9', 'Control 10', 'GV.OC-01');
});

test('the family code is what an identifier begins with', () => {
  const codes = [
    familyCodeOf('nist-800-53', 'AC-2(1)'),
    familyCodeOf('nist-800-171', '3.13.1'),
    familyCodeOf('nist-800-171', '03.01.01'),
    familyCodeOf('dod-8500', 'ECCT-1'),
    familyCodeOf('cci', 'CCI-000015'),
  ];
  assert.equal(codes, ['AC', '3.13', '03.01', 'EC', '']);
});

test.run();
