import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { parseSource } from '../../importers/parse.ts';
import { readPeople } from '../../src/auth/certificates.ts';
import { readHosts } from '../../src/checklists/host-table.ts';
import { decodeText } from '../../src/read/decode.ts';
import { readTable } from '../../src/read/table.ts';
import { rejects, suite, testIf } from '../support/harness.ts';
import { reference, referenceData } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { rowsOf } from '../support/tables.ts';
import { told } from '../support/told.ts';

// Rule D53.4: one reader for every table.
const tables = suite('Tables as spreadsheets save them');

const folder = scratchFolder();

const encodings: Record<string, (text: string) => Buffer> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
  'UTF-16LE': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16BE': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  'windows-1252': (text) => Buffer.from(text, 'latin1'),
};

const quoted = (cell: string, separator: string) =>
  cell.includes(separator) || cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell;

/** A table in every encoding and with every separator, plain and as a spreadsheet pads it. */
function* savedAs(rows: string[][]): Generator<[name: string, bytes: Buffer]> {
  for (const [encoding, encode] of Object.entries(encodings))
    for (const separator of [',', ';', '\t'])
      for (const [pad, end] of [
        ['', '\n'],
        [separator.repeat(2), '\r\n'],
      ]) {
        const lines = rows.map((cells) => cells.map((cell) => quoted(cell, separator)).join(separator) + pad);
        if (pad !== '') lines.splice(1, 0, '', separator.repeat(rows[0]!.length + 1));
        yield [JSON.stringify([encoding, separator, pad]), encode(lines.join(end) + end)];
      }
}

const without = (text: string) => text.replace(/"row":\d+,?|row \d+|,?"warnings":.*$/g, '');

tables('what is imported is the same in every encoding, with every separator and with padding', () => {
  const samples = rowsOf(`
    mappings-csv | fromFramework~fromVersion~fromIdentifier~toFramework~toVersion~toIdentifier~reference | acme~2026~ACME-7~nist-800-53~Rev 5~AC-2~Übersicht; page 3, "top" | acme~2026~ACME-8~nist-800-53~Rev 5~AC-3~
    mappings-csv | sp800_171r2~sp800_53r4 | 3.1.1~AC-2 | 3.1.2~AC-3
    controls-csv | framework~version~identifier~title~related | acme~2026~ACME-1~Café~ACME-2;ACME-3 | acme~2026~ACME-2~~ | acme~2026~ACME-3~a\tb~
    synonyms-csv | words~reason | badge;accès card~ours | pier;quay~
    role-mapping-csv | stigSlug~occupationCode~confidenceScore~roleResponsibilityLevel~niceWorkRoleId~mappingReason | harbor_linux_3~15-1244.00~0.95~Primary~~the façade; of the team`).map(
    ([kind, ...lines]) => [kind!, lines.map((line) => line.split('~'))] as const,
  );
  for (const [kind, rows] of samples) {
    const results = [...savedAs(rows)].map(([name, bytes]) => {
      const parsed = parseSource(bytes);
      assert.is(parsed.kind, kind, name);
      assert.ok(parsed.content, `${kind} ${name}`);
      const isAnsi = name.includes('windows') && /[\u0080-\u00ff]/.test(rows.flat().join());
      assert.is(parsed.warnings.length, isAnsi ? 1 : 0, name);
      return without(JSON.stringify(parsed.content));
    });
    assert.is(new Set(results).size, 1, `${kind}: ${[...new Set(results)].join('\n')}`);
  }
});

