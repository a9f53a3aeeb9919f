import * as assert from 'uvu/assert';
import type { CatalogRecord } from '../../../importers/controls/control-record.ts';
import { parseOscalCatalog } from '../../../importers/controls/oscal-catalog.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
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

fixture(
  'a statement with lead, items, parameters and links is rendered, guidance keeps its paragraphs',
  () => {
    const full = control('ac-2', {
      params: [
        { id: 'ac-2_prm_1', props: [{ name: 'aggregates', value: 'ac-02_odp.01' }] },
        { id: 'ac-02_odp.01', label: 'keepers', props: [label('AC-02_ODP[01]', 'sp800-53a')] },
        {
          id: 'ac-02_odp.02',
          label: 'oil',
          props: [{ name: 'alt-label', value: 'oil and wicks', class: 'sp800-53' }],
        },
        {
          id: 'ac-02_odp.03',
          select: { 'how-many': 'one-or-more', choice: ['ring', 'wait for {{ insert: param, ac-01_odp }} '] },
        },
      ],
      links: [
        { href: '#ac-3', rel: 'related' },
        { href: '#ac-1_smt.a', rel: 'related' },
        { href: '#ac-3', rel: 'related' },
        { href: '#ac-99', rel: 'related' },
        { href: '#e1', rel: 'reference' },
      ],
      parts: [
        {
          id: 'ac-2_smt',
          name: 'statement',
          prose: 'The  keeper:',
          parts: [
            item('ac-2_smt.a', 'a.', 'Tells {{ insert: param, ac-2_prm_1 }} :', [
              item('ac-2_smt.a.1', '01.', 'of {{ insert: param, ac-02_odp.02 }} ; and'),
              {
                ...item('ac-2_smt.a.2', '', 'of [AC-01](#ac-1) .'),
                props: [label('AC-2a', 'sp800-53a'), label('2.')],
              },
            ]),
            item('ac-2_smt.b', 'b.', '{{ insert: param, ac-02_odp.03 }} .'),
          ],
        },
        {
          id: 'ac-2_gdn',
          name: 'guidance',
          prose: 'First ( [PE](#pe) ).\n\nSecond\u00a0 one.',
          links: [{ href: '#ac-1', rel: 'related' }],
        },
        { id: 'ac-2_obj', name: 'assessment-objective', prose: 'not a statement' },
      ],
    });
    const first = control('ac-1', { params: [{ id: 'ac-01_odp', label: 'organization-defined dusk' }] });
    const catalog = catalogOf(parseOscalCatalog(oscalCatalog([first, full, control('ac-3')])));
    const read = controlOf(catalog, 'AC-2');
    assert.is(
      read.statement,
      [
        'The keeper:',
        'a. Tells [Assignment: organization-defined keepers]:',
        '  1. of [Assignment: organization-defined oil and wicks]; and',
        '  2. of AC-1.',
        'b. [Selection (one or more): ring; wait for [Assignment: organization-defined dusk]].',
      ].join('\n'),
    );
    assert.equal(
      read.statementParts.map(({ id, label: its, parts }) => [id, its, parts.length]),
      [
        ['ac-2_smt', '', 0],
        ['ac-2_smt.a', 'a.', 2],
        ['ac-2_smt.b', 'b.', 0],
      ],
    );
    assert.is(read.guidance, 'First (PE).\n\nSecond one.');
    assert.equal(read.related, ['AC-3', 'AC-1']);
    assert.equal(
      [read.family, read.familyCode, read.baselines, read.status],
      ['Lantern Keeping', 'AC', null, 'active'],
    );
    assertRendered(read);
  },
);

fixture('controls come in catalog order, enhancements after their base', () => {
  const controls = [
    control('ac-10'),
    control('ac-2', { controls: [control('ac-2.10'), control('ac-2.2')] }),
    control('ac-1'),
  ];
  const catalog = catalogOf(parseOscalCatalog(oscalCatalog(controls)));
  assert.equal(
    catalog.controls.map((each) => each.identifier),
    ['AC-1', 'AC-2', 'AC-2(2)', 'AC-2(10)', 'AC-10'],
  );
});

