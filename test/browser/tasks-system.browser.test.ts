import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { browserSuite } from '../support/browser.ts';
import { journey } from '../support/journey.ts';
import { readZip } from '../support/read-zip.ts';
import { linesOf } from '../support/tables.ts';

// A list that stands for a system: its releases, its hosts, what is new to its reader.
const { tests: tasks, site } = browserSuite('Tasks: a list is a system');

const navigation = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });
const partOfList = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of this list' }).getByRole('link', { name });
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const textOf = async (page: Page, name: string) => (await rowOf(page, name).first().textContent())!;

let made = 0;
/** A list of both STIGs by the API, the first pinned to its former release. */
async function makeList(name: string): Promise<string> {
  const unique = `${name} ${++made}`;
  const { id } = await site.post('/api/v1/lists', { name: unique });
  await site.post(`/api/v1/lists/${id}/stigs`, {
    slugs: ['harbor_linux_3', 'lantern_web_server_2'],
    releases: { harbor_linux_3: 'V1R1' },
  });
  return unique;
}

tasks('pin by paste', () =>
  journey(site, async ({ page, click }) => {
    await click(navigation(page, 'Saved'));
    await page.getByLabel('Name').fill('Approved');
    await click(page.getByRole('button', { name: 'Create list' }));
    await page
      .getByLabel('Titles, slugs, benchmark IDs or file names')
      .fill('Harbor Linux 3 V1R1\tapproved in May');
    await click(page.getByRole('button', { name: 'Add STIGs' }));
    assert.match(await textOf(page, 'Harbor Linux 3'), /V1R1 \(pinned\).*V1R2 is out/);
  }),
);

tasks('take the newest release over', () =>
  journey(site, async ({ page, click }) => {
    const name = await makeList('To take over');
    await click(navigation(page, 'Saved'));
    await click(page.getByRole('link', { name }));
    await click(page.getByRole('button', { name: 'Take V1R2' }));
    assert.match(await textOf(page, 'Harbor Linux 3'), /V1R2 \(pinned\)/);
    assert.is(await page.getByText('is out').count(), 0);
  }),
);

tasks('hosts with their STIGs to a zip', () =>
  journey(site, async ({ page, click, download, accessible }) => {
    const name = await makeList('With hosts');
    await click(navigation(page, 'Saved'));
    await click(page.getByRole('link', { name }));
    await click(partOfList(page, 'Checklists'));
    await page
      .getByLabel('Hosts', { exact: true })
      .fill('name,stigs\nweb01,lantern_web_server_2\ndb01,"harbor_linux_3;lantern_web_server_2"');
    await click(page.getByRole('button', { name: 'Save these hosts with the list' }));
    assert.is(await page.getByLabel(/^web01: Harbor/).isChecked(), false);
    assert.is(await page.getByLabel(/^db01: Harbor/).isChecked(), true);
    await accessible();
    const { bytes } = await download(page.getByRole('button', { name: 'Download checklists of 2 hosts' }));
    assert.equal(
      [...(await readZip(bytes)).keys()],
      linesOf(`
        web01_lantern_web_server_2_V2R3.cklb
        db01_harbor_linux_3_V1R1.cklb
        db01_lantern_web_server_2_V2R3.cklb
      `),
    );
  }),
);

tasks('mark as read what is new', () =>
  journey(site, async ({ page, click }) => {
    const name = await makeList('To read');
    await page.goto('/');
    assert.match(await textOf(page, name), '1 newer release');
    await click(rowOf(page, name).getByRole('button', { name: 'Mark as read' }));
    assert.match(await textOf(page, name), 'nothing');
  }),
);

tasks.run();
