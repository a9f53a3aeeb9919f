import type { Locator, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { browserSuite, leave, signIn, violations } from '../support/browser.ts';
import { journey } from '../support/journey.ts';
import { runToEnd } from '../support/running.ts';
import { put } from '../support/scratch.ts';
import { linesOf } from '../support/tables.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const { tests: tasks, site } = browserSuite('Tasks: lists');

const guides = linesOf(
  'Cedar Router \n Fern Database 7 \n Heath Browser \n Iris Mail Server \n Juniper Bush 4 \n Kelp OS 11',
);
const fileOf = (name: string) => `U_${name.replaceAll(' ', '_')}_STIG_V1R1_Manual-xccdf.xml`;

tasks.before(async () => {
  const files = guides.map((name, index) =>
    put(
      site.served.folder,
      fileOf(name),
      writeXccdf({
        ...{
          id: `${name.replaceAll(' ', '_')}_STIG`,
          title: `${name} Security Technical Implementation Guide`,
        },
        ...{ stem: name.slice(0, 4).toUpperCase(), first: 300_001 + index * 100, rules: 3 + index },
        ...{ version: 1, release: 1, date: '02 Jan 2020' },
      }),
    ),
  );
  const imported = await runToEnd(site.served.folder, ['import', ...files]);
  assert.is(imported.code, 0, imported.stderr);
});

const navigation = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

/** The color behind a page. */
const groundOf = (page: Page) =>
  page
    .locator('html')
    .evaluate((html) => html.ownerDocument.defaultView.getComputedStyle(html).backgroundColor as string);

/** A column as it is pasted from a sheet: titles, a slug, a benchmark id, with what was noted in the next column. */
const pasted = guides
  .map(
    (name, index) =>
      [name, 'heath_browser', `${name.replaceAll(' ', '_')}_STIG`][index === 2 ? 1 : index === 4 ? 2 : 0],
  )
  .map((name, index) => `${name}\tNote ${index + 1}`)
  .join('\n');

/** Makes a list of the six by the API. */
async function makeList(name: string): Promise<string> {
  const { id } = await site.post('/api/v1/lists', { name });
  const slugs = guides.map((each) => each.toLowerCase().replaceAll(' ', '_'));
  await site.post(`/api/v1/lists/${id}/stigs`, { slugs });
  return id;
}

tasks('a list of six with notes', async () => {
  await journey(site, async ({ page, click }) => {
    await click(navigation(page, 'Systems'));
    await page.getByLabel('Name').fill('Payroll');
    await click(page.getByRole('button', { name: 'Create list' }));
    await page.getByLabel('Titles, slugs, benchmark IDs or file names').fill(pasted);
    await click(page.getByRole('button', { name: 'Add STIGs' }));
    await page.getByText('6 added.').waitFor();
    for (const [index, name] of guides.entries()) {
      const row = rowOf(page, name);
      assert.match((await row.textContent())!, `Note ${index + 1}`, name);
      assert.match((await row.textContent())!, /V1R1, [\d,]+ (day|month|year)s?/);
    }
    // One of them is written anew, in its row.
    await rowOf(page, 'Fern Database 7').getByText('Edit', { exact: false }).first().click();
    await rowOf(page, 'Fern Database 7').getByLabel('Notes').fill('Two instances');
    await click(rowOf(page, 'Fern Database 7').getByRole('button', { name: 'Save' }));
    await page.getByText('Saved.').waitFor();
    assert.match((await rowOf(page, 'Fern Database 7').textContent())!, 'Two instances');
    assert.match(page.url(), /#stig-fern_database_7$/);
    const height = await page.locator('header.top').evaluate((each) => each.getBoundingClientRect().height);
    assert.ok(height <= 140, `the header has ${height} px`);
  });
});

tasks('print', async () => {
  await makeList('To print');
  await journey(site, async ({ page, click }) => {
    await click(navigation(page, 'Systems'));
    await click(page.getByRole('link', { name: 'To print' }).first());
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const hidden of linesOf(`
      .top nav
      .tabs a:not([aria-current])
      .actions
      .note
      details.more
      .account
      button
    `))
      for (const each of await page.locator(hidden).all()) assert.not.ok(await each.isVisible(), hidden);
    for (const name of guides) assert.ok(await rowOf(page, name).isVisible());
    assert.ok(await page.locator('svg.bar-of').first().isVisible());
    assert.ok(await page.locator('.banner').first().isVisible());
    // Whatever was chosen for the screen, paper is white.
    assert.is(await groundOf(page), 'rgb(255, 255, 255)');
    const pdf = await page.pdf();
    assert.is(pdf.subarray(0, 5).toString(), '%PDF-');
  });
});

tasks('a page says before its session ends, goes on at one press, and asks again after it', async () => {
  const visitor = await site.visit();
  const { page } = visitor;
  const [soon, over] = ['because you have not used it', 'Your session has ended'].map((text) =>
    page.getByText(text),
  ) as [Locator, Locator];
  await signIn(page, site.token);
  await page.clock.install();
  await page.goto('/systems');
  await page.clock.fastForward('12:59');
  assert.not.ok(await soon.isVisible());
  await page.clock.fastForward('00:02');
  assert.ok(await soon.isVisible());
  assert.equal(await violations(page), []);
  await page.getByRole('button', { name: 'Stay signed in' }).click();
  await soon.waitFor({ state: 'hidden' });
  await page.clock.fastForward('12:50');
  assert.not.ok(await soon.isVisible());
  await page.getByLabel('Name').fill('Typed for long');
  await page.clock.fastForward('02:11');
  assert.ok(await over.isVisible());
  assert.equal(await violations(page), []);
  // Who signs in next in this browser finds nothing of it.
  await over.getByRole('link', { name: 'Sign in again' }).click();
  await signIn(page, await site.served.token('somebody'));
  await page.goto('/systems');
  assert.is(await page.getByLabel('Name').inputValue(), '');
  await page.getByRole('button', { name: 'Sign out' }).click();
  assert.is(await page.evaluate('Object.keys(localStorage).filter((name) => /typed/.test(name)).length'), 0);
  await leave(visitor);
});

tasks.run();
