import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { everything } from '../support/prepared.ts';
import { allParts, callTool, type ToolAnswer } from '../support/programs-client.ts';
import { hasReferenceData } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// No answer is over its limit, and its parts together are whole (rule D41.3), on all that is here.
const test = suite('Limits of answers for programs');
let t: TestApp;
let alice: Caller;

test.before(async () => {
  t = await testApp([], { db: await everything() });
  alice = await userCaller(t);
});
test.after(() => t.db.close());

function within(answer: ToolAnswer, tokens = 2000): void {
  assert.ok(
    answer.text.length / 4 <= tokens * 1.05,
    `${answer.text.length / 4} tokens: ${answer.text.slice(0, 200)}`,
  );
}

type Release = { slug: string; version: string };
const releases = async (): Promise<Release[]> => {
  const all: Release[] = [];
  for (const { slug } of (await t.get('/api/v1/stigs?limit=150')).json.stigs)
    for (const { version } of (await t.get(`/api/v1/stigs/${slug}/versions`)).json.versions)
      all.push({ slug, version });
  return all;
};

test('every rule of every release: its texts in parts are whole', async () => {
  let cut = 0;
  for (const { slug, version } of await releases()) {
    const { findings } = (await t.get(`/api/v1/stigs/${slug}?version=${version}`)).json;
    // All long ones, and every hundredth.
    const size = (each: Record<string, string>) =>
      each.checkContent!.length + each.fixText!.length + each.vulnDiscussion!.length;
    for (const finding of findings.filter(
      (each: Record<string, string>, at: number) => size(each) > 9000 || at % 100 === 0,
    )) {
      const id = `${slug}@${version}#${finding.ruleId}`;
      const parts = await allParts(t, 'get_rule', { id }, alice);
      for (const part of parts) within(part);
      for (const field of ['checkContent', 'fixText', 'vulnDiscussion'])
        assert.is(
          parts.map(({ json }) => json.source[field] ?? '').join(''),
          finding[field],
          `${id} ${field}`,
        );
      if (parts.length > 1) cut++;
    }
  }
  if (hasReferenceData) assert.ok(cut > 5, `${cut} in parts`);
});

test('every control: its texts in parts are whole', async () => {
  for (const framework of ['nist-800-53', 'nist-800-171', 'dod-8500']) {
    const { controls } = (await t.get(`/api/v1/controls/${framework}`)).json;
    for (const { identifier, statement, guidance } of controls.filter(
      (_: unknown, at: number) => at % 60 === 0,
    )) {
      const parts = await allParts(t, 'get_control', { id: identifier, framework }, {});
      for (const part of parts) within(part);
      const whole = (field: string) => parts.map(({ json }) => json.source[field] ?? '').join('');
      assert.equal([whole('statement'), whole('guidance')], [statement, guidance], identifier);
    }
  }
});

/** The citations of all parts, each row once. */
async function rowsOf(tool: string, args: object, name: string, tokens = 2000): Promise<string[]> {
  const parts = await allParts(t, tool, args, alice);
  for (const part of parts) within(part, tokens);
  const rows = parts.flatMap(({ json }) => json[name] as object[]);
  assert.is(rows.length, parts[0]!.json.total, `${tool} ${JSON.stringify(args)}`);
  return rows.map((each) => JSON.stringify(each));
}

test('every row of a STIG, a comparison and a coverage comes once', async () => {
  for (const { slug, version } of (await releases()).filter((_, at) => at % 12 === 0)) {
    const { findings } = (await t.get(`/api/v1/stigs/${slug}?version=${version}`)).json;
    for (const detail of ['short', 'full']) {
      const args = { stig: slug, version, detail };
      const rows = await rowsOf('get_stig', args, 'rules', detail === 'full' ? 6000 : 2000);
      const cites = told(findings, 'ruleId').map((id) => `${slug}@${version}#${id}`);
      assert.equal(
        told(
          rows.map((each) => JSON.parse(each)),
          'cite',
        ),
        cites,
      );
    }
    const covered = await rowsOf('coverage', { stig: slug, show: 'all' }, 'rows');
    assert.is(new Set(covered).size, covered.length);
  }
  for (const { slug } of (await releases()).filter(
    (each, at, all) => all.findIndex(({ slug: own }) => own === each.slug) < at,
  )) {
    const rows = await rowsOf('compare_releases', { stig: slug }, 'rules');
    assert.is(new Set(rows).size, rows.length, slug);
  }
});

test('every row of a search, of the rules of a control and of a crosswalk comes once', async () => {
  for (const args of [{ q: 'audit' }, { q: 'account OR access' }, { q: 'the', severity: 'high' }])
    assert.is(new Set(await rowsOf('find', args, 'rules')).size > 0, true, args.q);
  for (const args of [{ control: 'CM-6' }, { control: 'AC-2(1)', severity: 'medium' }]) {
    const rows = await rowsOf('rules_for_control', args, 'rules');
    assert.is(new Set(rows).size, rows.length);
  }
  for (const from of ['AC-2', 'SC-7', 'CM-6']) {
    const found = await callTool(t, 'crosswalk', { from, to: 'dod-8500' });
    if (!found.json.found) continue;
    const rows = await rowsOf('crosswalk', { from, to: 'dod-8500' }, 'paths');
    assert.is(new Set(rows).size, rows.length);
  }
});

test('a next of another catalog is refused in words', async () => {
  const refused = async (cursor: string) => {
    const { text, isError } = await callTool(t, 'find', { q: 'audit', cursor }, alice);
    return isError && text;
  };
  const words = 'The catalog has changed since this `next` was made: ask again without cursor';
  assert.is(await refused('ffffffffffff-3'), words);
  for (const cursor of ['', 'x', '-1', `${'9'.repeat(12)}-${'9'.repeat(10)}`])
    assert.ok(await refused(cursor));
});

test('ids and titles of 100,000 characters leave an answer within its limit', async () => {
  const long = 'LONG-01-'.padEnd(100_000, '0');
  const rules = sampleRules(3).map((rule, index) =>
    index === 1 ? rule : { ...rule, version: `${long}${index}` },
  );
  const own = await testApp([put(scratchFolder(), 'long.xml', writeXccdf({ rules }))]);
  const caller = await userCaller(own);
  const { slug } = (await own.get('/api/v1/stigs')).json.stigs[0];
  const { findings } = (await own.get(`/api/v1/stigs/${slug}`)).json;
  assert.ok(findings.some((each: { ruleVersion: string }) => each.ruleVersion.length > 99_000));
  for (const [tool, args] of [
    ['get_stig', { stig: slug }],
    ['get_stig', { stig: slug, detail: 'full' }],
    ...findings.map(({ groupId }: { groupId: string }) => ['get_rule', { id: groupId }]),
    ['find', { q: 'sample' }],
    ['find', { q: findings[0].groupId }],
  ]) {
    const { text, isError } = await callTool(own, tool, args, caller);
    assert.not.ok(isError, text.slice(0, 200));
    within({ text } as ToolAnswer, args.detail === 'full' ? 6000 : 2000);
  }
  own.db.close();
});

test.run();
