import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { createMappingDecisions } from '../../src/catalog/crosswalk/decisions.ts';
import { createExplainService } from '../../src/catalog/crosswalk/explain.ts';
import { inOrder, type MappingStatus, statuses } from '../../src/catalog/crosswalk/graph.ts';
import { type CrosswalkService, createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { dumpGraph } from '../support/control-dump.ts';
import { cciList, controlsCsv, mappingsCsv, oscalCatalog } from '../support/control-sources.ts';
import { bruteForce, type OracleEdge, toGraph } from '../support/crosswalk-oracle.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';

const test = suite('decisions over the crosswalk');

const four = [1, 2, 3, 4];
const order = ['nist-800-53', 'cci', 'plant', 'site'];
const names = [
  ...four.map((each) => `nist-800-53:AC-${each}`),
  ...four.map((each) => `cci:CCI-00000${each}`),
  ...four.map((each) => `plant:P-${each}`),
  ...four.map((each) => `site:S-${each}`),
];
/** Why there is no path is asked of a few: it takes several searches. */
const explained = new Set(names.filter((_, index) => index % 4 === 1));
const rank = (name: string) => `${order.indexOf(name.split(':')[0]!)} ${name}`;
const nodeOf = (name: string) => {
  const [framework, identifier] = name.split(':');
  return { framework: framework!, identifier: identifier! };
};
const nameOf = (ends: [string, string]) => [...ends].sort().join(' ');

/** Two of the controls, of different frameworks. */
const pair = (from = names, to = names) =>
  fc
    .tuple(fc.constantFrom(...from), fc.constantFrom(...to))
    .filter(([a, b]) => a.split(':')[0] !== b.split(':')[0]);
const ofFrameworks = (...keys: string[]) => names.filter((name) => keys.includes(name.split(':')[0]!));

/** What a few sources state, and what an operator says then: a status, or that a word is taken back. */
const cases = fc.record({
  ccis: fc.uniqueArray(
    fc.tuple(fc.constantFrom(...four), fc.constantFrom(...four), fc.constantFrom('4', '5')),
    {
      selector: ([cci]) => cci,
      maxLength: 4,
    },
  ),
  pairs: fc.uniqueArray(pair(ofFrameworks('plant', 'site'), ofFrameworks('nist-800-53', 'plant')), {
    selector: nameOf,
    maxLength: 7,
  }),
  words: fc.array(fc.tuple(pair(), fc.constantFrom(...statuses, null)), { minLength: 1, maxLength: 7 }),
});

const own = (framework: string, stem: string) =>
  controlsCsv(four.map((each) => ({ framework, version: '2026', identifier: `${stem}-${each}` })));
const version = (name: string) => (name.startsWith('nist') ? 'Rev 5' : '2026');
const row = (name: string) => [nodeOf(name).framework, version(name), nodeOf(name).identifier];

test('after each of any decisions the answers are those of a graph made with them, and the catalog is as it was', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ ccis, pairs, words }) => {
      const db = emptyCatalog();
      const edges = new Map<string, OracleEdge>();
      for (const [cci, control, revision] of ccis) {
        const ends: [string, string] = [`cci:CCI-00000${cci}`, `nist-800-53:AC-${control}`];
        edges.set(nameOf(ends), { ends, status: revision === '5' ? 'verified' : 'auto' });
      }
      for (const ends of pairs) edges.set(nameOf(ends), { ends, status: 'auto' });
      await importTexts(db, [
        oscalCatalog(four.map((each) => ({ id: `ac-${each}` }))),
        cciList(
          '2026-01-01',
          four.map((each) => [
            each,
            ccis.filter(([cci]) => cci === each).map(([, control, revision]) => [revision, `AC-${control}`]),
          ]),
        ),
        own('plant', 'P'),
        own('site', 'S'),
        ...(pairs.length === 0 ? [] : [mappingsCsv(pairs.map(([a, b]) => [...row(a), ...row(b)]))]),
      ]);
      const before = dumpGraph(db);
      const decisions = createMappingDecisions(db);
      const service = createCrosswalkService(db, () => 0);
      const explainer = createExplainService(db, service);
      const byWalking = createExplainService(db, walking(service));
      const decided = new Map<string, { ends: [string, string]; status: MappingStatus }>();
      for (const [ends, status] of words) {
        const nodes = inOrder(nodeOf(ends[0]), nodeOf(ends[1]));
        await db.write(() => {
          if (status === null) decisions.remove(nodes);
          else decisions.set(nodes, { status, reason: 'r', decidedAt: '2026-01-01' });
        });
        if (status === null) decided.delete(nameOf(ends));
        else decided.set(nameOf(ends), { ends, status });
        const all = new Map(edges);
        for (const [name, word] of decided)
          if (edges.has(name) || word.status !== 'rejected') all.set(name, word);
        const graph = toGraph([...all.values()]);
        for (const source of names)
          for (const to of order)
            for (const maxHops of [1, 2, 4, 5])
              for (const admitted of [['auto', 'verified'], ['rejected', 'auto'], [...statuses]] as const) {
                const question = { ...nodeOf(source), to, maxHops, statuses: new Set(admitted) };
                const expected = bruteForce(graph, source, to, maxHops, new Set(admitted), rank);
                const { paths, truncated } = service.resolve(question);
                const where = `${source} ${to} ${maxHops} ${admitted}`;
                assert.equal([paths, truncated], [expected, false], where);
                const ends = [...new Set(expected.map((path) => path.controls.at(-1)!.identifier))].sort();
                assert.equal(service.endsOf(question), ends, where);
                if (expected.length > 0 || maxHops !== 2 || !explained.has(source)) continue;
                assert.equal(explainer.whyNot(question), byWalking.whyNot(question), where);
              }
        for (const [name, { ends, status }] of all) {
          const [from, to] = ends;
          const asked = {
            ...nodeOf(from),
            to: nodeOf(to).framework,
            maxHops: 1,
            statuses: new Set([status]),
          };
          for (const { controls } of service.resolve(asked).paths.map(explainer.withEvidence())) {
            if (controls[1]!.identifier !== nodeOf(to).identifier) continue;
            const evidence = controls[1]!.evidence!;
            assert.is(evidence.length, 1, name);
            assert.is('own' in evidence[0]!, !edges.has(name), name);
            assert.is(evidence[0]!.decision?.status, decided.get(name)?.status, name);
          }
        }
        assert.equal(dumpGraph(db), before);
      }
      db.close();
    }),
    { numRuns: 8 },
  );
});

/** The service with the ends of paths found by walking all of them. */
const walking = (service: CrosswalkService): CrosswalkService => ({
  ...service,
  endsOf: (question) => service.resolve(question).paths.map(({ controls }) => controls.at(-1)!.identifier),
});

test.run();
