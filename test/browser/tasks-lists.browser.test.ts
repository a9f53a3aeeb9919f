import { parse } from 'csv-parse/sync';
import type { Locator, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { browserSuite, leave, signIn, violations } from '../support/browser.ts';
import { journey } from '../support/journey.ts';
import { runToEnd } from '../support/running.ts';
import { put } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const { tests: tasks, site } = browserSuite('Tasks: lists');

const guides = [
  'Cedar Router',
  'Fern Database 7',
  'Heath Browser',
  'Iris Mail Server',
  'Juniper Bush 4',
  'Kelp OS 11',
];
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
    await click(navigation(page, 'Saved'));
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
  });
});

tasks('STIGs that are checked in the catalog', async () => {
  const id = await makeList('Checked');
  await journey(site, async ({ page, click }) => {
    await click(navigation(page, 'STIGs'));
    await page.getByLabel('Select Harbor Linux 3').check();
    await page.getByLabel('Select Lantern Web Server 2').check();
    await page.getByLabel('List', { exact: true }).selectOption({ value: id });
    await click(page.getByRole('button', { name: 'Add checked STIGs to the list' }));
    assert.is(await rowOf(page, 'Harbor Linux 3').count(), 1);
    assert.is(await rowOf(page, 'Lantern Web Server 2').count(), 1);
  });
});

tasks('its csv with notes', async () => {
  const id = await makeList('For the sheet');
  const headers = { Authorization: `Bearer ${site.token}` };
  const body = JSON.stringify({ notes: 'Line one\nand "two", said' });
  await fetch(`${site.served.url}/api/v1/lists/${id}/stigs/kelp_os_11`, { method: 'PUT', headers, body });
  await journey(site, async ({ page, click, download }) => {
    await click(navigation(page, 'Saved'));
    await click(page.getByRole('link', { name: 'For the sheet' }));
    const downloads = page.getByRole('list', { name: 'Download' });
    const { name, bytes } = await download(downloads.getByRole('link', { name: 'CSV' }));
    assert.match(name, /For the sheet\.csv$/);
    const rows: Record<string, string>[] = parse(bytes, { columns: true });
    assert.is(rows.length, 6);
    assert.equal(
      rows.map(({ title, notes }) => [title!.replace(' Security Technical Implementation Guide', ''), notes]),
      guides.map((each, index) => [each, index === 5 ? 'Line one\nand "two", said' : '']),
    );
    const xlsx = await download(downloads.getByRole('link', { name: 'XLSX' }));
    assert.is(xlsx.bytes.subarray(0, 2).toString(), 'PK');
  });
});

tasks('share', async () => {
  const bob = await site.served.token('bob');
  const sees = async (id: string) =>
    (await fetch(`${site.served.url}/api/v1/lists/${id}`, { headers: { Authorization: `Bearer ${bob}` } }))
      .status;
  for (const javaScriptEnabled of [true, false]) {
    const name = `To share ${javaScriptEnabled}`;
    const id = await makeList(name);
    assert.is(await sees(id), 404);
    await journey(
      site,
      async ({ page, click }) => {
        await click(navigation(page, 'Saved'));
        await click(page.getByRole('link', { name }));
        await click(page.getByRole('link', { name: 'Sharing and settings' }));
        await page.getByLabel('Visibility').selectOption('SHARED');
        await click(page.getByRole('button', { name: 'Save' }));
        await page.getByText('Saved.').waitFor();
      },
      { javaScriptEnabled: [javaScriptEnabled] },
    );
    assert.is(await sees(id), 200);
  }
});

tasks('print', async () => {
  await makeList('To print');
  await journey(site, async ({ page, click }) => {
    await click(page.getByRole('button', { name: 'Dark' }));
    await click(navigation(page, 'Saved'));
    await click(page.getByRole('link', { name: 'To print' }).first());
    await page.emulateMedia({ media: 'print' });
    const other = '.tabs a:not([aria-current])';
    for (const hidden of [
      '.top nav',
      other,
      '.actions',
      '.note',
      'details.more',
      '.theme',
      '.account',
      'button',
    ])
      for (const each of await page.locator(hidden).all()) assert.not.ok(await each.isVisible(), hidden);
    assert.equal(await page.locator('.tabs a:visible').allTextContents(), ['Overview']);
    for (const name of guides) assert.ok(await rowOf(page, name).isVisible());
    assert.ok(await page.locator('svg.bar-of').first().isVisible());
    // Whatever was chosen for the screen, paper is white.
    const ground = () => groundOf(page);
    assert.is(await ground(), 'rgb(255, 255, 255)');
    const pdf = await page.pdf();
    assert.is(pdf.subarray(0, 5).toString(), '%PDF-');
    await page.emulateMedia({ media: 'screen' });
    assert.is(await ground(), 'rgb(20, 24, 28)');
  });
});

