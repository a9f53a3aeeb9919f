import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { everything } from '../support/prepared.ts';
import { callTool } from '../support/programs-client.ts';

// Tools find what REST finds, row by row, over random questions of three callers of two organizations (rule D41.3). The
// fields of each row are held by the golden file of test/mcp/tools.test.ts.
const test = suite('Tools and REST');
const questions = 500;
let t: TestApp;
let callers: Caller[];
const lists: string[] = [];
/** What questions are made of, from REST alone. */
let rules: { slug: string; version: string; groupId: string; ruleId: string; words: string[] }[];
let stigs: { slug: string; versions: string[] }[];

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Json = any;

let seed = 20261123;
const random = (below: number) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % below;
};
const one = <T>(of: readonly T[]): T => of[random(of.length)]!;
const maybe = <T>(value: T): T | undefined => (random(2) === 0 ? value : undefined);

test.before(async () => {
  t = await testApp([], { db: await everything() });
  callers = await Promise.all(
    [
      ['alice', 'red'],
      ['bob', 'red'],
      ['carol', 'blue'],
    ].map(([sub, org]) => userCaller(t, { sub, org, email: `${sub}@example.org` })),
  );
  stigs = [];
  rules = [];
  for (const { slug } of (await t.get('/api/v1/stigs?limit=150')).json.stigs) {
    const { versions } = (await t.get(`/api/v1/stigs/${slug}/versions`)).json;
    stigs.push({ slug, versions: versions.map((each: Json) => each.version) });
    for (const { version } of versions) {
      const { findings } = (await t.get(`/api/v1/stigs/${slug}/controls?version=${version}&limit=40`)).json;
      for (const { groupId, ruleId, ruleTitle } of findings) {
        const words = ruleTitle.match(/[A-Za-z]{4,}/g) ?? ['audit'];
        rules.push({ slug, version, groupId, ruleId, words });
      }
    }
  }
  for (const caller of callers)
    for (const visibility of ['PRIVATE', 'SHARED']) {
      const { id } = (await ask(t, 'POST', '/api/v1/lists', caller, { name: visibility, visibility })).json;
      const [first, second] = [one(stigs), one(stigs)];
      await ask(t, 'POST', `/api/v1/lists/${id}/stigs`, caller, {
        slugs: [first.slug, second.slug],
        releases: { [first.slug]: first.versions.at(-1) },
      });
      lists.push(id);
    }
  lists.push('00000000-0000-4000-8000-00000000dead');
});
test.after(() => t.db.close());

const query = (fields: Record<string, unknown>) => {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return String(new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)])));
};
const controls = ['AC-2', 'AC-2(1)', 'CM-6', 'AU-12', 'SC-13', 'IA-5(1)', 'ZZ-1', 'AC-99', 'SI-2'] as const;
const severities = ['high', 'medium', 'low'] as const;

/** A tool, what it is asked, the same of REST; what both say of the whole, and of each row. */
interface Question {
  tool: string;
  args: Record<string, unknown>;
  path: string;
  whole(got: Json, rest: Json): [got: unknown, rest: unknown];
  rows(got: Json, rest: Json): [got: unknown[], rest: unknown[]];
}
const citeOf = (slug: string, version: string) => (rule: Json) =>
  `${slug}@${version}#${(rule.new ?? rule).ruleId}`;
const cites = (of: Json[] = []) => of.map(({ cite }) => cite);
const of = (from: Json, ...names: string[]) => names.map((name) => from[name]);

