import * as assert from 'uvu/assert';
import { parseGroup, parseSource } from '../../importers/parse.ts';
import { suite } from '../support/harness.ts';

// Rule D53.1: what a source states is stored, or the ledger names it with its count.
const losses = suite('What the small readers do not store');

const notStored = ({ warnings }: { warnings: string[] }) =>
  warnings.filter((each) => each.startsWith('not stored: ')).map((each) => each.slice('not stored: '.length));

const cci = (id: number, more: string) =>
  `<cci_item id="CCI-00000${id}"><status>draft</status><definition>Lanterns <b>burn</b>.</definition>
   <type>policy</type>${more}</cci_item>`;
const cciList = (items: string, more = '') =>
  `<cci_list xmlns="http://iase.disa.mil/cci" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
     xsi:schemaLocation="a b"><metadata><version>1</version>${more}</metadata><cci_items>${items}</cci_items></cci_list>`;

const control = (more: string, attributes = '') =>
  `<IACONTROL${attributes}><CONTROL_NUMBER title="Lamps">COAS-1</CONTROL_NUMBER><MACCONF><MAC>MACI</MAC></MACCONF>
   <CONTROL_NAME>Lamps</CONTROL_NAME><SUBJECT_AREA>Light</SUBJECT_AREA><IMPACT_CODE>High</IMPACT_CODE>
   <DESCRIPTION>Lamps burn.</DESCRIPTION>${more}</IACONTROL>`;
const controls = (text: string) => `<IMPORT_FILE xmlns="urn:FindingImport">${text}</IMPORT_FILE>`;

const diacap = (more: string) =>
  `<DiacapToRmf><Iac control="COAS-1"><NistControl revision="4">CP-7</NistControl>${more}</Iac></DiacapToRmf>`;

const element = (type: string, id: string, text = '') => ({
  ...{
    element_type: type,
    element_identifier: id,
    title: 'Keeper',
    text,
    doc_identifier: 'SP_800_181_rev_1',
  },
});

const nice = (elements: object[], relations: [string, string][]) =>
  JSON.stringify({
    documents: [{ doc_identifier: 'SP_800_181_rev_1', name: 'NICE', version: '2.0.0' }],
    elements: [element('category', 'IO'), element('work_role', 'IO-WRL-001'), ...elements],
    relationships: [['IO', 'IO-WRL-001'], ...relations].map(([from, to]) => ({
      ...{ source_element_identifier: from, dest_element_identifier: to, dest_doc_identifier: '' },
      relationship_identifier: 'projection',
    })),
  });

const document = (more: object) => {
  const head = { documentId: 'a', title: 'T', publisher: 'P', doctype: 'law', published: '2020-02-29' };
  return JSON.stringify({ formatVersion: '1', document: { ...head, ...more } });
};

