import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { assertError } from '../support/service.ts';
import { readCklb } from '../support/stig-manager.ts';
import { sampleRules } from '../support/xccdf-writer.ts';

const upgrades = suite('Upgrade of checklists');

type Rule = Cklb['stigs'][number]['rules'][number];
const path = '/api/v1/checklists/upgrade';
const slug = 'sample_product';
let t: TestApp;

// What becomes of the six rules of V1R1 in V1R2: same, check, severity and wording, fix by another V-id, gone, CCIs; the seventh is new.
upgrades.before(async () => {
  const rules = sampleRules(7);
  t = await testApp([
    writeBenchmarks([
      { release: 1, rules: rules.slice(0, 6) },
      {
        release: 2,
        date: '12 Apr 2024',
        rules: [
          { ...rules[0], title: 'Setting 1 must be on.' },
          { ...rules[1], ruleId: 'SV-100002r2_rule', checks: ['Look twice.'] },
          { ...rules[2], severity: 'high', title: 'Setting three must be on.' },
          {
            ...rules[3],
            groupId: 'V-300004',
            ruleId: 'SV-300004r1_rule',
            version: 'SAMP-02-000004',
            legacyIds: ['V-100004'],
            title: 'Setting 4 must be on.',
            description: '<VulnDiscussion>Why 4.</VulnDiscussion>',
            checks: ['Look whether setting 4 is on.'],
            fixTexts: ['Switch it on.'],
          },
          {
            ...rules[5],
            title: 'Setting 6 must be on.',
            description: '<VulnDiscussion>Why 6.</VulnDiscussion>',
            checks: ['Look whether setting 6 is on.'],
            fixTexts: ['Switch setting 6 on.'],
            ccis: ['CCI-000015'],
          },
          rules[6]!,
        ],
      },
      { id: 'Other_STIG', title: 'Other STIG', rules: 3, stem: 'OTH', first: 500_001 },
    ]),
  ]);
});
upgrades.after(() => t.db.close());

const answers: Partial<Rule>[] = [
  { status: 'not_a_finding', finding_details: 'On.\n  Seen "today" <b>&amp;</b>', comments: 'ü 👩🏽‍💻' },
  { status: 'open', comments: 'Off.' },
  { status: 'open', overrides: { severity: { severity: 'low', reason: 'Behind a wall.' } } },
  { status: 'not_applicable', finding_details: 'There is none.' },
  { status: 'open', finding_details: 'Still off.' },
  { status: 'not_a_finding' },
];
const nothing = { status: 'not_reviewed', finding_details: '', comments: '', overrides: {} } as const;

/** The checklist of the first release, as it is downloaded, with answers. */
async function oldChecklist(name = slug, version = 'V1R1'): Promise<Cklb> {
  const { json } = await t.get(`/api/v1/stigs/${name}/download?version=${version}&hostName=web01`);
  const checklist = json as Cklb;
  for (const [index, rule] of checklist.stigs[0]!.rules.entries()) Object.assign(rule, answers[index]);
  return checklist;
}

const upgrade = (checklist: unknown, more: object = {}): Promise<Answer> =>
  t.send('POST', path, { slug, checklist, ...more });
const answerOf = ({ status, finding_details, comments, overrides }: Rule) => ({
  status,
  finding_details,
  comments,
  overrides,
});