const kinds: (() => Question)[] = [
  () => {
    const rule = one(rules);
    const list = random(4) === 0 ? one(lists) : undefined;
    const q = one([one(rule.words), `${one(rule.words)} ${one(rule.words)}`, rule.groupId, 'zxqv']);
    const stig = list === undefined ? maybe(rule.slug) : undefined;
    const args = { q, severity: maybe(one(severities)), stig, list };
    return {
      ...{ tool: 'find', args, path: `/api/v1/search?${query({ ...args, limit: 50 })}` },
      whole: (got, rest) => [
        [...of(got, 'total', 'exact', 'relaxed', 'counts'), got.dropped ?? []],
        [rest.pagination.total, ...of(rest, 'exact', 'relaxed'), rest.counts.severity, rest.dropped],
      ],
      rows: (got, rest) => [
        cites(got.rules),
        rest.results.map((each: Json) => citeOf(each.slug, each.version)(each)),
      ],
    };
  },
  () => {
    const { slug, version, ruleId } = one(rules);
    const id = `${slug}@${version}#${ruleId}`;
    const fields = ['groupId', 'ruleId', 'ruleVersion', 'severity', 'ruleIdents'];
    return {
      ...{ tool: 'get_rule', args: { id, detail: 'full' }, path: `/api/v1/stigs/${slug}?version=${version}` },
      whole(got, rest) {
        const own = rest.findings.find((each: Json) => each.ruleId === ruleId);
        const texts = Object.keys(got.source);
        const begun = texts.map((name) => own[name].slice(0, got.source[name].length));
        return [
          [...of(got, ...fields), ...of(got.source, ...texts)],
          [...of(own, ...fields), ...begun],
        ];
      },
      rows: (got) => [[got.cite], [id]],
    };
  },
  () => {
    const pairs = [['nist-800-171', '3.1.1'] as const, ['dod-8500', 'ECCT-1'] as const];
    const [framework, id] = one([...controls.map((each) => ['nist-800-53', each] as const), ...pairs]);
    const fields = ['identifier', 'version', 'edition', 'family', 'status', 'baselines', 'withdrawn'];
    return {
      ...{ tool: 'get_control', args: { id, framework: maybe(framework) } },
      path: `/api/v1/controls/${framework}/${encodeURIComponent(id)}`,
      whole: (got, rest) => [
        [...of(got, ...fields), got.source.statement ?? ''],
        [...of(rest, ...fields), rest.statement.slice(0, got.source.statement?.length ?? 0)],
      ],
      rows: (got, rest) => [[got.cite], [`${framework}@${rest.version}#${rest.identifier}`]],
    };
  },
  () => {
    const { slug, versions } = one(stigs);
    const version = random(5) === 0 ? 'V77R7' : maybe(one(versions));
    const severity = maybe(one(severities));
    const fields = ['slug', 'version', 'status', 'releaseDate', 'findingCount'];
    return {
      ...{ tool: 'get_stig', args: { stig: slug, version, severity } },
      path: `/api/v1/stigs/${slug}/controls?${query({ version, severity, limit: 100 })}`,
      whole: (got, rest) => [
        [...of(got, ...fields), got.total],
        [...of(rest.stig, ...fields), rest.pagination.total],
      ],
      rows: (got, rest) => [cites(got.rules), rest.findings.map(citeOf(slug, rest.stig.version))],
    };
  },
  () => {
    const [id, to] = [one(controls), one(['nist-800-171', 'dod-8500', 'cci', 'nothing'])];
    return {
      ...{ tool: 'crosswalk', args: { from: id, to } },
      path: `/api/v1/crosswalk/resolve?${query({ from: `nist-800-53:${id}`, to })}`,
      whole: (got, rest) => [got.total, rest.paths.length],
      rows: (got, rest) => [
        got.paths.map(({ hops, path }: Json) => [hops, ...path]),
        rest.paths.map((each: Json) => [
          each.hops,
          ...each.controls.map((step: Json) => `${step.framework}:${step.identifier}`),
        ]),
      ],
    };
  },
  () => {
    const id = one(controls);
    const list = random(4) === 0 ? one(lists) : undefined;
    const stig = list === undefined ? maybe(one(stigs).slug) : undefined;
    const asked = { severity: maybe(one(severities)), stig, list };
    return {
      ...{ tool: 'rules_for_control', args: { control: id, ...asked } },
      path: `/api/v1/control-rules/nist-800-53/${encodeURIComponent(id)}?${query({ ...asked, limit: 50 })}`,
      whole: (got, rest) => [of(got, 'total', 'counts'), [rest.pagination.total, rest.counts]],
      rows: (got, rest) => [
        cites(got.rules),
        rest.stigs.flatMap((each: Json) => each.rules.map(citeOf(each.slug, each.version))),
      ],
    };
  },
  () => {
    const list = maybe(one(lists));
    const { slug } = one(stigs);
    const show = one(['uncovered', 'covered', 'all', 'outside'] as const);
    const asked = { baseline: one(['low', 'moderate', 'high', undefined]), rollup: maybe(true) };
    const fields = ['framework', 'revision', 'baseline', 'rollup', 'totals'];
    const rowsOf = ({ controls: all, outside }: Json): Json[] =>
      show === 'outside'
        ? outside
        : all.filter((each: Json) => show === 'all' || each.covered === (show === 'covered'));
    return {
      ...{ tool: 'coverage', args: { ...(list === undefined ? { stig: slug } : { list }), ...asked, show } },
      path: `/api/v1/${list === undefined ? `stigs/${slug}` : `lists/${list}`}/coverage?${query(asked)}`,
      whole: (got, rest) => [of(got, ...fields, 'total'), [...of(rest, ...fields), rowsOf(rest).length]],
      rows: (got, rest) => [
        cites(got.rows),
        rowsOf(rest).map(({ identifier }) => `nist-800-53@${rest.revision}#${identifier}`),
      ],
    };
  },
  () => {
    const { slug, versions } = one(stigs);
    const from = random(5) === 0 ? 'V77R7' : maybe(one(versions));
    const to = maybe(one(versions));
    return {
      ...{ tool: 'compare_releases', args: { stig: slug, from, to } },
      path: `/api/v1/stigs/${slug}/diff?${query({ from, to })}`,
      whole: (got, rest) => [
        of(got, 'summary', 'from', 'to'),
        [rest.summary, `${slug}@${rest.from.version}`, `${slug}@${rest.to.version}`],
      ],
      rows: (got, rest) => [
        cites(got.rules),
        [
          ...rest.added.map(citeOf(slug, rest.to.version)),
          ...rest.removed.map(citeOf(slug, rest.from.version)),
          ...[...rest.changed, ...rest.renumbered].map(citeOf(slug, rest.to.version)),
        ],
      ],
    };
  },
  () => {
    const list = maybe(one(lists));
    const fields = list === undefined ? ['name', 'stigCount'] : ['version', 'release', 'state'];
    const rowsOf = (from: Json) =>
      (from.lists ?? from.stigs).map((each: Json) => [each.slug ?? each.id, ...of(each, ...fields)]);
    return {
      ...{ tool: 'my_lists', args: { list } },
      path: list === undefined ? '/api/v1/lists' : `/api/v1/lists/${list}/stigs?limit=100`,
      whole: () => [null, null],
      rows: (got, rest) => [rowsOf(got), rowsOf(rest)],
    };
  },
];

