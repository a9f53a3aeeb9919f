import * as assert from 'uvu/assert';
import { parseOscalCatalog } from '../../../importers/controls/oscal-catalog.ts';
import { valueOfXml } from '../../../importers/controls/oscal-document.ts';
import { parseOscalProfile } from '../../../importers/controls/oscal-profile.ts';
import { parseOscalMapping } from '../../../importers/crosswalk/oscal-mapping.ts';
import { oscalNamespace } from '../../../src/base/ids.ts';
import { suite } from '../../support/harness.ts';
import { control, oscalCatalog, oscalProfile } from './oscal-fixtures.ts';
import { treeOf } from './support.ts';

const unread = suite('what OSCAL states and is not stored');

const warningsOf = (result: object) => [...(result as { warnings: string[] }).warnings].sort();
const notStored = (...found: string[]) => found.map((each) => `not stored: ${each}`).sort();

unread('is named once with its count, in JSON as in XML', () => {
  const statement = { id: 's', name: 'statement', prose: 'Keep.', parts: [{ name: 'any', prose: 'x' }] };
  const value = oscalCatalog(
    [
      control('ac-1', {
        params: [{ id: 'p', label: 'x', guidelines: [{ prose: 'a' }, { prose: 'b' }], 'depends-on': 'q' }],
        props: [
          { name: 'label', value: 'AC-1' },
          { name: 'sort-id', value: 'ac-01' },
          { name: 'mood', value: 'good', class: 'x' },
          { name: 'own', ns: oscalNamespace, value: 'one of ours silences nothing else' },
        ],
        links: [
          { href: '#a', rel: 'reference' },
          { href: '#b', rel: 'reference' },
          { href: '#ac-1', rel: 'related' },
        ],
        parts: [
          statement,
          { name: 'example', prose: 'so' },
          { name: 'guidance', prose: 'g', parts: [{ name: 'more', prose: 'h' }] },
        ],
      }),
    ],
    { parties: [{ uuid: 'u', type: 'person' }], remarks: 'so' },
  );
  assert.equal(
    warningsOf(parseOscalCatalog(value)),
    notStored(
      'metadata party (1)',
      'metadata remark (1)',
      'param guideline (2)',
      'param depends-on (1)',
      'control prop mood (1)',
      'control link reference (2)',
      'control part example (1)',
      'guidance part more (1)',
    ),
  );
  const xml = `<catalog xmlns="http://csrc.nist.gov/ns/oscal/1.0" uuid="c"><metadata><title>Harbor 1</title>
    <last-modified>2024-02-04T23:16:00Z</last-modified><version>1</version><party uuid="u"/></metadata>
    <group id="g"><title>All</title><part name="overview"><p>so</p></part><control id="a"><title>A</title>
    <param id="p"><label>x</label><guideline><p>a</p></guideline><guideline><p>b</p></guideline></param>
    <prop name="mood" value="good"/><part name="statement"><p>Keep <em>it</em>.</p></part></control></group></catalog>`;
  assert.equal(
    warningsOf(parseOscalCatalog(valueOfXml(treeOf(xml)))),
    notStored(
      'metadata party (1)',
      'group part overview (1)',
      'param guideline (2)',
      'control prop mood (1)',
    ),
  );
  assert.equal(warningsOf(parseOscalCatalog(oscalCatalog([control('ac-1')]))), []);
  const odd = oscalCatalog([control('ac-1')]);
  Object.assign(odd.catalog, JSON.parse('{"constructor": {"a": 1}}'));
  assert.equal(warningsOf(parseOscalCatalog(odd)), notStored('catalog constructor (1)'));
});

unread('of a profile and a mapping too', () => {
  const profile = oscalProfile(['ac-1']);
  Object.assign(profile.profile, {
    modify: {
      'set-parameters': [{ 'param-id': 'p', values: ['1'], usage: 'x' }],
      alters: [{ 'control-id': 'ac-1' }],
    },
  });
  assert.equal(warningsOf(parseOscalProfile(profile)), [
    'alterations of controls are not applied: 1',
    ...notStored('set-parameter usage (1)'),
  ]);
  const map = {
    relationship: 'equal-to',
    sources: [{ type: 'control', 'id-ref': 'a' }],
    targets: [{ type: 'control', 'id-ref': 'b', remarks: 'x' }],
    qualifiers: [{ subject: 'both' }],
  };
  const resource = { type: 'catalog', href: 'x.json' };
  const mapping = { 'source-resource': resource, 'target-resource': resource, method: 'human', maps: [map] };
  const { metadata } = profile.profile;
  assert.equal(
    warningsOf(
      parseOscalMapping({ 'mapping-collection': { metadata, provenance: {}, mappings: [mapping] } }),
    ),
    notStored(
      'mapping-collection provenance (1)',
      'mapping method (1)',
      'target remark (1)',
      'map qualifier (1)',
    ),
  );
});

unread.run();