upgrades('each outcome with its reason, from a cklb', async () => {
  const old = await oldChecklist();
  const { status, json } = await upgrade(old);
  assert.is(status, 200);
  const { report, checklist } = json;
  const said = report.rules.map((each: Record<string, unknown>) => [
    each.groupId,
    each.oldGroupId,
    each.matchedBy,
    each.outcome,
    each.classes,
    each.reason,
  ]);
  assert.equal(said, [
    ['V-100001', 'V-100001', 'stigId', 'carried', [], 'Nothing relevant to the answer changed'],
    ['V-100002', 'V-100002', 'stigId', 'carried-with-warning', ['check'], 'Its check changed'],
    [
      'V-100003',
      'V-100003',
      'stigId',
      'carried-with-warning',
      ['severity', 'cosmetic'],
      'Its severity changed from CAT II (medium) to CAT I (high); its severity is overridden: check whether that is still needed',
    ],
    ['V-300004', 'V-100004', 'legacyId', 'carried-with-warning', ['fix'], 'Its fix changed'],
    ['V-100006', 'V-100006', 'stigId', 'carried', ['mapping'], 'Its CCIs changed'],
    ['V-100007', null, null, 'new', [], 'The old checklist does not have this rule'],
  ]);
  assert.equal(report.rules[1].changes, [
    { field: 'check', class: 'check', old: 'Look whether setting 2 is on.', new: 'Look twice.' },
  ]);
  assert.equal(report.summary, {
    rules: 6,
    carried: 2,
    carriedWithWarning: 3,
    reset: 0,
    new: 1,
    removed: 1,
    answers: { carried: 2, carriedWithWarning: 3, reset: 0, notCarried: 1 },
  });
  assert.equal(report.notCarried, [
    {
      kind: 'rule',
      reason: 'the release no longer has this rule',
      groupId: 'V-100005',
      ruleId: 'SV-100005r1_rule',
      ruleVersion: 'SAMP-01-000005',
      ruleTitle: 'Setting 5 must be on.',
      answered: true,
      answer: { ...nothing, ...answers[4] },
    },
  ]);
  assert.equal(report.from, {
    format: 'cklb',
    id: old.id,
    benchmarkId: 'Sample_Product_STIG',
    title: 'Sample Product Security Technical Implementation Guide',
    version: 'V1R1',
    releaseInfo: 'Release: 1 Benchmark Date: 12 Jan 2024',
  });
  assert.equal(report.to, {
    slug,
    benchmarkId: 'Sample_Product_STIG',
    title: 'Sample Product Security Technical Implementation Guide',
    version: 'V1R2',
    releaseInfo: 'Release: 2 Benchmark Date: 12 Apr 2024',
    releaseDate: '2024-04-12',
  });

  // The checklist is that of the new release, but for the answers and the ids.
  const fresh = (await t.get(`/api/v1/stigs/${slug}/download?hostName=web01`)).json as Cklb;
  const carried = [0, 1, 2, 3, 5].map((index) => ({ ...nothing, ...answers[index] }));
  assert.equal(checklist.stigs[0].rules.map(answerOf), [...carried, nothing]);
  const bare = (rule: Rule) => ({ ...rule, ...nothing, uuid: '', stig_uuid: '' });
  assert.equal(checklist.stigs[0].rules.map(bare), fresh.stigs[0]!.rules.map(bare));
  const { stigs: _, id: newId, ...head } = checklist;
  const { stigs: __, id: oldId, ...expectedHead } = fresh;
  assert.equal(head, expectedHead);
  assert.is.not(newId, oldId);
  const { stig_uuid } = checklist.stigs[0].rules[0];
  assert.is(stig_uuid, checklist.stigs[0].uuid);
});

upgrades('a ckl, a cklb as text and a cklb as an object give the same', async () => {
  const old = await oldChecklist();
  const [object, text, marked, ckl] = await Promise.all(
    [old, JSON.stringify(old), `\uFEFF\r\n${JSON.stringify(old, null, 2)}`, writeCkl(old)].map((each) =>
      upgrade(each),
    ),
  );
  assert.is(text!.text, object!.text);
  assert.is(marked!.text, object!.text);
  const { report, checklist } = ckl!.json;
  assert.equal([report.from.format, report.from.id], ['ckl', null]);
  Object.assign(report.from, { format: 'cklb', id: old.id });
  assert.equal(report, object!.json.report);
  // A ckl does not say these.
  for (const rule of checklist.stigs[0].rules) assert.is(rule.stig_uuid, checklist.stigs[0].uuid);
  assert.equal(checklist.stigs[0].rules.map(answerOf), object!.json.checklist.stigs[0].rules.map(answerOf));
  assert.equal(checklist.target_data, object!.json.checklist.target_data);
  assert.is(checklist.title, object!.json.checklist.title);
});

