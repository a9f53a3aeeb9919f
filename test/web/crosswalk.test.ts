import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';

const crosswalk = suite('The crosswalk of a control');

interface Path {
  controls: { framework: string; identifier: string; status: string }[];
}

crosswalk('its tables have every step of every path, its picture every mapping once', async () => {
  const t = await testApp([shipped('controls'), shipped('mappings')]);
  const id = '3.1.1';
  const query = `from=nist-800-171:${id}&maxHops=2`;
  const answers = await Promise.all(
    ['nist-800-53', 'dod-8500', 'cci'].map((to) => t.get(`/api/v1/crosswalk/resolve?${query}&to=${to}`)),
  );
  const steps = answers.flatMap(({ json }) =>
    (json.paths as Path[]).flatMap(({ controls }) =>
      controls.slice(1).map((control, index) => ({ control, before: controls[index]! })),
    ),
  );
  const { html } = await loadPage(t, `/controls/nist-800-171/${id}`);
  const [svg] = /<svg [^>]*role="img".*?<\/svg>/s.exec(html)!;
  const tables = html.split('</svg>').at(-1)!;
  assert.is(tables.match(/class="status (?:verified|auto)"/g)!.length, steps.length);
  for (const { control } of steps) assert.ok(textOf(tables).includes(control.identifier));
  const name = (each: Path['controls'][number]) => `${each.framework} ${each.identifier}`;
  const pairs = new Set(steps.map(({ control, before }) => [name(before), name(control)].sort().join('|')));
  const lines = attributesOf(svg, 'class').filter((each) => each.startsWith('edge '));
  // Of a framework with many controls not all are drawn.
  assert.ok(lines.length > 10 && lines.length <= pairs.size, `${lines.length} of ${pairs.size}`);
  assert.is(new Set(lines).size, 2, 'both statuses are there');
  t.db.close();
});

crosswalk.run();
