import * as assert from 'uvu/assert';
import { isCciList, parseCciList, readCciIndex } from '../../../importers/controls/cci-list.ts';
import { parseControlsCsv } from '../../../importers/controls/controls-csv.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
import { linesOf } from '../../support/tables.ts';
import { told } from '../../support/told.ts';
import { bytesOf, catalogOf, digest, pairsOf, refusal, treeOf } from './support.ts';

function read(source: string | Uint8Array) {
  const result = parseCciList(treeOf(source));
  return {
    catalog: catalogOf(result),
    pairs: pairsOf(result),
    warnings: result.records ? result.warnings : [],
  };
}

const item = (id: string, body: string) => `<cci_item id="${id}">${body}</cci_item>`;
const good = '<status>draft</status><definition>Lanterns burn.</definition><type>policy</type>';
const list = (items: string, version = '2026-01-02') =>
  `<cci_list xmlns="http://iase.disa.mil/cci"><metadata><version>${version}</version>
   </metadata><cci_items>${items}</cci_items></cci_list>`;

const fixture = suite('CCI lists');

fixture('items come in order, with types joined and references as published', () => {
  const full = `<status> deprecated </status><publishdate>2026-01-01</publishdate><contributor>x</contributor>
    <definition>Lanterns  <b>burn</b>
      &amp; glow.</definition><type>policy</type><type>technical</type><note>no</note><constructor a="1">no</constructor>
    <references><reference creator="N" title="NIST SP 800-53 Revision 5" version="5" location="N" index="AC-2  (3) (d) "/>
    <reference title="NIST SP 800-53" version="3" index="AC-2 a"/></references>`;
  const { catalog, pairs } = read(list(item('CCI-000010', good) + item('CCI-2', full)));
  assert.is(catalog.edition, '2026-01-02');
  assert.equal(told(catalog.controls, 'identifier', 'familyCode', 'status', 'family', 'statement'), [
    'CCI-000002 deprecated withdrawn policy, technical Lanterns burn & glow.',
    'CCI-000010 draft active policy Lanterns burn.',
  ]);
  assert.equal(told(pairs, 'fromVersion', 'fromIdentifier', 'toVersion', 'toIdentifier', 'reference'), [
    '2026-01-02 CCI-000002 Rev 5 AC-2(3) AC-2 (3) (d)',
    '2026-01-02 CCI-000002 Rev 3 AC-2 AC-2 a',
  ]);
});

fixture('a broken list is refused with one message', () => {
  const refused = (source: string) => refusal('cci-list', () => read(source));
  assert.is(refused(list('')), 'the catalog has no controls');
  assert.is(refused(list(item('CCI-1', good), ' ')), 'the CCI list has no version');
  assert.is(refused(list(item('CCI-x', good))), 'the item id "CCI-x" is not a CCI');
  assert.is(refused(list(item('CCI-1', good) + item('CCI-000001', good))), 'CCI-000001 occurs twice');
  assert.is(refused(list(item('CCI-1', '<definition>a</definition>'))), 'CCI-000001 has no status');
  assert.is(refused(list(item('CCI-1', '<status>draft</status>'))), 'CCI-000001 has no definition');
  const noIndex = `${good}<references><reference version="5" title="x"/></references>`;
  assert.is(refused(list(item('CCI-1', noIndex))), 'a reference of CCI-000001 has no version or no index');
  assert.not.ok(isCciList({ name: 'cci_list', uri: '', attributes: {} }));
});

