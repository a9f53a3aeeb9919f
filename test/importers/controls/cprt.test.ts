import * as assert from 'uvu/assert';
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
  pairsOf,
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

const withText = (id: string, text: string) =>
  rev2Elements.map(([type, ...row]): Row => (row[0] === id ? [type, id, row[1], text] : [type, ...row]));

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
  assert.equal(
    pairsOf(result).map((pair) => Object.values(pair).join(' ')),
    ['nist-800-171 Rev 3 03.01.01 nist-800-53 Rev 5.1.1 AC-2(3) AC-02(03)'],
  );
});

fixture('Rev 3: a target that is no requirement is told of', () => {
  const { warnings } = parseCprt(rev3(rev3Elements, [['WR-03.01.03', 'addressed_by', '03.09.09']])) as {
    warnings: string[];
  };
  assert.match(warnings[0]!, /^03\.01\.03 is incorporated into "03\.09\.09", which is not a control/);
});

fixture('a broken export is refused with one message', () => {
  const more2 = (...rows: Row[]) => rev2([...rev2Elements, ...rows]);
  const more3 = (...rows: Row[]) => rev3([...rev3Elements, ...rows]);
  const related = (...relation: [string, string, string, string?]) => rev3(rev3Elements, [relation]);
  const broken = rev2();
  Object.assign(broken.response.elements.elements[1]!, { text: null });
  const blank: Row[] = [
    ...without(without(rev3Elements, 'SR-03.01.02'), '03.01.02'),
    ['requirement', '03.01.02', '', ''],
    ['security_requirement', 'SR-03.01.02', '', ''],
  ];
  const cases: [value: unknown, message: string][] = [
    [broken, '/elements/1/text: expected string, received null'],
    [rev2([]), noControls],
    [rev2(without(rev2Elements, '03.01')), 'the requirement 3.1.10 has no family'],
    [rev2(rev2Elements, ['3.1.2']), 'the requirement 3.1.10 is neither basic nor derived'],
    [rev2(withText('03.01.02', ' ')), '3.1.2 has no statement and is not withdrawn'],
    [more2(['requirement', '3.1.2', '', 'Again.']), '3.1.2 occurs twice'],
    [more2(['requirement', 'lantern', '', 'x']), '"lantern" is not a requirement of 800-171 Rev 2'],
    [more3(rev3Elements[0]!), 'the element 03.01 occurs twice'],
    [more3(['requirement', '3.1.4', '', '']), '"3.1.4" is not a requirement of 800-171 Rev 3'],
    [more3(['requirement', '03.02.01', '', '']), 'the requirement 03.02.01 has no family'],
    [more3(['requirement', '03.01.04', '', '']), '03.01.04 has no statement and is not withdrawn'],
    [more3(['security_requirement', 'SR-1', '', '']), '"SR-1" is not part of a statement'],
    [more3(['security_requirement', 'SR-03.01.02.a.01', '', 'x']), 'has no parent SR-03.01.02.a'],
    [rev3(blank), '03.01.02 has no statement and is not withdrawn'],
    [
      related('03.01.01', 'external_reference', 'lantern', 'SP_800_53_5_1_1'),
      'the reference 03.01.01 -> lantern is not understood',
    ],
  ];
  for (const [value, message] of cases) {
    const reason = refusal('cprt', () => parseCprt(value));
    assert.ok(reason.includes(message), `${reason}: ${message}`);
  }
});

fixture.run();

const real = suiteIf(referenceData, 'the CPRT exports of 800-171');
if (real) {
  const read = (revision: number) =>
    parseCprt(jsonOf('sp800-171', `sp_800_171_${revision}_0_0`, 'framework.json'));

  real('every active requirement has a clean statement, every target exists', () => {
    for (const [revision, count, pairs] of [
      [2, 110, 0],
      [3, 130, 157],
    ] as const) {
      const result = read(revision);
      const { controls } = catalogOf(result);
      const identifiers = new Set(told(controls, 'identifier'));
      assert.is(identifiers.size, count);
      for (const control of controls) {
        assertRendered(control);
        assert.is(control.statement === '', control.status === 'withdrawn', control.identifier);
        for (const target of control.withdrawnInto) assert.ok(identifiers.has(target), target);
      }
      assert.is(pairsOf(result).length, pairs);
    }
    const digests = [
      [2, '3.1.1'],
      [3, '03.01.01'],
      [3, '03.01.08'],
      [3, '03.12.05'],
    ] as const;
    assert.is(
      digests.map(([revision, id]) => digest(controlOf(catalogOf(read(revision)), id).statement)).join(' '),
      '287716597c2a7a00 f7c9f97a806b9292 9209cb731106eab1 c55a5c3142902a87',
    );
  });

  real.run();
}