fixture('a withdrawn control names the controls that it went into, rooted, each once', () => {
  const controls = [
    control('ac-1'),
    control('ac-2', {
      controls: [
        withdrawn('ac-2.1', 'incorporated-into', '#ac-2_smt.k', '#ac-1', '#ac-2'),
        withdrawn('ac-2.2', 'moved-to', '#ac-2.1'),
      ],
    }),
    {
      ...withdrawn('ac-3', 'incorporated-into', '#sr', '#sr'),
      props: [{ name: 'status', value: 'Withdrawn' }],
    },
    withdrawn('ac-4', 'related', '#ac-1'),
  ];
  const result = parseOscalCatalog(oscalCatalog(controls));
  const into = catalogOf(result).controls.map((each) => [
    each.identifier,
    each.status,
    each.withdrawnInto.join(),
  ]);
  assert.equal(into, [
    ['AC-1', 'active', ''],
    ['AC-2', 'active', ''],
    ['AC-2(1)', 'withdrawn', 'AC-1,AC-2'],
    ['AC-2(2)', 'withdrawn', 'AC-2(1)'],
    ['AC-3', 'withdrawn', ''],
    ['AC-4', 'withdrawn', ''],
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
  assert.is(version({ version: '5.1.1+u4' }), 'Rev 5.1.1');
  assert.is(version({ version: '5.1.1' }), 'Rev 5.1.1');
  assert.is(version({ version: '5.2.0' }), 'Rev 5.2.0');
  assert.is(
    version({ version: '2015-01-22', title: 'NIST Special Publication 800-53 Revision 4: Lanterns' }),
    'Rev 4',
  );
  assert.is(version({ version: 'Final', title: 'NIST SP800-53 Rev. 5' }), 'Rev 5');
  assert.is(
    version({ version: '5.1.1-draft' }),
    'Rev 5.1.1 the version is 5.1.1-draft, which is not a final release',
  );
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
  assert.is(named('NIST Cybersecurity Framework 2.0', '1.0.0'), 'nist-cybersecurity-framework 2.0');
  assert.is(named('Harbor\nRules', '7'), 'harbor-rules 7');
  assert.is(named('NIST SP 800-53A Rev 5'), 'nist-sp-800-53a 5');
  assert.is(named('PCI DSS v4.0.1', '9'), 'pci-dss 4.0.1');
  assert.is(named('ISO/IEC 27001:2022', '9'), 'iso-iec-27001 2022');
  assert.is(named('ISO 27001', '1.1'), 'iso-27001 1.1');
  assert.is(named('Lantern Keeping (Version 3)', '9'), 'lantern-keeping 3');
  assert.is(named('Special Publication 800-172', 'final'), 'special-publication-800-172 final');
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
  const labelled = (id: string, text?: string) =>
    control(id, text === undefined ? {} : { props: [label(text)] });
  const catalog = catalogOf(
    parseOscalCatalog(
      oscalCatalog(
        [
          labelled('gv', 'GOVERN  (GV)'),
          labelled('gv.oc', 'Organizational Context (GV.OC)'),
          labelled('x-2.1', 'AC-2 (1)'),
          labelled('a-5', 'A.5.1 (new)'),
          labelled('p1', 'Policy (P.1)'),
          labelled('bare'),
        ],
        { title: 'Harbor Rules' },
      ),
    ),
  );
  assert.equal(
    catalog.controls.map(({ identifier, oscalId }) => [identifier, oscalId]),
    [
      ['A.5.1 (new)', 'a-5'],
      ['AC-2 (1)', 'x-2.1'],
      ['GV', 'gv'],
      ['GV.OC', 'gv.oc'],
      ['P.1', 'p1'],
      ['bare', undefined],
    ],
  );
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
  assert.equal(
    controls.map(({ identifier, family, statement }) => [identifier, family, statement]),
    [
      ['a', 'Outer / Inner', 'Keep the a lantern lit.'],
      ['a.1', 'Outer / Inner', ''],
      ['b', '', '[Assignment: organization-defined oil]'],
    ],
  );
});

fixture(
  'in the CSF alone, where some have examples or a risk party, those with neither are withdrawn',
  () => {
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
  },
);

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
  assert.is(of(control('lantern')), '/catalog/groups/0/controls/0/id: "lantern" is not an id of 800-53');
  assert.match(of(control('ac-2(1)')), /controls\/0\/id: "ac-2\(1\)" is not an id/);
  assert.match(of(control('ac-2.1')), /controls\/0\/id: AC-2\(1\) does not belong under a family/);
  const misplaced = control('ac-1', { controls: [control('ac-1.1'), control('ac-10.1')] });
  assert.match(of(misplaced), /controls\/0\/controls\/1\/id: AC-10\(1\) does not belong under AC-1$/);
  assert.is(of(control('ac-1', { parts: [] })), 'AC-1 has no statement and is not withdrawn');
  assert.match(of(control('ac-1', { title: '' })), /^\/catalog\/groups\/0\/controls\/0\/title: /);
  assert.match(of({ ...control('ac-1'), title: 7 as never }), /title: expected string, received number$/);
  assert.match(of(control('ac-1', { params: [{ id: 'p' }, { id: 'p' }] })), /parameter p occurs twice/);
  const circle = control('ac-1', {
    params: [{ id: 'p', label: '{{ insert: param, p }}' }],
    parts: [{ name: 'statement', prose: '{{ insert: param, p }}' }],
  });
  assert.is(of(circle), 'AC-1: the parameter p contains itself');
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

fixture.run();

const real = suiteIf(referenceData, 'the OSCAL catalogs of NIST');
if (real) {
  const read = (name: string) => parseOscalCatalog(jsonOf('oscal', name));
  const [rev5, rev4] = ['rev5', 'rev4'].map((revision) =>
    read(`NIST_SP-800-53_${revision}_catalog-min.json`),
  );

  const counts = (catalog: CatalogRecord) => [
    catalog.version,
    catalog.controls.length,
    catalog.controls.filter((each) => each.status === 'withdrawn').length,
    new Set(catalog.controls.map((each) => each.family)).size,
    catalog.controls.filter((each) => !each.identifier.includes('(')).length,
  ];
  const digests = (catalog: CatalogRecord, ...identifiers: string[]) =>
    identifiers.map((identifier) => `${identifier} ${digest(controlOf(catalog, identifier).statement)}`);

  real('have the counts that NIST states', () => {
    assert.equal(counts(catalogOf(rev5!)), ['Rev 5.1.1', 1189, 182, 20, 322]);
    assert.equal(counts(catalogOf(rev4!)), ['Rev 4', 922, 96, 18, 256]);
  });

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
    assert.equal(
      digests(
        catalogOf(rev5!),
        'AC-1',
        'AC-2',
        'AC-7',
        'IA-5(1)',
        'SI-7',
        'SA-4(3)',
        'AU-2',
        'SC-42(2)',
        'SI-10(1)',
      ),
      [
        'AC-1 81bd808e0423af53',
        'AC-2 e4840f0a640b37fe',
        'AC-7 e0471b1d79e71881',
        'IA-5(1) 9da96a5cf10aa1ff',
        'SI-7 54dad28ccc300361',
        'SA-4(3) 4a05cf17e5bc1ae1',
        'AU-2 b5cfc524c8f3e213',
        'SC-42(2) 93cb44ccc53f7cf6',
        'SI-10(1) 8497383d4aef0c59',
      ],
    );
    assert.equal(digests(catalogOf(rev4!), 'AC-2', 'AC-7', 'IA-5(1)', 'CA-3(3)', 'CM-2(1)'), [
      'AC-2 0d3bb97cd1bb31c7',
      'AC-7 63b8a5ad4dd4e4d1',
      'IA-5(1) 1d0ea14a59857764',
      'CA-3(3) 0b897594a537c627',
      'CM-2(1) f95408178ffcde22',
    ]);
  });

  real('withdrawn controls that went to no control are the known ones', () => {
    const lost = (result: typeof rev5) =>
      catalogOf(result!)
        .controls.filter((each) => each.status === 'withdrawn' && each.withdrawnInto.length === 0)
        .map((each) => each.identifier);
    assert.equal(lost(rev5), ['CP-10(3)', 'SA-12', 'SC-19']);
    assert.equal(lost(rev4), ['CP-10(3)', 'PL-5']);
    assert.equal(recordsOf(rev5!).length, 1);
    const others = (result: typeof rev5) =>
      result!.records && result!.warnings.filter((each) => !each.startsWith('not stored: ')).length;
    assert.is(others(rev5), 1);
    assert.is(others(rev4), 2);
    assert.equal(controlOf(catalogOf(rev5!), 'AC-2(10)').withdrawnInto, ['AC-2']);
    assert.equal(controlOf(catalogOf(rev5!), 'AC-3(6)').withdrawnInto, ['MP-4', 'SC-28']);
  });

  real.run();
}
