import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { descriptionFields, readDescription } from '../../importers/stigs/xccdf-description.ts';
import type { XccdfFinding } from '../../importers/stigs/xccdf-record.ts';
import { suite } from '../support/harness.ts';
import { parseRelease } from '../support/parsed.ts';
import { cutTags, readerTags } from '../support/xccdf-reader.ts';
import { type SampleRule, writeXccdf } from '../support/xccdf-writer.ts';

function finding(rule: SampleRule): XccdfFinding {
  return parseRelease(writeXccdf({ rules: [rule] })).release.findings[0]!;
}

const test = suite('the pseudo-XML of a rule description');

test('texts of any kind come out as an independent reader reads them', () => {
  const piece = fc.oneof(
    fc.constantFrom(...readerTags.flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag}>x</${tag}>`])),
    fc.constantFrom('<', '>', '&', '</', ' ', '\n', 'a', '<b>', '<VulnDiscussion', 'VulnDiscussion>'),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join('');
      const read = readDescription(text);
      const byTag = Object.entries(descriptionFields).map(([tag, field]) => [tag, read[field]]);
      assert.equal(Object.fromEntries(byTag), cutTags(text));
    }),
    { numRuns: 3000 },
  );
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

rules('the wrapper of the description of a profile or a group is taken off, where there is one', () => {
  const wrapped = (name: string) => `&lt;${name}&gt; a &lt; b &lt;/${name}&gt;`;
  for (const [text, write] of Object.entries({ 'a < b': wrapped, plain: () => 'plain' })) {
    const before = `<Profile id="P"><title>P</title><description>${write('ProfileDescription')}</description></Profile>`;
    const group = write('GroupDescription');
    const xml = writeXccdf({ before }).replace(/&lt;GroupDescription.*?(?=<\/description>)/, group);
    const { profiles, findings } = parseRelease(xml).release;
    assert.equal([profiles[0]!.description, findings[0]!.groupDescription], [text, text]);
  }
});

rules.run();
