import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { everything } from '../support/prepared.ts';
import { callTool } from '../support/programs-client.ts';
import { rowsOf } from '../support/tables.ts';

// Tools and REST agree to the field, over 1,000 random questions of three callers of two organizations (rule D41.3).
const test = suite('Tools and REST');
const questions = 1000;
let t: TestApp;
let callers: Caller[];
const lists: string[] = [];
/** What questions are made of, from REST alone. */
let rules: (Record<'slug' | 'version' | 'groupId' | 'ruleId' | 'ruleVersion', string> & {
  words: string[];
})[];
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
  const subjects = [
    ['alice', 'red'],
    ['bob', 'red'],
    ['carol', 'blue'],
  ] as const;
  callers = await Promise.all(
    subjects.map(([sub, org]) => userCaller(t, { sub, org, email: `${sub}@example.org` })),
  );
  const all = (await t.get('/api/v1/stigs?limit=150')).json.stigs as { slug: string }[];
  stigs = [];
  rules = [];
  for (const { slug } of all) {
    const { versions } = (await t.get(`/api/v1/stigs/${slug}/versions`)).json;
    stigs.push({ slug, versions: versions.map((each: Json) => each.version) });
    for (const { version } of versions) {
      const { findings } = (await t.get(`/api/v1/stigs/${slug}/controls?version=${version}&limit=40`)).json;
      for (const { groupId, ruleId, ruleVersion, ruleTitle } of findings) {
        const words = ruleTitle.match(/[A-Za-z]{4,}/g) ?? ['audit'];
        rules.push({ slug, version, groupId, ruleId, ruleVersion, words });
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

const query = (fields: Record<string, string | number | boolean | undefined>) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)] as [string, string]],
    ),
  ).toString();
const brief = (text: string, length = 300) =>
  text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
const row = (slug: string, version: string, rule: Json) => ({
  cite: `${slug}@${version}#${rule.ruleId}`,
  groupId: rule.groupId,
  ruleVersion: rule.ruleVersion,
  severity: rule.severity,
  ruleTitle: brief(rule.ruleTitle),
});
const controls = ['AC-2', 'AC-2(1)', 'CM-6', 'AU-12', 'SC-13', 'IA-5(1)', 'ZZ-1', 'AC-99', 'SI-2'] as const;
const severities = ['high', 'medium', 'low'] as const;
const baselines = ['low', 'moderate', 'high', undefined] as const;

/** Asserts that a first part has the first rows of REST, in order, and the rest of them to come. */
function sameRows(got: Json, wanted: Json[], total: number, where: string): void {
  assert.ok(got.length > 0 || wanted.length === 0, where);
  assert.equal(got, wanted.slice(0, got.length), where);
  assert.ok(total >= got.length, where);
}

interface Question {
  tool: string;
  args: Record<string, unknown>;
  path: string;
  same(got: Json, rest: Json, where: string): void | Promise<void>;
}

const automations = new Map<string, Promise<{ totals: Json; states: Map<string, [string, string]> }>>();

/** What REST says that a machine can check of a release. */
function automationOf(slug: string, version: string) {
  const read = async () => {
    const { totals, rules: of } = (await t.get(`/api/v1/stigs/${slug}/automation?version=${version}`)).json;
    const states = of.map((each: Json) => [each.ruleId, [each.state, each.content]]);
    return { totals, states: new Map<string, [string, string]>(states) };
  };
  const key = `${slug} ${version}`;
  const known = automations.get(key) ?? read();
  automations.set(key, known);
  return known;
}

/** What a control asks, a line for each: as REST has it. */
function assessmentOf({ objectives, parameters, methods }: Json): Record<string, string> {
  const lines = (of: Json[], line: (each: Json) => string[]) =>
    of.map((each) => line(each).filter(Boolean).join(' | ')).join('\n');
  return {
    objectives: lines(objectives, ({ id, label, context, text, ccis }) => [
      ...[label || id, context, text],
      ccis
        .map((each: Json) => each.cci + (each.relation === 'equal' ? '' : ` (${each.relation})`))
        .join(', '),
    ]),
    parameters: lines(parameters, ({ id, label, text, values }) => [
      ...[label || id, text],
      ...values.map((each: Json) => `${each.source}: ${each.value}`),
    ]),
    methods: lines(methods, ({ method, objects }) => [method, objects.join('; ')]),
  };
}

