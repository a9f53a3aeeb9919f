import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { createRuleHistoryService, historiesOf } from '../../src/catalog/stigs/history.ts';
import type { RuleHistory, RuleOverTime } from '../../src/catalog/stigs/history-schema.ts';
import { idsOf } from '../../src/catalog/stigs/ids.ts';
import { readMarks, writeMarks } from '../../src/catalog/stigs/marks.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { numberOfRule, type SourceStig, sourceStigs, storiesOf } from '../support/change-oracle.ts';
import { suite } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { hasReferenceData } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { told } from '../support/told.ts';
import { type SampleRule, sampleRules } from '../support/xccdf-writer.ts';

const made = suite('One rule over time');

const [one, two, three] = sampleRules(3) as [SampleRule, SampleRule, SampleRule];
let t: TestApp;

made.before(async () => {
  const renumbered = {
    groupId: 'V-100101',
    ruleId: 'SV-100101r1_rule',
    legacyIds: ['V-100001', 'SV-100001'],
  };
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May'];
  const releases: SampleRule[][] = [
    [one, two],
    [
      { ...one, severity: 'high', checks: ['Look twice.'] },
      { ...two, ruleId: 'SV-100002r2_rule' },
    ],
    [one],
    [one, { ...two, title: 'It is back.' }, three],
    [
      { ...one, ...renumbered, version: 'NEW-01' },
      { ...two, title: 'It is back.' },
      { ...three, severity: 'low' },
    ],
  ];
  const samples = releases.map((rules, at) => ({ release: at + 1, date: `12 ${months[at]} 2024`, rules }));
  t = await testApp([writeBenchmarks(samples)]);
});
made.after(() => t.db.close());

const rulesOf = async (id: string): Promise<RuleOverTime[]> => {
  const { status, json } = await t.get(`/api/v1/rules/${encodeURIComponent(id)}`);
  assert.is(status, 200, id);
  assert.is(json.id, id);
  return json.rules;
};
const states = ({ releases }: RuleOverTime) => releases.map(({ version, state }) => `${version} ${state}`);

made('the whole answer, word for word', async () => {
  const { json } = await t.get('/api/v1/rules/SAMP-01-000002');
  const step = (version: string, releaseDate: string, state: string, severity: string | null) => ({
    ...{ version, releaseDate, state, classes: [], severity },
  });
  assert.equal(json, {
    id: 'SAMP-01-000002',
    rules: [
      {
        ...{ slug: 'sample_product', title: 'Sample Product Security Technical Implementation Guide' },
        ...{ ruleTitle: 'It is back.', current: true, groupId: 'V-100002', ruleId: 'SV-100002r1_rule' },
        ...{ ruleVersion: 'SAMP-01-000002', severity: 'medium' },
        releases: [
          step('V1R5', '2024-05-12', 'same', 'medium'),
          step('V1R4', '2024-04-12', 'added', 'medium'),
          step('V1R3', '2024-03-12', 'removed', null),
          step('V1R2', '2024-02-12', 'renumbered', 'medium'),
          step('V1R1', '2024-01-12', 'first', 'medium'),
        ],
      },
    ],
  });
});

made(
  'found by every id that it ever had, whatever the case, the revision and the blanks around',
  async () => {
    const ids = `V-100001|v-100001| V-100001 |V-100101|SV-100001|sv-100001r77_rule|SV-100001_rule|SV-100101r1_rule`;
    for (const id of `${ids}|SV-100101r5|SAMP-01-000001|samp-01-000001|NEW-01`.split('|')) {
      const [rule, ...others] = await rulesOf(id);
      assert.equal(others, []);
      assert.is(rule!.ruleVersion, 'NEW-01', id);
      assert.is(
        states(rule!).join(', '),
        'V1R5 renumbered, V1R4 same, V1R3 changed, V1R2 changed, V1R1 first',
      );
      assert.equal(rule!.releases[3]!.classes, ['check', 'severity']);
      assert.is(told(rule!.releases, 'severity').join(), 'medium,medium,medium,high,medium');
    }
  },
);