upgrades(
  'onChange=reset: an answer whose check or fix changed begins anew, and comes back in the report',
  async () => {
    const { json } = await upgrade(await oldChecklist(), { onChange: 'reset' });
    const outcomes = json.report.rules.map((each: { outcome: string }) => each.outcome);
    assert.equal(outcomes, ['carried', 'reset', 'carried-with-warning', 'reset', 'carried', 'new']);
    assert.is(json.report.rules[1].reason, 'Its check changed; the request asks to reset such answers');
    assert.equal(
      json.report.rules.map((each: { lost: unknown }) => each.lost),
      [null, { ...nothing, ...answers[1] }, null, { ...nothing, ...answers[3] }, null, null],
    );
    for (const index of [1, 3]) assert.equal(answerOf(json.checklist.stigs[0].rules[index]), nothing);
    assert.is(json.report.summary.reset, 2);
    assert.is(json.report.summary.answers.reset, 2);
  },
);

upgrades(
  'a marking of a rule stays with it, also where its answer is reset; that of a rule that is gone comes back',
  async () => {
    const old = await oldChecklist();
    const words = ['CUI', 'SECRET', 'NONE', 'UNCLASSIFIED', 'CUI', 'Unclass'];
    for (const [index, rule] of old.stigs[0]!.rules.entries()) rule.classification = words[index]!;
    const { json } = await upgrade(old, { onChange: 'reset' });
    assert.equal(
      json.checklist.stigs[0].rules.map((rule: Rule) => rule.classification),
      ['CUI', 'SECRET', 'Unclassified', 'Unclassified', 'Unclassified', 'Unclassified'],
    );
    const { path: where, value } = json.report.notCarried[1];
    assert.equal([where, value], ['SV-100005r1_rule.classification', 'CUI']);
  },
);

upgrades('a release may be chosen, and an older one too', async () => {
  const back = await upgrade((await upgrade(await oldChecklist())).json.checklist, { version: 'v1r1' });
  assert.is(back.json.report.from.version, 'V1R2');
  assert.is(back.json.report.to.version, 'V1R1');
  // The fifth was lost on the way and is new again; the seventh was never answered.
  const expected = answers.map((each, index) => ({ ...nothing, ...(index === 4 ? {} : each) }));
  assert.equal(back.json.checklist.stigs[0].rules.map(answerOf), expected);
  const [gone] = back.json.report.notCarried;
  assert.equal([gone.groupId, gone.answered], ['V-100007', false]);
});

upgrades(
  'a title of the user stays, a made one follows the release; the name of the host can be given',
  async () => {
    const old = await oldChecklist();
    assert.is((await upgrade(old)).json.checklist.title, 'Sample Product V1R2');
    const own = await upgrade({ ...old, title: 'Web servers, Sample Product V1R1' }, { hostName: 'db02' });
    assert.is(own.json.checklist.title, 'Web servers, Sample Product V1R1');
    assert.is(own.json.checklist.target_data.host_name, 'db02');
    assert.is(readCklb(JSON.stringify(own.json.checklist)).target.name, 'db02');
  },
);

