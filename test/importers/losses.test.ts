import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { notYetImported } from '../../importers/imported-before.ts';
import { runImport } from '../../importers/run.ts';
import { filesToReadAgain } from '../../src/db/read-again.ts';
import { suite, testIf } from '../support/harness.ts';
import { parseRelease } from '../support/parsed.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { fieldFiles, fieldFolder } from '../support/reference.ts';
import { writeScap } from '../support/scap-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { type SampleRule, writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

// Nothing of a benchmark is lost in silence (rules F1.4 to F1.6).
const losses = suite('what a benchmark states is stored or named');

const xhtml = 'xmlns:h="http://www.w3.org/1999/xhtml"';
const plain = writeXccdf({ rules: 2 });

/** The sample with raw XML in its first rule, before the fix. */
const inRule = (added: string) => plain.replace('<fix id="F-1_fix"', `${added}<fix id="F-1_fix"`);
const before = (before: string) => writeXccdf({ rules: 2, before });
const warningsOf = (text: string) => parseRelease(text).warnings;

const cases: [name: string, text: string, warnings: string][] = [
  ['nothing but what is read', plain, ''],
  ['a rationale', inRule('<rationale>Why.</rationale>'), 'Rule/rationale (1)'],
  [
    'the same twice, and markup in it',
    inRule(`<warning ${xhtml}><h:p>One</h:p><h:p>two</h:p></warning><warning>Three</warning>`),
    'Rule/warning (2)',
  ],
  ['a second title', inRule('<title>Other.</title>'), 'a repeated Rule/title (1)'],
  ['an element without content', inRule('<rationale xml:lang="en"/><metadata> </metadata>'), ''],
  ['an element whose attributes are content', inRule('<requires idref="V-1"/>'), 'Rule/requires (1)'],
  [
    'a script as fix',
    plain.replace('"F-1_fix"></fix>', '"F-1_fix" system="urn:sh">rm x</fix>'),
    'Rule/fix (1)',
  ],
  ['a role', plain.replaceAll(' weight=', ' role="unscored" weight='), 'Rule@role (2)'],
  ['a default', plain.replaceAll(' weight=', ' role="full" selected="true" weight='), ''],
  ['a notice', before('<notice id="terms">For nobody.</notice><front-matter/>'), 'Benchmark/notice (1)'],
  [
    'values, platforms, foreign elements',
    before(
      '<Value id="v"><value>3</value></Value><platform idref="cpe:/o:x"/><o:owner xmlns:o="urn:o">Me</o:owner>',
    ),
    'Benchmark/Value (1), Benchmark/platform (1), Benchmark/owner (1)',
  ],
  ['signatures', before('<s:Signature xmlns:s="http://www.w3.org/2000/09/xmldsig#">abc</s:Signature>'), ''],
  [
    'what DISA states of itself',
    before(
      '<reference href="https://cyber.mil"><dc:publisher>DISA</dc:publisher><dc:source>STIG.DOD.MIL</dc:source></reference><plain-text id="generator">3.5</plain-text>',
    ),
    '',
  ],
  [
    'references of others',
    inRule('<reference href="https://harbor.example/1">Harbor 1</reference>'),
    'reference/href of a Rule (1), reference of a Rule (1)',
  ],
  [
    'a profile that extends another and sets values',
    before('<Profile id="p" extends="q"><title>P</title><set-value idref="v">4</set-value></Profile>'),
    'Profile@extends (1), Profile/set-value (1)',
  ],
  [
    'idents of other systems',
    inRule('<ident system="http://cce.mitre.org">CCE-1</ident>'),
    'Rule/ident of the system "http://cce.mitre.org" (1)',
  ],
  ['text beside elements', plain.replace('</Group>', 'loose</Group>'), 'text of Group (1)'],
  [
    'links and references in a text',
    inRule(`<fixtext ${xhtml}>See <h:a href="https://x.example">there</h:a> and <sub idref="v"/>.</fixtext>`),
    'a@href in a text (1), sub@idref in a text (1)',
  ],
  [
    'an empty group with a title',
    before('<Group id="V-1"><title>Chapter</title></Group>'),
    'Group without a rule of its own (1)',
  ],
];

losses('what is not stored is named once with its count', () => {
  for (const [name, text, expected] of cases)
    assert.is(
      warningsOf(text)
        .map((each) => each.replace(/^not stored: /, ''))
        .join(', '),
      expected,
      name,
    );
});

losses('a file with any number of kinds has a bounded number of warnings', () => {
  const many = Array.from({ length: 500 }, (_, index) => `<x${index}>a</x${index}>`).join('');
  const warnings = warningsOf(inRule(many));
  assert.is(warnings.length, 51);
  assert.is(warnings.at(-1), 'not stored: other elements and attributes (450)');
});

