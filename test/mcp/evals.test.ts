import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { citation } from '../../src/base/citation.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { callTool, type ToolAnswer } from '../support/programs-client.ts';
import { shipped } from '../support/reference.ts';
import { readBenchmark } from '../support/xccdf-reader.ts';

// Tasks with one right answer, which the XML gives, and the calls that a careful agent makes. No model is asked: truth,
// tokens and citations that open are checked (rules D41.3 and D41.4).
const test = suite('Tasks of an agent');
const releases = [
  ['harbor_linux_3', 'V1R1', 'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml'],
  ['harbor_linux_3', 'V1R2', 'U_Harbor_Linux_3_STIG_V1R2_Manual-xccdf.xml'],
] as const;
type Rule = ReturnType<typeof readBenchmark>['rules'][number];
let t: TestApp;
let alice: Caller;
const spent: { task: string; calls: number; tokens: number }[] = [];

interface Task {
  name: string;
  /** Makes the calls; gives what the agent would say, with its citations. */
  ask(call: (name: string, args: object) => Promise<ToolAnswer>): Promise<{ said: unknown; cites: string[] }>;
  right: unknown;
}

test.before(async () => {
  t = await testApp([shipped()]);
  alice = await userCaller(t);
});
test.after(() => t.db.close());

const rulesOf = (file: string): Rule[] => readBenchmark(readFileSync(shipped('stigs', file), 'utf8')).rules;

const citeOf = ({ cite }: { cite: string }) => cite;
const groupsOf = (rules: { groupId: string }[]) => rules.map(({ groupId }) => groupId);

