import * as assert from 'uvu/assert';
import type { ControlsResult } from '../../../importers/controls/catalog.ts';
import type { BaselineRecord, ControlRecord } from '../../../importers/controls/control-record.ts';
import { parseCprt } from '../../../importers/controls/cprt.ts';
import { parseOscalCatalog } from '../../../importers/controls/oscal-catalog.ts';
import { parseOscalProfile } from '../../../importers/controls/oscal-profile.ts';
import { parseControlsJson, parseSource } from '../../../importers/parse.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
import { told } from '../../support/told.ts';
import { assertRendered, bytesOf, catalogOf, controlOf, jsonOf, recordsOf, refusal } from './support.ts';

// The same small catalogs and profile in both syntaxes of OSCAL, in the forms that NIST's own conversions have.

const namespace = 'http://csrc.nist.gov/ns/oscal/1.0';
const head = (title: string, more = '') =>
  `<metadata><title>${title}</title><last-modified>2026-05-11T16:01:09Z</last-modified><version>5.2.0</version>
    <oscal-version>1.2.2</oscal-version>${more}<role id="creator"><title>Creator</title></role></metadata>`;
const metadata = (title: string, more = {}) => ({
  title,
  'last-modified': '2026-05-11T16:01:09Z',
  version: '5.2.0',
  'oscal-version': '1.2.2',
  ...more,
});

const title53 = 'Lanterns of NIST SP 800-53 Rev 5.2.0';
const xml53 = `<?xml version="1.0" encoding="UTF-8"?><?xml-model href="x.xsd"?>
<catalog xmlns="${namespace}" uuid="c">${head(title53)}
<group class="family" id="ac"><title>Access &amp; Light</title><prop name="label" value="AC"/>
  <control class="SP800-53" id="ac-2"><title>Lamp   Care</title>
    <param id="ac-2_prm_1"><prop name="aggregates" ns="http://csrc.nist.gov/ns/rmf" value="ac-02_odp.01"/></param>
    <param id="ac-02_odp.01"><prop name="alt-label" class="sp800-53" value="kinds of lamps"/><label>lamps</label>
      <guideline><p>lamps are defined;</p></guideline></param>
    <param id="ac-02_odp.02"><select how-many="one-or-more"><choice>wait <insert type="param" id-ref="ac-02_odp.03"/></choice>
      <choice>ring &lt;twice&gt;</choice></select></param>
    <param id="ac-02_odp.03"><label>time <em>period</em></label></param>
    <prop name="label" class="zero-padded" value="AC-02"/><prop name="label" value="AC-2"/>
    <link rel="related" href="#ac-3"/><link rel="reference" href="#x"/>
    <part name="statement" id="ac-2_smt"><p>Keep:</p>
      <part name="item" id="ac-2_smt.a"><prop name="label" value="a."/>
        <p>the <insert type="param" id-ref="ac-2_prm_1"/> lit,
          <q>always</q>; and</p>
        <part name="item" id="ac-2_smt.a.1"><prop name="label" value="01."/><p><insert type="param" id-ref="ac-02_odp.02"/>.</p></part>
      </part></part>
    <part name="guidance" id="ac-2_gdn"><p>See <a href="#ac-3">AC-03</a> and <a href="x">the [old] site</a>.</p>
      <ul><li>one</li><li>two</li></ul><ol><li>three</li></ol><link rel="related" href="#ac-4"/></part>
    <part name="assessment-objective" id="o"><p>no</p></part>
    <control class="SP800-53-enhancement" id="ac-2.1"><title>Bells</title><part name="statement"><p>Ring.</p></part></control>
  </control>
  <control id="ac-3"><title>Gates</title><prop name="status" value="withdrawn"/><link rel="moved-to" href="#ac-2.1"/>
    <link rel="incorporated-into" href="#ac-2_smt.a"/></control>
  <control id="ac-4"><title>Sails</title><part name="statement"><p>Furl.</p></part></control>
</group><back-matter><resource uuid="r"><title>Other</title></resource></back-matter></catalog>`;
const json53 = JSON.parse(`{"catalog": {"metadata": ${JSON.stringify(metadata(title53))},
  "groups": [{"id": "ac", "title": "Access & Light", "controls": [
    {"id": "ac-2", "title": "Lamp Care",
      "params": [
        {"id": "ac-2_prm_1", "props": [{"name": "aggregates", "value": "ac-02_odp.01"}]},
        {"id": "ac-02_odp.01", "label": "lamps", "props": [{"name": "alt-label", "value": "kinds of lamps"}]},
        {"id": "ac-02_odp.02", "select": {"how-many": "one-or-more",
          "choice": ["wait {{ insert: param, ac-02_odp.03 }}", "ring <twice>"]}},
        {"id": "ac-02_odp.03", "label": "time period"}],
      "links": [{"rel": "related", "href": "#ac-3"}],
      "parts": [
        {"id": "ac-2_smt", "name": "statement", "prose": "Keep:", "parts": [
          {"id": "ac-2_smt.a", "name": "item", "props": [{"name": "label", "value": "a."}],
            "prose": "the {{ insert: param, ac-2_prm_1 }} lit, \\"always\\"; and", "parts": [
            {"id": "ac-2_smt.a.1", "name": "item", "props": [{"name": "label", "value": "01."}],
              "prose": "{{ insert: param, ac-02_odp.02 }}."}]}]},
        {"id": "ac-2_gdn", "name": "guidance", "links": [{"rel": "related", "href": "#ac-4"}],
          "prose": "See [AC-03](#ac-3) and the [old] site.\\n\\n- one\\n- two\\n\\n1. three"},
        {"id": "o", "name": "assessment-objective", "prose": "no"}],
      "controls": [{"id": "ac-2.1", "title": "Bells", "parts": [{"name": "statement", "prose": "Ring."}]}]},
    {"id": "ac-3", "title": "Gates", "props": [{"name": "status", "value": "withdrawn"}],
      "links": [{"rel": "moved-to", "href": "#ac-2.1"}, {"rel": "incorporated-into", "href": "#ac-2_smt.a"}]},
    {"id": "ac-4", "title": "Sails", "parts": [{"name": "statement", "prose": "Furl."}]}]}]}}`);