const cases: Record<string, [source: string, expected: string[]]> = {
  'a CCI list without more': [cciList(cci(1, '')), []],
  'a CCI list': [
    cciList(
      cci(1, '<note>A &amp; <i>B</i></note><publishdate>2020-01-01</publishdate>') +
        cci(
          2,
          '<note>C</note><note/><references><reference creator="N" version="5" title="t" index="AC-1"/></references>',
        ) +
        cci(3, '<definition>Another.</definition><lamp oil="whale"/>'),
      '<publishdate>2020-01-01</publishdate>',
    ),
    [
      'publishdate (2)',
      'note (2)',
      'i (1)',
      'reference@creator (1)',
      'a repeated definition (1)',
      'lamp@oil (1)',
    ].sort(),
  ],
  'the 8500.2 without more': [controls(control('<THREAT>Dark</THREAT>')), []],
  'the 8500.2': [
    controls(
      `stray${control('<ORIGIN>x</ORIGIN><THREAT>a</THREAT><THREAT>b</THREAT><EMPTY/>', ' weight="3"')}${control(
        '<ORIGIN when="1"/>',
      ).replaceAll('COAS-1', 'COAS-2')}`,
    ).replace('title="Lamps">COAS-2', 'title="Horns">COAS-2'),
    [
      'CONTROL_NUMBER@title other than CONTROL_NAME (1)',
      'IACONTROL/ORIGIN (2)',
      'IACONTROL@weight (1)',
      'a repeated IACONTROL/THREAT (1)',
      'text of IMPORT_FILE (1)',
    ],
  ],
  'the DIACAP map': [
    diacap('<NistControl revision="3" note="n">CP-7</NistControl><Remark>r</Remark>'),
    ['Iac/Remark (1)', 'NistControl@note (1)'],
  ],
  'the NICE Framework without more': [nice([], []), []],
  'the NICE Framework': [
    nice(
      [
        element('task', 'T1', 'Light.'),
        element('task', 'T2'),
        element('work_role', 'IO-WRL-002', 'Withdrawn'),
      ],
      [
        ['IO-WRL-001', 'T1'],
        ['IO-WRL-001', 'T2'],
      ],
    ),
    [
      'a relationship other than of category and work_role (2)',
      'task (2)',
      'the text of a work_role (1)',
      'withdrawn work_role (1)',
    ],
  ],
  'the interchange of documents': [
    document({ language: 'en', sha256: 'a'.repeat(64) }),
    ['document/language (1)', 'document/sha256 (1)'],
  ],
  'the head of Markdown': [
    '---\ntitle: A\nlayout: x\nsubnav:\n  - text: t\nauthor: Ann\nabstract: Short\nkeywords: ""\n---\n# B\n\nC.\n',
    ['the field abstract of the head (1)', 'the field author of the head (1)'],
  ],
};

for (const [name, [source, expected]] of Object.entries(cases))
  losses(name, () => assert.equal(notStored(parseSource(Buffer.from(source))).sort(), expected));

const group = (kind: 'onet' | 'regdoc-markdown', files: Record<string, string>) =>
  notStored(
    parseGroup(
      kind,
      Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    ),
  ).sort();

losses('a release of O*NET: columns, rows and whole tables', () => {
  const table = (...rows: string[][]) => rows.map((cells) => `${cells.join('\t')}\n`).join('');
  const code = 'O*NET-SOC Code';
  const files = {
    'Occupation Data.txt': table(
      [code, 'Title', 'Description'],
      ['15-1244.00', 'Harbor Administrators', 'Keep.'],
    ),
    'Task Statements.txt': table(
      [code, 'Task ID', 'Task', 'Task Type', 'Incumbents Responding', 'Date', 'Domain Source'],
      ['15-1244.00', '1', 'Start.', 'Core', '12', '08/2024', 'Analyst'],
      ['15-1244.00', '2', 'Stop.', 'Core', 'n/a', '08/2024', 'Analyst'],
    ),
    'Skills.txt': table(
      [code, ...'Element ID,Element Name,Scale ID,Data Value,N,Recommend Suppress,Not Relevant'.split(',')],
      ['15-1244.00', '2.A.1.a', 'Reading', 'IM', '3.00', '8', 'N', 'n/a'],
      ['15-1244.00', '2.C.1', 'Knowing', 'IM', '3.00', '8', 'N', 'n/a'],
      ['15-1244.00', '2.A.1.a', 'Reading', 'CX', '3.00', '', 'N', 'n/a'],
    ),
    'Interests.txt': '',
  };
  assert.equal(group('onet', files), [
    'a row of 2.A on the scale CX (1)',
    'a row of 2.C on the scale IM (1)',
    'the column Domain Source (2)',
    'the column Incumbents Responding (1)',
    'the column N (2)',
    'the table Interests.txt (1)',
  ]);
});

losses('a folder of Markdown: files that are no part of the document', () => {
  const files = {
    'cover.md': '# Lamp 1\n',
    'sec1.md': '# One\n\nAct.\n',
    'errata.md': 'x',
    'README.md': 'y',
  };
  assert.equal(group('regdoc-markdown', files), ['the file README.md (1)', 'the file errata.md (1)']);
});

losses.run();
