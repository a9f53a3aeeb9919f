import * as assert from 'uvu/assert';
import type { MappingRecord } from '../../../importers/controls/control-record.ts';
import { parseCprt } from '../../../importers/controls/cprt.ts';
import { cprtDocument } from '../../../importers/controls/cprt-shape.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
import { told } from '../../support/told.ts';
import { noControls } from '../../support/words.ts';
import {
  assertRendered,
  catalogOf,
  controlOf,
  digest,
  jsonOf,
  reasonOf,
  recordsOf,
  refusal,
} from './support.ts';

type Row = [string, string, string, string];

/** A CPRT export: elements as (type, id, title, text), relations as (from, relation, to, document). */
function cprt(document: string, elements: Row[], relations: [string, string, string, string?][] = []) {
  return {
    response: {
      requestType: 4,
      elements: {
        documents: [{ doc_identifier: document, name: 'Harbors', version: 'as tested', website: '' }],
        relationship_types: [],
        elements: elements.map(([element_type, element_identifier, title, text]) => ({
          element_type,
          element_identifier,
          title,
          text,
          doc_identifier: document,
        })),
        relationships: relations.map(([from, name, to, other]) => ({
          source_element_identifier: from,
          source_doc_identifier: document,
          dest_element_identifier: to,
          dest_doc_identifier: other ?? document,
          relationship_identifier: name,
        })),
      },
    },
  };
}

const rev2Elements: Row[] = [
  ['family', '03.01', 'Harbor  Access', ''],
  ['requirement', '03.01.10', 'Gates', 'Close the gates.'],
  ['requirement', '03.01.02', 'Lanterns', ' Light\nthe lanterns. '],
  ['discussion', 'D_03.01.02', '', 'Lanterns  burn.\n\nAll night.'],
  ['security_requirement', 'SR-03.01.02.a', 'a', 'lanterns are found'],
];
const rev2 = (elements = rev2Elements, types = ['3.1.2', '3.1.10']) =>
  cprt(
    'SP_800_171_2_0_0',
    elements,
    types.map((id) => [id, 'projection', id === '3.1.2' ? 'RT_basic' : 'RT_derived']),
  );

const rev3Elements: Row[] = [
  ['family', '03.01', 'Harbor Access', ''],
  [
    'security_requirement',
    'SR-03.01.01.b',
    'b ',
    'Watch the ships [Assignment: organization-defined hours] .',
  ],
  ['security_requirement', 'SR-03.01.01.a.02', '02', 'Second.'],
  ['security_requirement', 'SR-03.01.01.a.01', '01', 'First, and'],
  ['security_requirement', 'SR-03.01.01.a', 'a', 'Count:'],
  ['security_requirement', 'SR-03.01.01', '', ''],
  ['security_requirement', 'SR-03.01.02', '', 'Ring the bell.'],
  ['requirement', '03.01.02', 'Bells', ''],
  ['requirement', '03.01.01', 'Ships', ''],
  ['requirement', '03.01.03', '', ''],
  ['withdraw_reason', 'WR-03.01.03', '', 'Gone.'],
  ['discussion', 'D-03.01.01', '', 'Ships (see <a href="#/x?element=03.01.02">03.01.02</a> ) sail.'],
];
const rev3Relations: [string, string, string, string?][] = [
  ['WR-03.01.03', 'addressed_by', '03.01.02'],
  ['WR-03.01.03', 'incorporated_into', '03.01.01'],
  ['03.01.01', 'external_reference', 'AC-02(03)', 'SP_800_53_5_1_1'],
  ['03.01.02', 'external_reference', 'X.1', 'CSF_2_0_0'],
];
const rev3 = (elements = rev3Elements, relations = rev3Relations) =>
  cprt('SP_800_171_3_0_0', elements, relations);

const without = (elements: Row[], id: string) => elements.filter((element) => element[1] !== id);

const fixture = suite('CPRT exports');

