import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { CatalogRecord } from '../../../importers/controls/control-record.ts';
import { isControlsCsv, parseControlsCsv } from '../../../importers/controls/controls-csv.ts';
import { parseSource } from '../../../importers/parse.ts';
import { effortOf } from '../../support/effort.ts';
import { suite } from '../../support/harness.ts';
import { told } from '../../support/told.ts';
import { catalogOf, controlOf, recordsOf, refusal } from './support.ts';

const test = suite('our interchange for controls');

test('the header line alone tells whether a text is one', () => {
  for (const text of [
    'framework,version',
    '"framework",x\r\n',
    'framework, version,identifier\na,b,c',
    'framework,lamp',
    'framework;version',
    'framework\tversion',
  ])
    assert.ok(isControlsCsv(text), text);
  for (const text of [
    '',
    'framework',
    'frameworks,version',
    'version,framework',
    'framework; what it is',
    '{"framework":1}',
  ])
    assert.not.ok(isControlsCsv(text), text);
  assert.not.ok(isControlsCsv(`"${'x'.repeat(10_000_000)}`));
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
  assert.equal(recordsOf(parseControlsCsv(text)), [
    {
      type: 'cci-list',
      edition: '2026-01-02',
      items: [
        { identifier: 'CCI-000001', status: '', type: '', definition: '', references: [] },
        {
          identifier: 'CCI-000002',
          status: 'deprecated',
          type: 'policy, technical',
          definition: 'Burn.',
          references: [],
        },
      ],
      pairs: [],
    },
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

test('a header of many marks and blanks costs no more than its length', async () => {
  for (const mark of [';', '\t']) {
    const text = `framework${`${mark}  `.repeat(19)}!\na\n`;
    const ms = await effortOf(() => assert.not.ok(isControlsCsv(text), text));
    assert.ok(ms < 500, `${ms} ms`);
  }
});

test('a bad row is refused naming row and column', () => {
  const bad = (columns: string, cells: string) =>
    refusal('controls-csv', () =>
      parseControlsCsv(
        `framework,version,identifier,${columns}\nnist-800-53,4,AC-1${','.repeat(columns.split(',').length)}\n\n${cells}\n`,
      ),
    );
  const row = 'nist-800-53,4,AC-2';
  assert.is(bad('title', row), 'row 4 has 3 cells, the header has 4');
  assert.is(bad('title', 'nist-800-53,,AC-2,x'), 'row 4, column version: the cell is empty');
  assert.is(bad('title', ',4,AC-2,x'), 'row 4, column framework: the cell is empty');
  assert.is(
    bad('title', 'nist-800-53,4,lamp,x'),
    'row 4, column identifier: "lamp" is not an identifier of nist-800-53',
  );
  assert.is(bad('title', 'nist-800-53,4,ac-01,x'), 'row 4, column identifier: "ac-01" is already in row 2');
  assert.is(bad('title', `${row},a\u0000b`), 'row 4, column title: characters that cannot be stored');
  assert.is(bad('status', `${row},gone`), 'row 4, column status: "gone" is not one of: active, withdrawn');
  assert.is(
    bad('baselines', `${row},low;medium`),
    'row 4, column baselines: "low;medium" is not one of: low, moderate, high, privacy',
  );
  assert.match(bad('baselines', `${row},low;low`), /^row 4, column baselines: "low;low" is not one of: /);
  assert.match(
    bad('requirementType', `${row},Basic`),
    /column requirementType: "Basic" is not one of: basic, derived$/,
  );
  assert.match(
    bad('macLevels', `${row},MACI`),
    /column macLevels: "MACI" is not one of: MAC I, MAC II, MAC III$/,
  );
  assert.match(
    bad('confidentialityLevels', `${row},SECRET`),
    /column confidentialityLevels: "SECRET" is not one of: /,
  );
  assert.match(bad('impactCode', `${row},low`), /column impactCode: "low" is not one of: Low, Medium, High$/);
  assert.match(
    bad('status,withdrawnInto', `${row},,AC-1`),
    /withdrawnInto: "AC-1" must be empty for an active control$/,
  );
  assert.match(
    bad('status,withdrawnInto', `${row},withdrawn,AC-1;`),
    /"AC-1;" is not a list of identifiers of nist-800-53$/,
  );
  assert.match(bad('type', `${row},policy`), /column type: "policy" applies to CCIs only$/);
  assert.match(bad('title', 'cci,x,CCI-1,Lamp'), /column title: "Lamp" does not apply to a CCI$/);
  assert.match(bad('type', 'cci,x,CCI-1,lamp'), /column type: "lamp" is not one of: policy, technical$/);
});

test('cells come back as they were written', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', ' ', ';', '😀') });
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  fc.assert(
    fc.property(cell, cell, fc.constantFrom('\n', '\r\n'), (title, statement, end) => {
      const header = `framework,version,identifier,title,statement${end}`;
      const text = `${header}site,1,Policy 1,${quote(title)},${quote(statement)}${end}`;
      const control = controlOf(catalogOf(parseControlsCsv(text)), 'Policy 1');
      assert.equal([control.title, control.statement], [title.trim(), statement.trim()]);
    }),
  );
});

test.run();