function* tasks(): Generator<Task> {
  const [old, now] = [rulesOf(releases[0][2]), rulesOf(releases[1][2])];
  const spellings = [
    (id: string) => id,
    (id: string) => id.toLowerCase(),
    (id: string) => id.replace('V-', 'v '),
    (id: string) => id.slice(2),
  ];
  for (const [at, rule] of now.entries()) {
    const { groupId, ruleId, version, severity } = rule;
    yield {
      name: `how severe is ${groupId}`,
      async ask(call) {
        const { json } = await call('get_rule', { id: spellings[at % spellings.length]!(groupId) });
        return { said: [json.severity, json.ruleVersion], cites: [json.cite] };
      },
      right: [severity, version],
    };
    yield {
      name: `what does ${version} check`,
      async ask(call) {
        const { json } = await call('get_rule', { id: version.toLowerCase() });
        return { said: json.source.checkContent, cites: [json.cite] };
      },
      right: rule.checks[0]!.content,
    };
    const before = old.find((each) => each.version === version);
    yield {
      name: `which rule was ${ruleId} in V1R1`,
      async ask(call) {
        const { json } = await call('get_rule', { id: ruleId, stig: 'harbor linux 3', version: '1.1' });
        return { said: json.found ? json.ruleId : null, cites: json.found ? [json.cite] : [] };
      },
      right: before?.ruleId ?? null,
    };
    yield {
      name: `find ${groupId} by its title`,
      async ask(call) {
        const { json } = await call('find', {
          q: `"${rule.title.replaceAll('"', '')}"`,
          stig: 'harbor_linux_3',
        });
        return { said: json.rules[0].groupId, cites: [json.rules[0].cite] };
      },
      right: groupId,
    };
  }
  for (const severity of ['high', 'medium', 'low'])
    for (const [slug, version, file] of releases)
      yield {
        name: `how many ${severity} rules has ${version}`,
        async ask(call) {
          const { json } = await call('get_stig', { stig: 'Harbor Linux 3', version, severity });
          return {
            said: [json.total, json.slug],
            cites: [json.cite, ...json.rules.map(citeOf)],
          };
        },
        right: [rulesOf(file).filter((each) => each.severity === severity).length, slug],
      };
  const gone = old.filter((rule) => !now.some((each) => each.version === rule.version));
  for (const rule of gone)
    yield {
      name: `is ${rule.groupId} still there`,
      async ask(call) {
        const { json } = await call('get_rule', { id: rule.groupId });
        return { said: [json.found, json.reason, json.last.cite], cites: [json.last.cite] };
      },
      right: [false, 'removed', citation('harbor_linux_3', 'V1R1', rule.ruleId)],
    };
  const lantern = rulesOf('U_Lantern_Web_Server_2_STIG_V2R3_Manual-xccdf.xml');
  const current = [...now, ...lantern];
  const mapped = readFileSync(shipped('mappings', 'cci_to_nist-800-53.csv'), 'utf8').split('\r\n').join('\n');
  for (const cci of [...new Set(current.flatMap(({ ccis }) => ccis))].slice(0, 12)) {
    yield {
      name: `which rules cite ${cci}`,
      async ask(call) {
        const { json } = await call('rules_for_control', { control: cci.toLowerCase() });
        return { said: new Set(groupsOf(json.rules)), cites: json.rules.map(citeOf) };
      },
      right: new Set(current.filter(({ ccis }) => ccis.includes(cci)).map(({ groupId }) => groupId)),
    };
    yield {
      name: `which controls of Rev 5 is ${cci} about`,
      async ask(call) {
        const { json } = await call('get_control', { id: cci.replace('CCI-0', 'cci ') });
        return { said: json.controls, cites: [json.cite] };
      },
      right: [
        ...new Set(
          [
            ...mapped.matchAll(new RegExp(`^cci,2025-01-23,${cci},nist-800-53,Rev 5[^,]*,([^,]+),`, 'gm')),
          ].map(([, control]) => control),
        ),
      ],
    };
  }
  for (const [stig, rules] of [
    ['lantern', lantern],
    ['harbor 3', now],
  ] as const)
    yield {
      name: `how many rules of ${stig} were counted for its controls`,
      async ask(call) {
        const { json } = await call('coverage', { stig, show: 'covered' });
        return { said: json.totals.rules, cites: json.rows.map(citeOf) };
      },
      right: rules.length,
    };
  for (const kind of ['added', 'removed'])
    yield {
      name: `which rules were ${kind} with V1R2`,
      async ask(call) {
        const { json } = await call('compare_releases', { stig: 'harbor_linux_3', from: 'v1 r1', kind });
        return { said: groupsOf(json.rules), cites: json.rules.map(citeOf) };
      },
      right: (kind === 'added'
        ? now.filter((rule) => !old.some((each) => each.groupId === rule.groupId))
        : old.filter((rule) => !now.some((each) => each.groupId === rule.groupId))
      ).map(({ groupId }) => groupId),
    };
  yield {
    name: 'what does find say of an invented id',
    async ask(call) {
      const { json } = await call('find', { q: 'V-999999' });
      return { said: [json.found, json.reason], cites: [] };
    },
    right: [false, 'unknown_id'],
  };
  for (const id of ['V-999999', 'SV-1r1_rule', 'HARB-03-009999', 'RHEL-09-211010'])
    yield {
      name: `an invented id: ${id}`,
      async ask(call) {
        const { json } = await call('get_rule', { id });
        return { said: [json.found, json.reason], cites: [] };
      },
      right: [false, 'unknown_id'],
    };
}

test('each task has its right answer, in few tokens, with citations that open', async () => {
  for (const { name, ask, right } of tasks()) {
    let [calls, characters] = [0, 0];
    const { said, cites } = await ask(async (tool, args) => {
      const answer = await callTool(t, tool, args, alice);
      assert.not.ok(answer.isError, `${name}: ${answer.text}`);
      calls++;
      characters += answer.text.length;
      return answer;
    });
    assert.equal(said, right, name);
    for (const cite of cites) {
      const opened = await t.get(`/api/v1/cite?ref=${encodeURIComponent(cite)}`);
      assert.equal([opened.status, opened.json.holds, opened.json.ref], [200, true, cite], name);
    }
    spent.push({ task: name, calls, tokens: Math.ceil(characters / 4) });
  }
  assert.ok(spent.length >= 60, `${spent.length} tasks`);
  const worst = spent.toSorted((a, b) => b.tokens - a.tokens).slice(0, 10);
  process.stdout.write(`${spent.length} tasks; the most tokens:\n`);
  for (const { task, calls, tokens } of worst)
    process.stdout.write(`  ${String(tokens).padStart(5)}  ${calls} call  ${task}\n`);
  assert.ok(worst[0]!.tokens <= 2100);
});

test.run();
