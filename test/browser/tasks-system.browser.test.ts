import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { browserSuite } from '../support/browser.ts';
import { journey, sizes } from '../support/journey.ts';
import { readZip } from '../support/read-zip.ts';

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
async function makeList(name: string): Promise<{ id: string; name: string }> {
  const unique = `${name} ${++made}`;
  const { id } = await site.post('/api/v1/lists', { name: unique });
  await site.post(`/api/v1/lists/${id}/stigs`, {
    slugs: ['harbor_linux_3', 'lantern_web_server_2'],
    releases: { harbor_linux_3: 'V1R1' },
  });
  return { id, name: unique };
}

const visits = sizes.map((viewport, index) => ({ javaScriptEnabled: index === 0, viewport }));
for (const { javaScriptEnabled, viewport } of visits) {
  const once = { javaScriptEnabled: [javaScriptEnabled], viewport };
  const how = `${javaScriptEnabled ? 'with script' : 'without script'} at ${viewport.width} px`;

  tasks(`pin by paste, ${how}`, () =>
    journey(
      site,
      async ({ page, click }) => {
        await click(navigation(page, 'Saved'));
        await page.getByLabel('Name').fill(`Approved ${how}`);
        await click(page.getByRole('button', { name: 'Create list' }));
        await page
          .getByLabel('Titles, slugs, benchmark IDs or file names')
          .fill('Harbor Linux 3 V1R1\tapproved in May');
        await click(page.getByRole('button', { name: 'Add STIGs' }));
        assert.match(await textOf(page, 'Harbor Linux 3'), /V1R1 \(pinned\).*V1R2 is out/);
      },
      once,
    ),
  );

  tasks(`take the newest release over, ${how}`, async () => {
    const { name } = await makeList('To take over');
    await journey(
      site,
      async ({ page, click }) => {
        await click(navigation(page, 'Saved'));
        await click(page.getByRole('link', { name }));
        await click(page.getByRole('button', { name: 'Take V1R2' }));
        assert.match(await textOf(page, 'Harbor Linux 3'), /V1R2 \(pinned\)/);
        assert.is(await page.getByText('is out').count(), 0);
      },
      once,
    );
  });

  tasks(`hosts with their STIGs to a zip, ${how}`, async () => {
    const { name } = await makeList('With hosts');
    await journey(
      site,
      async ({ page, click, download, accessible }) => {
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
        const { bytes } = await download(
          page.getByRole('button', { name: 'Download checklists of 2 hosts' }),
        );
        assert.equal(
          [...(await readZip(bytes)).keys()],
          [
            'web01_lantern_web_server_2_V2R3.cklb',
            'db01_harbor_linux_3_V1R1.cklb',
            'db01_lantern_web_server_2_V2R3.cklb',
          ],
        );
      },
      once,
    );
  });

  tasks(`the brief of what is new, and mark it as read, ${how}`, async () => {
    const { name } = await makeList('To read');
    await journey(
      site,
      async ({ page, click, download, accessible }) => {
        await click(rowOf(page, name).getByRole('link', { name: '1 newer release' }));
        assert.is(await page.getByRole('heading', { level: 1 }).textContent(), 'Change brief');
        await accessible();
        const { name: file, bytes } = await download(page.getByRole('link', { name: 'One page (.html)' }));
        assert.match(file, /To read \d+_changes\.html$/);
        assert.match(bytes.toString(), 'V1R1');
        await click(page.getByRole('link', { name: 'Gapstone', exact: true }));
        await click(rowOf(page, name).getByRole('button', { name: 'Mark as read' }));
        assert.match(await textOf(page, name), 'nothing');
      },
      once,
    );
  });

  tasks(`remove a STIG and take it back, ${how}`, async () => {
    const { name, id } = await makeList('To undo');
    const headers = { Authorization: `Bearer ${site.token}` };
    const body = JSON.stringify({ notes: 'Mind the gap' });
    await fetch(`${site.served.url}/api/v1/lists/${id}/stigs/harbor_linux_3`, {
      method: 'PUT',
      headers,
      body,
    });
    await journey(
      site,
      async ({ page, click }) => {
        await click(navigation(page, 'Saved'));
        await click(page.getByRole('link', { name }));
        await click(page.getByRole('button', { name: /^Remove Harbor Linux 3/ }));
        assert.match((await page.getByRole('status').first().textContent())!, 'Removed: Harbor Linux 3');
        await click(page.getByRole('button', { name: /^Undo/ }));
        assert.match(await textOf(page, 'Harbor Linux 3'), /V1R1 \(pinned\).*Mind the gap/);
      },
      once,
    );
  });
}

tasks('two STIGs side by side', () =>
  journey(site, async ({ page, click, download, accessible }) => {
    await click(page.getByRole('link', { name: 'Harbor Linux 3', exact: true }).first());
    await click(page.getByText('Compare', { exact: true }));
    await click(page.getByRole('link', { name: 'Beside another STIG' }));
    await page.getByLabel(/^Harbor Linux 3 .* and$/).fill('lantern web');
    await click(page.getByRole('button', { name: 'Compare' }));
    await page.getByText('This is a suggestion of Gapstone').waitFor();
    await accessible();
    const { bytes } = await download(page.getByRole('link', { name: 'Download CSV' }));
    assert.match(bytes.toString(), /^likeness,srgId,leftSlug,/);
  }),
);

tasks.run();