upgrades('other STIGs of a checklist stay as they were, in their place', async () => {
  const old = await oldChecklist();
  const other = await oldChecklist('other', 'V1R1');
  const several = { ...old, title: 'Both', stigs: [...other.stigs, ...old.stigs] };
  const { json } = await upgrade(several);
  assert.equal(json.checklist.stigs[0], other.stigs[0]);
  assert.is(json.checklist.stigs[1].release_info, 'Release: 2 Benchmark Date: 12 Apr 2024');
  assert.equal(json.report.otherStigs, [{ benchmarkId: 'Other_STIG', title: 'Other STIG', rules: 3 }]);
  const fromCkl = (await upgrade(writeCkl(several))).json.checklist.stigs[0];
  assert.equal(fromCkl.rules.map(answerOf), other.stigs[0]!.rules.map(answerOf));
  const texts = (rule: Rule) => [rule.group_id, rule.rule_id, rule.check_content, rule.fix_text, rule.ccis];
  assert.equal(fromCkl.rules.map(texts), other.stigs[0]!.rules.map(texts));
  assert.equal(
    readCklb(JSON.stringify(json.checklist)).checklists.map((each) => each.reviews.length),
    [3, 6],
  );
});

upgrades('which STIG is meant: by benchmark id in any case, else by the rules it shares', async () => {
  const old = await oldChecklist();
  const named = (stigId: string) => ({
    ...old,
    stigs: old.stigs.map((each) => ({ ...each, stig_id: stigId })),
  });
  for (const stigId of ['sample_product_stig', 'Renamed_STIG', ''])
    assert.is((await upgrade(named(stigId))).json.report.summary.answers.carried, 2, stigId);
  const other = await oldChecklist('other', 'V1R1');
  assertError(await upgrade(other), 400, 'BAD_REQUEST', refusal('names Other_STIG'));
  // Of a known id, though no rule is shared: nothing is lost.
  const all = { ...other, stigs: [{ ...other.stigs[0]!, stig_id: 'Sample_Product_STIG' }] };
  const { summary, notCarried } = (await upgrade(all)).json.report;
  assert.equal([summary.new, summary.removed, notCarried.length], [6, 3, 3]);
});

const refusal = (naming: string) =>
  `checklist: none of its STIGs is sample_product or shares a rule with it; it ${naming}. ` +
  'Choose its STIG, or import that STIG first';

upgrades('a checklist of other STIGs is told which it names, 64 characters of them at most', async () => {
  const naming = async (...stigs: [id: string, name?: string][]) => {
    const given = stigs.map(([stig_id, stig_name = '']) => ({ stig_id, stig_name, rules: [] }));
    const answer = await upgrade({ stigs: given });
    assert.is(answer.status, 400);
    return answer.json.error.message as string;
  };
  const cases: [[id: string, name?: string][], string][] = [
    [[['']], 'names no STIG'],
    [[['  ', ' ']], 'names no STIG'],
    [[['', ' The Title ']], 'names The Title'],
    [[[' A_STIG ', 'A'], ['A_STIG'], ['B_STIG']], 'names A_STIG, B_STIG'],
    [[['x'.repeat(40)], ['y'.repeat(22)]], `names ${'x'.repeat(40)}, ${'y'.repeat(22)}`],
    [[['x'.repeat(40)], ['y'.repeat(23)], ['z']], `names ${'x'.repeat(40)} and 2 more`],
    [[['😀'.repeat(100)], ['z']], `names ${'😀'.repeat(64)} and 1 more`],
  ];
  for (const [stigs, words] of cases) assert.is(await naming(...stigs), refusal(words));
});

upgrades(
  'the id of an old cklb is in the report as it stands there, and null where there is none',
  async () => {
    const old = await oldChecklist();
    const idOf = async (id: unknown) => (await upgrade({ ...old, id })).json.report.from.id;
    assert.match(old.id, /^[0-9a-f-]{36}$/);
    assert.is(await idOf(old.id), old.id);
    assert.is(await idOf('no uuid'), 'no uuid');
    for (const none of [undefined, null, '']) assert.is(await idOf(none), null);
    assertError(await upgrade({ ...old, id: 7 }), 400, 'BAD_REQUEST', 'checklist: id must be a text');
  },
);

