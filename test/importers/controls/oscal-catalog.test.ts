import * as assert from 'uvu/assert';
import { parseOscalCatalog } from '../../../importers/controls/oscal-catalog.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
import { rowsOf } from '../../support/tables.ts';
import { told } from '../../support/told.ts';
import { noControls } from '../../support/words.ts';
import { control, item, label, oscalCatalog, withdrawn } from './oscal-fixtures.ts';
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

const fixture = suite('OSCAL catalogs');

fixture('controls come in catalog order, enhancements after their base', () => {
  const controls = [
    control('ac-10'),
    control('ac-2', { controls: [control('ac-2.10'), control('ac-2.2')] }),
    control('ac-1'),
    control('ac-2.1'),
  ];
  const catalog = catalogOf(parseOscalCatalog(oscalCatalog(controls)));
  assert.equal(told(catalog.controls, 'identifier', 'parent'), [
    'AC-1 undefined',
    'AC-2 undefined',
    'AC-2(1) undefined',
    'AC-2(2) undefined',
    'AC-2(10) undefined',
    'AC-10 undefined',
  ]);
});

fixture('a withdrawn control names the controls that it went into, rooted, each once', () => {
  const below = [
    withdrawn('ac-2.1', 'incorporated-into', '#ac-2_smt.k', '#ac-1', '#ac-2'),
    withdrawn('ac-2.2', 'moved-to', '#ac-2.1'),
  ];
  const props = [{ name: 'status', value: 'Withdrawn' }];
  const result = parseOscalCatalog(
    oscalCatalog([
      control('ac-1'),
      control('ac-2', { controls: below }),
      { ...withdrawn('ac-3', 'incorporated-into', '#sr', '#sr'), props },
      withdrawn('ac-4', 'related', '#ac-1'),
    ]),
  );
  assert.equal(told(catalogOf(result).controls, 'identifier', 'status', 'withdrawnInto'), [
    'AC-1 active ',
    'AC-2 active ',
    'AC-2(1) withdrawn AC-1,AC-2',
    'AC-2(2) withdrawn AC-2(1)',
    'AC-3 withdrawn ',
    'AC-4 withdrawn ',
  ]);
  assert.equal(result.records && result.warnings, [
    'AC-3 is incorporated into "#sr", which is not a control of the catalog',
  ]);
});

fixture('the version comes from the metadata, from the title where that is a date', () => {
  const version = (metadata: object) => {
    const result = parseOscalCatalog(oscalCatalog([control('ac-1')], metadata));
    return [catalogOf(result).version, ...(result.records ? result.warnings : [])].join(' ');
  };
  const table = `
    5.1.1+u4 | | Rev 5.1.1
    5.2.0 | | Rev 5.2.0
    2015-01-22 | NIST Special Publication 800-53 Revision 4: Lanterns | Rev 4
    Final | NIST SP800-53 Rev. 5 | Rev 5
    5.1.1-draft | | Rev 5.1.1 the version is 5.1.1-draft, which is not a final release`;
  for (const [number, title, expected] of rowsOf(table))
    assert.is(version({ version: number, ...(title && { title }) }), expected);
  const catalog = catalogOf(parseOscalCatalog(oscalCatalog([control('ac-1')])));
  assert.is(catalog.edition, '2024-02-05T04:16:00.000Z');
});

fixture('a resolved profile is a part, by what its tool says and not by its title', () => {
  const part = (metadata: object) => {
    const result = parseOscalCatalog(oscalCatalog([control('ac-1')], metadata));
    assert.match(reasonOf(result), /^a catalog resolved from a profile contains only part of/);
    return result.records === null ? result.part : undefined;
  };
  const own = { framework: 'nist-800-53', version: 'Rev 5.1.1', identifiers: ['AC-1'] };
  assert.equal(part({ links: [{ href: '#x', rel: 'source-profile' }] }), own);
  assert.equal(part({ props: [{ name: 'resolution-tool', value: 'x' }] }), own);
  const harbor = { title: 'Harbor Rules', props: [{ name: 'resolution-tool', value: 'x' }] };
  assert.equal(part(harbor), { framework: 'harbor-rules', version: '5.1.1+u4', identifiers: ['ac-1'] });
  const title = 'NIST SP 800-53 Rev 5 HIGH IMPACT BASELINE';
  const links = [{ href: '#x', rel: 'resolution-source' }];
  assert.is(
    catalogOf(parseOscalCatalog(oscalCatalog([control('ac-1')], { title, links }))).controls.length,
    1,
  );
});