function findQuestion(): Question {
  const rule = one(rules);
  const list = random(4) === 0 ? one(lists) : undefined;
  const args = {
    q: one([
      one(rule.words),
      `${one(rule.words)} ${one(rule.words)}`,
      rule.groupId,
      rule.ruleVersion,
      'zxqv',
    ]),
    ...{ severity: maybe(one(severities)), stig: list === undefined ? maybe(rule.slug) : undefined, list },
  };
  return {
    ...{ tool: 'find', args, path: `/api/v1/search?${query({ ...args, limit: 50 })}` },
    same(got, rest, where) {
      const [unknown, known] = [true, false].map((is) =>
        rest.answers.filter((each: Json) => (each.state === 'unknown') === is),
      );
      if (!got.found) {
        assert.is(got.reason, unknown.length > 0 ? 'unknown_id' : 'no_match', where);
        return assert.equal([rest.results, known, rest.stigs], [[], [], undefined], where);
      }
      assert.equal(
        [got.total, got.exact, got.relaxed, got.counts],
        [rest.pagination.total, rest.exact, rest.relaxed, rest.counts.severity],
        where,
      );
      for (const field of ['dropped', 'narrowedTo', 'suggestions'])
        assert.equal(got[field] ?? [], rest[field], `${where} ${field}`);
      const pins = (rest.pinned ?? []).map((each: Json) => `${each.slug}@${each.version}`);
      assert.equal(got.pinned ?? [], pins, where);
      const rows = rest.results.map((each: Json) => ({
        ...row(each.slug, each.version, each),
        ...(each.snippet.field !== 'title' && { source: { snippet: brief(each.snippet.text, 240) } }),
      }));
      sameRows(got.rules, rows, rest.pagination.total, where);
      const ids = (from: Json[]) => from.map(({ asked, kind, id, state }) => [asked, kind, id, state]);
      assert.equal(ids(got.answers ?? []), ids(known), where);
      assert.equal(
        got.unknown ?? [],
        unknown.map((each: Json) => each.id),
        where,
      );
    },
  };
}

function ruleQuestion(): Question {
  const rule = one(rules);
  const { slug, version, ruleId } = rule;
  const id = `${slug}@${version}#${ruleId}`;
  return {
    ...{
      tool: 'get_rule',
      args: { id, detail: maybe('full') },
      path: `/api/v1/stigs/${slug}?version=${version}`,
    },
    async same(got, rest, where) {
      const own = rest.findings.find((each: Json) => each.ruleId === ruleId);
      assert.equal([got.found, got.cite, got.version, got.slug], [true, id, version, slug], where);
      for (const field of ['groupId', 'ruleId', 'ruleVersion', 'severity', 'ruleIdents'])
        assert.equal(got[field], own[field], `${where} ${field}`);
      assert.is(got.ruleTitle, brief(own.ruleTitle), where);
      const { states } = await automationOf(slug, version);
      assert.equal([got.automation, (got.automatedBy ?? []).join(';')], states.get(ruleId), where);
      for (const [field, text] of Object.entries<string>(got.source))
        assert.ok(own[field].startsWith(text), `${where} ${field}`);
      if (!got.truncated)
        for (const field of ['checkContent', 'fixText', 'vulnDiscussion'])
          assert.is(got.source[field] ?? '', own[field], `${where} ${field}`);
    },
  };
}

function controlQuestion(): Question {
  const others = rowsOf('nist-800-171 | 3.1.1 \n nist-800-171 | 03.01.01 \n dod-8500 | ECCT-1');
  const [framework, id] = one([...controls.map((each) => ['nist-800-53', each]), ...others]) as [
    string,
    string,
  ];
  return {
    ...{
      tool: 'get_control',
      args: { id, framework: maybe(framework) },
      path: `/api/v1/controls/${framework}/${encodeURIComponent(id)}`,
    },
    same(got, rest, where) {
      const fields = 'identifier version edition family status baselines requirementType macLevels withdrawn';
      for (const field of fields.split(' ')) assert.equal(got[field], rest[field], `${where} ${field}`);
      const { statement, guidance, threat = '', resources = '' } = rest;
      const texts: Record<string, string> = { statement, guidance, threat, resources, ...assessmentOf(rest) };
      for (const [field, text] of Object.entries<string>(got.source))
        assert.ok(texts[field]!.startsWith(text), `${where} ${field}`);
      if (!got.truncated)
        for (const [field, text] of Object.entries(texts)) assert.is(got.source[field] ?? '', text, where);
      assert.is(got.cite, `${framework}@${rest.version}#${rest.identifier}`, where);
    },
  };
}

