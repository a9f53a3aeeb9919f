import * as assert from 'uvu/assert';
import { sarifOf } from '../../src/commands/references-sarif.ts';
import { suite } from '../support/harness.ts';

const test = suite('gapstone references');

test('SARIF names what is not current, by place (rule D39.2)', () => {
  const fact = { kind: 'rule', title: null, slug: null, version: null } as const;
  const found = [
    {
      ...fact,
      file: 'a b/c.yml',
      line: 3,
      column: 5,
      text: 'V-1234',
      id: 'V-1234',
      state: 'current',
      advice: null,
    },
    {
      ...fact,
      file: 'a b/c.yml',
      line: 4,
      column: 5,
      text: 'V-1235',
      id: 'V-1235',
      state: 'removed',
      advice: 'Why',
    },
  ] as const;
  // biome-ignore lint/suspicious/noExplicitAny: looked into freely
  const { version, runs } = sarifOf([...found]) as any;
  assert.is(version, '2.1.0');
  const [run] = runs;
  assert.is(run.columnKind, 'utf16CodeUnits');
  assert.equal(run.results, [
    {
      ruleId: 'removed',
      ruleIndex: 1,
      level: 'error',
      message: { text: 'V-1235: No newest release has the rule. Why' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'a%20b/c.yml' },
            region: { startLine: 4, startColumn: 5, endColumn: 11 },
          },
        },
      ],
    },
  ]);
  assert.is(run.tool.driver.rules[1].id, 'removed');
});

test.run();