tables('a cell beyond the header is a fault that names its row, and so is a row that is too short', () => {
  const refused = (text: string) => {
    try {
      parseSource(Buffer.from(text));
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const header = 'words;reason;;';
  assert.is(refused(`${header}\na,b;x;;\n\n;;;\nc,d;y;;z\n`), 'row 5 has 4 cells, the header has 2');
  assert.is(refused(`${header}\nonly\n`), 'row 2 has 1 cells, the header has 2');
  assert.is(refused('words;reason;;x\na,b;c;;d\n'), 'column 3 of the header has no name');
});

const quiet = () => undefined;

tables('the people of GAPSTONE_PEOPLE', async () => {
  const rows = [
    ['subject', 'org', 'entitlements'],
    ['ann', 'Bureau für Häfen', 'regdoc; occ'],
    ['bob', '', ''],
  ];
  for (const [name, bytes] of savedAs(rows)) {
    const people = await readPeople(put(folder, 'people.csv', bytes), quiet);
    assert.equal(
      [...people],
      [
        ['ann', { organization: 'Bureau für Häfen', entitlements: ['regdoc', 'occ'] }],
        ['bob', { organization: null, entitlements: [] }],
      ],
      name,
    );
  }
  const padded = put(folder, 'people.csv', 'subject;org;entitlements;\nann;;occ;\nbob;;;x\n');
  await rejects(readPeople(padded, quiet), /line 3 does not have 3 columns/);
  // An error of the stream once ended the process.
  await rejects(readPeople(folder, quiet), /EISDIR/);
  const many = Array.from({ length: 20_000 }, (_, at) => `name ${at};"a;b";"occ;regdoc"`);
  const people = await readPeople(
    put(folder, 'p.csv', `subject;org;entitlements\n${many.join('\n')}`),
    quiet,
  );
  assert.is(people.size, 20_000);
  assert.equal(people.get('name 19999'), { organization: 'a;b', entitlements: ['occ', 'regdoc'] });
});

const readFile = (bytes: Buffer) =>
  readHosts(decodeText(bytes).text, { mustHaveHeader: true, among: (name) => name });

tables('the hosts of a list', () => {
  const rows = [
    ['hostName', 'role', 'stigs', 'fqdn'],
    ['wéb01', 'Member Server', 'harbor_linux_3; lantern_web_server_2', ''],
    ['db, 2', '', 'harbor_linux_3', 'db.example.mil'],
  ];
  for (const [name, bytes] of savedAs(rows))
    assert.equal(
      readFile(bytes),
      {
        hosts: [
          { hostName: 'wéb01', role: 'Member Server', stigs: ['harbor_linux_3', 'lantern_web_server_2'] },
          { hostName: 'db, 2', stigs: ['harbor_linux_3'], fqdn: 'db.example.mil' },
        ],
        problems: [],
      },
      name,
    );
  const empty = ',,,\n'.repeat(600);
  assert.is(readFile(Buffer.from(`hostName,fqdn,,\n${empty}web01,,,\n${empty}`)).hosts.length, 1);
  assert.equal(readFile(Buffer.from('hostName,fqdn,,\nweb01,,,x\n')).problems, [
    'Line 2: it has more than 2 columns',
  ]);
  assert.match(
    readFile(Buffer.from(`hostName\n${'"",\n'.repeat(20_000)}`)).problems[0]!,
    /more than 20,000 rows/,
  );
});

testIf(referenceData, tables)('a host table with trailing commas, from the field', () => {
  const { hosts, problems } = readFile(readFileSync(reference('..', 'field', 'hosts-trailing-commas.csv')));
  assert.equal(problems, []);
  assert.equal(told(hosts, 'hostName', 'role'), ['web01 Member Server', 'web02 None']);
});

tables('the first line says what separates cells, without what stands in quotes', () => {
  for (const [text, cells] of [
    ['a\tb;c,d\n', ['a', 'b;c,d']],
    ['"a;b",c\n', ['a;b', 'c']],
    ['\n  \na;"b,c"\n', ['a', 'b,c']],
    ['one\n', ['one']],
    ['"a\tb";c\n', ['a\tb', 'c']],
  ] as const)
    assert.equal(readTable(text)[0]!.cells, cells, JSON.stringify(text));
  assert.equal(
    readTable('a,b\n\n"x\ny",z\r\n,,\rq,r,,').map(({ cells, number, line }) => [cells, number, line]),
    [
      [['a', 'b'], 1, 1],
      [['x\ny', 'z'], 3, 4],
      [['q', 'r'], 5, 6],
    ],
  );
});

tables.run();
