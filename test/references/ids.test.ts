import * as assert from 'uvu/assert';
import { type FoundId, idsIn, idsOf } from '../../src/catalog/controls/id-grammar.ts';
import { placesIn } from '../../src/checklists/reference-lookup.ts';
import { growthOf } from '../support/effort.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';
import { rowsOf } from '../support/tables.ts';
import { readBenchmark } from '../support/xccdf-reader.ts';

const test = suite('The grammar of ids');
const short = ({ kind, text, id, part }: FoundId) =>
  `${kind} ${text}${text === id ? '' : ` = ${id}`}${part === '' ? '' : ` of ${part}`}`;
const found = (text: string) => [...idsIn(text)].map(short);

test('every form of an id, and controls with their parts (rule D39.1)', () => {
  // What is read, and each id with its kind, as it is written and as it is known.
  for (const [text, ids] of rowsOf(`
    - name: "V-257777, SV-257777r991589_rule" | group V-257777, rule SV-257777r991589_rule = SV-257777R991589
    RHEL-09-211010 # sv-257777R1 | stigId RHEL-09-211010, rule sv-257777R1 = SV-257777R1
    cci-15, CCI-000366; | cci cci-15 = CCI-000015, cci CCI-000366
    SRG-OS-000480-GPOS-00227 SRG-OS-000001. | srg SRG-OS-000480-GPOS-00227, srg SRG-OS-000001
    V-1234.a V-257777.rb @V-71849 | group V-1234, group V-257777, group V-71849
    xccdf_mil.disa.stig_rule_SV-86473r4_rule | rule SV-86473r4_rule = SV-86473R4
    3.1.1 03.01.01 ECCT-1 | control 3.1.1, control 03.01.01, control ECCT-1
    AC-2, AC-2(1) | control AC-2, control AC-2(1)
    AC-2 (1), AC-02(01), ac-2.1 | control AC-2 (1) = AC-2(1), control AC-02(01) = AC-2(1), control ac-2.1 = AC-2(1)
    IA-5(1)(c), IA-5 (1) (c) | control IA-5(1)(c) = IA-5(1) of c, control IA-5 (1) (c) = IA-5(1) of c
    AC-2 d 3, AC-2d.3, too | control AC-2 d 3 = AC-2 of d 3, control AC-2d.3 = AC-2 of d 3
    AC-2d.03, AC-1 a 1 (a), | control AC-2d.03 = AC-2 of d 3, control AC-1 a 1 (a) = AC-1 of a 1 a
    AC-2a, AC-2(a) | control AC-2a = AC-2 of a, control AC-2(a) = AC-2 of a
    AC-2 a user. AC-3 (low) AC-4. | control AC-2, control AC-3, control AC-4
  `))
    assert.is(found(text!).join(', '), ids, text);
});

test('what only looks like an id is none', () => {
  const none = `ac-2.example.com|web-ac-2|AC-2-1|AC-2000|xAC-2|AC-2_x|ac-2@example.com|PL-1M|PE-2A|SC-7x|AC-2d3|v3.1.1|
    3.1.1.4|3.1.1-rc1|-3.1.1|3.1.1.|3.01.1|3.1.1_x|10.3.1|AC-0|xV-257777|V-257777-b|V-8|V-257777é|ÄV-257777|_SV-257777|
    openssl@3.1.1|V-${'1'.repeat(80)}|RHEL-09-${'1'.repeat(80)}|${'x'.repeat(1000)}`;
  for (const text of none.split(/\|\s*/))
    assert.not(
      found(text).some((id) => !id.startsWith('stigId')),
      text,
    );
  const versions = `^3.1.1|~3.1.1|~> 3.1.1|>= 3.1.1|<=3.1.1|==3.1.1|3.1.1+|Version: 3.1.1|v. 3.1.1|"version": "3.1.1"|
    <version>3.1.1</version>|TLS_VERSION = 3.1.1|550e8400-e29b-41d4-a716-446655440000 dead-beef`;
  for (const text of versions.split(/\|\s*/)) assert.equal(found(text), [], text);
  for (const text of ['<td>3.1.1</td>', '> 3.1.1', 'id=3.1.1', 'id = "3.1.1"', '§3.1.1', 'conversion 3.1.1'])
    assert.equal(found(text), ['control 3.1.1'], text);
  // Candidates alone: the catalog knows no release whose STIG ids begin so.
  for (const text of ['CVE-2021-44228', 'RFC-2119', 'KB5005565', 'web01', 'A53-7', 'sha256'])
    assert.ok(found(text)[0]!.startsWith(`stigId ${text}`), text);
});

test('a question of ids alone', () => {
  assert.equal(
    idsOf('V-257777, AC-2 d 3;\n cci-15')?.map(({ id }) => id),
    ['V-257777', 'AC-2', 'CCI-000015'],
  );
  for (const text of ['', ' ,; ', 'V-257777 and V-257778', 'ssh', 'AC-2 / AC-3'])
    assert.is(idsOf(text), null, text);
});

test('places are in UTF-16 units, and each id lies where it says', () => {
  const text = '😀 é V-257777\r\n\tAC-2(1) xccdf_mil.disa.stig_group_V-1234';
  for (const { text: id, index } of idsIn(text)) assert.is(text.slice(index, index + id.length), id);
  assert.is([...idsIn(text)][0]!.index, 5);
});

test('hostile texts are read in time that grows with their length, also 50,000 ids in one line', async () => {
  for (const bit of [
    'V- ',
    'a-1 ',
    '(1) ',
    'AC-2 (1) ',
    '. ',
    'a ',
    '1 ',
    'SV-1r ',
    'xccdf_a ',
    'AC-2 a 1 ( ',
    '3.',
  ]) {
    const growth = await growthOf((size) => [...idsIn(bit.repeat(size))].length, 100_000);
    assert.ok(growth < 3.5, `${bit}: ${growth.toFixed(1)}`);
  }
  const none = { beginnings: new Map(), letters: new Set<string>() };
  const growth = await growthOf((size) => placesIn('AC-2 '.repeat(size), none, size).length, 25_000);
  assert.ok(growth < 3.5, `places: ${growth.toFixed(1)}`);
  const placesOf = (text: string) =>
    placesIn(text, none, 50_000).map(({ line, column }) => `${line}:${column}`);
  assert.is(placesOf('AC-2 '.repeat(50_000)).at(-1), `1:${5 * 49_999 + 1}`);
  assert.equal(placesOf('AC-2 AC-3\n\nAC-4'), ['1:1', '1:6', '3:1']);
});

test.run();

const real = suiteIf(referenceData, 'The grammar of ids: real files');

real?.('finds every id of the real releases in its place', async () => {
  const missed = new Set<string>();
  for (const { text } of await benchmarkFiles()) {
    for (const rule of readBenchmark(text).rules) {
      const ids = [rule.groupId, rule.ruleId, rule.version, ...rule.legacyIds, ...rule.ccis];
      if (/^SRG-[A-Z]+-\d/.test(rule.groupTitle)) ids.push(rule.groupTitle.trim());
      for (const id of ids.map((each) => each.trim()).filter((each) => each !== '')) {
        const [first] = idsIn(`- "${id}": x`);
        // Some have the name of a product after them: `DTBG010 - FireFox`.
        if (first?.text !== id.split(' - ')[0]) missed.add(id);
      }
    }
  }
  assert.equal([...missed].sort(), []);
});

real?.run();