upgrades(
  'a cklb as ConvertTo-Json writes it says the same: one item alone, nothing as {} or null',
  async () => {
    const old = await oldChecklist();
    const rule = { ...old.stigs[0]!.rules[0]!, status: 'open', comments: 'seen', ccis: ['CCI-000366'] };
    const withRule = (changed: object) => ({
      ...old,
      stigs: [{ ...old.stigs[0]!, rules: [{ ...rule, ...changed }] }],
    });
    const answered = async (checklist: object) => {
      const { status, json } = await upgrade(checklist);
      assert.is(status, 200, JSON.stringify(json).slice(0, 300));
      return json;
    };
    const whole = await answered(withRule({}));
    const [stig] = withRule({}).stigs;
    const listed = (value: unknown) => ({ value, Count: (value as unknown[]).length });
    for (const checklist of [
      { ...old, stigs: stig },
      { ...old, stigs: { ...stig, rules: stig!.rules[0] } },
      { ...old, stigs: listed([{ ...stig, rules: listed(stig!.rules) }]) },
      withRule({ ccis: 'CCI-000366', group_tree: rule.group_tree[0] }),
      withRule({ ccis: listed(rule.ccis), group_tree: listed(rule.group_tree) }),
    ])
      assert.equal(await answered(checklist), whole, JSON.stringify(checklist).slice(0, 100));
    const bare = await answered(
      withRule({ legacy_ids: [], mitigations: '', third_party_tools: '', ia_controls: '' }),
    );
    for (const none of [{}, null])
      assert.equal(
        await answered(
          withRule({ legacy_ids: none, mitigations: none, third_party_tools: none, ia_controls: none }),
        ),
        bare,
      );
    for (const none of [[null], '', listed([])])
      assert.equal(await answered(withRule({ legacy_ids: none, mitigations: '' })), bare);
    // What leaves a doubt is refused as before.
    const list = 'an array of texts';
    for (const [name, words, ...values] of [
      [
        'legacy_ids',
        list,
        { a: 'V-1' },
        { value: ['V-1'], Count: 2 },
        { value: ['V-1'], Count: 1, more: 'x' },
      ],
      ['legacy_ids', list, ['V-1', null], 7],
      ['group_tree', 'an array', 'V-1'],
      ['comments', 'a text', ['seen'], { a: 1 }, []],
      ['finding_details', 'a text', 7],
    ] as [string, string, ...unknown[]][])
      for (const value of values)
        assertError(
          await upgrade(withRule({ [name]: value })),
          400,
          'BAD_REQUEST',
          `checklist: ${name} of rule 1 of STIG 1 must be ${words}`,
        );
  },
);

upgrades('what a cklb has no place for comes back, with its place', async () => {
  const old = await oldChecklist();
  const [stig] = old.stigs;
  const [first, ...others] = stig!.rules;
  const extended = {
    ...old,
    cklb_version: '1.1',
    'evaluate-stig': { version: '1.2507', time: [1, null, 'x'] },
    target_data: { ...old.target_data, role: 'Toaster', marking: 'CUI' },
    stigs: [
      {
        ...stig,
        srg_id: null,
        rules: [
          { ...first, STIGUuid: 'x', createdAt: '2026-01-01', overrides: { status: { status: 'open' } } },
          { ...others[0], overrides: { severity: { reason: 'half' } }, uuid: 'not-a-uuid' },
          ...others.slice(1),
        ],
      },
    ],
  };
  const { json } = await upgrade(extended);
  const fields = json.report.notCarried.filter((each: { kind: string }) => each.kind === 'field');
  assert.equal(
    fields.map((each: { path: string; value: unknown }) => [each.path, each.value]),
    [
      ['target_data.role', 'Toaster'],
      ['target_data.marking', 'CUI'],
      ['stigs[0].rules[0].overrides.status', { status: 'open' }],
      ['stigs[0].rules[0].STIGUuid', 'x'],
      ['stigs[0].rules[0].createdAt', '2026-01-01'],
      ['stigs[0].rules[1].overrides.severity.reason', 'half'],
      ['stigs[0].rules[1].uuid', 'not-a-uuid'],
      ['stigs[0].srg_id', null],
      ['cklb_version', '1.1'],
      ['evaluate-stig', { version: '1.2507', time: [1, null, 'x'] }],
    ],
  );
  assert.is(json.checklist.target_data.role, 'None');
});

