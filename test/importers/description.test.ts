import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { descriptionTags, readDescription, unwrap } from '../../importers/stigs/xccdf-description.ts';
import type { XccdfFinding } from '../../importers/stigs/xccdf-record.ts';
import { suite, testIf } from '../support/harness.ts';
import { parseRelease } from '../support/parsed.ts';
import { reference, referenceData } from '../support/reference.ts';
import { cutTags, readBenchmark, readerTags } from '../support/xccdf-reader.ts';
import { type SampleRule, writeXccdf } from '../support/xccdf-writer.ts';

const none = Object.fromEntries(readerTags.map((tag) => [tag, '']));

function finding(rule: SampleRule): XccdfFinding {
  return parseRelease(writeXccdf({ rules: [rule] })).release.findings[0]!;
}

const test = suite('the pseudo-XML of a rule description');

test('the tags are those of the format', () => assert.equal([...descriptionTags], [...readerTags]));

test('raw < and & are text', () => {
  const cases = [
    'a & b < 5 and c > 3',
    'Set <path> <rules> in <configuration>.',
    'Use the <Engine>, <Host> and <Connector> elements; &nbsp; &amp; stay as they are.',
    'if (a<b && c>d) { x = "<"; }',
    '<vulndiscussion>tags in another case are text</vulndiscussion>',
    '<VulnDiscussion >not a tag</VulnDiscussion >',
    'ends with a less-than <',
    'a closing </Mitigations> of another tag',
    'two\n\nparagraphs\tand a tab',
    '</VulnDiscussion> in the middle',
  ];
  for (const text of cases) {
    const description = `<VulnDiscussion>${text}</VulnDiscussion><FalsePositives></FalsePositives><Mitigations>m</Mitigations>`;
    assert.equal(readDescription(description), { ...none, VulnDiscussion: text, Mitigations: 'm' }, text);
  }
});