fixture('a document is known by its identifier, bare or wrapped', () => {
  assert.is(cprtDocument(rev2()), 'SP_800_171_2_0_0');
  assert.is(cprtDocument(rev2().response.elements), 'SP_800_171_2_0_0');
  assert.is(cprtDocument({ documents: [], elements: [], relationships: [] }), '');
  for (const other of [null, 7, [], {}, { response: null }, { documents: [], elements: {} }, 'documents'])
    assert.is(cprtDocument(other), null);
  assert.match(reasonOf(parseCprt(cprt('SP_800_172_1_0_0', []))), /another publication: SP_800_172_1_0_0$/);
  assert.match(reasonOf(parseCprt(cprt('SP_800_171A_3_0_0', []))), /another publication/);
});

fixture('Rev 2: types, families and discussions join its two spellings', () => {
  const result = parseCprt(rev2());
  assert.is(recordsOf(result).length, 1);
  const catalog = catalogOf(result);
  assert.equal([catalog.framework, catalog.version, catalog.edition], ['nist-800-171', 'Rev 2', 'as tested']);
  const [first, second] = catalog.controls;
  assert.equal([first!.identifier, second!.identifier], ['3.1.2', '3.1.10']);
  assert.equal([first!.requirementType, second!.requirementType], ['basic', 'derived']);
  assert.equal([first!.title, first!.family, first!.familyCode], ['Lanterns', 'Harbor Access', '3.1']);
  assert.equal([first!.statement, first!.guidance], ['Light the lanterns.', 'Lanterns burn.\n\nAll night.']);
  assert.equal(second!.guidance, '');
});

fixture('Rev 3: statements are built from their parts', () => {
  const result = parseCprt(rev3());
  const catalog = catalogOf(result);
  assert.equal(told(catalog.controls, 'identifier'), ['03.01.01', '03.01.02', '03.01.03']);
  const first = controlOf(catalog, '03.01.01');
  assert.is(
    first.statement,
    'a. Count:\n  1. First, and\n  2. Second.\nb. Watch the ships [Assignment: organization-defined hours].',
  );
  assert.is(first.guidance, 'Ships (see 03.01.02) sail.');
  assert.equal(controlOf(catalog, '03.01.02').statementParts, [
    { id: 'SR-03.01.02', label: '', prose: 'Ring the bell.', parts: [] },
  ]);
  const last = controlOf(catalog, '03.01.03');
  assert.equal(
    [last.status, last.statement, last.withdrawnInto],
    ['withdrawn', '', ['03.01.01', '03.01.02']],
  );
  assert.equal(recordsOf(result)[1], {
    type: 'mapping',
    fromFramework: 'nist-800-171',
    fromVersion: 'Rev 3',
    edition: 'as tested',
    pairs: [
      {
        fromIdentifier: '03.01.01',
        toFramework: 'nist-800-53',
        toVersion: 'Rev 5.1.1',
        toIdentifier: 'AC-2(3)',
        reference: 'AC-02(03)',
      },
    ],
  });
});

fixture('a broken export is refused with one message', () => {
  const refused = (value: unknown) => refusal('cprt', () => parseCprt(value));
  const broken = rev2();
  Object.assign(broken.response.elements.elements[1]!, { text: null });
  assert.is(refused(broken), '/elements/1/text: expected string, received null');
  assert.is(refused(rev2([])), noControls);
  assert.is(refused(rev2(without(rev2Elements, '03.01'))), 'the requirement 3.1.10 has no family');
  assert.is(refused(rev2(rev2Elements, ['3.1.2'])), 'the requirement 3.1.10 is neither basic nor derived');
  assert.is(refused(rev2(rev2Elements, ['3.1.2', '3.1.10', '3.1.2'])), 'the requirement 3.1.2 has two types');
  const empty: Row[] = [...rev2Elements, ['requirement', '03.01.03', '', ' ']];
  assert.is(refused(rev2(empty)), 'the requirement 3.1.3 has no text');
  const twice: Row[] = [...rev2Elements, ['requirement', '3.1.2', '', 'Again.']];
  assert.is(refused(rev2(twice)), '3.1.2 occurs twice');
  const odd: Row[] = [...rev2Elements, ['requirement', 'lantern', '', 'x']];
  assert.is(refused(rev2(odd)), '"lantern" is not a requirement of 800-171 Rev 2');

  const with3 = (...rows: Row[]) => refused(rev3([...rev3Elements, ...rows]));
  assert.is(with3(rev3Elements[0]!), 'the element 03.01 occurs twice');
  assert.is(with3(['requirement', '3.1.4', '', '']), '"3.1.4" is not a requirement of 800-171 Rev 3');
  assert.is(with3(['requirement', '03.02.01', '', '']), 'the requirement 03.02.01 has no family');
  assert.match(with3(['requirement', '03.01.04', '', '']), /03.01.04 has no statement and is not withdrawn/);
  assert.match(with3(['security_requirement', 'SR-1', '', '']), /"SR-1" is not part of a statement/);
  assert.match(with3(['security_requirement', 'SR-03.01.02.a.01', '', 'x']), /has no parent SR-03.01.02.a$/);
  const silent = without(without(rev3Elements, 'SR-03.01.02'), '03.01.02');
  const blank: Row[] = [
    ...silent,
    ['requirement', '03.01.02', '', ''],
    ['security_requirement', 'SR-03.01.02', '', ''],
  ];
  assert.is(refused(rev3(blank)), 'the statement of the requirement 03.01.02 is empty');
  const related = (...relation: [string, string, string, string?]) => refused(rev3(rev3Elements, [relation]));
  assert.match(
    related('WR-03.01.03', 'addressed_by', '03.09.09'),
    /03.01.03 is incorporated into "03.09.09", which is no/,
  );
  assert.match(
    related('03.01.01', 'external_reference', 'lantern', 'SP_800_53_5_1_1'),
    /the reference 03.01.01 -> lantern is not understood/,
  );
});