upgrades('what a ckl says and a cklb cannot comes back, with its place', async () => {
  const old = await oldChecklist();
  const text = writeCkl(old, {
    inAsset: '<TARGET_KEY2>5551</TARGET_KEY2><HOST_GUID>g</HOST_GUID>',
    inStigInfo: '<SI_DATA><SID_NAME>filename</SID_NAME><SID_DATA>a.xml</SID_DATA></SI_DATA>',
    inRule:
      '<STIG_DATA><VULN_ATTRIBUTE>Mood</VULN_ATTRIBUTE><ATTRIBUTE_DATA>good</ATTRIBUTE_DATA></STIG_DATA><NOTE by="me">n<b>c</b></NOTE>',
  }).replace(
    '<SEVERITY_JUSTIFICATION></SEVERITY_JUSTIFICATION>',
    '<SEVERITY_JUSTIFICATION>half</SEVERITY_JUSTIFICATION>',
  );
  const { json } = await upgrade(text);
  const fields = json.report.notCarried
    .filter((each: { kind: string }) => each.kind === 'field')
    .map((each: { path: string; value: unknown }) => [each.path, each.value]);
  const rule = '/CHECKLIST/STIGS/iSTIG[1]/VULN[1]';
  assert.equal(fields.slice(0, 7), [
    ['/CHECKLIST/ASSET/TARGET_KEY2', '5551'],
    ['/CHECKLIST/ASSET/HOST_GUID', 'g'],
    ['/CHECKLIST/STIGS/iSTIG[1]/STIG_INFO/SI_DATA[filename]', 'a.xml'],
    [`${rule}/STIG_DATA[Mood]`, 'good'],
    [`${rule}/NOTE/@by`, 'me'],
    [`${rule}/NOTE/b`, 'c'],
    [`${rule}/NOTE`, 'n'],
  ]);
  assert.equal(fields.at(-1), ['stigs[0].rules[0].overrides.severity.reason', 'half']);
});

upgrades(
  'what a ckl says in comments of the file comes back: Evaluate-STIG writes there, and STIG Manager reads it',
  async () => {
    const old = await oldChecklist();
    const text = writeCkl(old, {
      before:
        '<!--DISA STIG Viewer :: 2.17-->\n<!-- -->\n<!--<Evaluate-STIG><version>1.2</version></Evaluate-STIG>-->',
      inRule: '<!--<Evaluate-STIG><AFMod>true</AFMod><OldStatus>NR — é</OldStatus></Evaluate-STIG>-->',
    })
      .replace('<COMMENTS>', '<COMMENTS>before <!--within--> after')
      .replace('</CHECKLIST>', '</CHECKLIST>\n<!--the end-->');
    const { json } = await upgrade(text);
    const [first] = old.stigs[0]!.rules;
    assert.is(json.checklist.stigs[0].rules[0].comments, `before  after${first!.comments}`);
    const fields = json.report.notCarried.filter((each: { kind: string }) => each.kind === 'field');
    const rules = old.stigs[0]!.rules.map(
      (_, index) => `/CHECKLIST/STIGS/iSTIG[1]/VULN[${index + 1}]/comment()`,
    );
    const inRule = '<Evaluate-STIG><AFMod>true</AFMod><OldStatus>NR — é</OldStatus></Evaluate-STIG>';
    assert.equal(
      fields.map((each: { path: string; value: string }) => [each.path, each.value]),
      [
        ['/comment()', '<Evaluate-STIG><version>1.2</version></Evaluate-STIG>'],
        ['/CHECKLIST/STIGS/iSTIG[1]/VULN[1]/COMMENTS/comment()', 'within'],
        ...rules.map((path) => [path, inRule]),
        ['/comment()', 'the end'],
      ],
    );
    for (const { reason } of fields) assert.is(reason, 'a cklb has no field for a comment of the file');
    const many = await upgrade(writeCkl(old, { before: '<!--x-->'.repeat(1001) }));
    assert.is(many.status, 400);
    assert.match(many.json.error.message, 'more than 1000 comments before the root element');
  },
);