made('what no retained release knows is a 404', async () => {
  const ids = "V-1|SV-|SV-10000|V-100001r1x|%|_|' OR 1=1 --|*|\u202e|[]".split('|');
  for (const id of [...ids, 'x'.repeat(200)])
    assertError(
      await t.get(`/api/v1/rules/${encodeURIComponent(id)}`),
      404,
      'NOT_FOUND',
      `Rule not found: ${id.length > 64 ? `${id.slice(0, 64)}` : id}`,
    );
  assert.is((await t.get('/api/v1/rules/')).status, 404);
});

made(
  'an answer is never of another catalog than the one that is there; what is gone is in older releases',
  async () => {
    const before = (await rulesOf('V-100003'))[0]!;
    const { history } = createRuleHistoryService(t.db);
    assert.equal(states(history('V-100003').rules[0]!), states(before));
    await runImport(t.db, [writeBenchmarks([{ release: 6, date: '12 Jun 2024', rules: [one, two] }])]);
    const [gone] = history('V-100003').rules;
    assert.equal(states(gone!), ['V1R6 removed', ...states(before)]);
    assert.equal([gone!.current, gone!.severity, gone!.ruleTitle], [false, 'low', 'Setting 3 must be on.']);
  },
);

made('of any releases: each rule of each is in one history, once, and nothing else is', () => {
  const id = fc.integer({ min: 1, max: 5 });
  const rule = fc.record({ v: id, sv: id, stig: id, legacy: fc.array(id, { maxLength: 2 }), text: id });
  fc.assert(
    fc.property(fc.array(fc.array(rule, { maxLength: 6 }), { maxLength: 6 }), (releases) => {
      const marks = releases.map((rules) =>
        readMarks(
          writeMarks(
            rules.map(({ v, sv, stig, legacy, text }) => ({
              ...{ groupId: `V-${v}`, ruleId: `SV-${sv}r1_rule`, ruleVersion: `S-${stig}` },
              ...{ legacyIds: legacy.map((each) => `V-${each}`), severity: 'low', ccis: [] },
              ...{ ruleTitle: '', vulnDiscussion: '', checkContent: `Look ${text}`, fixText: '' },
            })),
          ),
        ),
      );
      const histories = historiesOf(marks);
      const seen = histories.flat().flatMap(({ rule }) => rule ?? []);
      assert.is(seen.length, new Set(seen).size);
      assert.equal(new Set(seen), new Set(marks.flat()));
      for (const steps of histories) {
        for (const [index, { release, state, rule }] of steps.entries()) {
          const before = steps[index - 1];
          // It goes on from release to release, and only one that was removed leaves a gap.
          if (before !== undefined && before.rule !== null) assert.is(release, before.release + 1);
          if (before !== undefined) assert.ok(release > before.release);
          assert.is(state === 'removed', rule === null);
          assert.is(state === 'first', release === 0);
          assert.is(state === 'added', release > 0 && rule !== null && (before?.rule ?? null) === null);
        }
        const last = steps.at(-1)!;
        assert.ok(last.rule === null || last.release === releases.length - 1);
      }
    }),
  );
});

made('of an id that several STIGs have, only the rule of the STIG that is named', async () => {
  const samples = ['First', 'Second', 'Third'].map((name, at) => {
    const own = sampleRules(4, `OWN-${at}`, 300_000 + 1000 * at);
    return { id: name, title: `${name} Sample`, rules: at === 2 ? own : [...own, one] };
  });
  const { db } = await testApp([writeBenchmarks(samples)]);
  const { current } = createRuleHistoryService(db);
  const slugsOf = (slug?: string) => current('V-100001', slug).map((rule) => rule.slug);
  assert.equal(slugsOf(), ['first_sample', 'second_sample']);
  assert.equal(slugsOf('second_sample'), ['second_sample']);
  for (const slug of ['third_sample', 'no_stig', '']) assert.equal(slugsOf(slug), [], slug);
  db.close();
});

