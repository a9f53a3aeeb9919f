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

tasks('which rules of a list address a control, by the page of the control', async () => {
  const { id } = await site.post('/api/v1/lists', { name: 'The web servers' });
  await site.post(`/api/v1/lists/${id}/stigs`, { slugs: ['lantern_web_server_2'] });
  const { results } = await site.ask<Found>('/api/v1/search?control=CM-7&stig=lantern_web_server_2');
  assert.ok(results.length > 0);
  await journey(site, async ({ page, click }) => {
    await page.getByLabel('Search STIGs, rules').fill('CM-7');
    await click(page.getByRole('button', { name: 'Search' }));
    await click(page.getByText('Filter by list, STIG or severity'));
    await page.getByLabel('STIGs of a list').selectOption({ label: 'The web servers' });
    await click(
      page.getByRole('region', { name: 'STIG rules' }).getByRole('button', { name: 'Apply filters' }),
    );
    const rules = page.getByRole('region', { name: 'STIG rules' });
    assert.is(await rules.getByRole('rowheader').count(), results.length);
    for (const { groupId } of results) await rules.getByText(groupId, { exact: true }).waitFor();
  });
});

tasks.run();