upgrades('both vocabularies of status, whatever their case; no status is not reviewed', async () => {
  const old = await oldChecklist();
  const words = ['NotAFinding', 'not_a_finding', 'Open', 'NOT_APPLICABLE', 'Not_Reviewed', ''];
  const given = {
    ...old,
    stigs: [
      { ...old.stigs[0]!, rules: old.stigs[0]!.rules.map((rule, n) => ({ ...rule, status: words[n] })) },
    ],
  };
  const { json } = await upgrade(given, { version: 'V1R1' });
  assert.equal(
    json.checklist.stigs[0].rules.map((rule: Rule) => rule.status),
    ['not_a_finding', 'not_a_finding', 'open', 'not_applicable', 'not_reviewed', 'not_reviewed'],
  );
});

upgrades('a rule without its texts is carried with a warning that says so', async () => {
  const old = await oldChecklist();
  const rules = old.stigs[0]!.rules.map(({ rule_id_src, severity, status, comments }) => ({
    rule_id_src,
    severity,
    status,
    comments,
    rule_version: '',
    legacy_ids: [rule_id_src.replace(/r1_rule$/, '')],
  }));
  const { json } = await upgrade({ stigs: [{ stig_id: 'Sample_Product_STIG', rules }] });
  const [first] = json.report.rules;
  assert.equal([first.outcome, first.matchedBy], ['carried-with-warning', 'legacyId']);
  assert.is(
    first.reason,
    'The old checklist has no check text to compare; the old checklist has no fix text to compare; its CCIs changed',
  );
  assert.is(json.checklist.stigs[0].rules[0].comments, 'ü 👩🏽‍💻');
});

upgrades(
  'ids follow from the content, and download=true answers the checklist alone, as a file',
  async () => {
    const checklist = await oldChecklist();
    const whole = await upgrade(checklist);
    assert.is((await upgrade(checklist)).text, whole.text);
    const file = await t.send('POST', `${path}?download=true`, { slug, checklist });
    assert.is(file.text, JSON.stringify(whole.json.checklist));
    const name = file.headers.get('Content-Disposition')!;
    assert.match(name, /^attachment; filename="U_Sample_Product_STIG_V1R2\.cklb"/);
    assert.is(whole.headers.get('Content-Disposition'), null);
    checklist.stigs[0]!.rules[0]!.comments = 'Other.';
    const other = (await upgrade(checklist)).json.checklist;
    assert.is.not(other.id, whole.json.checklist.id);
    assert.is(new Set(other.stigs[0].rules.map((rule: Rule) => rule.uuid)).size, 6);
  },
);

upgrades('nothing is stored', async () => {
  const before = tableDigests(t.db);
  const checklist = await oldChecklist();
  const results =
    '<TestResult xmlns="http://checklists.nist.gov/xccdf/1.2" id="t"><rule-result idref="SV-100001r1_rule"/></TestResult>';
  for (const [what, body] of [
    ['upgrade', { slug, checklist }],
    ['upgrade', { slug, checklist: writeCkl(checklist) }],
    ['from-results', { slug, results, checklist }],
    ['inspect', { checklist }],
  ] as const)
    assert.is((await t.send('POST', `/api/v1/checklists/${what}`, body)).status, 200, what);
  assert.equal(tableDigests(t.db), before);
});

