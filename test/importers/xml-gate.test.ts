import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { parseSource } from '../../importers/parse.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { dumpCatalog, importTexts, tableDigests } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { parseRelease, parseSkipped } from '../support/parsed.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { linesOf } from '../support/tables.ts';
import { told } from '../support/told.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const release = (source: string | Uint8Array, options: { strict?: boolean } = {}) =>
  parseRelease(source, options).release;

/** The one clear line with which a source is refused. */
function refusal(source: string | Uint8Array, options: { strict?: boolean } = {}): ImportError {
  let error: unknown = null;
  try {
    parseSource(Buffer.from(source), options);
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error !== null, 'the document was accepted');
  if (!(error instanceof ImportError)) throw error;
  assert.ok(error.message.length > 10 && error.message.length < 300, error.message);
  assert.not.match(error.message, /[\u0000-\u001f\u007f]/);
  return error;
}

const place = /\(line \d+, column \d+\)/;
const sample = writeXccdf();
const body = sample.slice(sample.indexOf('<Benchmark'));
const in12 = (text: string) => text.replace('xccdf/1.1', 'xccdf/1.2');
const withDoctype = (doctype: string, text = body) => `<?xml version="1.0"?>\n${doctype}\n${text}`;
const withTitle = (title: string) => sample.replace(/<title>[^<]*<\/title>/, `<title>${title}</title>`);

const entities = suite('X1, X2: document types and entities');
entities('a DOCTYPE is refused in every form, and nothing is read', async () => {
  const canary = put(scratchFolder(), 'canary.txt', 'CANARY');
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
    '',
  );
  const doctypes = [
    '<!DOCTYPE Benchmark>',
    '<!DOCTYPE Benchmark SYSTEM "x.dtd">',
    '<!DOCTYPE Benchmark PUBLIC "-//X//Y" "http://127.0.0.1:1/x.dtd">',
    `<!DOCTYPE Benchmark [<!ENTITY x SYSTEM "file://${canary}">]>`,
    '<!DOCTYPE Benchmark [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x.dtd"> %x;]>',
    '<!DOCTYPE Benchmark [<!ENTITY x "y">]>',
    '<!DOCTYPE Benchmark [<!ATTLIST Rule severity CDATA "high">]>',
    `<!DOCTYPE b [<!ENTITY l0 "lol">${laughs}<!ENTITY x "&l9;">]>`,
    `<!DOCTYPE b [<!ENTITY x "${'A'.repeat(50_000)}">]>`,
    `<!DOCTYPE b [${'<!ENTITY x "x">'.repeat(100_000)}]>`,
  ];
  const referring = body.replace('An invented product.', '&x;'.repeat(50_000));
  for (const doctype of doctypes)
    assert.match(
      refusal(withDoctype(doctype, referring)).message,
      /^a DOCTYPE is not allowed \(line \d+, column \d+\)$/,
    );
  const db = emptyCatalog();
  const result = await importTexts(
    db,
    doctypes.map((doctype) => withDoctype(doctype)),
  );
  assert.equal([result.summary.rejected, JSON.parse(db.catalogVersion())[0]], [doctypes.length, 0]);
  assert.not.match(JSON.stringify(result.lines), /CANARY/);
});

entities('an entity that nobody declared is refused', () => {
  for (const reference of ['&nbsp;', '&x;', '&l9;', '&eacute;'])
    assert.match(refusal(withTitle(`A ${reference} B`)).message, /entity/);
  assert.match(refusal(withTitle('A & B')).message, place);
  assert.match(refusal(withTitle('A &amp B')).message, place);
});

entities('the five entities and numeric references are decoded, once', () => {
  assert.is(release(withTitle('&lt;&gt;&amp;&quot;&apos;')).title, '<>&"\'');
  assert.is(release(withTitle('&#65;&#x42;&#8217;&#x1F512;')).title, 'AB\u2019\u{1f512}');
  assert.is(release(withTitle('a&#xA0;b&#13;c')).title, 'a\u00a0b\rc');
  assert.is(release(withTitle('&amp;lt;b&amp;gt; &amp;#65;')).title, '&lt;b&gt; &#65;');
  assert.is(release(withTitle('<![CDATA[<b> & ]]>]]&gt;')).title, '<b> & ]]>');
});