fixture('any other publication is a framework of its own, named after its title', () => {
  const named = (title: string, version = '') => {
    const { framework, version: label } = catalogOf(
      parseOscalCatalog(oscalCatalog([control('x')], { title, version })),
    );
    return `${framework} ${label}`;
  };
  const table = `
    NIST Cybersecurity Framework 2.0 | 1.0.0 | nist-cybersecurity-framework 2.0
    NIST SP 800-53A Rev 5 | | nist-sp-800-53a 5
    PCI DSS v4.0.1 | 9 | pci-dss 4.0.1
    ISO/IEC 27001:2022 | 9 | iso-iec-27001 2022
    ISO 27001 | 1.1 | iso-27001 1.1
    Lantern Keeping (Version 3) | 9 | lantern-keeping 3
    Special Publication 800-172 | final | special-publication-800-172 final`;
  for (const [title, version, expected] of rowsOf(table)) assert.is(named(title!, version), expected);
  assert.is(named('Harbor\nRules', '7'), 'harbor-rules 7');
  assert.is(named(`Tar${' ('.repeat(90_000)} 1`, '9'), 'tar 9');
  const refused = (title: string, version = '1') =>
    refusal('oscal-catalog', () => parseOscalCatalog(oscalCatalog([control('x')], { title, version })));
  assert.match(refused('?!'), /^the title "\?!" gives the framework no name: give one with --framework$/);
  assert.match(refused('CCI'), /would name it as one of the published/);
  assert.match(refused('Harbor Rules', ' '), /states a revision$/);
  const given = catalogOf(parseOscalCatalog(oscalCatalog([control('x')], { title: 'Harbor 2' }), 'acme'));
  assert.equal([given.framework, given.version], ['acme', '2']);
});

fixture('labels are identifiers, of one with an id in brackets at its end that id', () => {
  const labels = {
    ...{ gv: 'GOVERN  (GV)', 'gv.oc': 'Organizational Context (GV.OC)', 'x-2.1': 'AC-2 (1)' },
    ...{ 'a-5': 'A.5.1 (new)', p1: 'Policy (P.1)' },
  };
  const labelled = Object.entries(labels).map(([id, text]) => control(id, { props: [label(text)] }));
  const value = oscalCatalog([...labelled, control('bare')], { title: 'Harbor Rules' });
  assert.equal(told(catalogOf(parseOscalCatalog(value)).controls, 'identifier', 'oscalId'), [
    'A.5.1 (new) a-5',
    'AC-2 (1) x-2.1',
    'GV gv',
    'GV.OC gv.oc',
    'P.1 p1',
    'bare undefined',
  ]);
});

fixture('nested groups are one family, controls may stand below others or in no group', () => {
  const inner = { title: 'Inner', controls: [control('a', { controls: [control('a.1', { parts: [] })] })] };
  const { catalog } = oscalCatalog([], { title: 'Harbor Rules' });
  const value = {
    catalog: {
      ...catalog,
      groups: [{ title: 'Outer', groups: [inner], params: [{ id: 'p', label: 'oil' }] }],
      controls: [control('b', { parts: [{ name: 'statement', prose: '{{ insert: param, p }}' }] })],
    },
  };
  const { controls } = catalogOf(parseOscalCatalog(value));
  assert.equal(told(controls, 'identifier', 'family', 'statement'), [
    'a Outer / Inner Keep the a lantern lit.',
    'a.1 Outer / Inner ',
    'b  [Assignment: organization-defined oil]',
  ]);
});