function stigQuestion(): Question {
  const { slug, versions } = one(stigs);
  const version = random(5) === 0 ? 'V77R7' : maybe(one(versions));
  const severity = maybe(one(severities));
  return {
    ...{ tool: 'get_stig', args: { stig: slug, version, severity } },
    path: `/api/v1/stigs/${slug}/controls?${query({ version, severity, limit: 100 })}`,
    async same(got, rest, where) {
      const { totals, states } = await automationOf(slug, rest.stig.version);
      assert.equal(got.automation, totals, where);
      for (const field of ['slug', 'version', 'status', 'releaseDate', 'findingCount'])
        assert.equal(got[field], rest.stig[field], `${where} ${field}`);
      assert.is(got.total, rest.pagination.total, where);
      sameRows(
        got.rules,
        rest.findings.map((each: Json) => ({
          ...row(slug, rest.stig.version, each),
          automation: states.get(each.ruleId)![0],
        })),
        got.total,
        where,
      );
    },
  };
}

function crosswalkQuestion(): Question {
  const id = one(controls);
  const to = one(['nist-800-171', 'dod-8500', 'cci', 'nothing']);
  return {
    ...{
      tool: 'crosswalk',
      args: { from: id, to },
      path: `/api/v1/crosswalk/resolve?${query({ from: `nist-800-53:${id}`, to })}`,
    },
    same(got, rest, where) {
      if (!got.found) return assert.equal(rest.paths, [], where);
      assert.is(got.total, rest.paths.length, where);
      const rows = rest.paths.map(({ hops, controls: steps }: Json) => ({
        ...{
          hops,
          status: ['rejected', 'auto', 'verified'].find((each) =>
            steps.slice(1).some((step: { status: string }) => step.status === each),
          ),
          path: steps.map((each: Json) => `${each.framework}:${each.identifier}`),
        },
      }));
      const own = got.paths.map(({ cite, ...each }: Json) => {
        assert.match(cite, new RegExp(`^${to}@.+#.+$`), where);
        return each;
      });
      sameRows(own, rows, got.total, where);
    },
  };
}

function rulesQuestion(): Question {
  const id = one(controls);
  const list = random(4) === 0 ? one(lists) : undefined;
  const asked = {
    severity: maybe(one(severities)),
    stig: list === undefined ? maybe(one(stigs).slug) : undefined,
    list,
  };
  return {
    ...{ tool: 'rules_for_control', args: { control: id, ...asked } },
    path: `/api/v1/control-rules/nist-800-53/${encodeURIComponent(id)}?${query({ ...asked, limit: 50 })}`,
    same(got, rest, where) {
      if (!got.found) return assert.is(rest.pagination.total, 0, where);
      assert.equal([got.total, got.counts], [rest.pagination.total, rest.counts], where);
      const rows = rest.stigs.flatMap(({ slug, version, rules: own }: Json) =>
        own.map((each: Json) => ({
          ...row(slug, version, each),
          ...{ hops: each.hops, automation: each.automation, ruleIdents: each.ruleIdents },
        })),
      );
      sameRows(got.rules, rows, got.total, where);
    },
  };
}

function coverageQuestion(): Question {
  const list = random(2) === 0 ? one(lists) : undefined;
  const { slug } = one(stigs);
  const show = one(['uncovered', 'covered', 'all', 'outside'] as const);
  const asked = { baseline: one(baselines), rollup: maybe(true) };
  const of = list === undefined ? `stigs/${slug}` : `lists/${list}`;
  return {
    ...{ tool: 'coverage', args: { ...(list === undefined ? { stig: slug } : { list }), ...asked, show } },
    path: `/api/v1/${of}/coverage?${query(asked)}`,
    same(got, rest, where) {
      for (const field of ['framework', 'revision', 'baseline', 'rollup', 'totals'])
        assert.equal(got[field], rest[field], `${where} ${field}`);
      const all =
        show === 'outside'
          ? rest.outside
          : rest.controls.filter((each: Json) => show === 'all' || each.covered === (show === 'covered'));
      const rows = all.map(({ identifier, title, rules: counts }: Json) => ({
        ...{ cite: `nist-800-53@${rest.revision}#${identifier}`, title: brief(title) },
        ...(show === 'uncovered' ? {} : { rules: counts }),
      }));
      sameRows(got.rows, rows, got.total, where);
      assert.is(got.total, rows.length, where);
    },
  };
}