fixture.run();

const real = suiteIf(referenceData, 'the CPRT exports of 800-171');
if (real) {
  const read = (revision: number) =>
    parseCprt(jsonOf('sp800-171', `sp_800_171_${revision}_0_0`, 'framework.json'));

  real('Rev 2 has 31 basic and 79 derived requirements in 14 families', () => {
    const { version, controls } = catalogOf(read(2));
    const ofType = (type: string) => controls.filter((each) => each.requirementType === type).length;
    assert.equal([version, controls.length, ofType('basic'), ofType('derived')], ['Rev 2', 110, 31, 79]);
    const perFamily = controls.reduce(
      (counts, each) => counts.set(each.family, (counts.get(each.family) ?? 0) + 1),
      new Map<string, number>(),
    );
    assert.equal([...perFamily.values()], [22, 3, 9, 9, 11, 3, 6, 9, 2, 6, 3, 4, 16, 7]);
    for (const control of controls) {
      assertRendered(control);
      assert.ok(control.statement !== '' && control.guidance !== '', control.identifier);
    }
    assert.is(digest(controlOf(catalogOf(read(2)), '3.1.1').statement), '287716597c2a7a00');
  });

  real('Rev 3 has 97 active and 33 withdrawn requirements and 157 pairs', () => {
    const result = read(3);
    const { version, controls } = catalogOf(result);
    const active = controls.filter((each) => each.status === 'active');
    assert.equal([version, controls.length, active.length], ['Rev 3', 130, 97]);
    assert.is(new Set(controls.map((each) => each.family)).size, 17);
    const identifiers = new Set(controls.map((each) => each.identifier));
    for (const control of controls) {
      assertRendered(control);
      assert.is(control.statement === '', control.status === 'withdrawn', control.identifier);
      for (const target of control.withdrawnInto) assert.ok(identifiers.has(target), target);
    }
    assert.is(
      controls.reduce((sum, each) => sum + each.withdrawnInto.length, 0),
      41,
    );
    const mapping = recordsOf(result)[1] as MappingRecord;
    assert.is(mapping.pairs.length, 157);
    assert.is(new Set(mapping.pairs.map((pair) => pair.fromIdentifier)).size, 97);
    assert.equal([...new Set(mapping.pairs.map((pair) => pair.toVersion))], ['Rev 5.1.1']);
    const digests = ['03.01.01', '03.01.08', '03.12.05'].map((id) =>
      digest(controlOf(catalogOf(result), id).statement),
    );
    assert.equal(digests, ['f7c9f97a806b9292', '9209cb731106eab1', 'c55a5c3142902a87']);
  });

  real('the NICE Framework is another publication in the same form', () => {
    const nice = jsonOf('nice', 'nist-nice-component-framework_2025.json');
    assert.is(cprtDocument(nice), 'SP_800_181_rev_1');
    assert.match(reasonOf(parseCprt(nice)), /SP_800_181_rev_1/);
  });

  real.run();
}