test('texts of any kind come out as an independent reader reads them', () => {
  const piece = fc.oneof(
    fc.constantFrom(...readerTags.flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag}>x</${tag}>`])),
    fc.constantFrom('<', '>', '&', '</', ' ', '\n', 'a', '<b>', '<VulnDiscussion', 'VulnDiscussion>'),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join('');
      assert.equal(readDescription(text), cutTags(text));
    }),
    { numRuns: 3000 },
  );
});

test('the wrappers of groups and profiles are taken off', () => {
  assert.is(unwrap('<GroupDescription></GroupDescription>', 'GroupDescription'), '');
  assert.is(unwrap(' <GroupDescription> a < b </GroupDescription>\n', 'GroupDescription'), 'a < b');
  assert.is(unwrap('<ProfileDescription>p</ProfileDescription>', 'ProfileDescription'), 'p');
  assert.is(unwrap('no wrapper', 'ProfileDescription'), 'no wrapper');
  assert.is(unwrap('<GroupDescription>open', 'GroupDescription'), '<GroupDescription>open');
});

test.run();

const rules = suite('the texts of a rule');

rules('a description is decoded once and then cut', () => {
  const text = 'See &lt;tag&gt; & <path>, "quoted".';
  const read = finding({
    description: `<VulnDiscussion>${text}</VulnDiscussion><Documentable>true</Documentable>`,
  });
  assert.is(read.vulnDiscussion, text);
  assert.is(read.documentable, 'true');
});

rules('several fix texts and checks are joined by a blank line, blank ones left out', () => {
  const read = finding({ fixTexts: [' one \n', '', 'two\n\nthree'], checks: ['', ' a ', 'b'] });
  assert.is(read.fixText, 'one\n\ntwo\n\nthree');
  assert.is(read.checkContent, 'a\n\nb');
  assert.is(finding({ fixTexts: [], checks: [] }).fixText, '');
  assert.is(finding({ fixTexts: [], checks: [] }).checkContent, '');
});

rules('line ends are those of XML, tabs and typographic characters stay', () => {
  const text = writeXccdf({ rules: [{ fixTexts: ['one\ntwo\tthree \u2013 \u201cfour\u201d\u00a0five'] }] });
  assert.is(
    parseRelease(text.replaceAll('\n', '\r\n')).release.findings[0]!.fixText,
    'one\ntwo\tthree \u2013 \u201cfour\u201d\u00a0five',
  );
});

rules('CCIs keep their order, once each, normalised; legacy ids beside them', () => {
  const read = finding({
    ccis: ['CCI-004066', 'CCI-000199', 'CCI-000199', ' CCI-15 ', 'cci000366'],
    legacyIds: ['V-1', 'SV-2'],
  });
  assert.equal(read.ccis, ['CCI-004066', 'CCI-000199', 'CCI-000015', 'CCI-000366']);
  assert.equal(read.legacyIds, ['V-1', 'SV-2']);
  assert.equal(finding({ ccis: [] }).ccis, []);
});

rules('the system of an ident decides by its last part, whatever its case', () => {
  const systems = [
    'http://cyber.mil/cci',
    'http://iase.disa.mil/cci',
    'HTTP://CYBER.MIL/CCI',
    'https://x.mil/stigs/cci/',
  ];
  for (const system of systems) {
    const text = writeXccdf({ rules: [{ ccis: ['CCI-000366'] }] }).replace('http://cyber.mil/cci', system);
    assert.equal(parseRelease(text).release.findings[0]!.ccis, ['CCI-000366'], system);
  }
  const other = writeXccdf({ rules: [{ ccis: ['CCI-000366'] }] }).replace(
    'http://cyber.mil/cci',
    'urn:notcci',
  );
  assert.equal(parseRelease(other).release.findings[0]!.ccis, []);
});

rules('an ident that is no CCI is left out with a warning', () => {
  const parsed = parseRelease(writeXccdf({ rules: [{ ccis: ['CCI-1234567', 'CCI-000366'] }] }));
  assert.equal(parsed.release.findings[0]!.ccis, ['CCI-000366']);
  assert.is(parsed.warnings.length, 1);
  assert.match(parsed.warnings[0]!, /CCI-1234567/);
  for (const [text, cci] of [
    ['CCI-000366', 'CCI-000366'],
    ['CCI-366', 'CCI-000366'],
    ['cci366', 'CCI-000366'],
    [' CCI-000366\n', 'CCI-000366'],
    ['CCI-', null],
    ['CCI-0003661', null],
    ['XCCI-000366', null],
    ['366', null],
    ['CCI-00 366', null],
  ] as const)
    assert.equal(finding({ ccis: [text] }).ccis, cci === null ? [] : [cci], text);
});

rules('profiles keep what they do not select', () => {
  const text = writeXccdf({
    rules: 3,
    before:
      '<Profile id="MAC-1_Public"><title> I - Public </title><description>&lt;ProfileDescription&gt;&lt;/ProfileDescription&gt;</description>' +
      '<select idref="V-100001" selected="true"/><select idref="V-100002" selected="false"/><select idref="V-999" selected="true"/></Profile>',
  });
  const parsed = parseRelease(text);
  assert.equal(parsed.release.profiles, [
    { profileId: 'MAC-1_Public', title: 'I - Public', description: '', unselected: ['V-100002', 'V-100003'] },
  ]);
  assert.is(parsed.warnings.length, 1);
  assert.match(parsed.warnings[0]!, /select 1 groups.*V-999/);
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, rules);

onReal('every description of the real files is cut as an independent reader cuts it', () => {
  let count = 0;
  let bare = 0;
  const known = new RegExp(`</?(?:${readerTags.join('|')})>`, 'g');
  for (const name of readdirSync(reference('xccdf'))) {
    const read = readBenchmark(readFileSync(reference('xccdf', name), 'utf8'));
    for (const rule of read.rules) {
      assert.equal(readDescription(rule.description), rule.tags, `${name} ${rule.ruleId}`);
      count++;
      if (rule.description.replace(known, '').includes('<')) bare++;
    }
  }
  assert.ok(count > 4000 && bare > 20, `${count} rules, ${bare} with a bare <`);
});

rules.run();
