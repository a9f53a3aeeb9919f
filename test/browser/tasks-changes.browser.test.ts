import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { browserSuite, hasRealReleases } from '../support/browser.ts';
import { journey } from '../support/journey.ts';
import { readCsv } from '../support/read-exports.ts';

const { tests: tasks, site } = browserSuite('Tasks: what changed', { withReal: true });

tasks.before(async () => {
  const { id } = await site.post('/api/v1/lists', { name: 'The mail server' });
  await site.post(`/api/v1/lists/${id}/stigs`, { slugs: ['harbor_linux_3', 'lantern_web_server_2'] });
});

/** The part of the page that the address leads to, and whether the reader sees it. */
const target = async (page: Page) => {
  const found = page.locator(':target');
  assert.is(await found.count(), 1, page.url());
  return found;
};

tasks('changes since a quarter, and what became of a rule', () =>
  journey(site, async ({ page, click, download }) => {
    await click(page.getByRole('link', { name: 'What changed in all STIGs' }));
    await page.getByLabel('Since').fill('2026-02-01');
    await click(page.getByRole('button', { name: 'Apply filters' }));
    const raised = page.getByRole('table', { name: 'Rules whose severity was raised' });
    const csv = await download(page.getByRole('link', { name: 'CSV' }));
    assert.match(csv.name, /changes_since_2026-02-01\.csv$/);
    const expected = readCsv(String(csv.bytes)).filter(
      ([, , , , , , , , , from, to]) => from === 'medium' && to === 'high',
    );
    if (!hasRealReleases) return;
    assert.ok(expected.length > 0);
    await click(raised.getByRole('link').first());
    const rule = await target(page);
    assert.match((await rule.textContent())!, /CAT II.*to.*CAT I/s);
    const top = await rule.evaluate((element) => element.getBoundingClientRect().top);
    assert.ok(top >= 0 && top < page.viewportSize()!.height, `it is at ${top} px`);
  }),
);

tasks.run();