fixture('in the CSF alone those without example or risk party are withdrawn', () => {
  const example = { parts: [{ name: 'example', prose: 'so' }] };
  const party = { props: [{ name: 'risk-party', value: '1st' }] };
  const controls = [
    control('a', { controls: [control('a.1', example), control('a.2')] }),
    control('b', { ...party, controls: [control('b.1'), withdrawn('b.2', 'moved-to', '#a.1')] }),
    control('c', party),
    control('d'),
  ];
  const states = (title: string, all = controls) =>
    catalogOf(parseOscalCatalog(oscalCatalog(all, { title })))
      .controls.filter(({ status }) => status === 'withdrawn')
      .map(({ identifier }) => identifier);
  const csf = 'NIST Cybersecurity Framework 2.0';
  assert.equal(states(csf), ['a.2', 'b', 'b.1', 'b.2', 'd']);
  assert.equal(states(csf, controls.slice(1, 2)), ['b', 'b.1', 'b.2']);
  assert.equal(states(csf, [control('a'), control('d')]), []);
  for (const other of ['Harbor Rules', 'A Guide to the Cybersecurity Framework', 'CSFX 2'])
    assert.equal(states(other), ['b.2'], other);
  const [active] = catalogOf(
    parseOscalCatalog(oscalCatalog([control('d'), control('c', party)], { title: 'X 1' })),
  ).controls;
  assert.is(active!.statement !== '', true);
});

