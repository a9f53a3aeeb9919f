import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { assertError } from '../support/service.ts';
import { readCklb } from '../support/stig-manager.ts';
import { rowsOf } from '../support/tables.ts';
import { sampleRules } from '../support/xccdf-writer.ts';

const upgrades = suite('Upgrade of checklists');

type Rule = Cklb['stigs'][number]['rules'][number];
// biome-ignore lint/suspicious/noExplicitAny: reports are looked into freely
type Json = any;
const path = '/api/v1/checklists/upgrade';
const slug = 'sample_product';
let t: TestApp;

// What becomes of the six rules of V1R1 in V1R2: same, check, severity and wording, fix by another V-id, gone, CCIs; the seventh is new.
upgrades.before(async () => {
  const rules = sampleRules(7);
  /** A rule with the texts that it has at its first place. */
  const worded = (number: number, more: object) => ({
    ...rules[number - 1],
    title: `Setting ${number} must be on.`,
    description: `<VulnDiscussion>Why ${number}.</VulnDiscussion>`,
    checks: [`Look whether setting ${number} is on.`],
    fixTexts: [`Switch setting ${number} on.`],
    ...more,
  });
  const moved = { groupId: 'V-300004', ruleId: 'SV-300004r1_rule', version: 'SAMP-02-000004' };
  const newer = [
    worded(1, {}),
    { ...rules[1], ruleId: 'SV-100002r2_rule', checks: ['Look twice.'] },
    { ...rules[2], severity: 'high', title: 'Setting three must be on.' },
    worded(4, { ...moved, legacyIds: ['V-100004'], fixTexts: ['Switch it on.'] }),
    worded(6, { ccis: ['CCI-000015'] }),
    rules[6]!,
  ];
  t = await testApp([
    writeBenchmarks([
      { release: 1, rules: rules.slice(0, 6) },
      { release: 2, date: '12 Apr 2024', rules: newer },
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

/** The checklist of a release, as it is downloaded, with answers. */
async function oldChecklist(name = slug, version = 'V1R1'): Promise<Cklb> {
  const { json } = await t.get(`/api/v1/stigs/${name}/download?version=${version}&hostName=web01`);
  const checklist = json as Cklb;
  for (const [index, rule] of checklist.stigs[0]!.rules.entries()) Object.assign(rule, answers[index]);
  return checklist;
}

const send = (body: unknown, query = ''): Promise<Answer> => t.send('POST', path + query, body);
const upgrade = (checklist: unknown, more: object = {}) => send({ slug, checklist, ...more });
async function upgraded(checklist: unknown, more: object = {}): Promise<Json> {
  const { status, json } = await upgrade(checklist, more);
  assert.is(status, 200, JSON.stringify(json).slice(0, 300));
  return json;
}
const rulesIn = ({ checklist }: Json): Rule[] => checklist.stigs[0].rules;
const answerOf = ({ status, finding_details, comments, overrides }: Rule) => {
  return { status, finding_details, comments, overrides };
};
const outcomes = ({ report }: Json) => report.rules.map((each: Json) => each.outcome).join();
/** What the report says that a new checklist has no place for. */
const fieldsOf = ({ report }: Json): [path: string, value: unknown][] =>
  report.notCarried
    .filter((each: Json) => each.kind === 'field')
    .map((each: Json) => [each.path, each.value]);

upgrades('each outcome with its reason, from a cklb', async () => {
  const old = await oldChecklist();
  const { report, checklist } = await upgraded(old);
  const said = report.rules.map((each: Json) =>
    [each.groupId, each.oldGroupId, each.matchedBy, each.outcome, each.classes, each.reason].map(String),
  );
  const severity =
    'Its severity changed from CAT II (medium) to CAT I (high); its severity is overridden: check whether that is still needed';
  assert.equal(
    said,
    rowsOf(`
      V-100001 | V-100001 | stigId | carried | | Nothing relevant to the answer changed
      V-100002 | V-100002 | stigId | carried-with-warning | check | Its check changed
      V-100003 | V-100003 | stigId | carried-with-warning | severity,cosmetic | ${severity}
      V-300004 | V-100004 | legacyId | carried-with-warning | fix | Its fix changed
      V-100006 | V-100006 | stigId | carried | mapping | Its CCIs changed
      V-100007 | null | null | new | | The old checklist does not have this rule
    `),
  );
  assert.equal(report.rules[1].changes, [
    { field: 'check', class: 'check', old: 'Look whether setting 2 is on.', new: 'Look twice.' },
  ]);
  assert.equal(report.summary, {
    ...{ rules: 6, carried: 2, carriedWithWarning: 3, reset: 0, new: 1, removed: 1 },
    answers: { carried: 2, carriedWithWarning: 3, reset: 0, notCarried: 1 },
  });
  assert.equal(report.notCarried, [
    {
      ...{ kind: 'rule', reason: 'the release no longer has this rule', answered: true },
      ...{ groupId: 'V-100005', ruleId: 'SV-100005r1_rule', ruleVersion: 'SAMP-01-000005' },
      ...{ ruleTitle: 'Setting 5 must be on.', answer: { ...nothing, ...answers[4] } },
    },
  ]);
  const named = {
    benchmarkId: 'Sample_Product_STIG',
    title: 'Sample Product Security Technical Implementation Guide',
  };
  assert.equal(report.from, {
    ...{ format: 'cklb', id: old.id, ...named, version: 'V1R1' },
    releaseInfo: 'Release: 1 Benchmark Date: 12 Jan 2024',
  });
  assert.equal(report.to, {
    ...{ slug, ...named, version: 'V1R2', releaseDate: '2024-04-12' },
    releaseInfo: 'Release: 2 Benchmark Date: 12 Apr 2024',
  });

  // The checklist is that of the new release, but for the answers and the ids.
  const fresh = (await t.get(`/api/v1/stigs/${slug}/download?hostName=web01`)).json as Cklb;
  const carried = [0, 1, 2, 3, 5].map((index) => ({ ...nothing, ...answers[index] }));
  assert.equal(rulesIn({ checklist }).map(answerOf), [...carried, nothing]);
  const bare = (rule: Rule) => ({ ...rule, ...nothing, uuid: '', stig_uuid: '' });
  assert.equal(rulesIn({ checklist }).map(bare), fresh.stigs[0]!.rules.map(bare));
  const head = (each: Cklb) => ({ ...each, stigs: [], id: '' });
  assert.equal(head(checklist), head(fresh));
  assert.is.not(checklist.id, old.id);
  assert.is(rulesIn({ checklist })[0]!.stig_uuid, checklist.stigs[0].uuid);
});

upgrades('a ckl, a cklb as text and a cklb as an object give the same', async () => {
  const old = await oldChecklist();
  const object = await upgraded(old);
  for (const text of [JSON.stringify(old), `\uFEFF\r\n${JSON.stringify(old, null, 2)}`])
    assert.equal(await upgraded(text), object);
  const { report, checklist } = await upgraded(writeCkl(old));
  assert.equal([report.from.format, report.from.id], ['ckl', null]);
  Object.assign(report.from, { format: 'cklb', id: old.id });
  assert.equal(report, object.report);
  // A ckl does not say these.
  for (const rule of rulesIn({ checklist })) assert.is(rule.stig_uuid, checklist.stigs[0].uuid);
  assert.equal(rulesIn({ checklist }).map(answerOf), rulesIn(object).map(answerOf));
  assert.equal(
    [checklist.target_data, checklist.title],
    [object.checklist.target_data, object.checklist.title],
  );
});

upgrades(
  'onChange=reset: an answer whose check or fix changed begins anew, and comes back in the report',
  async () => {
    const old = await oldChecklist();
    const words = ['CUI', 'SECRET', 'NONE', 'UNCLASSIFIED', 'CUI', 'Unclass'];
    for (const [index, rule] of old.stigs[0]!.rules.entries()) rule.classification = words[index]!;
    const json = await upgraded(old, { onChange: 'reset' });
    assert.is(outcomes(json), 'carried,reset,carried-with-warning,reset,carried,new');
    const { rules, summary, notCarried } = json.report;
    assert.is(rules[1].reason, 'Its check changed; the request asks to reset such answers');
    const lost = rules.map((each: Json) => each.lost);
    assert.equal(lost, [
      null,
      { ...nothing, ...answers[1] },
      null,
      { ...nothing, ...answers[3] },
      null,
      null,
    ]);
    for (const index of [1, 3]) assert.equal(answerOf(rulesIn(json)[index]!), nothing);
    assert.equal([summary.reset, summary.answers.reset], [2, 2]);
    // A marking of a rule stays with it all the same; that of a rule that is gone comes back.
    const markings = rulesIn(json).map((rule) => rule.classification);
    assert.is(markings.join(), 'CUI,SECRET,Unclassified,Unclassified,Unclassified,Unclassified');
    assert.equal([notCarried[1].path, notCarried[1].value], ['SV-100005r1_rule.classification', 'CUI']);
  },
);

upgrades('a release may be chosen, and an older one too', async () => {
  const back = await upgraded((await upgraded(await oldChecklist())).checklist, { version: 'v1r1' });
  assert.equal([back.report.from.version, back.report.to.version], ['V1R2', 'V1R1']);
  // The fifth was lost on the way and is new again; the seventh was never answered.
  const expected = answers.map((each, index) => ({ ...nothing, ...(index === 4 ? {} : each) }));
  assert.equal(rulesIn(back).map(answerOf), expected);
  const [gone] = back.report.notCarried;
  assert.equal([gone.groupId, gone.answered], ['V-100007', false]);
});

upgrades(
  'a title of the user stays, a made one follows the release; the name of the host can be given',
  async () => {
    const old = await oldChecklist();
    assert.is((await upgraded(old)).checklist.title, 'Sample Product V1R2');
    const title = 'Web servers, Sample Product V1R1';
    const { checklist } = await upgraded({ ...old, title }, { hostName: 'db02' });
    assert.equal([checklist.title, checklist.target_data.host_name], [title, 'db02']);
    assert.is(readCklb(JSON.stringify(checklist)).target.name, 'db02');
  },
);

upgrades('other STIGs of a checklist stay as they were, in their place', async () => {
  const old = await oldChecklist();
  const other = await oldChecklist('other', 'V1R1');
  const several = { ...old, title: 'Both', stigs: [...other.stigs, ...old.stigs] };
  const { report, checklist } = await upgraded(several);
  assert.equal(checklist.stigs[0], other.stigs[0]);
  assert.is(checklist.stigs[1].release_info, 'Release: 2 Benchmark Date: 12 Apr 2024');
  assert.equal(report.otherStigs, [{ benchmarkId: 'Other_STIG', title: 'Other STIG', rules: 3 }]);
  const texts = (rule: Rule) => [
    ...[rule.group_id, rule.rule_id, rule.check_content, rule.fix_text, rule.ccis, answerOf(rule)],
  ];
  assert.equal(rulesIn(await upgraded(writeCkl(several))).map(texts), other.stigs[0]!.rules.map(texts));
  const read = readCklb(JSON.stringify(checklist)).checklists.map((each) => each.reviews.length);
  assert.equal(read, [3, 6]);
});

const refusal = (naming: string) =>
  `checklist: none of its STIGs is sample_product or shares a rule with it; it ${naming}. ` +
  'Choose its STIG, or import that STIG first';

upgrades('which STIG is meant: by benchmark id in any case, else by the rules it shares', async () => {
  const old = await oldChecklist();
  const named = (of: Cklb, stig_id: string) => ({
    ...of,
    stigs: of.stigs.map((each) => ({ ...each, stig_id })),
  });
  for (const stigId of ['sample_product_stig', 'Renamed_STIG', ''])
    assert.is((await upgraded(named(old, stigId))).report.summary.answers.carried, 2, stigId);
  const other = await oldChecklist('other', 'V1R1');
  assertError(await upgrade(other), 400, 'BAD_REQUEST', refusal('names Other_STIG'));
  // Of a known id, though no rule is shared: nothing is lost.
  const { summary, notCarried } = (await upgraded(named(other, 'Sample_Product_STIG'))).report;
  assert.equal([summary.new, summary.removed, notCarried.length], [6, 3, 3]);
  // A checklist of other STIGs is told which it names, 64 characters of them at most.
  for (const [stigs, words] of [
    [[['']], 'names no STIG'],
    [[['  ', ' ']], 'names no STIG'],
    [[['', ' The Title ']], 'names The Title'],
    [[[' A_STIG ', 'A'], ['A_STIG'], ['B_STIG']], 'names A_STIG, B_STIG'],
    [[['x'.repeat(40)], ['y'.repeat(22)]], `names ${'x'.repeat(40)}, ${'y'.repeat(22)}`],
    [[['x'.repeat(40)], ['y'.repeat(23)], ['z']], `names ${'x'.repeat(40)} and 2 more`],
    [[['😀'.repeat(100)], ['z']], `names ${'😀'.repeat(64)} and 1 more`],
  ] as const) {
    const given = stigs.map(([stig_id, stig_name = '']) => ({ stig_id, stig_name, rules: [] }));
    assertError(await upgrade({ stigs: given }), 400, 'BAD_REQUEST', refusal(words));
  }
});

upgrades(
  'the id of an old cklb is in the report as it stands there, and null where there is none',
  async () => {
    const old = await oldChecklist();
    assert.match(old.id, /^[0-9a-f-]{36}$/);
    for (const id of [old.id, 'no uuid', undefined, null, ''])
      assert.is((await upgraded({ ...old, id })).report.from.id, id || null);
    assertError(await upgrade({ ...old, id: 7 }), 400, 'BAD_REQUEST', 'checklist: id must be a text');
  },
);

upgrades(
  'a cklb as ConvertTo-Json writes it says the same: one item alone, nothing as {} or null',
  async () => {
    const old = await oldChecklist();
    const rule = { ...old.stigs[0]!.rules[0]!, status: 'open', comments: 'seen', ccis: ['CCI-000366'] };
    const withRule = (changed: object) => {
      return { ...old, stigs: [{ ...old.stigs[0]!, rules: [{ ...rule, ...changed }] }] };
    };
    const whole = await upgraded(withRule({}));
    const [stig] = withRule({}).stigs;
    const listed = (value: unknown) => ({ value, Count: (value as unknown[]).length });
    for (const checklist of [
      { ...old, stigs: stig },
      { ...old, stigs: { ...stig, rules: stig!.rules[0] } },
      { ...old, stigs: listed([{ ...stig, rules: listed(stig!.rules) }]) },
      withRule({ ccis: 'CCI-000366', group_tree: rule.group_tree[0] }),
      withRule({ ccis: listed(rule.ccis), group_tree: listed(rule.group_tree) }),
    ])
      assert.equal(await upgraded(checklist), whole, JSON.stringify(checklist).slice(0, 100));
    const bare = await upgraded(withRule({ legacy_ids: [], mitigations: '', third_party_tools: '' }));
    for (const none of [{}, null])
      assert.equal(
        await upgraded(withRule({ legacy_ids: none, mitigations: none, third_party_tools: none })),
        bare,
      );
    for (const none of [[null], '', listed([])])
      assert.equal(await upgraded(withRule({ legacy_ids: none, mitigations: '' })), bare);
    // What leaves a doubt is refused as before.
    for (const [name, words, ...values] of [
      ['legacy_ids', 'an array of texts', { a: 'V-1' }, { value: ['V-1'], Count: 2 }, ['V-1', null], 7],
      ['legacy_ids', 'an array of texts', { value: ['V-1'], Count: 1, more: 'x' }],
      ['group_tree', 'an array', 'V-1'],
      ['comments', 'a text', ['seen'], { a: 1 }, []],
      ['finding_details', 'a text', 7],
    ] as [string, string, ...unknown[]][])
      for (const value of values) {
        const message = `checklist: ${name} of rule 1 of STIG 1 must be ${words}`;
        assertError(await upgrade(withRule({ [name]: value })), 400, 'BAD_REQUEST', message);
      }
  },
);

upgrades('what a cklb has no place for comes back, with its place', async () => {
  const old = await oldChecklist();
  const [stig] = old.stigs;
  const [first, second, ...others] = stig!.rules;
  const rules = [
    { ...first, STIGUuid: 'x', createdAt: '2026-01-01', overrides: { status: { status: 'open' } } },
    { ...second, overrides: { severity: { reason: 'half' } }, uuid: 'not-a-uuid' },
    ...others,
  ];
  const json = await upgraded({
    ...{ ...old, cklb_version: '1.1', 'evaluate-stig': { version: '1.2507', time: [1, null, 'x'] } },
    target_data: { ...old.target_data, role: 'Toaster', marking: 'CUI' },
    stigs: [{ ...stig, srg_id: null, rules }],
  });
  assert.equal(fieldsOf(json), [
    ['cklb_version', '1.1'],
    ['target_data.role', 'Toaster'],
    ['target_data.marking', 'CUI'],
    ['stigs[0].rules[0].overrides.status', { status: 'open' }],
    ['stigs[0].rules[0].STIGUuid', 'x'],
    ['stigs[0].rules[0].createdAt', '2026-01-01'],
    ['stigs[0].rules[1].uuid', 'not-a-uuid'],
    ['stigs[0].rules[1].overrides.severity.reason', 'half'],
    ['stigs[0].srg_id', null],
    ['evaluate-stig', { version: '1.2507', time: [1, null, 'x'] }],
  ]);
  assert.is(json.checklist.target_data.role, 'None');
});

upgrades('what a ckl says and a cklb cannot comes back, with its place', async () => {
  const data = '<VULN_ATTRIBUTE>Mood</VULN_ATTRIBUTE><ATTRIBUTE_DATA>good</ATTRIBUTE_DATA>';
  const text = writeCkl(await oldChecklist(), {
    inAsset: '<TARGET_KEY2>5551</TARGET_KEY2><HOST_GUID>g</HOST_GUID>',
    inStigInfo: '<SI_DATA><SID_NAME>filename</SID_NAME><SID_DATA>a.xml</SID_DATA></SI_DATA>',
    inRule: `<STIG_DATA>${data}</STIG_DATA><NOTE by="me">n<b>c</b></NOTE>`,
  }).replace('<SEVERITY_JUSTIFICATION>', '<SEVERITY_JUSTIFICATION>half');
  const fields = fieldsOf(await upgraded(text));
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

upgrades('what a ckl says in comments of the file comes back: Evaluate-STIG writes there', async () => {
  const old = await oldChecklist();
  const [inFile, inRule] = ['<version>1.2</version>', '<AFMod>true</AFMod><OldStatus>NR — é</OldStatus>'].map(
    (text) => `<Evaluate-STIG>${text}</Evaluate-STIG>`,
  );
  const text = writeCkl(old, {
    before: `<!--DISA STIG Viewer :: 2.17-->\n<!-- -->\n<!--${inFile}-->`,
    inRule: `<!--${inRule}-->`,
  })
    .replace('<COMMENTS>', '<COMMENTS>before <!--within--> after')
    .replace('</CHECKLIST>', '</CHECKLIST>\n<!--the end-->');
  const json = await upgraded(text);
  const rules = old.stigs[0]!.rules;
  assert.is(rulesIn(json)[0]!.comments, `before  after${rules[0]!.comments}`);
  assert.equal(fieldsOf(json), [
    ['/comment()', inFile],
    ['/CHECKLIST/STIGS/iSTIG[1]/VULN[1]/COMMENTS/comment()', 'within'],
    ...rules.map((_, index) => [`/CHECKLIST/STIGS/iSTIG[1]/VULN[${index + 1}]/comment()`, inRule]),
    ['/comment()', 'the end'],
  ]);
  const many = await upgrade(writeCkl(old, { before: '<!--x-->'.repeat(1001) }));
  assert.is(many.status, 400);
  assert.match(many.json.error.message, 'more than 1000 comments before the root element');
});

upgrades('both vocabularies of status, whatever their case; no status is not reviewed', async () => {
  const old = await oldChecklist();
  const words = ['NotAFinding', 'not_a_finding', 'Open', 'NOT_APPLICABLE', 'Not_Reviewed', ''];
  const rules = old.stigs[0]!.rules.map((rule, index) => ({ ...rule, status: words[index] }));
  const json = await upgraded({ ...old, stigs: [{ ...old.stigs[0]!, rules }] }, { version: 'V1R1' });
  const statuses = rulesIn(json).map((rule) => rule.status);
  assert.is(statuses.join(), 'not_a_finding,not_a_finding,open,not_applicable,not_reviewed,not_reviewed');
});

upgrades('a rule without its texts is carried with a warning that says so', async () => {
  const old = await oldChecklist();
  const rules = old.stigs[0]!.rules.map(({ rule_id_src, severity, status, comments }) => ({
    ...{ rule_id_src, severity, status, comments, rule_version: '' },
    legacy_ids: [rule_id_src.replace(/r1_rule$/, '')],
  }));
  const json = await upgraded({ stigs: [{ stig_id: 'Sample_Product_STIG', rules }] });
  const [first] = json.report.rules;
  assert.equal([first.outcome, first.matchedBy], ['carried-with-warning', 'legacyId']);
  const texts = ['check', 'fix'].map((name) => `he old checklist has no ${name} text to compare; `);
  assert.is(first.reason, `T${texts[0]}t${texts[1]}its CCIs changed`);
  assert.is(rulesIn(json)[0]!.comments, 'ü 👩🏽‍💻');
});

upgrades(
  'ids follow from the content; download=true answers the checklist alone; nothing is stored',
  async () => {
    const before = tableDigests(t.db);
    const checklist = await oldChecklist();
    const whole = await upgrade(checklist);
    assert.is((await upgrade(checklist)).text, whole.text);
    const file = await send({ slug, checklist }, '?download=true');
    assert.is(file.text, JSON.stringify(whole.json.checklist));
    const name = file.headers.get('Content-Disposition')!;
    assert.match(name, /^attachment; filename="U_Sample_Product_STIG_V1R2\.cklb"/);
    assert.is(whole.headers.get('Content-Disposition'), null);
    checklist.stigs[0]!.rules[0]!.comments = 'Other.';
    const other = await upgraded(checklist);
    assert.is.not(other.checklist.id, whole.json.checklist.id);
    assert.is(new Set(rulesIn(other).map((rule) => rule.uuid)).size, 6);
    const results =
      '<TestResult xmlns="http://checklists.nist.gov/xccdf/1.2" id="t"><rule-result idref="SV-100001r1_rule"/></TestResult>';
    for (const [what, body] of [
      ['from-results', { slug, results, checklist }],
      ['inspect', { checklist }],
    ] as const)
      assert.is((await t.send('POST', `/api/v1/checklists/${what}`, body)).status, 200, what);
    assert.equal(tableDigests(t.db), before);
  },
);

upgrades(
  'a checklist of a newer release than the catalog has stays as it is, unless asked (rule D42.4)',
  async () => {
    const newer = await oldChecklist(slug, 'V1R2');
    newer.title = 'Mine';
    newer.stigs[0]!.release_info = 'Release: 10 Benchmark Date: 01 Jan 2027';
    const json = await upgraded(newer);
    assert.equal(json.checklist, newer);
    const { from, to, warnings, summary } = json.report;
    assert.equal([from.version, to.version, to.releaseDate], ['V1R10', 'V1R10', '2027-01-01']);
    assert.match(warnings[0], /^Sample Product .* stays at V1R10: the catalog has nothing newer than V1R2/);
    assert.equal([summary.carried, summary.new, summary.removed], [6, 0, 0]);
    assert.is(outcomes(json), Array(6).fill('carried').join());
    for (const more of [{ allowOlder: true }, { version: 'V1R2' }]) {
      const older = await upgraded(newer, more);
      assert.equal([older.report.to.version, older.report.warnings], ['V1R2', []]);
      assert.is(rulesIn(older)[0]!.status, 'not_a_finding');
    }
    assert.is((await upgraded(newer, { version: 'V1R1' })).report.to.version, 'V1R1');
    const asCkl = (await send(newer, '?format=ckl&download=true&hostName=h2')).text;
    assert.match(asCkl, 'Release: 10 Benchmark Date: 01 Jan 2027');
    assert.match(asCkl, '<HOST_NAME>h2</HOST_NAME>');
  },
);

upgrades('a body that is the checklist itself finds its STIG, with options in the query', async () => {
  const old = await oldChecklist();
  const wanted = await upgraded(old, { onChange: 'reset', hostName: 'h' });
  const query = '?onChange=reset&hostName=h';
  assert.equal((await send(old, query)).json, wanted);
  const { json } = await send(writeCkl(old), query);
  assert.equal([json.report.from.format, outcomes(json)], ['ckl', outcomes(wanted)]);
  assert.is((await send(old, `?slug=${slug}&version=V1R1`)).json.report.to.version, 'V1R1');
  // The envelope finds it too; what has neither is told so.
  assert.equal((await send({ checklist: old, onChange: 'reset', hostName: 'h' })).json, wanted);
  const other = (await oldChecklist('other')).stigs[0]!;
  for (const [body, message] of [
    [{ slug }, /^checklist must be/],
    ['<Benchmark/>', /must begin with <CHECKLIST>/],
    [{ ...old, stigs: [old.stigs[0], other] }, /names more than one/],
  ] as const)
    assert.match((await send(body)).json.error.message, message);
  // A name that nobody knows is decided by most of the rules, and said.
  const nobody = { ...old.stigs[0]!, stig_id: 'Nobody_Knows', stig_name: 'Nobody knows' };
  const { report } = (await send({ ...old, stigs: [nobody] })).json;
  assert.is(report.to.slug, slug);
  assert.match(
    report.warnings[0],
    /^It names Nobody_Knows, which is not in the catalog; most of its rules are/,
  );
  const stray = [{ ...old.stigs[0]!.rules[0]!, group_id: 'V-999999' }, ...other.rules];
  assert.is((await send({ ...old, stigs: [{ ...nobody, rules: stray }] })).json.report.to.slug, 'other');
});

upgrades.run();
