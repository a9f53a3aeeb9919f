import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { CciListBuilder, isCciList } from '../../../importers/controls/cci-list.ts';
import type { CciListRecord } from '../../../importers/controls/record.ts';
import { controlsOfIndex } from '../../../importers/crosswalk/cci-index.ts';
import { readXml } from '../../../importers/xml/gate.ts';
import { suite } from '../../support/harness.ts';
import { hasReferenceData } from '../../support/reference.ts';
import { bytesOf, digest, recordsOf, refusal } from './support.ts';

function read(source: string | Uint8Array): { list: CciListRecord; warnings: string[] } {
  const builder = new CciListBuilder();
  readXml(Buffer.from(source), { strict: true }, (root) => (isCciList(root) ? builder : null));
  const result = builder.result();
  return { list: recordsOf(result)[0] as CciListRecord, warnings: result.records ? result.warnings : [] };
}

const item = (id: string, body: string) => `<cci_item id="${id}">${body}</cci_item>`;
const good = '<status>draft</status><definition>Lanterns burn.</definition><type>policy</type>';
const list = (items: string, version = '2026-01-02') =>
  `<cci_list xmlns="http://iase.disa.mil/cci"><metadata><version>${version}</version><publishdate>x</publishdate>
   </metadata><cci_items>${items}</cci_items></cci_list>`;

const fixture = suite('CCI lists');

fixture('items come in order, with types joined and references as published', () => {
  const full = `<status> deprecated </status><publishdate>2026-01-01</publishdate><contributor>x</contributor>
    <definition>Lanterns  <b>burn</b>
      &amp; glow.</definition><type>policy</type><type>technical</type><note>no</note><parameter>no</parameter>
    <references><reference creator="N" title="NIST SP 800-53 Revision 5" version="5" location="N" index="AC-2  (3) (d) "/>
    <reference title="NIST SP 800-53" version="3" index="AC-2 a"/></references>`;
  const read1 = read(list(item('CCI-000010', good) + item('CCI-2', full))).list;
  assert.is(read1.edition, '2026-01-02');
  assert.equal(read1.items, [
    {
      identifier: 'CCI-000002',
      status: 'deprecated',
      type: 'policy, technical',
      definition: 'Lanterns burn & glow.',
      references: [
        { version: '5', title: 'NIST SP 800-53 Revision 5', index: 'AC-2 (3) (d)' },
        { version: '3', title: 'NIST SP 800-53', index: 'AC-2 a' },
      ],
    },
    {
      identifier: 'CCI-000010',
      status: 'draft',
      type: 'policy',
      definition: 'Lanterns burn.',
      references: [],
    },
  ]);
});

fixture('a broken list is refused with one message', () => {
  const refused = (source: string) => refusal('cci-list', () => read(source));
  assert.is(refused(list('')), 'the CCI list has no items');
  assert.is(refused(list(item('CCI-1', good), ' ')), 'the CCI list has no version');
  assert.is(refused(list(item('CCI-x', good))), 'the item id "CCI-x" is no CCI');
  assert.is(refused(list(item('CCI-1', good) + item('CCI-000001', good))), 'CCI-000001 occurs twice');
  assert.is(refused(list(item('CCI-1', '<definition>a</definition>'))), 'CCI-000001 has no status');
  assert.is(refused(list(item('CCI-1', '<status>draft</status>'))), 'CCI-000001 has no definition');
  const noIndex = `${good}<references><reference version="5" title="x"/></references>`;
  assert.is(refused(list(item('CCI-1', noIndex))), 'a reference of CCI-000001 has no version or no index');
  assert.not.ok(isCciList({ local: 'cci_list', uri: '', attributes: {} }));
});

fixture.run();

const index = suite('the index of a CCI reference');

