import * as assert from 'uvu/assert';
import { browserSuite, hasRealReleases } from '../support/browser.ts';
import { oscalProfile } from '../support/control-sources.ts';
import { journey } from '../support/journey.ts';
import { readCsv } from '../support/read-exports.ts';
import { runToEnd } from '../support/running.ts';
import { put } from '../support/scratch.ts';

const { tests: tasks, site } = browserSuite('Tasks: what a system covers', { withReal: true });

const slugs = ['harbor_linux_3', ...(hasRealReleases ? ['red_hat_enterprise_linux_9'] : [])];

tasks.before(async () => {
  // The package ships no baselines.
  const moderate = 'ac-1 ac-2 ac-2.1 ac-2.5 ac-3 ac-17.2 au-2 au-12 cm-6 pe-2 pe-3'.split(' ');
  const profile = put(site.served.folder, 'moderate.json', oscalProfile('moderate', moderate));
  const imported = await runToEnd(site.served.folder, ['import', profile]);
  assert.is(imported.code, 0, imported.stderr);
  const { id } = await site.post('/api/v1/lists', { name: 'Web farm' });
  await site.post(`/api/v1/lists/${id}/stigs`, { slugs });
});
tasks('moderate controls without a rule, for a list, and as a file', () =>
  journey(site, async ({ page, click, download }) => {
    await click(page.getByRole('link', { name: 'Web farm' }).first());
    await click(page.getByRole('link', { name: 'Coverage' }));
    await page.getByLabel('Baseline').selectOption('moderate');
    await page.getByLabel('Count rules of enhancements').check();
    await click(page.getByRole('button', { name: 'Apply filters' }));
    // The map has each control in a cell: the dashed ones have no rule.
    const shown = (await page.locator('.family .n0').allTextContents()).map((text) => text.trim());
    assert.ok(
      ['AC-1', 'PE-2', 'PE-3'].every((each) => shown.includes(each)),
      shown.join(),
    );
    assert.not.ok(
      ['AC-2', 'CM-6', 'AU-1'].some((each) => shown.includes(each)),
      shown.join(),
    );
    const views = page.getByRole('navigation', { name: 'Map and tables' });
    await views.getByRole('link', { name: `Controls without a rule ${shown.length}`, exact: true }).waitFor();
    const { name, bytes } = await download(page.getByRole('link', { name: 'CSV' }));
    assert.match(name, /Web farm coverage_baseline-moderate[\w-]*\.csv$/);
    const lines = readCsv(bytes.toString()).filter(([section]) => section === 'control');
    assert.is(lines.length, 11);
    assert.equal(
      lines.filter(([, , , , covered]) => covered === 'false').map(([, identifier]) => identifier),
      shown,
    );
  }),
);

tasks.run();
