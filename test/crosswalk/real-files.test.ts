import * as assert from 'uvu/assert';
import { type ChainedCci, createCciService } from '../../src/catalog/crosswalk/cci.ts';
import { cciQuestion, createCrosswalkService, defaultStatuses } from '../../src/catalog/crosswalk/queries.ts';
import { type Answer, testApp } from '../support/app.ts';
import {
  bruteForce,
  controlsIn,
  nodeOrder,
  type OracleGraph,
  readCcis,
  readEdges,
  readRev5,
  toGraph,
} from '../support/crosswalk-oracle.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';

const targets = ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci'];
const both = new Set(['auto', 'verified']);

const shippedFacts = suite('the crosswalk of the shipped facts');

shippedFacts('answers from the first start on, shortest paths first', async () => {
  const t = await testApp([shipped('controls'), shipped('mappings')]);
  const answer = await t.get('/api/v1/crosswalk/resolve?from=cci:CCI-000015&to=nist-800-171&maxHops=2');
  assert.equal(answer.json.paths, []);
  const { paths } = (
    await t.get('/api/v1/crosswalk/resolve?from=nist-800-171:3.1.1&to=nist-800-53&maxHops=1')
  ).json;
  const ends = paths.map((path: { controls: { identifier: string; status: string }[] }) => path.controls[1]);
  assert.equal(
    ends.map(({ identifier, status }: { identifier: string; status: string }) => `${identifier} ${status}`),
    ['AC-2 auto', 'AC-3 auto', 'AC-17 auto'],
  );
});

shippedFacts('are those of the list of 2025: pinned to the former list nothing is found', async () => {
  const t = await testApp([shipped('controls'), shipped('mappings')]);
  const found = async (from: string, version: string) => {
    const query = new URLSearchParams({ from, to: 'nist-800-53', version });
    return (await t.get(`/api/v1/crosswalk/resolve?${query}`)).json.paths.length as number;
  };
  for (const cci of ['cci:CCI-000015', 'cci:CCI-000366', 'cci:CCI-002523']) {
    assert.is(await found(cci, '2022-03-09'), 0, cci);
    assert.ok((await found(cci, '2025-01-23')) > 0, cci);
  }
  // Both are new deprecations of that list, and lead nowhere.
  for (const cci of ['CCI-003658', 'CCI-004692']) {
    assert.is(await found(`cci:${cci}`, '2025-01-23'), 0);
    const { json } = await t.get(`/api/v1/search?q=${cci}`);
    assert.is(json.answers[0].state, 'deprecated');
  }
});

shippedFacts('lead from each CCI to the controls at which its paths of one hop end', async () => {
  const { db } = await testApp([shipped('controls'), shipped('mappings')]);
  const crosswalk = createCrosswalkService(db);
  const { chain } = createCciService(db, crosswalk);
  let several = 0;
  for (let number = 0; number < 6000; number++) {
    const identifier = `CCI-${String(number).padStart(6, '0')}`;
    const { paths } = crosswalk.resolve({ ...cciQuestion, identifier, maxHops: 1 });
    const ends = [...new Set(paths.map(({ controls }) => controls.at(-1)!.identifier))];
    const [{ controls }] = chain([identifier.replace('CCI-', 'cci')]) as [ChainedCci];
    assert.equal(
      controls.map((control) => control.identifier),
      ends,
      identifier,
    );
    if (ends.length > 1) several++;
  }
  assert.is(several, 2);
});

shippedFacts.run();