const fixture = suite('the two syntaxes of OSCAL');

/** What the import makes of a file, found by its content. */
function imported(source: string): {
  kind: string;
  records: ReturnType<typeof recordsOf>;
  warnings: string[];
} {
  const { kind, content, warnings } = parseSource(Buffer.from(source));
  assert.ok(content?.type === 'controls', source.slice(0, 80));
  return { kind, records: content.records, warnings };
}

const skipped = (source: string) => {
  const parsed = parseSource(Buffer.from(source));
  return parsed.content === null ? [parsed.kind, parsed.reason] : null;
};

fixture('a catalog of 800-53 in XML says what its JSON says', () => {
  const fromXml = imported(xml53);
  const fromJson = parseOscalCatalog(json53);
  assert.is(fromXml.kind, 'oscal-catalog');
  assert.equal(fromXml.records, recordsOf(fromJson));
  assert.equal(
    fromXml.warnings.filter((each) => !each.startsWith('not stored')),
    [],
  );
  const catalog = catalogOf(fromXml as ControlsResult);
  assert.equal([catalog.version, catalog.edition], ['Rev 5.2.0', '2026-05-11T16:01:09.000Z']);
  assert.equal(
    catalog.controls.map((each) => [each.identifier, each.status, each.withdrawnInto.join()]),
    [
      ['AC-2', 'active', ''],
      ['AC-2(1)', 'active', ''],
      ['AC-3', 'withdrawn', 'AC-2,AC-2(1)'],
      ['AC-4', 'active', ''],
    ],
  );
  const lamps = controlOf(catalog, 'AC-2');
  assert.is(
    lamps.statement,
    [
      'Keep:',
      'a. the [Assignment: organization-defined kinds of lamps] lit, "always"; and',
      '  1. [Selection (one or more): wait [Assignment: organization-defined time period]; ring <twice>].',
    ].join('\n'),
  );
  assert.is(lamps.guidance, 'See AC-3 and the [old] site.\n\n- one\n- two\n\n1. three');
  assert.equal(lamps.related, ['AC-3', 'AC-4']);
  assert.is(lamps.family, 'Access & Light');
});