const first = (text: string) => parseRelease(text).release.findings[0]!;
const of = (rule: SampleRule) => first(writeXccdf({ rules: [rule] }));

losses('checks of a complex-check, nested or not, are checks of the rule, in order', () => {
  const check = (text: string) => `<check system="s"><check-content>${text}</check-content></check>`;
  const complex = `<complex-check operator="OR">${check('b')}<complex-check operator="AND">${check('c')}</complex-check></complex-check>`;
  const text = inRule(complex + check('d'));
  assert.is(first(text).checkContent, 'b\n\nc\n\nd\n\nLook whether setting 1 is on.');
  assert.equal(warningsOf(text), ['not stored: complex-check@operator (2)']);
});

losses('the names of description tags count in any spelling, and unknown ones are warned about', () => {
  const tag = (name: string, text: string) => `<${name}>${text}</${name}>`;
  const cases: [string, Partial<ReturnType<typeof of>>, string[]][] = [
    [
      tag('VulnDiscussion', 'a <b> c') + tag('SecurityOverrideGuidance', 'g') + tag('Mitigations', 'm'),
      { vulnDiscussion: 'a <b> c', severityOverrideGuidance: 'g', mitigations: 'm' },
      [],
    ],
    [
      tag('Vuln_Discuss', 'a') +
        tag('Potential_Impact', 'p') +
        tag('IA_Controls', 'i') +
        tag('third-party-tools', 't'),
      { vulnDiscussion: 'a', potentialImpacts: 'p', iaControls: 'i', thirdPartyTools: 't' },
      [],
    ],
    [
      tag('falsepositive', 'f') + tag('VulnDiscussion', 'a') + tag('RESPONSIBILITIES', 'r'),
      { falsePositives: 'f', vulnDiscussion: 'a', responsibility: 'r' },
      [],
    ],
    [
      `${tag('VulnDiscussion', 'a')}<Poam>later</Poam><Owner></Owner> loose`,
      { vulnDiscussion: 'a' },
      ['<Poam> of a description (1)', 'text between the tags of a description (1)'],
    ],
  ];
  for (const [description, expected, warnings] of cases) {
    const text = writeXccdf({ rules: [{ description }] });
    for (const [field, value] of Object.entries(expected))
      assert.is(first(text)[field as 'fixText'], value, field);
    assert.equal(
      warningsOf(text),
      warnings.map((each) => `not stored: ${each}`),
    );
  }
  // As elements, and in two descriptions.
  const elements = plain.replace(
    '&lt;VulnDiscussion&gt;Why 1.&lt;/VulnDiscussion&gt;',
    '<VulnDiscussion>Why 1.</VulnDiscussion><Mitigations>m &lt; n</Mitigations></description><description><Responsibility>r</Responsibility>',
  );
  const { vulnDiscussion, mitigations, responsibility } = first(elements);
  assert.equal([vulnDiscussion, mitigations, responsibility], ['Why 1.', 'm < n', 'r']);
});

losses('every CCI of an ident counts, whatever stands between them', () => {
  const both = ['CCI-000366', 'CCI-001891'];
  for (const text of [
    'CCI-000366, CCI-001891',
    'CCI-000366;CCI-001891',
    'CCI-000366CCI-001891',
    'CCI-000366\n  CCI-001891\n',
    'CCI-000366 and CCI-001891',
    'CCI-000366-CCI-001891',
    'CCI-000366 \u2013 cci 1891',
    'CCI-000366, 001891',
    '[CCI-000366|CCI-001891]',
    'CCIs: 000366 or 001891',
    'CCI\u2011000366\u200b CCI\u2013001891',
    '000366, 001891',
  ])
    assert.equal(of({ ccis: [text] }).ccis, both, text);
  const text = writeXccdf({ rules: [{ ccis: ['CCI-000366, CCI-1234567', 'CCI-001891'] }] });
  assert.equal(first(text).ccis, both);
  assert.is(warningsOf(text).length, 1);
  assert.match(warningsOf(text)[0]!, /CCI-1234567.*not a CCI/);
  for (const none of ['CCI-00 366', 'CCI-000000', 'to be named']) {
    const found = parseRelease(writeXccdf({ rules: [{ ccis: [none] }] }));
    assert.equal(found.release.findings[0]!.ccis, [], none);
    assert.is(found.warnings.length, 1);
    assert.match(found.warnings[0]!, `the CCI "${none}", which is not a CCI`);
  }
  assert.equal(of({ legacyIds: ['V-1, SV-2'] }).legacyIds, ['V-1', 'SV-2']);
  // A benchmark of XCCDF 1.2 is read in the same way.
  const later = writeXccdf({ rules: [{ ccis: ['CCI-000366/CCI-001891'] }] }).replace(
    'xccdf/1.1',
    'xccdf/1.2',
  );
  assert.equal(first(later).ccis, both);
});