index('names controls and enhancements, never items', () => {
  const cases: [string, ...string[]][] = [
    ['AC-1', 'AC-1'],
    ['AC-1 a 1 (a)', 'AC-1'],
    ['AC-2 (3) (d)', 'AC-2(3)'],
    ['AC-2(3)', 'AC-2(3)'],
    ['AC-2 d (1)', 'AC-2'],
    ['AC-2 (a)', 'AC-2'],
    ['SA-9  (1) (a)', 'SA-9(1)'],
    [' SC- 7 ( 4 )', 'SC-7(4)'],
    ['CP-4 (4)4', 'CP-4(4)'],
    ['SC-37, SC-37 (1)', 'SC-37', 'SC-37(1)'],
    ['SC-37, SC-37', 'SC-37'],
    ['AC-1.1 (i and ii)', 'AC-1'],
    ['AC-2 (3).1 (ii)', 'AC-2(3)'],
    ['SC013 (2(.1'],
    [''],
    ['see AC-1'],
  ];
  for (const [text, ...controls] of cases) assert.equal(controlsOfIndex(text), controls, text);
});

index('is read whatever items follow', () => {
  const items = fc.array(fc.constantFrom('a', '1', '(a)', '(1)', 'b'), { maxLength: 4 });
  const number = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(number, fc.option(number), items, (base, enhancement, rest) => {
      const tail = enhancement === null && rest[0] === '(1)' ? ['a', ...rest] : rest;
      const text = [`AC-${base}`, ...(enhancement === null ? [] : [`(${enhancement})`]), ...tail].join(' ');
      const identifier = enhancement === null ? `AC-${base}` : `AC-${base}(${enhancement})`;
      assert.equal(controlsOfIndex(text), [identifier], text);
    }),
  );
});

index.run();

if (hasReferenceData) {
  const real = suite('the CCI lists of DISA');

  const counts = ({ edition, items }: CciListRecord) => {
    const referring = (version: string) =>
      items.filter((each) => each.references.some((reference) => reference.version === version)).length;
    const references = items.reduce((sum, each) => sum + each.references.length, 0);
    const deprecated = items.filter((each) => each.status === 'deprecated').length;
    return [edition, items.length, deprecated, references, referring('5'), referring('4'), referring('3')];
  };

  real('have the counts that were measured', () => {
    const newer = read(bytesOf('cci', 'U_CCI_List.xml')).list;
    assert.equal(counts(newer), ['2022-03-09', 5098, 71, 10182, 3814, 3000, 1678]);
    assert.equal(counts(read(bytesOf('cci', '2016-06-27', 'U_CCI_List.xml')).list), [
      '2016-06-27',
      3551,
      71,
      6368,
      0,
      3000,
      1678,
    ]);
    const types = (type: string) => newer.items.filter((each) => each.type === type).length;
    assert.equal(['policy', 'technical', 'policy, technical'].map(types), [4212, 704, 182]);
    const definitions = newer.items.map((each) => each.definition);
    assert.is(digest(definitions.join('\n')), 'e1c026662a315cc6');
    assert.equal([newer.items[0]!.identifier, newer.items.at(-1)!.identifier], ['CCI-000001', 'CCI-005147']);
  });

  real('have indexes that are understood, but for one of 800-53A', () => {
    const { items } = read(bytesOf('cci', 'U_CCI_List.xml')).list;
    const indexes = items.flatMap((each) => each.references);
    const lost = indexes.filter((each) => controlsOfIndex(each.index).length === 0);
    assert.equal(
      lost.map((each) => each.version),
      ['1'],
    );
    const pairs = new Set(
      items.flatMap((each) =>
        each.references
          .filter((reference) => reference.version === '5')
          .flatMap((reference) =>
            controlsOfIndex(reference.index).map((control) => `${each.identifier} ${control}`),
          ),
      ),
    );
    assert.is(pairs.size, 3815);
    // The 1,004 active controls that have a CCI, and SI-7(13), which is withdrawn.
    assert.is(new Set([...pairs].map((pair) => pair.split(' ')[1])).size, 1005);
  });

  real.run();
}