entities('numeric references to what XML forbids are refused', () => {
  for (const number of ['0', '1', '11', 'x1F', 'xD800', 'xFFFE', 'xFFFF', 'x110000', '-1', 'x', ''])
    assert.match(refusal(withTitle(`a&#${number};b`)).message, place, number);
});

entities('a million numeric references are read', () => {
  const read = release(sample.replace('An invented product.', '&#65;'.repeat(1_000_000)));
  assert.is(read.description, 'A'.repeat(1_000_000));
});

entities.run();

const sizes = suite('X3: depth, attributes, sizes');

const nested = (depth: number) =>
  // Benchmark is 1, Group 2, Rule 3, description 4.
  sample.replace(
    /<description>&lt;Vuln[^<]*<\/description>/,
    `<description>${'<b>'.repeat(depth - 4)}deep${'</b>'.repeat(depth - 4)}</description>`,
  );
const attributes = (count: number) => {
  const list = Array.from({ length: count }, (_, index) => `a${index}="x"`).join(' ');
  return sample.replace('<description>', `<description ${list}>`);
};
const long = (length: number) => sample.replace('<description>', `<description a="${'x'.repeat(length)}">`);
const comments = (count: number, where = '<Benchmark') =>
  sample.replace(where, `${'<!--x-->'.repeat(count)}${where}`);
