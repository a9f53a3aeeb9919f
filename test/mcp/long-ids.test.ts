import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { callTool } from '../support/programs-client.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// The limit of an answer holds whatever ids a publisher gives (rule D41.3).
const test = suite('Answers with long ids');

test('a STIG id, a group id or a title of 100,000 characters leaves an answer within its limit', async () => {
  const folder = scratchFolder();
  const long = 'LONG-01-'.padEnd(100_000, '0');
  const rules = sampleRules(3).map((rule, index) =>
    index === 1 ? rule : { ...rule, version: `${long}${index}` },
  );
  const t: TestApp = await testApp([put(folder, 'long.xml', writeXccdf({ rules }))]);
  const alice = await userCaller(t);
  const { stigs } = (await t.get('/api/v1/stigs')).json;
  const slug = stigs[0].slug;
  const { findings } = (await t.get(`/api/v1/stigs/${slug}`)).json;
  assert.ok(findings.some((each: { ruleVersion: string }) => each.ruleVersion.length > 99_000));
  const calls: [string, object][] = [
    ['get_stig', { name: slug }],
    ['get_stig', { name: slug, detail: 'full' }],
    ...findings.map(({ groupId }: { groupId: string }) => ['get_rule', { id: groupId }]),
    ['find', { q: 'sample' }],
    ['find', { q: findings[0].groupId }],
  ];
  for (const [tool, args] of calls) {
    const { text } = await callTool(t, tool, args, alice);
    const most = 'detail' in args ? 24_000 : 8000;
    assert.ok(text.length <= most, `${tool} ${JSON.stringify(args)}: ${text.length}`);
    JSON.parse(text);
  }
  t.db.close();
});

test.run();