test(`${questions} random questions have the same answers`, async () => {
  const seen: Record<string, number> = {};
  for (let at = 0; at < questions; at++) {
    const { tool, args, path, whole, rows } = one(kinds)();
    const caller = one(callers);
    const where = `${at} ${tool} ${JSON.stringify(args)}`;
    const [got, rest] = await Promise.all([
      callTool(t, tool, JSON.parse(JSON.stringify(args)), caller),
      ask(t, 'GET', path, caller),
    ]);
    const isFound = !got.isError && got.json.found;
    seen[`${tool} ${isFound}`] = (seen[`${tool} ${isFound}`] ?? 0) + 1;
    if (rest.status !== 200) {
      assert.not.ok(isFound, `${where}: ${rest.text}`);
      assert.ok(rest.status !== 404 || !got.isError, `${where}: ${got.text}`);
      continue;
    }
    assert.not.ok(got.isError, `${where}: ${got.text}`);
    if (!isFound) {
      assert.equal((rest.json.results ?? rest.json.paths ?? rest.json.stigs)?.length, 0, where);
      continue;
    }
    assert.equal(...whole(got.json, rest.json), where);
    // The first part has the first rows, in order.
    const [own, wanted] = rows(got.json, rest.json);
    assert.ok(own.length > 0 || wanted.length === 0, where);
    assert.equal(own, wanted.slice(0, own.length), where);
    // What it cites opens.
    const [cite] = at % 10 === 0 ? (/"cite":("(?:[^"\\]|\\.)*")/.exec(got.text)?.slice(1) ?? []) : [];
    if (cite === undefined) continue;
    const { json } = await t.get(`/api/v1/cite?ref=${encodeURIComponent(JSON.parse(cite))}`);
    assert.equal([json.holds, json.ref], [true, JSON.parse(cite)], where);
  }
  // Each kind was asked for what is there and for what is not.
  assert.ok(Object.keys(seen).length >= 14, JSON.stringify(seen));
});

test.run();