const huge = Buffer.alloc(64 * 1024 * 1024 + 1, 0x20);
huge.write(sample);
const bounds: [read: string[], refused: (string | Buffer)[], reason: RegExp][] = [
  [[nested(64)], [nested(65), '<a>'.repeat(1_000_000)], /nested deeper than 64 \(line/],
  [[attributes(64)], [attributes(65), attributes(100_000)], /more than 64 attributes on <description>/],
  [[long(65_536)], [long(65_537), long(20_000_000)], /attribute a is too long/],
  [
    [comments(1000), comments(5000, '<description>')],
    [comments(1001)],
    /more than 1000 comments before the root element \(line/,
  ],
  [[], [`<a>${'<b/>'.repeat(5_000_001)}</a>`], /more than 5000000 elements/],
  [
    [],
    [sample.replace('<Rule', `${'<b/>'.repeat(1_000_000)}<Rule`)],
    /more than 1000000 elements in <Benchmark>/,
  ],
  [[], [huge], /larger than 64 MB/],
];

sizes('what is just within a bound is read, what is beyond it refused', () => {
  for (const [read, refused, reason] of bounds) {
    for (const text of read) assert.is(release(text).description, 'An invented product.');
    for (const text of refused) assert.match(refusal(text).message, reason);
  }
});

sizes('long texts of dashes, endings and tags are read, blanks for a release refused', async () => {
  const { lines } = await importTexts(emptyCatalog(), [
    writeXccdf({ releaseInfo: `${' '.repeat(3000)}x` }),
    writeXccdf({ title: `a${'-'.repeat(40_000)}x` }),
    writeXccdf({ title: `a${' STIG'.repeat(8000)}` }),
    writeXccdf({ id: `${'_stig'.repeat(13_000)}x` }),
    writeXccdf({ rules: [{ description: '<VulnDiscussion>'.repeat(30_000) }] }),
    writeXccdf({ rules: [{ description: '</Mitigations>'.repeat(30_000) }] }),
  ]);
  const superseded = Array(4).fill('superseded');
  assert.equal(told(lines, 'outcome'), ['rejected', 'imported', ...superseded]);
});

sizes.run();

const form = suite('X4: well-formed or refused');

form('a file cut at every thirtieth is always refused, and the catalog stays as it was', async () => {
  const bytes = readFileSync(shipped('stigs', 'U_Harbor_Linux_3_STIG_V1R2_Manual-xccdf.xml'));
  const db = emptyCatalog();
  await importTexts(db, [sample]);
  const before = tableDigests(db);
  const end = bytes.lastIndexOf('>') + 1;
  const cuts = Array.from({ length: 29 }, (_, index) => Math.floor((end * (index + 1)) / 30));
  cuts.push(1, end - 1, end - 2, end - 12);
  const parts = cuts.map((cut) => bytes.subarray(0, cut));
  for (const part of parts) refusal(part);
  const result = await importTexts(db, parts);
  assert.equal([result.summary.rejected, result.stored], [cuts.length, true]);
  assert.is(result.lines.at(-1)!.kind, 'xccdf');
  assert.equal(tableDigests(db), before);
});

form('documents that are not well-formed are refused with line and column', () => {
  const cases: Record<string, string> = {
    'two roots': `${sample}<Benchmark/>`,
    'a benchmark twice': `${sample}${body}`,
    'text after the root': `${sample}trailing`,
    'text before the root': sample.replace('<Benchmark', 'leading<Benchmark'),
    'mismatched tags': sample.replace('</title>', '</titel>'),
    'crossed tags': sample.replace('</Rule></Group>', '</Group></Rule>'),
    'a duplicate attribute': sample.replace('weight="10.0"', 'weight="10.0" weight="1.0"'),
    'an attribute without quotes': sample.replace('weight="10.0"', 'weight=10.0'),
    'an attribute with <': sample.replace('weight="10.0"', 'weight="<"'),
    'an element name that is none': sample.replaceAll('fixtext', '1fix'),
    'an open comment': sample.replace('</Benchmark>', '<!-- </Benchmark>'),
    'two dashes in a comment': sample.replace('</Benchmark>', '<!-- -- --></Benchmark>'),
    'an open CDATA': withTitle('<![CDATA[x'),
    'a declaration that is not first': ` ${sample}`,
    'a prefix that is not bound': sample.replace(/<(\/?)fixtext/g, '<$1x:fixtext'),
    'a second declaration': sample.replace('<Benchmark', '<?xml version="1.0"?><Benchmark'),
    'only a declaration': '<?xml version="1.0" encoding="utf-8"?>',
    'only a comment': '<!-- nothing -->',
    'plain text in angle brackets': '<not xml at all',
    'merge markers': sample.replace('<version>', '<<<<<<< HEAD\n<version>'),
    'merge markers at the start': `<<<<<<< HEAD\n${sample}=======\n${sample}>>>>>>> other\n`,
  };
  for (const [name, text] of Object.entries(cases)) {
    const { message } = refusal(text);
    assert.match(message, /\(line \d+, column \d+\)|no root element/, `${name}: ${message}`);
  }
  const text = '<?xml version="1.0"?>\n<a>\n  <b></c>\n</a>';
  assert.match(refusal(text).message, /line 3, column \d/, 'those of the fault');
});

form('an empty file and one of blanks are skipped, not stored', async () => {
  assert.equal(parseSkipped(''), { kind: 'other', reason: 'the file is empty' });
  const db = emptyCatalog();
  const result = await importTexts(db, ['', ' \n\t']);
  assert.equal(told(result.lines, 'outcome'), ['skipped', 'skipped']);
  assert.is(JSON.parse(db.catalogVersion())[0], 0);
});

form('the text of a symbolic link, a PDF and JSON are of an unknown kind', () => {
  for (const text of ['../other/U_X_STIG.xml', '%PDF-1.7\n<x>', 'null', '\u0000<a/>', 'x<a/>'])
    assert.match(parseSkipped(text).reason, /of an unknown kind/);
});

form.run();

const names = suite('X6: names');

names('a prefix changes nothing', () => {
  const plain = release(writeXccdf({ rules: 4 }));
  for (const prefix of ['x', 'cdf', 'xccdf-1.1', 'dsig'])
    assert.equal(release(writeXccdf({ rules: 4, prefix })), plain, prefix);
});

names('elements of other namespaces are never taken for ours', () => {
  const foreign = '<o:title xmlns:o="urn:o">Foreign</o:title><o:version xmlns:o="urn:o">99</o:version>';
  const text = sample
    .replace('<status', `${foreign}<status`)
    .replace('<fixtext', '<o:fixtext xmlns:o="urn:o">no</o:fixtext><title xmlns="urn:o">no</title><fixtext');
  assert.equal(release(text), release(sample));
  const identifier = sample.replace('<dc:identifier>', '<identifier>none</identifier><dc:identifier>');
  assert.is(release(identifier).findings[0]!.referenceIdentifier, '4711');
  const other = sample.replaceAll('http://purl.org/dc/elements/1.1/', 'urn:o');
  assert.is(release(other).findings[0]!.referenceIdentifier, null);
});

names('names of JavaScript objects are data', () => {
  const text = writeXccdf({
    id: '__proto__',
    title: 'constructor',
    rules: [
      { ruleId: '__proto__', groupId: 'constructor', version: 'toString', ccis: ['CCI-000366'] },
      { ruleId: 'hasOwnProperty', groupId: '__proto__', version: '__proto__' },
    ],
    before: '<__proto__ __proto__="1"><constructor prototype="x">y</constructor></__proto__><toString/>',
  }).replace('severity="medium"', 'severity="high" __proto__="low" constructor="low"');
  const read = release(text);
  assert.equal([read.benchmarkId, read.title], ['__proto__', 'constructor']);
  assert.equal(told(read.findings, 'ruleId', 'groupId', 'ruleVersion', 'severity'), [
    '__proto__ constructor toString high',
    'hasOwnProperty __proto__ __proto__ medium',
  ]);
  assert.is(({} as Record<string, unknown>).prototype, undefined);
  assert.is(Object.keys(Object.prototype).length, 0);
});

names('numbers are never rounded: 1.10, leading zeros and exponents stay as written', () => {
  const rules = [
    { groupId: 'V-000123', ruleId: 'SV-000123r007_rule', version: '007', title: '1.10', groupTitle: '1e3' },
    { groupId: '0x10', ruleId: '12345678901234567890', version: '1.10', title: 'true', groupTitle: 'null' },
  ];
  const read = release(writeXccdf({ version: 4, release: '1.10', rules }));
  assert.is(read.version, 'V4R1.10');
  assert.equal(
    read.findings.map((each) => [
      each.groupId,
      each.ruleId,
      each.ruleVersion,
      each.ruleTitle,
      each.groupTitle,
    ]),
    rules.map((each) => [each.groupId, each.ruleId, each.version, each.title, each.groupTitle]),
  );
});

names.run();

const kinds = suite('kinds of XML');

kinds('SCAP content other than data streams of SCAP 1.2 to 1.4 is recognised and never stored', async () => {
  const oval = (system: string) =>
    sample.replace(
      /<check system="[^"]*"><check-content-ref[^>]*><\/check-content-ref><check-content>[^<]*<\/check-content><\/check>/g,
      `<check system="${system}"><check-content-ref href="oval.xml" name="oval:x:def:1"/></check>`,
    );
  const stream = (root: string, version: string) =>
    `<${root} xmlns="http://scap.nist.gov/schema/scap/source/${version}" id="x"><component>${body}</component></${root}>`;
  const cases = {
    'SCAP 1.0: XCCDF 1.1 with OVAL checks': oval('http://oval.mitre.org/XMLSchema/oval-definitions-5'),
    'an older data stream collection': stream('data-stream-collection', '1.1'),
    'an older data stream collection with a prefix': stream('data-stream-collection', '1.1')
      .replace('<data-stream-collection xmlns=', '<ds:data-stream-collection xmlns:ds=')
      .replace('</data-stream-c', '</ds:data-stream-c')
      .replaceAll('component>', 'ds:component>'),
    'an older data stream': stream('data-stream', '1.1'),
    'XCCDF 1.2 with OVAL checks': in12(oval('http://oval.mitre.org/XMLSchema/oval-definitions-5')),
  };
  const db = emptyCatalog();
  for (const [name, text] of Object.entries(cases)) {
    const { kind, reason } = parseSkipped(text);
    assert.is(kind, 'scap', `${name}: ${reason}`);
    assert.match(reason, /SCAP/);
  }
  const result = await importTexts(db, Object.values(cases));
  assert.is(result.summary.skipped, 5);
  assert.equal(dumpCatalog(db).stigs, []);
  assert.is(JSON.parse(db.catalogVersion())[0], 0);
});

kinds('a manual benchmark of DISA is the same in XCCDF 1.2, with the ids of 1.2 too', async () => {
  const select =
    '<Profile id="MAC-1_Public"><title>P</title><select idref="V-100001" selected="true"/></Profile>';
  const in11 = writeXccdf({ before: select });
  const prefixed = in12(in11).replace(
    /(<(Benchmark|Group|Rule|Profile)\b[^>]*? id="|idref=")/g,
    (start, _, name = 'group') => `${start}xccdf_mil.disa.stig_${name.toLowerCase()}_`,
  );
  assert.is(prefixed.match(/xccdf_mil/g)!.length, 9);
  const expected = release(in11);
  assert.equal(expected.profiles[0]!.unselected, ['V-100002', 'V-100003']);
  assert.equal(release(in12(in11)), expected);
  assert.equal(release(prefixed), expected);

  const db = emptyCatalog();
  const { lines } = await importTexts(db, [
    writeXccdf({ release: 1 }),
    in12(writeXccdf({ release: 2, before: select })),
  ]);
  assert.equal(told(lines, 'kind', 'outcome', 'target'), Array(2).fill('xccdf imported sample_product'));
  assert.match(refusal(in12(sample).replace('<version>1</version>', '<version>1</version')).message, place);
  assert.match(refusal(in12(writeXccdf({ releaseInfo: 'Spring' }))).message, /release-info "Spring"/);
});

kinds('a benchmark in XCCDF 1.2 without all marks of a manual one is skipped, and the reason is that', () => {
  for (const text of [
    writeXccdf({ releaseInfo: null }),
    writeXccdf({ version: '2.0.0' }),
    writeXccdf({ version: '0.1.65', releaseInfo: null }),
    writeXccdf({ rules: [{ checks: [' '] }] }),
    writeXccdf({ rules: [] }),
  ]) {
    const { kind, reason } = parseSkipped(in12(text));
    assert.is(kind, 'scap');
    assert.match(reason, /^an XCCDF 1\.2 benchmark without the marks of a manual STIG of DISA/);
  }
});

kinds('other XML is skipped with the name of its root element', () => {
  const cases = {
    '<html><body/></html>': 'html',
    '<?xml version="1.0"?><x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform"/>': 'stylesheet',
    '<Benchmark/>': 'Benchmark',
    '<Benchmark xmlns="urn:other"/>': 'Benchmark',
    '<x><Benchmark xmlns="http://checklists.nist.gov/xccdf/1.1"/></x>': 'x',
    '\n\n<policyDefinitions/>': 'policyDefinitions',
  };
  for (const [text, root] of Object.entries(cases)) {
    const { kind, reason } = parseSkipped(text);
    assert.is(kind, 'other');
    assert.ok(reason.includes(`<${root}>`), reason);
  }
});

kinds('a benchmark of another publisher is skipped', () => {
  const other = sample
    .replace(/<plain-text id="release-info">[^<]*<\/plain-text>/, '')
    .replace('<version>1</version>', '<version>0.1.65</version>');
  const { kind, reason } = parseSkipped(other);
  assert.is(kind, 'other');
  assert.match(reason, /another publisher/);
});

const check =
  '<check system="s"><check-content-ref href="h" name="n"/><check-content>c</check-content></check>';
const inRule = (xml: string) => sample.replace('<version>SAMP', `${xml}<version>SAMP`);
const shapes = [
  inRule(`<complex-check operator="AND">${check}</complex-check>`),
  sample.replace('</Group>', `${check}</Group>`),
  inRule('<Rule id="inner" severity="low"><title>x</title></Rule>'),
  inRule('<Group id="inner"><title>x</title></Group>'),
  writeXccdf({
    before: '<Profile id="p"><Profile id="q"><title>q</title></Profile><title>p</title></Profile>',
  }),
  writeXccdf({ after: body }),
  writeXccdf({ after: '<Rule id="l" severity="low"><title>x</title></Rule>' }),
  writeXccdf({ rules: [], after: '<TestResult id="t"/>' }),
];

kinds('an XCCDF benchmark of any shape never breaks the run', async () => {
  const neighbour = writeXccdf({ id: 'Neighbour', title: 'Neighbour', rules: sampleRules(3, 'N', 7) });
  const db = emptyCatalog();
  const { lines } = await importTexts(db, [...shapes, neighbour]);
  assert.is(lines.at(-1)!.outcome, 'imported');
  for (const { outcome, reason } of lines) assert.ok(outcome === 'imported' || reason, 'a reason is given');
  assert.is(dumpCatalog(db).strays, 0);
  db.close();
});

kinds('what stands beside the rules does not change them, and release-info is found by its id', () => {
  const plain = release(sample);
  for (const beside of [
    { after: check },
    { before: '<select idref="V-100001" selected="true"/>' },
    { before: '<reference><dc:identifier>1</dc:identifier></reference>' },
    { before: '<plain-text id="generator">3.5</plain-text>' },
  ])
    assert.equal(release(writeXccdf(beside)).findings, plain.findings);
  const text = sample.replace(
    '<plain-text id="release-info">',
    '<plain-text id="generator">3.5</plain-text>$&',
  );
  assert.is(release(text).version, 'V1R1');
});

kinds.run();

kinds('a rule without a severity counts as medium, `info` as low, and a warning names them', () => {
  const rules = [
    { ruleId: 'SV-1r1_rule', severity: '' },
    { ruleId: 'SV-2r1_rule', severity: 'low' },
    { ruleId: 'SV-3r1_rule', severity: 'unknown' },
    { ruleId: 'SV-4r1_rule', severity: ' Info' },
  ];
  const { release, warnings } = parseRelease(writeXccdf({ rules }));
  assert.equal(told(release.findings, 'severity'), ['medium', 'low', 'medium', 'low']);
  assert.equal(warnings, [
    '2 rules have no severity, and count as medium: SV-1r1_rule, SV-3r1_rule',
    'the rule SV-4r1_rule has the severity "info", and counts as low',
  ]);
  const without = parseRelease(sample.replace(' severity="medium"', ''));
  assert.equal(without.release.findings, parseRelease(sample).release.findings);
  assert.is(without.warnings.length, 1);
});

const rejects = suite('benchmarks that are refused');

const twice = [{ ruleId: 'SV-1r1_rule' }, { ruleId: 'SV-1r1_rule' }];
const refused: [text: string, reason: RegExp][] = [
  [writeXccdf({ rules: [] }), /no rules/],
  [writeXccdf({ rules: twice }), /SV-1r1_rule.*twice/],
  [writeXccdf({ rules: [{ severity: 'critical' }] }), /severity "critical"/],
  [writeXccdf({ releaseInfo: null }), /no release-info/],
  [writeXccdf({ releaseInfo: '' }), /release/],
  [writeXccdf({ releaseInfo: 'Benchmark Date: 01 Jan 2024' }), /the release-info does not name a release$/],
  [writeXccdf({ releaseInfo: 'Second edition' }), /Second edition/],
  [writeXccdf({ date: '31 Feb 2024' }), /31 Feb 2024/],
  [writeXccdf({ date: '01 Foo 2024' }), /01 Foo 2024/],
  [writeXccdf({ release: 'two' }), /two/],
  [writeXccdf({ version: 'two' }), /two/],
  [sample.replace(/<version>1<\/version>/, ''), /version/],
  [sample.replace(' id="Sample_Product_STIG"', ''), /no id/],
  [sample.replace(/<title>Sample Product [^<]*<\/title>/, ''), /no title/],
  [writeXccdf({ rules: [{ groupId: '' }] }), /group.*no id/],
  [writeXccdf({ rules: [{ ruleId: '' }] }), /no id/],
  [
    writeXccdf({ title: '\u65e5', id: '\u65e5' }),
    /^neither the title "\u65e5" nor the id "\u65e5" gives a slug$/,
  ],
];

rejects('each is named with its reason, its neighbour is taken', async () => {
  const db = emptyCatalog();
  const neighbour = writeXccdf({ id: 'Neighbour', title: 'Neighbour', rules: sampleRules(3, 'N', 7) });
  const { lines } = await importTexts(db, [...refused.map(([text]) => text), neighbour]);
  for (const [index, [, reason]] of refused.entries()) {
    const { kind, outcome, target, reason: said } = lines[index]!;
    assert.equal([kind, outcome, target], ['xccdf', 'rejected', null], String(reason));
    assert.match(said!, reason);
  }
  const { stigs, strays, sources } = dumpCatalog(db);
  assert.equal([told(stigs, 'slug'), strays, sources.length], [['neighbour'], 0, 1]);
});

rejects('what the ledger says is one line, whatever the file holds', async () => {
  const texts = [
    writeXccdf({ releaseInfo: 'First line\nsecond line\u0085third' }),
    writeXccdf({ rules: [{ severity: 'a\nb' }] }).replace('severity="a\nb"', 'severity="a&#10;b&#9;c"'),
    writeXccdf({ rules: [{ ruleId: 'x' }] })
      .replace('id="x"', 'id="x&#10;y"')
      .replace('"medium"', '"z"'),
    writeXccdf({ release: 2, statusDate: '2024' }).replace('date="2024"', 'date="20&#10;24"'),
    writeXccdf({ release: 3, rules: [{ ccis: ['CCI\n366'] }] }),
    sample.replace('</title>', '</titel\n>'),
  ];
  const db = emptyCatalog();
  const { lines } = await importTexts(db, texts);
  assert.equal(told(lines, 'outcome').join(' '), 'rejected rejected rejected imported imported rejected');
  assert.is(lines[3]!.warnings.length, 1);
  assert.is(lines[4]!.warnings.length, 0);
  for (const line of lines) {
    for (const said of [line.reason ?? '', ...line.warnings])
      assert.not.match(said, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/, JSON.stringify(said));
  }
});

rejects('release-info in the forms that publishers use', () => {
  const table = `
    Release: 9 Benchmark Date: 01 Jul 2026 => V1R9 2026-07-01
    Release: 1.17 Benchmark Date: 22 Apr 2016 => V1R1.17 2016-04-22
    Release: 0.1 Benchmark Date: 5 Sep 2018 => V1R0.1 2018-09-05
    Release: 2 Benchmark Date: 27 July 2018 => V1R2 2018-07-27
    Release: 2 Benchmark Date: 27 Sept 2018 => V1R2 2018-09-27
    Release: 2 Benchmark Date: 29 February 2024 => V1R2 2024-02-29
    Release: 1 => V1R1 null`;
  for (const line of linesOf(table)) {
    const [releaseInfo, expected] = line.split(' => ');
    const read = release(writeXccdf({ releaseInfo: `  ${releaseInfo}\n` }));
    assert.is(`${read.version} ${read.benchmarkDate}`, expected);
    assert.is(read.releaseInfo, releaseInfo);
  }
});

rejects('of several statuses the newest counts, undated ones least, of one date the last', () => {
  const table = `
    accepted 2024-02-01, draft 2023-01-01 => accepted 2024-02-01
    draft 2023-01-01, accepted 2024-02-01 => accepted 2024-02-01
    draft 2023-01-01, accepted 2024-02-01, draft 2023-12-31 => accepted 2024-02-01
    accepted 2024-02-01, deprecated => accepted 2024-02-01
    deprecated, accepted 0001-01-01 => accepted 0001-01-01
    accepted 2024-02-01, deprecated 2024-02-01 => deprecated 2024-02-01
    draft, accepted => accepted null
    accepted 2024-02-01, draft 2024-13-45 => accepted 2024-02-01`;
  for (const line of linesOf(table)) {
    const [stated, expected] = line.split(' => ') as [string, string];
    const [first, ...rest] = stated.split(', ').map((each) => each.split(' '));
    const [status, statusDate = null] = first!;
    const elements = rest.map(([text, date]) => `<status${date ? ` date=" ${date} "` : ''}>${text}</status>`);
    const { release, warnings } = parseRelease(
      writeXccdf({ status: status!, statusDate, before: elements.join('') }),
    );
    assert.is(`${release.status} ${release.statusDate}`, expected, line);
    const wrong = stated.includes('2024-13-45');
    assert.equal(warnings, wrong ? ['the status date "2024-13-45" is not a date and was ignored'] : []);
  }
});

rejects('dates: the benchmark date leads, then the status date, then none with a warning', async () => {
  const db = emptyCatalog();
  const { lines } = await importTexts(db, [
    writeXccdf({ release: 1, date: '01 Jan 2024', statusDate: '2024-02-02' }),
    writeXccdf({ release: 2, date: null, statusDate: '2024-02-02' }),
    writeXccdf({ release: 3, date: null, statusDate: null }),
    writeXccdf({ release: 4, date: null, statusDate: '2024-13-45' }),
  ]);
  const dates = db.sqlite
    .prepare(
      "SELECT concat_ws(' ', release_date, benchmark_date, status_date) FROM stig_releases ORDER BY version",
    )
    .pluck()
    .all();
  assert.equal(dates, ['2024-01-01 2024-01-01 2024-02-02', '2024-02-02 2024-02-02', '', '']);
  assert.is(lines.map((line) => line.warnings.length).join(), '0,0,1,2');
});

rejects.run();
