import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { compareVersions, versionKey, withoutEndingZeros } from '../../src/catalog/controls/frameworks.ts';
import {
  createGraph,
  endsOfPaths,
  type Graph,
  type GraphNode,
  type LinkedNode,
  type MappingStatus,
  type NamedEdge,
  type Neighbor,
  statuses,
  walkPaths,
} from '../../src/catalog/crosswalk/graph.ts';
import { suite } from '../support/harness.ts';

const test = suite('the crosswalk graph');
const keys = ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci'];

/** A random graph of up to 12 nodes in four frameworks, with random statuses; ids in node order. */
const graphs = fc
  .record({
    sizes: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 4, maxLength: 4 }),
    links: fc.array(fc.tuple(fc.nat(15), fc.nat(15), fc.constantFrom(...statuses)), { maxLength: 26 }),
  })
  .map(({ sizes, links }) => {
    const nodes = keys.flatMap((framework, index) =>
      Array.from({ length: sizes[index]! }, (_, n): GraphNode => ({ framework, identifier: `N${n}` })),
    );
    const edges = new Map<string, NamedEdge>();
    for (const [x, y, status] of nodes.length === 0 ? [] : links) {
      const [a, b] = [x % nodes.length, y % nodes.length].sort((left, right) => left - right) as [
        number,
        number,
      ];
      if (a !== b) edges.set(`${a} ${b}`, { a: nodes[a]!, b: nodes[b]!, status });
    }
    return [...edges.values()];
  });

const walkOf = (
  source: LinkedNode,
  to: string,
  maxHops: number,
  wanted: readonly MappingStatus[] = statuses,
) => {
  return { source, first: source.neighbors, to, maxHops, statuses: new Set(wanted) };
};

/** Walks to every end within six hops with no bound but the number of paths. */
function walked(graph: Graph, source: LinkedNode, to: string, most = 1e9) {
  const paths: string[][] = [];
  const take = (path: Neighbor[]) =>
    paths.length < most && paths.push(path.map(({ node, status }) => `${status} ${node.id}`)) > 0;
  const isWhole = walkPaths(graph, walkOf(source, to, 6), take, () => false);
  return { paths, isWhole };
}

test('a bound on paths gives the first of them and says so; one that is just enough does not', () => {
  fc.assert(
    fc.property(graphs, fc.integer({ min: 1, max: 5 }), (edges, maxPaths) => {
      const graph = createGraph(edges);
      for (const source of graph.nodes)
        for (const to of graph.frameworks) {
          const all = walked(graph, source, to).paths;
          const some = walked(graph, source, to, maxPaths);
          assert.equal(some.paths, all.slice(0, maxPaths));
          assert.is(some.isWhole, all.length <= maxPaths);
        }
    }),
    { numRuns: 50 },
  );
});

test('in a dense graph a deadline ends a search, and its ends are found by looking at each node once', () => {
  const size = 40;
  const nodes = Array.from(
    { length: size },
    (_, n): GraphNode => ({ framework: n === size - 1 ? 'cci' : 'nist-800-53', identifier: `N${n}` }),
  );
  // All to all but for the last, which only the one before it joins: nearly every path is a dead end.
  const edges = nodes
    .slice(0, -1)
    .flatMap((_, a) =>
      nodes
        .slice(a + 1, -1)
        .map((__, b) => ({ a: nodes[a]!, b: nodes[a + 1 + b]!, status: 'auto' as const })),
    );
  const graph = createGraph([...edges, { a: nodes[size - 2]!, b: nodes[size - 1]!, status: 'rejected' }]);
  let time = 0;
  const walk = walkOf(graph.nodes[0]!, 'cci', 1_000_000);
  const isOver = () => time++ > 50;
  assert.is(
    walkPaths(graph, walk, () => true, isOver),
    false,
  );
  let looks = 0;
  for (const node of graph.nodes) {
    const { neighbors } = node;
    const get = () => {
      looks++;
      return neighbors;
    };
    Object.defineProperty(node, 'neighbors', { get });
  }
  const ends = (wanted: readonly MappingStatus[]) =>
    endsOfPaths(walkOf(graph.nodes[0]!, 'cci', 1_000_000, wanted)).map(({ id }) => id);
  assert.equal(ends(statuses), [size - 1]);
  assert.equal(ends(['auto']), []);
  assert.ok(looks <= 2 * (size + 1), `${looks} lists of neighbors for two questions`);
});

test('version labels of one revision mean the same, and order by their numbers', () => {
  for (const label of ['Rev 5.1.1', 'Rev 5', 'rev5', '5', 'Revision 5', ' REV 5.2.0 ']) {
    assert.is(versionKey('nist-800-53', label), '5', label);
  }
  assert.is(versionKey('nist-800-171', 'Rev 2'), '2');
  assert.is(versionKey('cci', '2022-03-09'), '2022-03-09');
  assert.is(versionKey('dod-8500', 'DoDI 8500.2 (2003)'), 'dodi 8500.2 (2003)');
  const labels = ['Rev 5.10.0', 'Rev 4', 'Rev 5.2.0', 'Rev 5.1.1', 'Rev 5'];
  assert.equal([...labels].sort(compareVersions), ['Rev 4', 'Rev 5', 'Rev 5.1.1', 'Rev 5.2.0', 'Rev 5.10.0']);
  assert.ok(compareVersions('2016-06-27', '2022-03-09') < 0);
});

test('zeros at the end of a label are left off', () => {
  const labels = 'Rev 5.2.0|5.0.0|10.0|1.10.00|5.0.1|0|Rev .0|draft.'.split('|');
  assert.is(labels.map(withoutEndingZeros).join('|'), 'Rev 5.2|5|10|1.10|5.0.1|0|Rev .0|draft.');
  const long = `1${'.0'.repeat(50_000)}x`;
  assert.is(withoutEndingZeros(long), long);
});

test.run();
