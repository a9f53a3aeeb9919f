import * as assert from 'uvu/assert';
import type { ControlRecord } from '../../../importers/controls/control-record.ts';
import { parseCprt } from '../../../importers/controls/cprt.ts';
import { parseOscalCatalog } from '../../../importers/controls/oscal-catalog.ts';
import { valueOfXml } from '../../../importers/controls/oscal-xml.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
import { told } from '../../support/told.ts';
import { assertRendered, bytesOf, catalogOf, controlOf, jsonOf, refusal, treeOf } from './support.ts';

const requirement = (id: string, body: string, title = `Lantern ${id}`) =>
  `<o:control id="SP_800_171_${id}" class="requirement"><o:title>${title}</o:title>${body}</o:control>`;
const statement = (id: string, body: string) =>
  `<o:control id="SP_800_171_SR-${id}" class="security_requirement"><o:title>SR-${id}</o:title>
     <o:part id="statement_SR-${id}" name="statement">${body}</o:part></o:control>`;
const simple = (id: string) => requirement(id, statement(id, '<o:p>Keep it lit.</o:p>'));

/** A catalog in the form of NIST's, with a prefix in place of the default namespace. */
function catalog(requirements: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<o:catalog xmlns:o="http://csrc.nist.gov/ns/oscal/1.0" uuid="c"><o:metadata><o:title>Lanterns
    of a harbor</o:title><o:last-modified>2025-05-29T17:42:13.267178-04:00</o:last-modified>
  <o:prop name="framework-version-identifier" value="SP_800_171_3_0_0"/></o:metadata>
  <o:group id="SP_800_171_03.01" class="family"><o:title>Harbor &amp; Access</o:title>
  ${requirements}</o:group></o:catalog>`;
}

const read = (text: string) => parseOscalCatalog(valueOfXml(treeOf(text)));

const fixture = suite('OSCAL XML catalogs');

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