/** Every id of every rule of the newest releases leads to the rules that have it, as their marks say; gives how many. */
function requireCurrent({ db }: TestApp, every: number): number {
  const history = createRuleHistoryService(db);
  const releases = db.sqlite
    .prepare<[], { slug: string; marks: string }>(
      `SELECT s.slug, m.marks FROM stigs AS s JOIN rule_marks AS m ON m.release_id = s.current_release_id
        ORDER BY s.title_fold, s.title, s.slug`,
    )
    .all();
  const rules = releases.flatMap(({ slug, marks }) => readMarks(marks).map((rule) => ({ slug, rule })));
  const having = new Map<string, string[]>();
  for (const { slug, rule } of rules)
    for (const id of new Set(idsOf(rule)))
      having.set(id, [...(having.get(id) ?? []), `${slug} ${rule.ruleId}`]);
  const asked = [...having].filter((_, at) => at % every === 0);
  for (const [id, expected] of asked)
    for (const spelled of [id, id.toLowerCase(), ` ${id} `])
      assert.equal(
        history.current(spelled).map(({ slug, ruleId }) => `${slug} ${ruleId}`),
        expected,
        spelled,
      );
  return asked.length;
}

made('ids of no usual form lead to their rules: lower case, blanks, signs, other letters', async () => {
  const ids = ['v-7', ' PAD-1 ', "it's", 'a%b_c', 'A"b', 'c\\d', 'ä-1', 'Ä-1', 'Šř', 'V-10', 'x y'];
  const rules = ids.flatMap((version, at) => [
    {
      ...{ ...one, groupId: `v-${at}`, ruleId: `sv-${at}R1_rule` },
      ...{ version, legacyIds: [`V-${at + 1}`, ids.at(-at)!] },
    },
    { ...one, groupId: version, ruleId: `SV-${at}0r1.2_rule`, version: `W-${at}`, legacyIds: [] },
  ]);
  const odd = await testApp([writeBenchmarks([{ release: 1, date: '12 Jan 2024', rules }])]);
  assert.ok(requireCurrent(odd, 1) > 30);
  odd.db.close();
});

made.run();

const real = suite('Rules over time, against the publishers’ files');
let app: TestApp;
let stigs: SourceStig[];

real.before(async () => {
  app = await testApp(benchmarkPaths);
  stigs = await sourceStigs(app.db);
});
real.after(() => app.db.close());

real('every id of every rule of every release leads to what became of it', () => {
  const histories = createRuleHistoryService(app.db);
  const expected = new Map<string, RuleHistory['rules']>();
  const order = new Map(
    app.db.sqlite
      .prepare<[], string>('SELECT slug FROM stigs ORDER BY title_fold, title, slug')
      .pluck()
      .all()
      .map((slug, index) => [slug, index]),
  );
  assert.is(order.size, stigs.length);
  for (const stig of stigs.toSorted((a, b) => order.get(a.slug)! - order.get(b.slug)!)) {
    const { releases } = stig;
    const place = (story: ReturnType<typeof storiesOf>[number]) => {
      const last = story.findLast(({ rule }) => rule !== null)!;
      const release = releases.findIndex(({ version }) => version === last.version);
      return -release * 100_000 + releases[release]!.rules.indexOf(last.rule!);
    };
    for (const story of storiesOf(stig).sort((a, b) => place(a) - place(b))) {
      const { rule, version } = story.findLast((step) => step.rule !== null)!;
      const answer: RuleOverTime = {
        slug: stig.slug,
        title: stig.title,
        ruleTitle: rule!.title,
        current: version === releases.at(-1)!.version,
        groupId: rule!.groupId,
        ruleId: rule!.ruleId,
        ruleVersion: rule!.version,
        severity: rule!.severity as RuleOverTime['severity'],
        releases: story.toReversed().map((step) => ({
          version: step.version,
          releaseDate: releases.find((each) => each.version === step.version)!.releaseDate,
          state: step.state,
          classes: step.classes,
          severity: step.rule?.severity ?? null,
        })) as RuleOverTime['releases'],
      };
      const ids = story.flatMap(({ rule }) =>
        rule === null
          ? []
          : [rule.groupId, rule.ruleId, numberOfRule(rule.ruleId), rule.version, ...rule.legacyIds],
      );
      for (const id of new Set(ids.filter((each) => each !== '')))
        expected.set(id, [...(expected.get(id) ?? []), answer]);
    }
  }
  assert.ok(expected.size > 50);
  for (const [id, rules] of expected) assert.equal(histories.history(id), { id, rules }, id);
});

real('an id leads to the rules of newest releases that have it, and to no other', () => {
  const [every, least] = hasReferenceData ? [5, 1000] : [1, 50];
  assert.ok(requireCurrent(app, every) > least);
});

real.run();