upgrades(
  'a checklist of a newer release than the catalog has stays as it is, unless asked (rule D42.4)',
  async () => {
    const newer = await oldChecklist(slug, 'V1R2');
    newer.title = 'Mine';
    newer.stigs[0]!.release_info = 'Release: 10 Benchmark Date: 01 Jan 2027';
    const { status, json } = await upgrade(newer);
    assert.is(status, 200);
    assert.equal(json.checklist, newer);
    const { from, to, warnings, summary, rules } = json.report;
    assert.equal([from.version, to.version, to.releaseDate], ['V1R10', 'V1R10', '2027-01-01']);
    assert.match(warnings[0], /^Sample Product .* stays at V1R10: the catalog has nothing newer than V1R2/);
    assert.equal([summary.carried, summary.new, summary.removed], [6, 0, 0]);
    assert.ok(rules.every((each: { outcome: string }) => each.outcome === 'carried'));
    for (const more of [{ allowOlder: true }, { version: 'V1R2' }]) {
      const { report, checklist } = (await upgrade(newer, more)).json;
      assert.equal([report.to.version, report.warnings], ['V1R2', []]);
      assert.is(checklist.stigs[0].rules[0].status, 'not_a_finding');
    }
    assert.is((await upgrade(newer, { version: 'V1R1' })).json.report.to.version, 'V1R1');
    const asCkl = (await t.send('POST', `${path}?format=ckl&download=true&hostName=h2`, newer)).text;
    assert.match(asCkl, 'Release: 10 Benchmark Date: 01 Jan 2027');
    assert.match(asCkl, '<HOST_NAME>h2</HOST_NAME>');
  },
);

upgrades('a body that is the checklist itself finds its STIG, with options in the query', async () => {
  const old = await oldChecklist();
  const { json: wanted } = await upgrade(old, { onChange: 'reset', hostName: 'h' });
  const query = '?onChange=reset&hostName=h';
  const asJson = await t.send('POST', path + query, old);
  assert.is(asJson.status, 200);
  assert.equal(asJson.json, wanted);
  const xml = await t.send('POST', path + query, writeCkl(old));
  assert.equal([xml.status, xml.json.report.from.format, xml.json.report.to.version], [200, 'ckl', 'V1R2']);
  assert.equal(
    xml.json.report.rules.map((rule: { outcome: string }) => rule.outcome),
    wanted.report.rules.map((rule: { outcome: string }) => rule.outcome),
  );
  const picked = await t.send('POST', `${path}?slug=${slug}&version=V1R1`, old);
  assert.is(picked.json.report.to.version, 'V1R1');
  // The envelope finds it too; what has neither is told so.
  assert.equal(
    (await t.send('POST', path, { checklist: old, onChange: 'reset', hostName: 'h' })).json,
    wanted,
  );
  assert.match((await t.send('POST', path, { slug })).json.error.message, /^checklist must be/);
  assert.match(
    (await t.send('POST', path, '<Benchmark/>')).json.error.message,
    /must begin with <CHECKLIST>/,
  );
  const other = (await oldChecklist('other')).stigs[0]!;
  assert.match(
    (await t.send('POST', path, { ...old, stigs: [old.stigs[0], other] })).json.error.message,
    /names more than one/,
  );
  // A name that nobody knows is decided by most of the rules, and said.
  const unknown = {
    ...old,
    stigs: [{ ...old.stigs[0]!, stig_id: 'Nobody_Knows', stig_name: 'Nobody knows' }],
  };
  const { report } = (await t.send('POST', path, unknown)).json;
  assert.is(report.to.slug, slug);
  assert.match(
    report.warnings[0],
    /^It names Nobody_Knows, which is not in the catalog; most of its rules are/,
  );
  const stray = {
    ...unknown.stigs[0]!,
    rules: [{ ...old.stigs[0]!.rules[0]!, group_id: 'V-999999' }, ...other.rules],
  };
  assert.is((await t.send('POST', path, { ...unknown, stigs: [stray] })).json.report.to.slug, 'other');
});

upgrades.run();
