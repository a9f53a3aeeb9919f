import * as assert from 'uvu/assert';
import { isMappingsCsv, parseMappingsCsv } from '../../../importers/crosswalk/mappings-csv.ts';
import { suite } from '../../support/harness.ts';
import { told } from '../../support/told.ts';
import { pairsOf, refusal } from './support.ts';

const header = 'fromFramework,fromVersion,fromIdentifier,toFramework,toVersion,toIdentifier,reference';
const read = (text: string) => pairsOf(parseMappingsCsv(text));
const refused = (text: string) => refusal('mappings-csv', () => parseMappingsCsv(text));

const test = suite('our interchange for mappings');

test('the header line alone tells whether a text is one', () => {
  for (const text of [header, 'fromFramework,lamp', 'sp800_171r2,sp800_53r4', 'sp800_171r2,sp800_53r5\na,b'])
    assert.ok(isMappingsCsv(text), text);
  for (const text of [
    '',
    'fromFramework',
    'framework,version,identifier',
    'toFramework,fromFramework',
    'sp800_171r3,x',
  ])
    assert.not.ok(isMappingsCsv(text), text);
});

test('reads the keys of our frameworks in any case, those of a site as they stand', () => {
  const pairs = read(
    [
      header,
      'CCI,2026-01-02,cci-2,Nist-800-53,Rev 5.1.1,ac-2.1,AC-2 (1) (a)',
      'Site,1,Policy 1,cci,,CCI-3,',
      'cci,2026-01-02,CCI-2,nist-800-53,Rev 4,AC-2(1),',
    ].join('\n'),
  );
  assert.equal(
    pairs.map((pair) => Object.values(pair).join(' ')),
    [
      'cci 2026-01-02 CCI-000002 nist-800-53 Rev 5.1.1 AC-2(1) AC-2 (1) (a) 2',
      'Site 1 Policy 1 cci  CCI-000003 row 3 3',
      'cci 2026-01-02 CCI-000002 nist-800-53 Rev 4 AC-2(1) row 4 4',
    ],
  );
});

test('the pairs of 800-171 Rev 2 name their rows', () => {
  const pairs = read('sp800_171r2,sp800_53r4\r\n3.1.1,AC-2\r\n\r\n3.1.1,AC-17 (1)\r\n');
  assert.equal(
    told(pairs, 'fromFramework', 'fromVersion', 'fromIdentifier', 'toVersion', 'toIdentifier', 'reference'),
    ['nist-800-171 Rev 2 3.1.1 Rev 4 AC-2 row 2', 'nist-800-171 Rev 2 3.1.1 Rev 4 AC-17(1) row 4'],
  );
});

test('a bad file is refused naming row and column', () => {
  assert.is(refused('fromFramework,lamp\na,b'), `the header is not ${header}`);
  assert.is(refused(header.replace('reference', 'toIdentifier')), 'the column toIdentifier occurs twice');
  assert.is(refused(header), 'there are no rows below the header');
  assert.is(refused('sp800_171r2,sp800_53r5\n3.1.1,AC-2'), 'the header is not sp800_171r2,sp800_53r4');
  const row = (text: string) => refused(`${header}\n${text}\n`);
  assert.is(row('a,1,x,b,1,y'), 'row 2 has 6 cells, the header has 7');
  assert.is(row('cci,,CCI-1,nist-800-53,5,AC-1,'), 'row 2, column fromVersion: the cell is empty');
  assert.is(
    row('cci,1,lamp,nist-800-53,5,AC-1,'),
    'row 2, column fromIdentifier: "lamp" is not an identifier of cci',
  );
  assert.is(row('cci,1,CCI-1,,5,AC-1,'), 'row 2, column toFramework: the cell is empty');
  assert.is(row('cci,1,CCI-1,nist-800-53,5,,'), 'row 2, column toIdentifier: the cell is empty');
  assert.is(row('cci,1,CCI-1,cci,2,cci-1,'), 'row 2, column toIdentifier: CCI-000001 is paired with itself');
  const twice = 'cci,1,CCI-1,nist-800-53,5,AC-1,a\n\ncci,1,cci-1,nist-800-53,5,ac-1,a';
  assert.is(row(twice), 'row 4 repeats the pair of row 2');
  const pairs = (text: string) => refused(`sp800_171r2,sp800_53r4\n${text}`);
  assert.is(pairs('03.01.01,AC-2'), 'row 2, column sp800_171r2: 03.01.01 is of Rev 3');
  assert.is(pairs('3.1.1,AC-x'), 'row 2, column sp800_53r4: "AC-x" is not an identifier of nist-800-53');
  assert.is(pairs('3.1.1,AC-2\n3.1.1,AC-02'), 'row 3 repeats the pair of row 2');
});

test('a file of either form has at most 50,000 pairs', () => {
  for (const [head, row] of [
    [header, 'site,1,P,cci,1,CCI-000001,'],
    ['sp800_171r2,sp800_53r4', '3.1.1,AC-2'],
  ])
    assert.is(refused(`${head}\n${`${row}\n`.repeat(50_001)}`), 'more than 50000 pairs');
});

test.run();
