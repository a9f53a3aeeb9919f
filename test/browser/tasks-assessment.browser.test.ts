import * as assert from 'uvu/assert';
import { browserSuite, hasRealReleases } from '../support/browser.ts';
import { testIf } from '../support/harness.ts';
import { journey } from '../support/journey.ts';
import { reference, referenceData } from '../support/reference.ts';
import { runToEnd } from '../support/running.ts';
import { readSheet } from '../support/xlsx-reader.ts';

// What a person takes into the room: the plan of work, and the gaps of a control.
const { tests: tasks, site } = browserSuite('Tasks: before an assessment', { withReal: true });
const onReal = testIf(referenceData, tasks);
const slugs = ['harbor_linux_3', ...(hasRealReleases ? ['red_hat_enterprise_linux_9'] : [])];
let list: string;

tasks.before(async () => {
  if (hasRealReleases) {
    const sources = ['catalog-min', 'MODERATE-baseline_profile'].map((name) =>
      reference('oscal', `NIST_SP-800-53_rev5_${name}.json`),
    );
    assert.is((await runToEnd(site.served.folder, ['import', ...sources])).code, 0);
  }
  list = (await site.post('/api/v1/lists', { name: 'Boundary A' })).id;
  await site.post(`/api/v1/lists/${list}/stigs`, { slugs });
});

tasks('the plan of work of a list', () =>
  journey(site, async ({ page, click, download, accessible }) => {
    await click(page.getByRole('link', { name: 'Boundary A' }).first());
    await click(page.getByRole('link', { name: 'Plan of work' }));
    const { totals, stigs } = await site.ask<{
      totals: { rules: number };
      stigs: { totals: { rules: number } }[];
    }>(`/api/v1/lists/${list}/automation`);
    await page.getByText(`Of ${totals.rules} rules a scan answers`).waitFor();
    const rows = page.getByRole('table', { name: 'By STIG' }).locator('tbody tr');
    assert.is(await rows.count(), stigs.length);
    await accessible();
    const { bytes } = await download(page.getByRole('link', { name: 'XLSX' }));
    assert.is(readSheet(bytes).rows.length, totals.rules + 1);
  }),
);

onReal('the gaps of a part of a control', () =>
  journey(site, async ({ page, click, accessible }) => {
    await page.getByLabel('Search STIGs, rules').fill('ac-2');
    await click(page.getByRole('button', { name: 'Search' }));
    const parts = page.getByRole('table', { name: 'Objectives by part' });
    const rowOf = (part: string) =>
      parts.getByRole('row').filter({ has: page.getByText(part, { exact: true }) });
    assert.match((await rowOf('d 3').textContent())!, /AC-02d\.03\[01\].*AC-02d\.03\[02\].*no rule/s);
    await accessible();
    await click(rowOf('d 3').getByRole('link').first());
    assert.match((await page.getByRole('heading', { level: 1 }).textContent())!, /^CCI-\d{6} /);
    await page.getByText('No rule in a current release is mapped to it').waitFor();
  }),
);

tasks.run();
