import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { banner, browserSuite, hasRealReleases, violations } from '../support/browser.ts';
import { journey } from '../support/journey.ts';
import { readCsv } from '../support/read-exports.ts';
import { put, scratchFolder } from '../support/scratch.ts';

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

tasks('a diff as a file: a page that opens from a disc, by itself', () =>
  journey(site, async ({ page, click, download }) => {
    const releases = page.getByRole('row', { name: /Harbor Linux 3/ });
    await click(releases.first().getByRole('link', { name: 'Compare with V1R1' }));
    await page.getByRole('checkbox', { name: 'changed', exact: true }).check();
    await click(page.getByRole('button', { name: 'Apply filters' }));
    const { name, bytes } = await download(page.getByRole('link', { name: 'One page (.html)' }));
    assert.match(name, /harbor_linux_3_V1R1_to_V1R2_changes[\w-]+\.html$/);
    const csv = await download(page.getByRole('link', { name: 'CSV' }));
    const [, ...lines] = readCsv(String(csv.bytes));
    assert.ok(lines.length > 0);
    assert.ok(lines.every(([, , , , kind]) => kind === 'changed'));

    const context = await site.browser.newContext({ offline: true, colorScheme: 'light' });
    const asked: string[] = [];
    context.on('request', (request) => asked.push(request.url()));
    const file = await context.newPage();
    const url = String(pathToFileURL(put(scratchFolder(), 'diff.html', bytes)));
    await file.goto(url);
    assert.is(await file.locator('article.change').count(), lines.length);
    assert.is(await file.getByText(banner).count(), 2);
    await file.locator('table.contents a').last().click();
    assert.is(await (await target(file)).getAttribute('id'), lines.at(-1)![6]);
    assert.equal(await violations(file), []);
    assert.equal(
      asked.filter((each) => each.split('#')[0] !== url),
      [],
    );
    await context.close();
  }),
);

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