const test = suiteIf(referenceData, 'the crosswalk of the real files');
if (test) {
  const { db, get, send } = await testApp(
    ['oscal', 'sp800-171', 'dod-8500', 'cci', 'cci-2025-01-23'].map((folder) => reference(folder)),
  );
  const graph: OracleGraph = toGraph(readEdges());
  const rev5 = readRev5();
  const catalogOrder = new Map(rev5.active.map((identifier, index) => [identifier, index]));
  const order = (name: string) => nodeOrder(name, catalogOrder);
  const url = (from: string, to: string, rest = '') =>
    `/api/v1/crosswalk/resolve?from=${encodeURIComponent(from)}&to=${to}${rest}`;

  test('the graph has the nodes and edges that the decisions state', () => {
    assert.is(graph.size, 5439);
    assert.is(db.sqlite.prepare('SELECT count(*) FROM crosswalk_nodes').pluck().get(), 5439);
    assert.is(db.sqlite.prepare('SELECT count(*) FROM crosswalk_edges').pluck().get(), 4889);
    assert.is(db.sqlite.prepare('SELECT count(*) FROM crosswalk_paths').pluck().get(), 362_750);
  });

  test('every tenth source has the paths of brute force up to 4 hops, in the same order', async () => {
    const { resolve } = createCrosswalkService(db);
    const found = (question: Parameters<typeof resolve>[0]) => JSON.stringify(resolve(question).paths);
    const sources = [...graph.keys()].filter((_, index) => index % 10 === 0);
    for (const [index, source] of sources.entries()) {
      const colon = source.indexOf(':');
      const [framework, identifier] = [source.slice(0, colon), source.slice(colon + 1)];
      for (const to of targets) {
        const expected = bruteForce(graph, source, to, 4, both, order);
        const question = { framework, identifier, to, statuses: defaultStatuses, maxHops: 4 };
        assert.is(found(question), JSON.stringify(expected), `${source} -> ${to}`);
        if (index % 6 > 0) continue;
        const answer = (await get(url(source, to))).json;
        assert.equal(answer.from, { framework, identifier, version: null });
        assert.equal(answer.paths, expected, `${source} -> ${to}`);
      }
    }
  });

  test('fewer hops and single statuses give what brute force gives', async () => {
    const sources = [...graph.keys()].filter((_, index) => index % 211 === 0);
    for (const source of sources) {
      for (const to of targets) {
        for (const maxHops of [1, 2, 3]) {
          const answer = await get(url(source, to, `&maxHops=${maxHops}`));
          assert.equal(answer.json.paths, bruteForce(graph, source, to, maxHops, both, order));
        }
        for (const status of ['auto', 'verified', 'rejected']) {
          const answer = await get(url(source, to, `&status=${status}`));
          assert.equal(answer.json.paths, bruteForce(graph, source, to, 4, new Set([status]), order));
        }
      }
    }
  });

  test('deeper questions give what brute force gives, on a sample', async () => {
    const sources = ['nist-800-171:03.15.01', 'dod-8500:ECCT-1', 'nist-800-53:SC-13'];
    for (const source of sources) {
      for (const to of ['nist-800-171', 'dod-8500', 'nist-800-53']) {
        for (const maxHops of [5, 7]) {
          const answer = await get(url(source, to, `&maxHops=${maxHops}`));
          const expected = bruteForce(graph, source, to, maxHops, both, order);
          assert.is(
            answer.json.truncated,
            expected.length > 10_000 ? true : undefined,
            `${source} -> ${to} in ${maxHops}`,
          );
          assert.equal(answer.json.paths, expected.slice(0, 10_000), `${source} -> ${to} in ${maxHops}`);
        }
      }
    }
  });

  test('a million hops from the densest source are cut, shortest paths first, and say so', async () => {
    const dense = [...graph.keys()].reduce((a, b) => (graph.get(a)!.length >= graph.get(b)!.length ? a : b));
    const { truncated, paths } = (await get(url(dense, 'cci', '&maxHops=1000000'))).json;
    assert.ok(truncated === true && paths.length > 0 && paths.length <= 10_000);
    const hops: number[] = paths.map((path: { hops: number }) => path.hops);
    assert.equal(hops, hops.toSorted());
    const stored = (await get(url(dense, 'cci'))).json.paths;
    assert.equal(paths.slice(0, stored.length), stored);
  });

  test('the batch CCI answer of all CCIs equals an independent derivation', async () => {
    const ccis = readCcis();
    assert.is(ccis.length, 5137);
    assert.is(ccis.filter((cci) => cci.references.some(([version]) => version === '5')).length, 3836);
    const active = new Set(rev5.active);
    const answered: Record<string, string[]> = {};
    for (let start = 0; start < ccis.length; start += 250) {
      const ids = ccis.slice(start, start + 250).map((cci) => cci.id);
      const answer: Answer = await send('POST', '/api/v1/crosswalk/resolve/batch', { ccis: ids });
      assert.equal(Object.keys(answer.json), ids);
      Object.assign(answered, answer.json);
    }
    for (const cci of ccis) {
      const of = (version: string) =>
        cci.references.filter((each) => each[0] === version).flatMap((each) => controlsIn(each[1]));
      const hasRev5 = cci.references.some(([version]) => version === '5');
      const expected = cci.deprecated ? [] : of(hasRev5 ? '5' : '4').filter((control) => active.has(control));
      const sorted = [...new Set(expected)].sort((a, b) => catalogOrder.get(a)! - catalogOrder.get(b)!);
      assert.equal(answered[cci.id], sorted, cci.id);
    }
    assert.equal(answered['CCI-002523'], ['SC-37', 'SC-37(1)']);
    assert.equal(answered['CCI-000366'], ['CM-6']);
  });

  test.run();
}