fixture('a profile in XML lists what its JSON lists', () => {
  const title = 'Lanterns of NIST Special Publication 800-53 Revision 5.2.0 LOW IMPACT BASELINE';
  const xml = (inside: string) =>
    `<profile xmlns="${namespace}" uuid="p">${head(title)}<import href="#c">${inside}</import><merge><as-is>true</as-is></merge></profile>`;
  const listed = `<include-controls with-child-controls="no"><with-id>ac-2</with-id><with-id> ac-2.1 </with-id></include-controls>`;
  const json = {
    profile: {
      metadata: metadata(title),
      imports: [{ href: '#c', 'include-controls': [{ 'with-ids': ['ac-2', 'ac-2.1'] }] }],
    },
  };
  const { kind, records } = imported(xml(listed));
  assert.is(kind, 'oscal-profile');
  assert.equal(records, recordsOf(parseOscalProfile(json)));
  const wide = `<include-controls with-child-controls="yes"><with-id>ac-2</with-id><matching pattern="ac-*"/></include-controls>
    <exclude-controls><with-id>ac-2.1</with-id></exclude-controls>`;
  const selection = { 'with-ids': ['ac-2'], 'with-child-controls': 'yes', matching: [{ pattern: 'ac-*' }] };
  for (const [inside, more] of [
    ['<include-all/>', { 'include-all': {} }],
    ['', {}],
    [wide, { 'include-controls': [selection], 'exclude-controls': [{ 'with-ids': ['ac-2.1'] }] }],
  ] as const) {
    const same = { profile: { metadata: metadata(title), imports: [{ href: '#c', ...more }] } };
    assert.equal(imported(xml(inside)).records, recordsOf(parseOscalProfile(same)), inside);
  }
  const matter = `<back-matter><resource uuid="c"><title>x</title><rlink href="sp800-53_rev4.xml"/></resource></back-matter>`;
  const named = xml(listed).replace(title, 'Harbor').replace('</profile>', `${matter}</profile>`);
  const [harbor] = imported(named).records as BaselineRecord[];
  assert.equal([harbor!.baseline, harbor!.title, harbor!.version], ['harbor', 'Harbor', 'Rev 4']);
});

const requirement = (id: string, more: object) => ({ id: `SP_800_171_${id}`, class: 'requirement', ...more });
const json171 = (controls: object[], more: object = {}) =>
  JSON.stringify({
    catalog: {
      metadata: metadata('Lanterns in Nonfederal Systems', {
        version: '1.1.0',
        props: [{ name: 'framework-version-identifier', ns: 'x', value: 'SP_800_171_3_0_0' }],
        ...more,
      }),
      groups: [{ id: 'SP_800_171_03.01', class: 'family', title: 'Harbor Access', controls }],
    },
  });
const lamp = JSON.parse(`{"title": "Lamp Care",
  "params": [
    {"id": "A.1", "label": "hours", "usage": "organization-defined hours of the day"},
    {"id": "A.2", "select": {"how-many": "one-or-more", "choice": ["wait {{ insert: param, A.1 }}", "ring"]}}],
  "parts": [
    {"id": "statement_03.01.01", "name": "statement", "parts": [
      {"id": "SR-03.01.01.a", "name": "item", "prose": "Watch:", "parts": [
        {"id": "SR-03.01.01.a.01", "name": "item", "prose": "{{ insert: param, A.2 }} ;"}]}]},
    {"id": "g", "name": "guidance", "prose": "As in [](#/x?element=03.01.02) 03.01.02.\\n\\nAnd so on."}]}`);

fixture('the catalog of 800-171 Rev 3 in JSON is read as the one in XML is', () => {
  const gone = {
    title: '03.01.03',
    props: [{ name: 'status', value: 'withdrawn' }],
    links: [{ href: '03.01.01', rel: 'incorporated_into' }],
  };
  const { kind, records } = imported(json171([requirement('03.01.01', lamp), requirement('03.01.03', gone)]));
  assert.is(kind, 'oscal-catalog');
  const xml = `<catalog xmlns="${namespace}"><metadata><title>x</title><last-modified>2026-05-11T16:01:09Z</last-modified>
      <prop name="framework-version-identifier" value="SP_800_171_3_0_0"/></metadata>
    <group id="SP_800_171_03.01"><title>Harbor Access</title>
      <control id="SP_800_171_03.01.01"><title>Lamp Care</title>
        <param id="A.1"><label>hours</label><usage><p>organization-defined hours of the day</p></usage></param>
        <param id="A.2"><select how-many="one-or-more"><choice>wait <insert type="param" id-ref="A.1"/></choice><choice>ring</choice></select></param>
        <part id="statement_03.01.01" name="statement"><part id="SR-03.01.01.a" name="item"><p>Watch:</p>
          <part id="SR-03.01.01.a.01" name="item"><p><insert type="param" id-ref="A.2"/> ;</p></part></part></part>
        <part id="g" name="guidance"><p>As in <a href="#/x?element=03.01.02"/>03.01.02.</p><p>And so on.</p></part></control>
      <control id="SP_800_171_03.01.03"><title>03.01.03</title><prop name="status" value="withdrawn"/>
        <link href="03.01.01" rel="incorporated_into"/></control></group></catalog>`;
  assert.equal(records, imported(xml).records);
  const catalog = catalogOf({ kind: 'oscal-catalog', records, warnings: [] });
  assert.equal([catalog.framework, catalog.version], ['nist-800-171', 'Rev 3']);
  assert.is(
    controlOf(catalog, '03.01.01').statement,
    'a. Watch:\n  1. [Selection (one or more): wait [Assignment: organization-defined hours of the day]; ring];',
  );
  assert.is(controlOf(catalog, '03.01.01').guidance, 'As in 03.01.02.\n\nAnd so on.');
  assert.equal(controlOf(catalog, '03.01.03').withdrawnInto, ['03.01.01']);
});