tasks('what an import did with a file', async () => {
  await journey(site, async ({ page, click }) => {
    await click(navigation(page, 'Content'));
    await page.getByLabel('File name contains').fill('iris_mail');
    await click(page.getByRole('button', { name: 'Find file' }));
    const row = rowOf(page, fileOf('Iris Mail Server'));
    const text = (await row.textContent())!;
    for (const words of ['imported', site.served.folder, 'new slug from the title: iris_mail_server'])
      assert.ok(text.includes(words), `${words}: ${text}`);
    await click(row.getByRole('link', { name: 'Iris Mail Server' }));
    assert.match((await page.getByRole('heading', { level: 1 }).textContent())!, 'Iris Mail Server');
  });
});

tasks('age', async () => {
  await journey(site, async ({ page, click }) => {
    await click(navigation(page, 'Content'));
    await page.getByLabel('Release older than').selectOption('730');
    await click(page.getByRole('button', { name: 'Apply filters' }));
    const table = page.getByRole('table', { name: 'STIGs by the age of their release' });
    assert.is(await table.getByRole('row').count(), 1 + guides.length);
    await page.getByText('6 STIGs with a release older than 730 days').waitFor();
    await click(table.getByRole('link', { name: 'Date' }));
    assert.is(
      await table.getByRole('columnheader', { name: 'Date' }).getAttribute('aria-sort'),
      'descending',
    );
    assert.match(page.url(), /olderThan=730/);
  });
});

/** Goes by Tab to what has a name, and fails where it never comes there or cannot be seen that it did. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 80; step++) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if ((await focused.count()) === 0) continue;
    const own = await focused.evaluate((each) => {
      const labels = 'labels' in each ? [...(each.labels as { textContent: string }[])] : [];
      const { outlineStyle, outlineWidth } = each.ownerDocument.defaultView.getComputedStyle(each);
      const text = labels[0]?.textContent ?? each.textContent ?? '';
      return { text: text.trim(), outline: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 };
    });
    if (!own.text.startsWith(name)) continue;
    assert.ok(own.outline, `${name} shows that it is focused`);
    return;
  }
  assert.unreachable(`Tab never came to ${name}`);
}

tasks('keyboard alone', async () => {
  await journey(site, async ({ page }) => {
    const { keyboard } = page;
    await tabTo(page, 'Saved');
    await keyboard.press('Enter');
    await page.waitForURL(/\/lists$/);
    await tabTo(page, 'Name');
    // The head of the column is a link of the same name.
    if ((await page.locator(':focus').evaluate((each) => each.tagName)) === 'A') await tabTo(page, 'Name');
    await keyboard.type('By keyboard');
    await keyboard.press('Enter');
    await page.getByText('Created.').waitFor();
    await tabTo(page, 'Titles, slugs');
    await keyboard.insertText('Cedar Router');
    await tabTo(page, 'Add STIGs');
    await keyboard.press('Enter');
    await page.getByText('Added.').waitFor();
    await tabTo(page, 'Add a note');
    await keyboard.press('Enter');
    await tabTo(page, 'Notes');
    await keyboard.type('Typed');
    await tabTo(page, 'Save');
    await keyboard.press('Enter');
    await page.getByText('Saved.').waitFor();
    assert.match((await rowOf(page, 'Cedar Router').textContent())!, 'Typed');
    await page.goto(page.url().replace(/[?#].*/, ''));
    await keyboard.press('Tab');
    assert.is(await page.locator(':focus').textContent(), 'Skip to content');
    await keyboard.press('Enter');
    await tabTo(page, 'Sharing and settings');
  });
});

