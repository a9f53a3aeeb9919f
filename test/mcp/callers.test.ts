import * as assert from 'uvu/assert';
import { AppError } from '../../src/base/errors.ts';
import { Missing, stigOf } from '../../src/catalog/search/spelled.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type Caller, userCaller } from '../support/callers.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { mappingsCsv } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { allParts, callTool } from '../support/programs-client.ts';
import { shipped } from '../support/reference.ts';
import { told } from '../support/told.ts';

// Rule D54.4: what a tool says beyond rows.
const test = suite('What callers of tools met');
let t: TestApp;
let alice: Caller;

const harbor = JSON.stringify({
  catalog: {
    uuid: '7d6a9d2c-3f5e-4f7c-9a31-0a4f4d1b2c3d',
    metadata: {
      ...{ title: 'Harbor Rules 2.0', version: '2.0' },
      ...{ 'last-modified': '2026-01-01T00:00:00Z', 'oscal-version': '1.1.2' },
    },
    controls: ['HB-1.x', 'PR 2'].map((label, index) => ({
      id: `c${index}`,
      title: `Pier ${index}`,
      props: [{ name: 'label', value: label }],
      parts: [{ id: `c${index}_smt`, name: 'statement', prose: 'Moor.' }],
    })),
  },
});

test.before(async () => {
  t = await testApp([shipped()]);
  const mapping = mappingsCsv([['harbor-rules', '2.0', 'HB-1.x', 'nist-800-53', 'Rev 5', 'CM-6']]);
  await importTexts(t.db, [harbor, mapping]);
  alice = await userCaller(t);
});
test.after(() => t.db.close());

const ask = async (tool: string, args: object) => (await callTool(t, tool, args, alice)).json;

test('controls of an imported framework are found by their identifier alone, in any case', async () => {
  const cite = 'harbor-rules@2.0#HB-1.x';
  for (const id of ['HB-1.x', 'hb-1.X', 'harbor-rules:hb-1.x', cite])
    assert.equal((await ask('get_control', { id })).cite, cite, id);
  assert.is((await ask('get_control', { id: 'pr 2', framework: 'harbor-rules' })).identifier, 'PR 2');
  assert.is((await ask('crosswalk', { from: 'hb-1.x', to: 'nist-800-53' })).from, cite);
  assert.is((await ask('rules_for_control', { control: 'HB-1.X' })).control, cite);
  assert.is((await ask('get_control', { id: 'hb-9.x' })).reason, 'unknown_id');
  const { frameworks, notServed } = await ask('catalog_info', {});
  assert.equal(frameworks.at(-1), { framework: 'harbor-rules', version: '2.0', served: true });
  assert.equal(notServed, ['roles', 'documents']);
});

test('limit cuts the rows, and next leads to the others', async () => {
  for (const [tool, args] of [
    ['find', { stig: 'harbor_linux_3' }],
    ['get_stig', { stig: 'harbor_linux_3' }],
    ['rules_for_control', { control: 'CM-6' }],
    ['rules_for_control', { control: 'CCI-000366' }],
  ] as const) {
    const whole = (await allParts(t, tool, args, alice)).flatMap(({ json }) => json.rules);
    const limit = Math.max(1, Math.floor(whole.length / 3));
    const parts = await allParts(t, tool, { ...args, limit }, alice);
    assert.equal(
      parts.flatMap(({ json }) => json.rules),
      whole,
      tool,
    );
    assert.ok(parts.every(({ json }) => json.rules.length <= limit && json.total === whole.length));
    for (const wrong of [0, 101, 1.5, '5'])
      assert.ok((await callTool(t, tool, { ...args, limit: wrong }, alice)).isError, `${tool} ${wrong}`);
  }
});

test('get_stig without its rules has the rest, and explains the states of automation', async () => {
  const args = { stig: 'harbor_linux_3' };
  const { rules, truncated: _, next: __, ...rest } = await ask('get_stig', args);
  assert.ok(rules.length > 0);
  assert.equal(await ask('get_stig', { ...args, rules: false }), rest);
  assert.match((await callTool(t, 'get_stig', { name: 'harbor_linux_3' }, alice)).text, /Invalid arguments/);
  const none = 'No imported SCAP content has the rule';
  const coverage = await ask('coverage', args);
  const rule = await ask('get_rule', { id: 'V-900001' });
  for (const { automation, automationMeans } of [rest, coverage])
    assert.is(automationMeans?.none, automation.none > 0 ? none : undefined);
  assert.equal(rule.automationMeans, rule.automation === 'none' ? { none } : undefined);
});

test('a comparison counts each class and names the primary one', async () => {
  const whole = await ask('compare_releases', { stig: 'harbor_linux_3', kind: 'changed' });
  const diff = (await t.get('/api/v1/stigs/harbor_linux_3/diff')).json;
  const counts: Record<string, number> = {};
  for (const { classes } of diff.changed) for (const each of classes) counts[each] = (counts[each] ?? 0) + 1;
  assert.equal(whole.classes, counts);
  assert.equal(
    told(whole.rules, 'class'),
    diff.changed.map((each: { class: string }) => each.class),
  );
});

test('a release that is not there is not imported; any other error is itself', () => {
  const found = [{ slug: 'harbor', title: 'Harbor', version: 'V1R2', release: null }];
  const thrown = (findRelease: () => null): unknown => {
    const given = {
      stigs: { findRelease, retained: () => [] },
      stigNames: { exactly: () => found, said: () => [] },
    };
    try {
      return stigOf(given as never, 'Harbor V1R1', 'V1R1');
    } catch (caught) {
      return caught;
    }
  };
  const missing = thrown(() => null);
  assert.ok(missing instanceof Missing);
  assert.is(missing.answer.reason, 'not_imported');
  for (const error of [
    new Error('disk I/O error'),
    new AppError('UNAVAILABLE', 'The catalog is being changed'),
  ])
    assert.is(
      thrown(() => {
        throw error;
      }),
      error,
    );
});

test.run();
