import * as assert from 'uvu/assert';
import { browserSuite } from '../support/browser.ts';
import { journey } from '../support/journey.ts';
import { readSheet } from '../support/xlsx-reader.ts';

const { tests: tasks, site } = browserSuite('Tasks: finding', { withReal: true });

interface Found {
  results: { slug: string; groupId: string; severity: string }[];
  pagination: { total: number };
}

tasks('CAT I about SSH, as a sheet', () =>
  journey(site, async ({ page, click, download }) => {
    await page.getByLabel('Search STIGs, rules').fill('ssh');
    await click(page.getByRole('button', { name: 'Search' }));
    await click(page.getByRole('link', { name: /CAT I$/ }));
    const { results, pagination } = await site.ask<Found>('/api/v1/search?q=ssh&severity=high');
    assert.ok(results.length > 0);
    const found = page.locator('ol.results > li');
    assert.is(await found.count(), results.length);
    for (const [index, { groupId, severity }] of results.entries()) {
      assert.is(severity, 'high');
      assert.match((await found.nth(index).textContent())!, groupId);
    }
    const { name, bytes } = await download(page.getByRole('link', { name: 'XLSX' }));
    assert.match(name, /rules_q-ssh_severity-high\.xlsx$/);
    assert.is(readSheet(bytes).rows.length, pagination.total + 1);
  }),
);

tasks.run();