tasks('390 px', async () => {
  await makeList('On a telephone');
  const task = async (page: Page, click: (what: ReturnType<Page['getByRole']>) => Promise<void>) => {
    await click(navigation(page, 'Saved'));
    await click(page.getByRole('link', { name: 'On a telephone' }).first());
    const height = await page.locator('header.top').evaluate((each) => each.getBoundingClientRect().height);
    assert.ok(height <= 140, `the header has ${height} px`);
    const row = rowOf(page, 'Kelp OS 11');
    await row.getByText('Add a note').or(row.getByText('Edit')).first().click();
    await row.getByLabel('Notes').fill('From the hall');
    await click(row.getByRole('button', { name: 'Save' }));
    assert.match((await rowOf(page, 'Kelp OS 11').textContent())!, 'From the hall');
    const { scrollWidth, clientWidth } = await page.locator('html').evaluate((html) => ({
      scrollWidth: html.scrollWidth,
      clientWidth: html.clientWidth,
    }));
    assert.is(scrollWidth, clientWidth);
    await click(page.getByRole('columnheader', { name: 'STIG' }).getByRole('link'));
    assert.match(page.url(), /sort=title/);
  };
  await journey(site, ({ page, click }) => task(page, click), {
    viewport: { width: 390, height: 844 },
  });
});

tasks('a theme is chosen and kept, with and without script', async () => {
  await journey(site, async ({ page, click }) => {
    const ground = () => groundOf(page);
    const [light, dark] = ['rgb(251, 251, 249)', 'rgb(20, 24, 28)'];
    assert.is(await ground(), light);
    await click(page.getByRole('button', { name: 'Dark' }));
    assert.is(await ground(), dark);
    await click(navigation(page, 'Saved'));
    assert.is(await ground(), dark);
    await click(page.getByRole('button', { name: 'As the system' }));
    assert.is(await ground(), light);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.is(await ground(), dark);
    await click(page.getByRole('button', { name: 'Light' }));
    assert.is(await ground(), light);
  });
});

tasks('what was typed is not lost when the session ends', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const visitor = await site.visit({ javaScriptEnabled });
    const { page, context } = visitor;
    await signIn(page, site.token);
    await page.goto('/lists');
    await page.getByLabel('Name').fill('Typed for long');
    await page.getByLabel('Description').fill('First line\nsecond "line"');
    await context.clearCookies({ name: 'gapstone_session' });
    await page.getByRole('button', { name: 'Create list' }).click();
    await page.getByText('Your session has ended.').waitFor();
    if (javaScriptEnabled) assert.equal(await violations(page), []);
    await page.getByLabel('User token').fill(site.token);
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
    assert.match((await page.getByRole('main').textContent())!, 'First line');
    if (javaScriptEnabled) assert.equal(await violations(page), []);
    await page.getByRole('button', { name: 'Send the form' }).click();
    await page.getByText('Created.').waitFor();
    assert.match((await page.getByRole('main').textContent())!, 'First line\nsecond "line"');
    await leave(visitor);
  }
});

tasks('a page says before its session ends, goes on at one press, and puts back what was typed', async () => {
  const visitor = await site.visit();
  const { page } = visitor;
  const [soon, over] = ['because you have not used it', 'Your session has ended'].map((text) =>
    page.getByText(text),
  ) as [Locator, Locator];
  await signIn(page, site.token);
  await page.clock.install();
  await page.goto('/lists');
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

  await over.getByRole('link', { name: 'Sign in again' }).click();
  await page.getByLabel('User token').fill(`Bearer ${site.token}`);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('What you typed before your session ended is here again.').waitFor();
  assert.not.match(await page.evaluate<string>('JSON.stringify(localStorage)'), /eyJ/, 'no token is kept');
  assert.equal(
    [new URL(page.url()).pathname, await page.getByLabel('Name').inputValue()],
    ['/lists', 'Typed for long'],
  );

  // Who signs in next in this browser finds nothing of it.
  await page.clock.fastForward('15:01');
  await over.getByRole('link', { name: 'Sign in again' }).click();
  await signIn(page, await site.served.token('somebody'));
  await page.goto('/lists');
  assert.is(await page.getByLabel('Name').inputValue(), '');
  await page.getByRole('button', { name: 'Sign out' }).click();
  assert.is(await page.evaluate('Object.keys(localStorage).filter((name) => /typed/.test(name)).length'), 0);
  await leave(visitor);
});

tasks.run();
