import * as assert from 'uvu/assert';
import type { CatalogRecord } from '../../../importers/controls/control-record.ts';
import { isControlsCsv, parseControlsCsv } from '../../../importers/controls/controls-csv.ts';
import { parseSource } from '../../../importers/parse.ts';
import { suite } from '../../support/harness.ts';
import { told } from '../../support/told.ts';
import { catalogOf, controlOf, recordsOf, refusal } from './support.ts';

const test = suite('our interchange for controls');

test('the header line alone tells whether a text is one', () => {
  const ours = [
    'framework,version',
    '"framework",x\r\n',
    'framework, version,identifier\na,b,c',
    'framework,lamp',
  ];
  for (const text of [...ours, 'framework;version', 'framework\tversion'])
    assert.ok(isControlsCsv(text), text);
  const others = ['', 'framework', 'frameworks,version', 'version,framework', 'framework; what it is'];
  const long = [
    `"${'x'.repeat(10_000_000)}`,
    `framework${';  '.repeat(19)}!\na\n`,
    `framework${'\t  '.repeat(19)}!\na\n`,
  ];
  for (const text of [...others, '{"framework":1}', ...long])
    assert.not.ok(isControlsCsv(text), text.slice(0, 99));
});

test('our framework keys are read in any case, a key of a site as it stands', () => {
  const text = 'framework,version,identifier\nNIST-800-53,Rev 5,ac-02\nnist-800-53,Rev 5,AC-3\nSite,1,P-1\n';
  const records = recordsOf(parseControlsCsv(text)) as CatalogRecord[];
  assert.equal(
    records.map(({ framework, controls }) => [framework, controls.map((each) => each.identifier)]),
    [
      ['nist-800-53', ['AC-2', 'AC-3']],
      ['Site', ['P-1']],
    ],
  );
});

test('gives a catalog for each framework and version', () => {
  const text = [
    'framework,version,identifier,title,family,status,withdrawnInto,baselines,statement,guidance',
    'nist-800-53,Rev 5.1.1,ac-10,Ten,Harbors,,,high;low,"The keeper:',
    '  1. Says ""yes"".",Ask.',
    'nist-800-53,Rev 4,AC-2(1),Old,Harbors,active,,,,',
    ',,,,,,,,,',
    'nist-800-53,Rev 5.1.1,AC-02,Two,Harbors,,,,,',
    'nist-800-53,Rev 5.1.1,AC-3,Three,Harbors,withdrawn,AC-2; ac-2.1;AC-2,,,',
  ].join('\r\n');
  const [newer, older] = recordsOf(parseControlsCsv(text)) as CatalogRecord[];
  assert.equal(
    [newer!.version, newer!.edition, older!.version, older!.controls.length],
    ['Rev 5.1.1', '', 'Rev 4', 1],
  );
  assert.equal(told(newer!.controls, 'identifier'), ['AC-2', 'AC-3', 'AC-10']);
  const ten = controlOf(newer!, 'AC-10');
  assert.equal([ten.title, ten.family, ten.familyCode, ten.guidance], ['Ten', 'Harbors', 'AC', 'Ask.']);
  assert.equal([ten.baselines, ten.macLevels, ten.requirementType], [['low', 'high'], null, null]);
  assert.is(ten.statement, 'The keeper:\n  1. Says "yes".');
  assert.equal(controlOf(newer!, 'AC-2').baselines, []);
  assert.equal(controlOf(newer!, 'AC-3').withdrawnInto, ['AC-2', 'AC-2(1)']);
});

test('an absent column says nothing, an empty cell of a list that the list is empty', () => {
  const header =
    'framework,identifier,version,macLevels,confidentialityLevels,impactCode,requirementType,familyCode';
  const rows = ['dod-8500,HDLA-1,x,MAC III; MAC I,PUBLIC,High,,', 'dod-8500,HDLA-2,x,,,,derived,Q'];
  const catalog = catalogOf(parseControlsCsv([header, ...rows].join('\n')));
  const [first, second] = catalog.controls;
  assert.equal(
    [first!.macLevels, first!.confidentialityLevels, first!.impactCode],
    [['MAC I', 'MAC III'], ['PUBLIC'], 'High'],
  );
  assert.equal([second!.macLevels, second!.confidentialityLevels, second!.impactCode], [[], [], null]);
  assert.equal([first!.baselines, first!.requirementType, second!.requirementType], [null, null, 'derived']);
  assert.equal([first!.familyCode, second!.familyCode], ['HD', 'Q']);
});

