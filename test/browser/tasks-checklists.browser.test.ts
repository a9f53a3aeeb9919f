import * as assert from 'uvu/assert';
import { zipOf } from '../../src/base/zip.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { browserSuite } from '../support/browser.ts';
import { journey } from '../support/journey.ts';
import { readZip } from '../support/read-zip.ts';
import { readCkl, readCklb } from '../support/stig-manager.ts';
import { noVersion } from '../support/words.ts';

const { tests: tasks, site } = browserSuite('Tasks: checklists out and upgraded', { withReal: true });

tasks.before(async () => {
  const { id } = await site.post('/api/v1/lists', { name: 'Site 7' });
  await site.post(`/api/v1/lists/${id}/stigs`, { slugs: ['harbor_linux_3', 'lantern_web_server_2'] });
});

tasks('a ckl for each of twenty hosts', async () => {
  const hosts = Array.from({ length: 20 }, (_, index) => `web${index + 1}`);
  await journey(site, async ({ page, click, download }) => {
    await click(page.getByRole('link', { name: 'Systems', exact: true }).first());
    await click(page.getByRole('link', { name: 'Site 7' }).first());
    const parts = page.getByRole('navigation', { name: 'Parts of this list' });
    await click(parts.getByRole('link', { name: 'Checklists' }));
    await page.getByLabel('Hosts', { exact: true }).fill(hosts.map((name) => `${name}\t10.0.0.1`).join('\n'));
    await page.getByLabel('Format').selectOption('ckl');
    const { name, bytes } = await download(page.getByRole('button', { name: 'Download checklists' }));
    assert.match(name, /Site[_ ]7_checklists\.zip$/);
    const files = await readZip(bytes);
    assert.is(files.size, 2 * hosts.length);
    for (const [file, text] of files) {
      const { target } = readCkl(text.toString());
      assert.ok(file.startsWith(`${target.name}_`), file);
      assert.is(target.ip, '10.0.0.1');
    }
  });
});

/** A checklist of the first release of Harbor Linux 3, every rule answered. */
async function old(host: string): Promise<{ name: string; mimeType: string; buffer: Buffer }> {
  const path = `/api/v1/stigs/harbor_linux_3/download?version=V1R1&hostName=${host}`;
  const checklist = await site.ask<Cklb>(path);
  for (const rule of checklist.stigs[0]!.rules) rule.status = 'not_a_finding';
  return {
    name: `${host}.cklb`,
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(checklist)),
  };
}

const answered = (text: string) =>
  readCklb(text).checklists.flatMap(({ reviews }) => reviews.filter(({ result }) => result === 'pass'))
    .length;

tasks('one checklist upgraded, after a wrong release was asked for', async () => {
  const file = await old('web01');
  await journey(site, async ({ page, click, download, accessible }) => {
    await click(page.getByRole('link', { name: 'Checklists', exact: true }));
    await page.getByLabel(/^Checklists:/).setInputFiles(file);
    await page.getByText('More options').click();
    await page.getByLabel('Release', { exact: true }).fill('V9R9');
    await click(page.getByRole('button', { name: 'Preview upgrade' }));
    assert.is(await page.getByRole('alert').textContent(), noVersion('V9R9'));
    await accessible();
    // Neither the file nor the STIG has to be chosen.
    await page.getByLabel('Release', { exact: true }).fill('');
    await click(page.getByRole('button', { name: 'Preview upgrade' }));
    await page.getByRole('heading', { level: 1, name: 'Harbor Linux 3: V1R1 to V1R2' }).waitFor();
    await accessible();
    const { bytes } = await download(page.getByRole('button', { name: 'Download upgraded checklist' }));
    assert.ok(answered(bytes.toString()) > 0);
  });
});

tasks('a zip of checklists upgraded, CAT I alone', async () => {
  const files = await Promise.all(['web01', 'web02'].map(old));
  const buffer = Buffer.from(await zipOf(files.map(({ name, buffer: content }) => ({ name, content }))));
  await journey(site, async ({ page, click, download }) => {
    await click(page.getByRole('link', { name: 'Checklists', exact: true }));
    await page
      .getByLabel(/^Checklists:/)
      .setInputFiles({ name: 'all.zip', mimeType: 'application/zip', buffer });
    await click(page.getByRole('button', { name: 'Preview upgrade' }));
    await page.getByRole('heading', { level: 1, name: '2 of 2 checklists upgraded' }).waitFor();
    await click(page.getByRole('checkbox', { name: 'CAT I', exact: true }));
    await click(page.getByRole('button', { name: 'Apply filters' }));
    const shown = page
      .getByRole('table', { name: 'Rules to review' })
      .locator('tbody > tr > :first-child > .severity');
    assert.ok((await shown.count()) > 0);
    for (const text of await shown.allTextContents()) assert.match(text, /CAT I$/);
    const { bytes } = await download(page.getByRole('button', { name: 'Download checklists and report' }));
    const made = await readZip(bytes);
    assert.is(made.size, 3);
    const report = made.get('upgrade-report.csv')!.toString();
    for (const { name } of files) assert.match(report, name);
    for (const [name, text] of made) if (name.endsWith('.cklb')) assert.ok(answered(text.toString()) > 0);
  });
});

tasks('a sheet for eMASS', async () => {
  const sheet = 'poam';
  const files = await Promise.all(['web01', 'web02'].map(old));
  const open = files.map((file) => ({
    ...file,
    buffer: Buffer.from(String(file.buffer).replace('"status":"not_a_finding"', '"status":"open"')),
  }));
  await journey(site, async ({ page, click, download }) => {
    await click(page.getByRole('link', { name: 'Checklists', exact: true }));
    await click(page.getByRole('link', { name: 'eMASS sheet' }));
    await page.getByLabel(/^Checklists:/).setInputFiles(open);
    await page.getByLabel('Sheet', { exact: true }).selectOption(sheet);
    await page.getByLabel('Date tested').fill('2026-11-24');
    await click(page.getByRole('button', { name: 'Preview sheet' }));
    const rows = await page.getByRole('table', { name: 'Rows of the sheet' }).locator('tbody tr').count();
    const { name, bytes } = await download(page.getByRole('button', { name: 'Download sheet' }));
    assert.ok(name.endsWith(`eMASS_${sheet}.xlsx`), name);
    assert.is(bytes.subarray(0, 2).toString(), 'PK');
    const checklists = open.map(({ buffer }) => String(buffer));
    const asked = { checklists, sheet, dateTested: '2026-11-24', format: 'json' };
    const api = (await site.post('/api/v1/checklists/emass', asked)) as unknown as { rows: string[][] };
    assert.equal([rows > 0, rows], [true, Math.min(api.rows.length, 100)]);
  });
});

tasks.run();
