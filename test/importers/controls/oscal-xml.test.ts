import * as assert from 'uvu/assert';
import type { ControlRecord } from '../../../importers/controls/control-record.ts';
import { parseCprt } from '../../../importers/controls/cprt.ts';
import { parseOscalCatalog } from '../../../importers/controls/oscal-catalog.ts';
import { valueOfXml } from '../../../importers/controls/oscal-xml.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
import { told } from '../../support/told.ts';
import { noControls } from '../../support/words.ts';
import { assertRendered, bytesOf, catalogOf, controlOf, jsonOf, refusal, treeOf } from './support.ts';

const requirement = (id: string, body: string, title = `Lantern ${id}`) =>
  `<o:control id="SP_800_171_${id}" class="requirement"><o:title>${title}</o:title>${body}</o:control>`;
const statement = (id: string, body: string) =>
  `<o:control id="SP_800_171_SR-${id}" class="security_requirement"><o:title>SR-${id}</o:title>
     <o:part id="statement_SR-${id}" name="statement">${body}</o:part></o:control>`;
const simple = (id: string) => requirement(id, statement(id, '<o:p>Keep it lit.</o:p>'));

/** A catalog in the form of NIST's, with a prefix in place of the default namespace. */
function catalog(
  requirements: string,
  head: { publication?: string; changed?: string; family?: string } = {},
): string {
  const { publication = 'SP_800_171_3_0_0', changed = '2025-05-29T17:42:13.267178-04:00' } = head;
  return `<?xml version="1.0" encoding="UTF-8"?>
<o:catalog xmlns:o="http://csrc.nist.gov/ns/oscal/1.0" uuid="c"><o:metadata><o:title>Lanterns
    of a harbor</o:title><o:last-modified>${changed}</o:last-modified>
  <o:prop name="framework-version-identifier" value="${publication}"/></o:metadata>
  <o:group id="SP_800_171_03.01" class="family"><o:title>${head.family ?? 'Harbor &amp; Access'}</o:title>
  ${requirements}</o:group></o:catalog>`;
}

const read = (text: string) => parseOscalCatalog(valueOfXml(treeOf(text)));

const fixture = suite('OSCAL XML catalogs');

fixture('mixed content keeps its order, parameters take the wording of their usage', () => {
  const body = `<o:param id="A.1"><o:label>hours</o:label><o:usage><o:p>organization-defined hours
      of the day</o:p></o:usage></o:param>
    <o:param id="A.2"><o:label>SELECTED</o:label><o:select how-many="one-or-more"><o:choice>wait <o:insert type="param"
      id-ref="A.1"/></o:choice><o:choice>ring &#60;twice&#62;</o:choice></o:select></o:param>
    <o:param id="A.3"><o:label> oil </o:label></o:param>
    <o:part id="g" name="guidance"><o:p>Sails (see <o:a href="#x">03.01.02</o:a> ) fill.</o:p><o:p>007 &amp;amp; 8</o:p></o:part>
    ${statement(
      '03.01.01',
      `<o:part id="SR-03.01.01.a" name="item"><o:p>Watch <o:insert type="param" id-ref="A.1"/>
         and <![CDATA[<then>]]>:</o:p>
         <o:part id="SR-03.01.01.a.01" name="item"><o:p><o:insert type="param" id-ref="A.2"/> ;</o:p></o:part>
         <o:part id="SR-03.01.01.a.02" name="item"><o:p>fill<!-- no --> <o:insert type="param" id-ref="A.3"/>.</o:p></o:part>
       </o:part>`,
    )}`;
  const control = controlOf(catalogOf(read(catalog(requirement('03.01.01', body)))), '03.01.01');
  assert.is(
    control.statement,
    [
      'a. Watch [Assignment: organization-defined hours of the day] and <then>:',
      '  1. [Selection (one or more): wait [Assignment: organization-defined hours of the day]; ring <twice>];',
      '  2. fill [Assignment: organization-defined oil].',
    ].join('\n'),
  );
  assert.is(control.guidance, 'Sails (see 03.01.02) fill.\n\n007 &amp; 8');
  assert.equal([control.family, control.familyCode], ['Harbor & Access', '03.01']);
  assert.equal(control.statementParts[0]!.parts[1]!.id, 'SR-03.01.01.a.02');
});

fixture('a statement may stand in the requirement itself, as NIST writes it since version 1.0.1', () => {
  const own = (id: string, body: string) =>
    `<o:part id="statement_${id}" name="statement" class="security_requirement">${body}</o:part>`;
  const items = `<o:part id="SR-03.01.01.a" name="item"><o:prop name="label" value="SR-03.01.01.a"/><o:p>Trim:</o:p>
      <o:part id="SR-03.01.01.a.01" name="item"><o:p>the wick,</o:p></o:part></o:part>
    <o:part id="SR-03.01.01.b" name="item"><o:p>Fill <o:insert type="param" id-ref="A.1"/>.</o:p></o:part>`;
  const oil = '<o:param id="A.1"><o:label>oil</o:label></o:param>';
  const moved = catalog(
    requirement('03.01.01', oil + own('03.01.01', items)) +
      requirement('03.01.02', own('03.01.02', '<o:p>Keep it lit.</o:p>')),
  );
  const nested = catalog(requirement('03.01.01', oil + statement('03.01.01', items)) + simple('03.01.02'));
  const { controls } = catalogOf(read(moved));
  assert.equal(controls, catalogOf(read(nested)).controls);
  assert.equal(told(controls, 'statement'), [
    'a. Trim:\n  1. the wick,\nb. Fill [Assignment: organization-defined oil].',
    'Keep it lit.',
  ]);
  // The older form has an empty one beside: it says nothing, in either order.
  const both = requirement(
    '03.01.01',
    own('03.01.01', '') + statement('03.01.01', '<o:p>Keep it lit.</o:p>'),
  );
  assert.is(controlOf(catalogOf(read(catalog(both))), '03.01.01').statement, 'Keep it lit.');
  const empty = catalog(requirement('03.01.01', own('03.01.01', '<o:p> </o:p>')));
  assert.is(
    refusal('oscal-catalog', () => read(empty)),
    '03.01.01 has no statement and is not withdrawn',
  );
});