fixture('broken ones are refused with one message, whatever stands where a text or a list belongs', () => {
  const refused = (source: string) => refusal('oscal-catalog', () => parseSource(Buffer.from(source)));
  const bent = (more: object) => json171([requirement('03.01.01', { ...lamp, ...more })]);
  const cases: [source: string, message: RegExp][] = [
    [json171([requirement('03.01.01', lamp)], { 'last-modified': 7 }), /last-modified: expected string/],
    [bent({ parts: null }), /parts: expected array/],
    [bent({ parts: 'statement' }), /parts: expected array/],
    [bent({ id: ['x'] }), /id: expected string/],
    [json171([requirement('3.1.1', lamp)]), /^"SP_800_171_3\.1\.1" is not a requirement of 800-171 Rev 3$/],
    [xml53.replace('id="ac-3"', 'id="zz"'), /"zz" is not an id of 800-53/],
    [xml53.replace('id-ref="ac-2_prm_1"', ''), /an insert is not understood/],
    [xml53.replace(/<last-modified>.*?<.last-modified>/, ''), /last-modified "" is not a time/],
    [`<catalog xmlns="${namespace}"/>`, /^\/catalog\/metadata: expected object, received undefined$/],
  ];
  for (const [source, message] of cases) assert.match(refused(source), message);
  const long = bent({ props: Array(200_000).fill({ name: 'x', value: 'y' }) });
  assert.is(parseControlsJson(JSON.parse(long))?.records?.length, 1, 'a long list is no fault');
  const resolved = '<prop name="resolution-tool" value="x"/></metadata>';
  assert.equal(skipped(xml53.replace('</metadata>', resolved)), [
    'oscal-catalog',
    'a catalog resolved from a profile contains only part of nist-800-53: import the catalog and the profile instead',
  ]);
  // A catalog of 800-171 in a revision that is not known is a publication of its own.
  const other = parseControlsJson(JSON.parse(bent({}).replace('SP_800_171_3_0_0', 'SP_800_171_4_0_0')));
  const { framework, version } = catalogOf(other!);
  assert.equal([framework, version], ['lanterns-in-nonfederal-systems', '1.1.0']);
});

fixture.run();

const real = suiteIf(referenceData, 'the OSCAL XML catalogs of NIST');
if (real) {
  const read = (name: string) => imported(bytesOf('oscal', name).toString()) as ControlsResult;

  real('800-171 Rev 3 says what the CPRT export says, but for two slips of its own', () => {
    const { controls } = catalogOf(read('NIST_SP800-171_rev3_catalog.xml'));
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
    const { framework, version, controls } = catalogOf(read('NIST_CSF_v2.0_catalog.xml'));
    assert.equal([framework, version, controls.length], ['nist-cybersecurity-framework', '2.0', 219]);
    const active = controls.filter(({ status }) => status === 'active').map(({ identifier }) => identifier);
    assert.is(active.filter((each) => /^[A-Z]{2}\.[A-Z]{2}$/.test(each)).length, 22);
    assert.is(active.filter((each) => /^[A-Z]{2}\.[A-Z]{2}-\d\d$/.test(each)).length, 106);
    assert.is(new Set(controls.map(({ family }) => family)).size, 6);
    for (const each of controls) assertRendered(each);
  });

  real.run();
}
