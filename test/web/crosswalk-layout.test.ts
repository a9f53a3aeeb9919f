import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { layOut, nodeHeight, nodeWidth, type Picture } from '../../src/catalog/crosswalk/picture.ts';
import { createCrosswalkService, defaultStatuses } from '../../src/catalog/crosswalk/queries.ts';
import type { Path } from '../../src/catalog/crosswalk/schema.ts';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, loadPage } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';

const layout = suite('The picture of the crosswalk');

const source = { framework: 'nist-800-53', identifier: 'AC-2' };
const name = (each: { framework: string; identifier: string }) => `${each.framework} ${each.identifier}`;

const step = fc.record({
  framework: fc.constantFrom('nist-800-53', 'nist-800-171', 'dod-8500', 'cci', 'our-own'),
  identifier: fc.constantFrom(...Array.from({ length: 60 }, (_, index) => `X-${index}`)),
  status: fc.constantFrom('auto' as const, 'verified' as const, 'rejected' as const),
});
const paths: fc.Arbitrary<Path[]> = fc.array(
  fc
    .array(step, { minLength: 1, maxLength: 4 })
    .map((steps) => ({ hops: steps.length, controls: [{ ...source, status: 'auto' as const }, ...steps] })),
  { maxLength: 80 },
);

/** What must hold of every picture: nothing overlaps, nothing lies outside, every line joins two controls. */
function checkPicture(picture: Picture): void {
  const boxes = [
    ...picture.nodes.map(({ x, y }) => ({ x, y })),
    ...picture.labels.map(({ x, y }) => ({ x, y })),
  ];
  for (const { x, y } of boxes) {
    assert.ok(x >= 0 && y >= 0 && x + nodeWidth <= picture.width && y + nodeHeight <= picture.height);
  }
  const taken = new Set(boxes.map(({ x, y }) => `${x} ${y}`));
  assert.is(taken.size, boxes.length, 'two stand in one place');
  for (const [index, a] of boxes.entries())
    for (const b of boxes.slice(index + 1))
      assert.ok(a.x !== b.x || Math.abs(a.y - b.y) >= nodeHeight, 'two overlap');
  for (const { from, to } of picture.edges)
    assert.ok(picture.nodes.includes(from) && picture.nodes.includes(to));
}

layout('draws each control and mapping of the paths once, up to 24 of a framework', () => {
  fc.assert(
    fc.property(paths, (some) => {
      const picture = layOut(source, some);
      checkPicture(picture);
      const groups = new Map<string, Set<string>>([[source.framework, new Set([source.identifier])]]);
      const mappings = new Set<string>();
      for (const { controls } of some)
        controls.forEach((control, index) => {
          groups.set(control.framework, (groups.get(control.framework) ?? new Set()).add(control.identifier));
          if (index > 0) mappings.add([name(controls[index - 1]!), name(control)].sort().join('|'));
        });
      for (const [framework, identifiers] of groups) {
        const drawn = picture.nodes.filter((node) => node.framework === framework);
        const more =
          picture.labels.find((label) => label.framework === framework && label.more > 0)?.more ?? 0;
        assert.is(drawn.length, Math.min(24, identifiers.size));
        assert.is(drawn.length + more, identifiers.size);
        for (const node of drawn) assert.ok(identifiers.has(node.identifier));
      }
      const drawn = new Set(picture.nodes.map(name));
      const expected = [...mappings].filter((pair) => pair.split('|').every((end) => drawn.has(end)));
      assert.equal(
        picture.edges.map(({ from, to }) => [name(from), name(to)].sort().join('|')).sort(),
        expected.sort(),
      );
    }),
    { numRuns: 60 },
  );
});

layout('frameworks stand in columns, NIST SP 800-53 between the CCIs and the rest', async () => {
  const t = await testApp([shipped('controls'), shipped('mappings')]);
  const crosswalk = createCrosswalkService(t.db);
  const targets = ['nist-800-53', 'dod-8500', 'cci'];
  const from = { framework: 'nist-800-171', identifier: '3.1.1' };
  const all = targets.flatMap(
    (to) => crosswalk.resolve({ ...from, to, statuses: defaultStatuses, maxHops: 2 }).paths,
  );
  const picture = layOut(from, all);
  checkPicture(picture);
  const column = (framework: string) =>
    new Set(picture.nodes.filter((node) => node.framework === framework).map((node) => node.x));
  const [left, hub, right] = ['nist-800-171', 'nist-800-53', 'cci'].map((framework) => [
    ...column(framework),
  ]);
  assert.is(left!.length + hub!.length + right!.length, 3);
  assert.ok(left![0]! < hub![0]! && hub![0]! < right![0]!);
  assert.equal([...column('dod-8500')], left);

  // The page draws them, tells statuses apart by line, sign and word, and says the same in a table.
  const { html } = await loadPage(t, '/controls/nist-800-171/3.1.1');
  const svg = /<svg [^>]*role="img".*?<\/svg>/s.exec(html)![0];
  const lines = attributesOf(svg, 'class').filter((each) => each.startsWith('edge '));
  const wanted = picture.edges.map((edge) => `edge ${edge.status}`);
  assert.equal(lines.sort(), wanted.sort());
  assert.ok(new Set(lines).size >= 2, 'both statuses are there');
  for (const [status, sign] of [
    ['verified', '✓'],
    ['auto', '≈'],
  ] as const) {
    const times = svg.split(`>${sign}<`).length - 1;
    assert.is(times, wanted.filter((each) => each.endsWith(status)).length);
  }
  const words = (html.split('</svg>').at(-1) ?? '').match(/class="status (?:verified|auto)"/g)!.length;
  assert.is(
    words,
    all.reduce((sum, path) => sum + path.hops, 0),
    'every step of every path is in the tables',
  );
  assert.match(
    svg,
    /aria-label="3\.1\.1 is mapped to \d+ controls over \d+ mappings; the tables below list them\."/,
  );
  t.db.close();
});

layout.run();