losses('several texts of one check are joined by an empty line', () => {
  const text = plain.replace('</check-content>', '</check-content><check-content>Then this.</check-content>');
  assert.is(first(text).checkContent, 'Look whether setting 1 is on.\n\nThen this.');
});

losses('blocks and line breaks of XHTML are line breaks', () => {
  const fix = (markup: string) =>
    first(plain.replace('Switch setting 1 on.', markup).replace('<Benchmark ', `<Benchmark ${xhtml} `))
      .fixText;
  for (const [markup, text] of [
    ['Run:<h:br/>first<h:br/>second', 'Run:\nfirst\nsecond'],
    ['<h:ul>\n  <h:li>one</h:li>\n  <h:li>two\n words</h:li>\n</h:ul>after', 'one\ntwo words\nafter'],
    ['Say <h:code>a  b</h:code> twice.', 'Say a  b twice.'],
    ['<h:p>One</h:p><h:p>two<h:br/></h:p>\n\n<h:div>three</h:div>', 'One\ntwo\nthree'],
    [
      '<h:table><h:tr><h:th>a</h:th> <h:th>b</h:th></h:tr><h:tr><h:td>1</h:td><h:td>2</h:td></h:tr></h:table>',
      'a | b\n1 | 2',
    ],
    [
      '<h:table><h:tr><h:td/><h:td>b</h:td></h:tr><h:tr><h:td> </h:td><h:td><h:p>d</h:p></h:td></h:tr><h:tr/></h:table>e',
      '| b\n | d\ne',
    ],
    ['<h:pre>  x\n    y</h:pre>', 'x\n    y'],
    ['one<br/>two', 'one\ntwo'],
    ['no  markup\n\n  stays', 'no  markup\n\n  stays'],
  ] as const)
    assert.is(fix(markup), text, markup);
});

const onField = testIf(fieldFiles, losses);

onField('the files of the field', () => {
  const read = (name: string) => parseRelease(readFileSync(join(fieldFolder, name)));
  const joined = read('cci-joined.xml');
  assert.ok(joined.release.findings.every(({ ccis }) => ccis.length > 0));
  assert.equal(joined.warnings, []);
  const [{ fixText, checkContent }] = read('xhtml-fixtext.xml').release.findings as [ReturnType<typeof of>];
  assert.equal([fixText, checkContent], ['Run:\nfirst line\nsecond line', 'one\ntwo']);
  const info = read('severity-info.xml');
  assert.is(info.release.findings[0]!.severity, 'low');
  assert.is(info.warnings.length, 1);
});

losses(
  'a source is read again where the older version stored less of its kind, and named until then',
  async () => {
    const folder = scratchFolder();
    const stig = put(folder, 'stig.xml', plain);
    const other = put(
      folder,
      'controls.csv',
      'framework,version,identifier,title,statement\nnist-800-53,Rev 5,AC-1,T,S\n',
    );
    const zip = put(folder, 'lib.zip', makeZip([{ name: 'scap.xml', data: writeScap() }]));
    const db = emptyCatalog();
    const { lines } = await runImport(db, [stig, other, zip]);
    assert.equal(told(lines, 'kind', 'outcome'), [
      'xccdf imported',
      'controls-csv imported',
      'archive imported',
      'scap imported',
    ]);
    const look = async () => (await notYetImported(db, [stig, other, zip], new Set(), false)).fresh;
    const named = () => filesToReadAgain(db.sqlite);
    assert.equal([named(), await look()], [[], []]);
    db.sqlite.exec('UPDATE sources SET importer_version = 6');
    assert.equal(
      [named(), await look()],
      [
        [stig, `${zip}!/scap.xml`],
        [stig, zip],
      ],
    );
    // A reader that rejects what an older one stored reads it once, not with each look at the inbox.
    db.sqlite.exec("UPDATE import_ledger SET outcome = 'rejected' WHERE kind = 'scap'");
    assert.equal([named(), await look()], [[stig], [stig]]);
    const again = await runImport(db, [stig, other, zip]);
    assert.is(told(again.lines, 'outcome').join(' '), 'imported unchanged imported imported');
    assert.equal([named(), await look()], [[], []]);
    db.close();
  },
);

losses.run();