fixture('references are read in any writing that leaves no doubt; the rest is told of, by reason', () => {
  const refer = (...references: [version: string, index: string][]) =>
    `${good}<references>${references.map(([version, index]) => `<reference title="A title" version="${version}" index="${index}"/>`).join('')}</references>`;
  const { pairs, warnings } = read(
    list(
      item('CCI-1', refer(['5', 'garbage'], ['4', 'AC-1'])) +
        item('CCI-2', refer(['5.1.1', 'cm-6  b'], [' Rev 4 ', 'AC-1; ac-2'], ['3', 'AC-1'])) +
        item('CCI-3', refer(['5', 'CM-6 b and CM-7'], ['5', 'CM-6; nothing'])) +
        item('CCI-4', refer(['6', 'CM-6'], ['five', 'CM-6'], ['10', 'CM-6'])) +
        item('CCI-5', refer(['1', 'AC-1.1 (i)'], ['1', 'garbage'], ['1.0', 'x'])),
    ),
  );
  assert.equal(
    pairs.map((pair) => [pair.fromIdentifier, pair.toVersion, pair.toIdentifier, pair.reference].join(' | ')),
    [
      'CCI-000001 | Rev 4 | AC-1 | AC-1',
      'CCI-000002 | Rev 5 | CM-6 | cm-6 b',
      'CCI-000002 | Rev 4 | AC-1 | AC-1; ac-2',
      'CCI-000002 | Rev 4 | AC-2 | AC-1; ac-2',
      'CCI-000002 | Rev 3 | AC-1 | AC-1',
      'CCI-000003 | Rev 5 | CM-6 | CM-6 b and CM-7',
      'CCI-000003 | Rev 5 | CM-6 | CM-6; nothing',
    ],
  );
  assert.equal(warnings, [
    '1 references of CCIs were left out, their index is not understood: CCI-000001 "A title" version "5" index "garbage"',
    '2 references of CCIs were read in part, their index is not understood: CCI-000003 "A title" version "5" index "CM-6 b and CM-7", CCI-000003 "A title" version "5" index "CM-6; nothing"',
    '2 references of CCIs were left out, as Rev 5 is the newest that counts: CCI-000004 "A title" version "6" index "CM-6", CCI-000004 "A title" version "10" index "CM-6"',
    '1 references of CCIs were left out, their version is not understood: CCI-000004 "A title" version "five" index "CM-6"',
  ]);
});

fixture('a status that no list of DISA has is told of, for only deprecated CCIs are out of force', () => {
  const body = good.replace(/<status>.*?<\/status>/, '');
  const statuses = ['draft', 'published', ' Deprecated ', 'obsolete', 'DRAFT', ...'rstuv'];
  const { warnings } = read(
    list(statuses.map((status, at) => item(`CCI-${at + 1}`, `<status>${status}</status>${body}`)).join('')),
  );
  assert.equal(warnings, [
    '6 CCIs have an unknown status and are treated as active: CCI-000004 "obsolete", CCI-000006 "r", CCI-000007 "s", CCI-000008 "t", CCI-000009 "u", ...',
  ]);
  const rows = statuses.map((status, at) => `cci,2030-01-01,CCI-${at + 1},${status}`);
  const csv = parseControlsCsv(
    `framework,version,identifier,status\n${rows.join('\n')}\ncci,2030-01-01,CCI-99,\n`,
  );
  assert.equal(csv.records === null ? null : csv.warnings, warnings);
});

fixture('of many references that are not understood the first five are named, cut short', () => {
  const many = Array.from({ length: 3000 }, (_, number) =>
    item(
      `CCI-${number + 1}`,
      `${good}<references><reference title="${'t'.repeat(500)}" version="5" index="${'?'.repeat(500)}"/></references>`,
    ),
  );
  const { warnings } = read(list(many.join('')));
  assert.is(warnings.length, 1);
  assert.match(warnings[0]!, /^3000 references of CCIs .*: CCI-000001 .*, CCI-000005 "t{60}" .*, \.\.\.$/);
  assert.is(warnings[0]!.match(/CCI-\d/g)!.length, 5);
});

fixture.run();

const index = suite('the index of a CCI reference');