test('the framework cci gives a list of CCIs', () => {
  const text =
    'framework,version,identifier,status,type,statement\ncci,2026-01-02,CCI-2,deprecated,technical;policy,Burn.\ncci,2026-01-02,cci-1,,,\n';
  const { framework, edition, controls } = catalogOf(parseControlsCsv(text));
  assert.equal([framework, edition], ['cci', '2026-01-02']);
  assert.equal(told(controls, 'identifier', 'familyCode', 'status', 'family', 'statement'), [
    'CCI-000001  active  ',
    'CCI-000002 deprecated withdrawn policy, technical Burn.',
  ]);
});

test('a bad header is refused naming the column', () => {
  const refused = (text: string) => refusal('controls-csv', () => parseControlsCsv(text));
  assert.is(refused('framework,version,title\na,b,c'), 'the column identifier is missing');
  assert.is(refused('framework,version,identifier,lamp\na,b,c,d'), 'the column "lamp" is unknown');
  assert.is(refused('framework,version,identifier,version\na,b,c,d'), 'the column version occurs twice');
  assert.is(refused('framework,version,identifier\n'), 'there are no rows below the header');
  assert.match(refused('framework,version,identifier\na,"b,c\n'), /^not valid CSV: /);
  const columns = ['framework', ...Array.from({ length: 200_000 }, (_, n) => `c${n}`)].join();
  assert.is(refused(`${columns}\n${columns}`), 'the column version is missing');
});

test('a column without a name is refused, and prose is not ours', () => {
  assert.is(
    refusal('controls-csv', () => parseControlsCsv('framework,version,,identifier\na,b,,c')),
    'column 3 of the header has no name',
  );
  assert.is(parseSource(Buffer.from('framework; that which holds\na lamp\n')).kind, 'other');
});

test('a bad row is refused naming row and column', () => {
  const row = 'nist-800-53,4,AC-2';
  const cases: [columns: string, cells: string, message: string][] = [
    ['title', row, 'row 4 has 3 cells, the header has 4'],
    ['title', 'nist-800-53,,AC-2,x', 'row 4, column version: the cell is empty'],
    ['title', ',4,AC-2,x', 'row 4, column framework: the cell is empty'],
    ['title', 'nist-800-53,4,lamp,x', 'row 4, column identifier: "lamp" is not an identifier of nist-800-53'],
    ['title', 'nist-800-53,4,ac-01,x', 'AC-1 occurs twice'],
    ['title', `${row},a\u0000b`, 'row 4, column title: characters that cannot be stored'],
    ['status', `${row},gone`, 'row 4, column status: "gone" is not one of: active, withdrawn'],
    ['baselines', `${row},low;medium`, '"low;medium" is not one of: low, moderate, high, privacy'],
    ['baselines', `${row},low;low`, 'row 4, column baselines: "low;low" is not one of: '],
    ['requirementType', `${row},Basic`, 'column requirementType: "Basic" is not one of: basic, derived'],
    ['macLevels', `${row},MACI`, 'column macLevels: "MACI" is not one of: MAC I, MAC II, MAC III'],
    ['confidentialityLevels', `${row},SECRET`, 'column confidentialityLevels: "SECRET" is not one of: '],
    ['impactCode', `${row},low`, 'column impactCode: "low" is not one of: Low, Medium, High'],
    ['status,withdrawnInto', `${row},,AC-1`, 'withdrawnInto: "AC-1" must be empty for an active control'],
    ['status,withdrawnInto', `${row},withdrawn,AC-1;`, '"AC-1;" is not a list of identifiers of nist-800-53'],
    ['type', `${row},policy`, 'column type: "policy" applies to CCIs only'],
    ['title', 'cci,x,CCI-1,Lamp', 'column title: "Lamp" does not apply to a CCI'],
    ['type', 'cci,x,CCI-1,lamp', 'column type: "lamp" is not one of: policy, technical'],
  ];
  for (const [columns, cells, message] of cases) {
    const first = `nist-800-53,4,AC-1${','.repeat(columns.split(',').length)}`;
    const text = `framework,version,identifier,${columns}\n${first}\n\n${cells}\n`;
    const reason = refusal('controls-csv', () => parseControlsCsv(text));
    assert.ok(reason.includes(message), `${reason}: ${message}`);
  }
});

test.run();
