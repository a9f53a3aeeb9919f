import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { testApp } from '../support/app.ts';
import { countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { rowsOf } from '../support/tables.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const content = suite('Content');

const folder = scratchFolder();
const guide = (name: string, date: string | null, first: number) =>
  put(
    folder,
    `U_${name}_V1R1_Manual-xccdf.xml`,
    writeXccdf({
      ...{ id: name, title: `${name} STIG`, date, statusDate: null, first, stem: name },
      ...{ version: 1, release: 1 },
    }),
  );
// The tests live on 2026-11-21.
const files = {
  young: guide('Young', '01 Nov 2026', 100_001),
  edge: guide('Edge', '22 Aug 2026', 110_001),
  old: guide('Old', '21 Nov 2024', 120_001),
  timeless: guide('Timeless', null, 130_001),
};

const t = await testApp([], { newId: countingIds() });
// In one run: the pages tell of imports.
await runImport(t.db, [...Object.values(files), shipped('roles')], { now: () => t.clock.now });
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
content.after(() => t.db.close());

const said = async (path: string, who = ann) => textOf((await loadPage(t, path, who)).html);

/** The STIGs of the table of ages in their order. */
async function ages(query: string, who = ann): Promise<string[]> {
  const { html } = await loadPage(t, `/content${query}`, who);
  const section = html.slice(html.indexOf('aria-labelledby="ages"'));
  return [...section.matchAll(/<a href="\/stigs\/(\w+)" title=/g)].map(([, slug]) => slug!);
}

content('STIGs stand by their age, what has no date last, and are narrowed to what is older', async () => {
  // 91 days old is not older than 91 days.
  for (const [query, slugs = ''] of rowsOf(`
    ?sort=date | old edge young timeless
    ?sort=-date | young edge old timeless
    ?sort=title | edge old timeless young
    ?olderThan=91 | old
    ?olderThan=730
  `))
    assert.is((await ages(query!)).join(' '), slugs, query);
  assert.equal(await ages(''), await ages('?sort=date'));
  assert.match(await said('/content?olderThan=730'), 'No STIG has a release older than 730 days.');
  assert.is((await loadPage(t, '/content?olderThan=12', ann)).status, 400);
  const { html } = await loadPage(t, '/content', ann);
  const widths = [...html.matchAll(/class="age" x="0" y="0" width="([\d.]+)"/g)].map(([, width]) => width);
  assert.equal(widths, ['240', '29.9', '6.6']);
});

content('the sources of an import are narrowed by name, and sorted', async () => {
  for (const [query, names = ''] of rowsOf(`
    search=u_&sort=-source | Young Timeless Old Edge
    search=u_&sort=source | Edge Old Timeless Young
    search=EDGE&outcome=imported | Edge
    search=EDGE&outcome=rejected
  `)) {
    const { html } = await loadPage(t, `/content/imports/1?${query}`, ann);
    const found = [...html.matchAll(/<span class="mono">U_(\w+)_V1R1/g)].map(([, name]) => name);
    assert.is(found.join(' '), names, query);
    assert.is(html.match(/<a href="\/stigs\/[a-z_]+\?version=V1R1">/g)?.length ?? 0, found.length, query);
  }
});

content('the next day all are a day older', async () => {
  t.clock.now = new Date('2026-11-22T12:00:00Z');
  const tomorrow = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
  assert.equal(await ages('?olderThan=91', tomorrow), ['old', 'edge']);
  const text = await said('/content?olderThan=91', tomorrow);
  assert.match(text, '2 STIGs with a release older than 91 days');
  assert.match(text, 'Old V1R1 2024-11-21 2 years');
});

content.run();