// An index, the controls that it names, and a mark where it holds more that is not understood.
const indexes = `
  AC-1 => AC-1
  AC-1 a 1 (a) => AC-1
  AC-2 (3) (d) => AC-2(3)
  AC-2(3) => AC-2(3)
  AC-2 d (1) => AC-2
  SA-9  (1) (a) => SA-9(1)
  SC- 7 ( 4 ) => SC-7(4)
  CP-4 (4)4 => CP-4(4)
  SC-37, SC-37 (1) => SC-37 SC-37(1)
  SC-37, SC-37 => SC-37
  cm-6 b => CM-6
  Cm-6   (1)  B => CM-6(1)
  CM - 06 (01) => CM-6(1)
  CM-6 b; CM-7 => CM-6 CM-7
  CM-6, => CM-6
  AC-1 a. 1. => AC-1
  AC-2 (3) (i and ii) => AC-2(3)
  garbage => ?
  SC013 (2(.1 => ?
  , ; => ?
  see AC-1 => ?
  CM-6 garbage => CM-6 ?
  CM-6 b and CM-7 => CM-6 ?
  CM-6 (1) (a) and (b) => CM-6(1) ?
  CM-6/CM-7 => ?
  CM-6 (1 => ?
  CM-6 (1.2) => ?
  CM-6() => ?
  CM-0 => ?
  CM-6(0) => ?
  CM-1234 => ?
  CM6 => ?
  AC-2.1 => ?
  AC-1.1 (i and ii) => ?
  AC-2 (3).1 (ii) => ?
  CM-6 b; garbage; cm-7 => CM-6 CM-7 ?
  CM-6 (1), (2) => CM-6(1) ?`;

index(
  'names controls and enhancements, never items, and is not guessed at where it holds anything else',
  () => {
    for (const line of linesOf(indexes)) {
      const [text, expected] = line.split(' => ');
      const { controls, isWhole } = readCciIndex(text!);
      assert.is([...controls, ...(isWhole ? [] : ['?'])].join(' '), expected, text);
    }
    assert.equal(readCciIndex(''), { controls: [], isWhole: false });
  },
);
index.run();

const real = suiteIf(referenceData, 'the CCI lists of DISA');
if (real) {
  const counts = ({ catalog: { edition, controls }, pairs }: ReturnType<typeof read>) => {
    const referring = (toVersion: string) =>
      new Set(pairs.filter((pair) => pair.toVersion === toVersion).map((pair) => pair.fromIdentifier)).size;
    const deprecated = controls.filter((each) => each.familyCode === 'deprecated').length;
    return [edition, controls.length, deprecated, referring('Rev 5'), referring('Rev 4'), referring('Rev 3')];
  };

  real('have the counts that were measured', () => {
    const { controls: newer } = read(bytesOf('cci', 'U_CCI_List.xml')).catalog;
    const of = (folder: string[]) => counts(read(bytesOf(...folder, 'U_CCI_List.xml'))).join(' ');
    assert.is(of(['cci']), '2022-03-09 5098 71 3814 3000 1678');
    assert.match(of(['cci-2025-01-23']), /^2025-01-23 5137 91 /);
    assert.is(of(['cci', '2016-06-27']), '2016-06-27 3551 71 0 3000 1678');
    const types = (type: string) => newer.filter((each) => each.family === type).length;
    assert.equal(['policy', 'technical', 'policy, technical'].map(types), [4212, 704, 182]);
    assert.is(digest(told(newer, 'statement').join('\n')), 'e1c026662a315cc6');
  });

  real('have references that are all understood, of each revision', () => {
    for (const folder of [[], ['2016-06-27']]) {
      const { pairs, warnings } = read(bytesOf('cci', ...folder, 'U_CCI_List.xml'));
      assert.equal(
        warnings.filter((each) => !each.startsWith('not stored: ')),
        [],
      );
      const rev5 = pairs.filter((pair) => pair.toVersion === 'Rev 5');
      assert.is(rev5.length, folder.length === 0 ? 3815 : 0);
      // The 1,004 active controls that have a CCI, and SI-7(13), which is withdrawn.
      assert.is(new Set(rev5.map((pair) => pair.toIdentifier)).size, folder.length === 0 ? 1005 : 0);
    }
  });

  real.run();
}
