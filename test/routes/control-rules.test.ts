import { readdirSync, readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { stigsAndControls } from '../support/controls.ts';
import { bruteForce, nodeOrder, readEdges, readRev5, toGraph } from '../support/crosswalk-oracle.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { referenceData, shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { noControl } from '../support/words.ts';
import { type ReadRule, readBenchmark, versionString } from '../support/xccdf-reader.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

const path = (framework: string, controlId: string, query = '') =>
  `/api/v1/control-rules/${framework}/${encodeURIComponent(controlId)}${query}`;

const samples = suite('the rules of a control: sample data');
let t: TestApp;

samples.before(async () => {
  t = await testApp([shipped('stigs'), shipped('controls'), shipped('mappings')]);
});
samples.after(() => t.db.close());

async function ask(framework: string, controlId: string, query = ''): Promise<Json> {
  const answer = await t.get(path(framework, controlId, query));
  assert.is(answer.status, 200, answer.text.slice(0, 200));
  return answer.json;
}

/** The rules of an answer as `slug V-id`. */
const names = ({ stigs }: Json): string[] =>
  stigs.flatMap((stig: Json) => stig.rules.map((rule: Json) => `${stig.slug} ${rule.groupId}`));

/** The current rules of the sample STIGs that cite a CCI, read from their files. */
const citing = (cci: string): string[] =>
  readdirSync(shipped('stigs'))
    .filter((name) => /V1R2|V2R3/.test(name))
    .sort()
    .flatMap((name) => {
      const benchmark = readBenchmark(readFileSync(shipped('stigs', name), 'utf8'));
      const slug = name.includes('Harbor') ? 'harbor_linux_3' : 'lantern_web_server_2';
      return benchmark.rules
        .filter((rule) => rule.ccis.includes(cci))
        .map((rule) => `${slug} ${rule.groupId}`);
    });

samples('a control of 800-53 gives the rules of its own CCIs, with the path', async () => {
  const json = await ask('nist-800-53', 'AC-2(1)');
  const [name] = citing('CCI-000015');
  assert.equal(json.control, {
    framework: 'nist-800-53',
    identifier: 'AC-2(1)',
    title: (await t.get('/api/v1/controls/nist-800-53/AC-2(1)')).json.title,
  });
  assert.equal(names(json), [name]);
  assert.equal(json.pagination, { page: 1, limit: 50, total: 1, totalPages: 1 });
  const [stig] = json.stigs;
  assert.equal([stig.slug, stig.version, stig.ruleCount], ['harbor_linux_3', 'V1R2', 1]);
  const [rule] = stig.rules;
  assert.is(rule.hops, 1);
  assert.equal(
    rule.paths.map((each: Json) => each.controls.map((node: Json) => `${node.framework}:${node.identifier}`)),
    [['nist-800-53:AC-2(1)', 'cci:CCI-000015']],
  );
  const resolved = await t.get('/api/v1/crosswalk/resolve?from=nist-800-53:AC-2(1)&to=cci&maxHops=1');
  assert.equal(rule.paths, resolved.json.paths);
});

samples('a base control does not stand for its enhancements', async () => {
  assert.not(names(await ask('nist-800-53', 'AC-2')).includes(citing('CCI-000015')[0]!));
});

samples('a CCI gives the rules that cite it, and stands for itself', async () => {
  const json = await ask('cci', 'cci-68');
  assert.equal(json.control, { framework: 'cci', identifier: 'CCI-000068', title: '' });
  assert.equal(names(json), citing('CCI-000068'));
  assert.is(json.pagination.total, 2);
  assert.equal(json.stigs[0].rules[0].paths, [
    { hops: 0, controls: [{ framework: 'cci', identifier: 'CCI-000068', status: 'auto' }] },
  ]);
});

samples('spellings and ids mean the same control', async () => {
  const expected = await ask('nist-800-53', 'AC-2(1)');
  const { id } = (await t.get('/api/v1/controls/nist-800-53/AC-2(1)')).json;
  for (const spelling of ['ac-2(1)', 'AC-2 (1)', 'AC-02(01)', 'ac-2.1', id, id.toUpperCase()])
    assert.equal(await ask('nist-800-53', spelling), expected, spelling);
});

samples('an unknown control or framework is 404', async () => {
  const cases: [string, string][] = [
    ['nist-800-53', 'AC-99'],
    ['nist-800-53', 'zz'],
    ['nist-800-53', '3.1.1'],
    ['nist-800-171', '3.01.1'],
    ['dod-8500', 'AC-2'],
    ['cci', 'CCI-999999'],
    ['cci', 'AC-2'],
    ['nist-800-53', 'x'.repeat(200)],
  ];
  for (const [framework, controlId] of cases)
    assertError(await t.get(path(framework, controlId)), 404, 'NOT_FOUND', noControl(controlId.slice(0, 64)));
  for (const framework of ['iso-27001', '__proto__'])
    assertError(await t.get(path(framework, 'A.5')), 404, 'NOT_FOUND', `Framework not found: ${framework}`);
});

samples('statuses and hops are those of the crosswalk', async () => {
  assert.equal((await ask('nist-800-171', '3.1.1', '?maxHops=1')).stigs, []);
  assert.equal((await ask('nist-800-171', '3.1.1', '?status=verified')).stigs, []);
  const two = await ask('nist-800-171', '3.1.1', '?maxHops=2&limit=100');
  const four = await ask('nist-800-171', '3.1.1', '?maxHops=4&limit=100');
  assert.ok(two.pagination.total > 0 && four.pagination.total >= two.pagination.total);
  assert.equal(
    await ask('nist-800-171', '3.1.1', '?limit=100'),
    two,
    'the nearest unless more are asked for',
  );
  for (const stig of two.stigs) for (const rule of stig.rules) assert.is(rule.hops, 2);
});

samples('a CCI that rules cite is known without a list of CCIs', async () => {
  const bare = await testApp([shipped('stigs')]);
  const { json } = await bare.get(path('cci', 'CCI-000068'));
  assert.is(json.pagination.total, 2);
  assert.is((await bare.get(path('cci', 'CCI-000001'))).status, 404);
  bare.db.close();
});

samples.run();

const real = suiteIf(referenceData, 'the rules of a control: real files');
if (real) {
  const app = await testApp(stigsAndControls);
  const { active } = readRev5();
  const catalogOrder = new Map(active.map((identifier, index) => [identifier, index]));
  const graph = toGraph(readEdges());

  /** The current rules in the order of answers: STIGs by title, then slug, rules in document order. */
  const rules: { slug: string; rule: ReadRule }[] = [];
  const byName = new Map<string, ReadRule[]>();
  for (const { text } of await benchmarkFiles()) {
    const benchmark = readBenchmark(text);
    byName.set(`${benchmark.id} ${versionString(benchmark)}`, benchmark.rules);
  }
  const stigs = [1, 2].map(
    async (page) => (await app.get(`/api/v1/stigs?limit=150&page=${page}`)).json.stigs,
  );
  for (const { slug, version } of (await Promise.all(stigs)).flat()) {
    const { benchmarkId } = (await app.get(`/api/v1/stigs/${slug}`)).json;
    for (const rule of byName.get(`${benchmarkId} ${version}`)!) rules.push({ slug, rule });
  }

  /** What a control reaches, by brute force over the publishers' files: rules in order with their shortest paths. */
  function expected(framework: string, identifier: string, maxHops: number): Json[] {
    const admitted = new Set(['auto', 'verified']);
    const order = (name: string) => nodeOrder(name, catalogOrder);
    const paths = bruteForce(graph, `${framework}:${identifier}`, 'cci', maxHops, admitted, order);
    return rules.flatMap(({ slug, rule }) => {
      const own = paths.filter((each) => rule.ccis.includes(each.controls.at(-1)!.identifier));
      if (own.length === 0) return [];
      const hops = Math.min(...own.map((each) => each.hops));
      const shortest = own.filter((each) => each.hops === hops).map((each) => JSON.stringify(each));
      return [{ name: `${slug} ${rule.ruleId}`, hops, paths: shortest.sort() }];
    });
  }

  async function answered(framework: string, identifier: string, query = ''): Promise<Json[]> {
    const found: Json[] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer = await app.get(path(framework, identifier, `?limit=100&page=${page}${query}`));
      pages = answer.json.pagination.totalPages;
      for (const { slug, rules: list } of answer.json.stigs)
        for (const rule of list)
          found.push({
            name: `${slug} ${rule.ruleId}`,
            hops: rule.hops,
            paths: rule.paths.map((each: Json) => JSON.stringify(each)).sort(),
          });
    }
    return found;
  }

  real('every 40th control, and CM-6, reaches what brute force over the source files reaches', async () => {
    let reached = 0;
    const controls = [...graph.keys()].filter((name) => !name.startsWith('cci:'));
    for (const name of controls.filter((each, index) => index % 40 === 0 || each.endsWith(':CM-6'))) {
      const colon = name.indexOf(':');
      const [framework, identifier] = [name.slice(0, colon), name.slice(colon + 1)];
      const found = await answered(framework, identifier);
      // The nearest CCIs: of the real frameworks, none is without any at two hops.
      assert.equal(found, expected(framework, identifier, framework === 'nist-800-53' ? 1 : 2), name);
      const all = await answered(framework, identifier, '&maxHops=4');
      assert.equal(all, expected(framework, identifier, 4), name);
      reached += found.length;
    }
    assert.ok(reached > 500, `${reached} rules`);
    assert.is((await answered('nist-800-53', 'CM-6')).length, 538);
  });

  real.after(() => app.db.close());
  real.run();
}
