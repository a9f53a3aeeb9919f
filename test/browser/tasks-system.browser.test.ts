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

tasks('pin by paste, and take the newest release over', () =>
  journey(site, async ({ page, click }) => {
    await click(navigation(page, 'Systems'));
    await page.getByLabel('Name').fill('Approved');
    await click(page.getByRole('button', { name: 'Create list' }));
    await page
      .getByLabel('Titles, slugs, benchmark IDs or file names')
      .fill('Harbor Linux 3 V1R1\tapproved in May');
    await click(page.getByRole('button', { name: 'Add STIGs' }));
    const row = page.getByRole('row').filter({ hasText: 'Harbor Linux 3' }).first();
    assert.match((await row.textContent())!, /V1R1 \(pinned\).*V1R2 is out/);
    await click(page.getByRole('button', { name: 'Update to V1R2' }));
    assert.match((await row.textContent())!, /V1R2 \(pinned\)/);
  }),
);

let made = 0;

tasks('hosts with their STIGs to a zip', () =>
  journey(site, async ({ page, click, download, accessible }) => {
    const name = `With hosts ${++made}`;
    const { id } = await site.post('/api/v1/lists', { name });
    const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
    await site.post(`/api/v1/lists/${id}/stigs`, { slugs, releases: { harbor_linux_3: 'V1R1' } });
    await click(navigation(page, 'Systems'));
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

tasks.run();