fixture('a broken catalog is refused with one message', () => {
  const refused = (value: unknown) => refusal('oscal-catalog', () => parseOscalCatalog(value));
  const of = (...controls: ReturnType<typeof control>[]) => refused(oscalCatalog(controls));
  assert.is(refused({ catalog: null }), '/catalog: expected object, received null');
  assert.is(refused({ catalog: {} }), '/catalog/metadata: expected object, received undefined');
  assert.is(of(), noControls);
  assert.is(
    refused(oscalCatalog([], { version: 'x', title: 'SP 800-53' })),
    'neither the version "x" nor the title names a revision of 800-53',
  );
  assert.match(refused(oscalCatalog([], { 'last-modified': 'soon' })), /last-modified "soon" is not a time/);
  assert.is(of(control('ac-1'), control('ac-1')), 'AC-1 occurs twice');
  assert.is(of(control('ac-01'), control('ac-1')), 'AC-1 occurs twice');
  assert.is(of(control('lantern')), '"lantern" is not an id of 800-53');
  assert.match(of(control('ac-2(1)')), /^"ac-2\(1\)" is not an id/);
  assert.is(of(control('ac-1', { parts: [] })), 'AC-1 has no statement and is not withdrawn');
  assert.match(of(control('ac-1', { title: '' })), /^\/catalog\/groups\/0\/controls\/0\/title: /);
  assert.match(of({ ...control('ac-1'), title: 7 as never }), /title: expected string, received number$/);
  assert.match(of(control('ac-1', { params: [{ id: 'p' }, { id: 'p' }] })), /parameter p occurs twice/);
  const inserting = (prose: string, ...params: object[]) =>
    of(control('ac-1', { params, parts: [{ name: 'statement', prose }] }));
  const insert = (id: string) => `{{ insert: param, ${id} }}`;
  const many = (count: number, of: (next: string) => object) =>
    Array.from({ length: count }, (_, n) => ({ id: `p${n}`, ...of(insert(`p${n + 1}`)) }));
  assert.match(
    inserting(insert('p'), { id: 'p', label: insert('p') }),
    /^AC-1: the parameter p is nested deeper/,
  );
  assert.match(
    inserting('{{ insert: control, ac-1 }}'),
    /an insert is not understood: \{\{ insert: control, ac-1/,
  );
  assert.match(inserting(insert('p0'), ...many(40, (label) => ({ label }))), /nested deeper than 16/);
  const laughs = many(10, (next) => ({ select: { choice: Array(20).fill(next) } }));
  assert.match(inserting(insert('p0'), ...laughs), /grow beyond \d+ characters/);
  const nul = control('ac-1', { title: 'a\u0000b' });
  assert.is(of(nul), '/catalog/groups/0/controls/0/title: a text with characters that cannot be stored');
  assert.match(of(control('ac-1', { title: 'a\ud800' })), /cannot be stored/);
  const loose = oscalCatalog([control('ac-1')]);
  Object.assign(loose.catalog, { controls: [], groups: [{ title: 'a', groups: [{}] }] });
  assert.match(refused(loose), /^\/catalog\/groups\/0\/groups\/0\/title: expected string/);
  let deep = item('x', 'a.', 'deep');
  for (let depth = 0; depth < 10_000; depth++) deep = { name: 'item', parts: [deep] };
  assert.is(of(control('ac-1', { parts: [deep] })), 'the JSON is nested deeper than 64');
  const bell = control('ac-1\u0007\n'.repeat(50));
  assert.not.match(of(bell), /[\n\u0007]/);
});

fixture(
  'a parameter that is defined nowhere is one warning, whose text is a value of the organization',
  () => {
    const parts = [{ name: 'statement', prose: '{{ insert: param, x }} and {{ insert: param, x }}' }];
    const result = parseOscalCatalog(oscalCatalog([control('ac-1', { parts })]));
    assert.equal(result.records && result.warnings, ['AC-1: the parameter x is not defined']);
  },
);

fixture.run();

const real = suiteIf(referenceData, 'the OSCAL catalogs of NIST');
if (real) {
  const read = (name: string) => parseOscalCatalog(jsonOf('oscal', name));
  const [rev5, rev4] = ['rev5', 'rev4'].map((revision) =>
    read(`NIST_SP-800-53_${revision}_catalog-min.json`),
  );

  real('every active control has a clean statement, every target and related control exists', () => {
    for (const result of [rev5!, rev4!]) {
      const { controls } = catalogOf(result);
      const identifiers = new Set(controls.map((each) => each.identifier));
      for (const each of controls) {
        assert.is(each.statement === '', each.status === 'withdrawn', each.identifier);
        assertRendered(each);
        for (const target of [...each.withdrawnInto, ...each.related])
          assert.ok(identifiers.has(target), `${each.identifier} ${target}`);
      }
    }
  });

  real('statements that were checked by eye stay as they are', () => {
    const checked = [
      `AC-1 81bd808e0423af53 AC-2 e4840f0a640b37fe AC-7 e0471b1d79e71881 IA-5(1) 9da96a5cf10aa1ff SI-7 54dad28ccc300361
       SA-4(3) 4a05cf17e5bc1ae1 AU-2 b5cfc524c8f3e213 SC-42(2) 93cb44ccc53f7cf6 SI-10(1) 8497383d4aef0c59`,
      `AC-2 0d3bb97cd1bb31c7 AC-7 63b8a5ad4dd4e4d1 IA-5(1) 1d0ea14a59857764 CA-3(3) 0b897594a537c627
       CM-2(1) f95408178ffcde22`,
    ];
    for (const [index, text] of checked.entries())
      for (const [, identifier, hash] of text.matchAll(/(\S+) (\S{16})/g))
        assert.is(
          digest(controlOf(catalogOf([rev5!, rev4!][index]!), identifier!).statement),
          hash,
          identifier,
        );
  });

  real('withdrawn controls that went to no control are the known ones', () => {
    const lost = (result: typeof rev5) =>
      catalogOf(result!)
        .controls.filter((each) => each.status === 'withdrawn' && each.withdrawnInto.length === 0)
        .map((each) => each.identifier);
    assert.equal(lost(rev5), ['CP-10(3)', 'SA-12', 'SC-19']);
    assert.equal(lost(rev4), ['CP-10(3)', 'PL-5']);
    assert.equal([catalogOf(rev5!).controls.length, catalogOf(rev4!).controls.length], [1189, 922]);
    assert.equal(recordsOf(rev5!).length, 1);
    const own = (result: typeof rev5) =>
      result!.records && result!.warnings.filter((each) => !each.startsWith('not stored')).length;
    assert.equal([own(rev5), own(rev4)], [1, 2]);
    assert.equal(controlOf(catalogOf(rev5!), 'AC-2(10)').withdrawnInto, ['AC-2']);
    assert.equal(controlOf(catalogOf(rev5!), 'AC-3(6)').withdrawnInto, ['MP-4', 'SC-28']);
  });

  real.run();
}