function diffQuestion(): Question {
  const { slug, versions } = one(stigs);
  const from = random(5) === 0 ? 'V77R7' : maybe(one(versions));
  const to = maybe(one(versions));
  return {
    ...{
      tool: 'compare_releases',
      args: { stig: slug, from, to },
      path: `/api/v1/stigs/${slug}/diff?${query({ from, to })}`,
    },
    same(got, rest, where) {
      assert.equal(
        [got.summary, got.from, got.to],
        [rest.summary, `${slug}@${rest.from.version}`, `${slug}@${rest.to.version}`],
        where,
      );
      const heading = (version: string) => (each: Json) => row(slug, version, each);
      const kinds = [
        ...rest.added.map(heading(rest.to.version)),
        ...rest.removed.map(heading(rest.from.version)),
        ...[...rest.changed, ...rest.renumbered].map((each: Json) =>
          row(slug, rest.to.version, { ...each, ...each.new }),
        ),
      ];
      const own = got.rules.map(
        ({ kind: _, class: _1, classes: _2, fields: _3, was: _4, ...each }: Json) => each,
      );
      sameRows(own, kinds, got.total, where);
      assert.is(got.total, kinds.length, where);
    },
  };
}

function listQuestion(): Question {
  const list = maybe(one(lists));
  const path = list === undefined ? '/api/v1/lists' : `/api/v1/lists/${list}/stigs?limit=100`;
  return {
    ...{ tool: 'my_lists', args: { list }, path },
    same(got, rest, where) {
      const fields =
        list === undefined
          ? ['id', 'name', 'visibility', 'stigCount', 'updatedAt']
          : ['slug', 'version', 'release', 'newest', 'state', 'findingCount', 'catI', 'catII', 'catIII'];
      const own = (from: Json[]) =>
        from.map((each) => fields.map((field) => (field === 'slug' ? (each.slug ?? each.id) : each[field])));
      assert.equal(own(got.lists ?? got.stigs), own(rest.lists ?? rest.stigs), where);
    },
  };
}

const kinds = [
  ...[findQuestion, findQuestion, ruleQuestion, ruleQuestion, controlQuestion, stigQuestion],
  ...[crosswalkQuestion, rulesQuestion, rulesQuestion, coverageQuestion, diffQuestion, listQuestion],
];

test(`${questions} random questions have the same answers`, async () => {
  const seen: Record<string, number> = {};
  for (let at = 0; at < questions; at++) {
    const { tool, args, path, same } = one(kinds)();
    const caller = one(callers);
    const where = `${at} ${tool} ${JSON.stringify(args)}`;
    const [got, rest] = await Promise.all([
      callTool(t, tool, JSON.parse(JSON.stringify(args)), caller),
      ask(t, 'GET', path, caller),
    ]);
    const isFound = !got.isError && got.json.found;
    seen[`${tool} ${isFound}`] = (seen[`${tool} ${isFound}`] ?? 0) + 1;
    if (rest.status === 200) {
      assert.not.ok(got.isError, `${where}: ${got.text}`);
      await same(got.json, rest.json, where);
      // What it cites opens.
      const [cite] = at % 10 === 0 ? (/"cite":("(?:[^"\\]|\\.)*")/.exec(got.text)?.slice(1) ?? []) : [];
      if (cite === undefined) continue;
      const { json } = await t.get(`/api/v1/cite?ref=${encodeURIComponent(JSON.parse(cite))}`);
      assert.equal([json.holds, json.ref], [true, JSON.parse(cite)], where);
    } else {
      assert.not.ok(isFound, `${where}: ${rest.text}`);
      assert.ok(rest.status !== 404 || !got.isError, `${where}: ${got.text}`);
    }
  }
  process.stdout.write(`${JSON.stringify(seen)} `);
  // Each kind was asked for what is there and for what is not.
  assert.ok(Object.keys(seen).length >= 14, JSON.stringify(seen));
});

test.run();