fixture('a withdrawn requirement has no title and names where it went', () => {
  const gone = `<o:prop name="status" value="withdrawn"/><o:link href="#SP_800_171_03.01.02" rel="addressed_by"/>
    <o:link href="#03.01.01" rel="incorporated_into"/><o:link href="#y" rel="reference"/>`;
  const source = catalog(requirement('03.01.03', gone, '03.01.03') + simple('03.01.02') + simple('03.01.01'));
  const { version, edition, controls } = catalogOf(read(source));
  assert.equal([version, edition], ['Rev 3', '2025-05-29T21:42:13.267Z']);
  assert.equal(
    controls.map(({ identifier, title, withdrawnInto }) => [identifier, title, withdrawnInto.join()]),
    [
      ['03.01.01', 'Lantern 03.01.01', ''],
      ['03.01.02', 'Lantern 03.01.02', ''],
      ['03.01.03', '', '03.01.01,03.01.02'],
    ],
  );
});

fixture('broken catalogs are refused with one message', () => {
  const refused = (text: string) => refusal('oscal-catalog', () => read(text));
  assert.is(refused('<catalog/>'), '/catalog/metadata: expected object, received undefined');
  assert.is(refused(catalog('')), noControls);
  assert.match(refused(catalog('', { changed: 'soon' })), /last-modified "soon" is not a time/);
  assert.match(
    refused(catalog(simple('03.01.01'), { family: ' ' })),
    /^\/catalog\/groups\/0\/title: Too small/,
  );
  assert.is(refused(catalog(simple('03.01.01') + simple('03.01.01'))), '03.01.01 occurs twice');
  assert.is(
    refused(catalog(simple('3.1.1'))),
    '/catalog/groups/0/controls/0/id: "SP_800_171_3.1.1" is not a requirement of 800-171 Rev 3',
  );
  assert.match(refused(catalog(requirement('03.01.01', ''))), /has no statement and is not withdrawn/);
  const gone = '<o:prop name="status" value="withdrawn"/><o:link href="#x" rel="addressed_by"/>';
  const { warnings } = read(catalog(requirement('03.01.01', gone))) as { warnings: string[] };
  assert.equal(warnings, ['03.01.01 is incorporated into "#x", which is not a control of the catalog']);
  const twice = requirement('03.01.01', '<o:param id="p"/><o:param id="p"/>');
  assert.is(refused(catalog(twice)), 'the parameter p occurs twice');
  // A name that objects have from birth is an element like any other.
  assert.is(catalogOf(read(catalog(`${simple('03.01.01')}<o:constructor/>`))).controls.length, 1);
  const bare = requirement('03.01.01', statement('03.01.01', '<o:p>a <o:insert/> b {{ x y }}</o:p>'));
  assert.match(refused(catalog(bare)), /^SR-03.01.01: an insert is not understood/);
});

fixture.run();

const real = suiteIf(referenceData, 'the OSCAL XML catalogs of NIST');
if (real) {
  real('800-171 Rev 3 says what the CPRT export says, but for two slips of its own', () => {
    const { controls } = catalogOf(read(bytesOf('oscal', 'NIST_SP800-171_rev3_catalog.xml').toString()));
    const exported = catalogOf(parseCprt(jsonOf('sp800-171', 'sp_800_171_3_0_0', 'framework.json')));
    assert.is(controls.length, 130);
    // Their assessments differ in ids: assessment-real.test.ts reads both.
    const texts = ({ parameters, objectives, methods, ...others }: ControlRecord) => ({
      ...others,
      guidance: '',
    });
    const differing = controls.filter((control, index) => {
      assertRendered(control);
      const other = exported.controls[index]!;
      assert.equal(texts(control), texts(other));
      return control.guidance !== other.guidance;
    });
    // The XML has a dot for an opening square bracket there.
    assert.equal(told(differing, 'identifier'), ['03.05.02', '03.05.03']);
  });

  real('the CSF 2.0 has 6 functions, 22 active categories and 106 active subcategories', () => {
    const { framework, version, controls } = catalogOf(
      read(bytesOf('oscal', 'NIST_CSF_v2.0_catalog.xml').toString()),
    );
    assert.equal([framework, version, controls.length], ['nist-cybersecurity-framework', '2.0', 219]);
    const active = controls.filter(({ status }) => status === 'active').map(({ identifier }) => identifier);
    assert.is(active.filter((each) => /^[A-Z]{2}\.[A-Z]{2}$/.test(each)).length, 22);
    assert.is(active.filter((each) => /^[A-Z]{2}\.[A-Z]{2}-\d\d$/.test(each)).length, 106);
    assert.is(new Set(controls.map(({ family }) => family)).size, 6);
    for (const each of controls) assertRendered(each);
  });

  real.run();
}
