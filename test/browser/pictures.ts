// Takes the pictures of the README from the sample data: `npm run pictures`. Not a test; it needs Chromium as they do.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { leave, serveCatalog, signIn, startBrowser, visit } from '../support/browser.ts';

const folder = join(packageRoot, 'test', 'browser', 'pictures');

const browser = await startBrowser();
const served = await serveCatalog(false, {});
const visitor = await visit(browser, served.url, { viewport: { width: 840, height: 510 } });
const { page } = visitor;
await signIn(
  page,
  await served.token('ann', '--email', 'ann@example.org', '--entitlement', 'occ', '--entitlement', 'regdoc'),
);
await page.goto('/lists');
await page.getByLabel('Name').fill('Web servers');
await page.getByLabel('Tags').fill('prod, dmz');
await page.getByLabel('Color').fill('#2a6fdb');
await page.getByRole('button', { name: 'Create list' }).click();
const list = new URL(page.url()).pathname;
await page.getByText('Add STIGs by slug').click();
await page.getByLabel('Slugs').fill('harbor_linux_3\nlantern_web_server_2');
await page.getByRole('button', { name: 'Add STIGs' }).click();

// A checklist of the older release, answered, brought to the current one.
const older = await page.request.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1&hostName=web01');
const checklist = (await older.json()) as Cklb;
for (const rule of checklist.stigs[0]!.rules) rule.status = 'not_a_finding';
const file = {
  name: 'web01.cklb',
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(checklist)),
};

const pictures: [name: string, path: string, heading?: string][] = [
  ['home', '/'],
  ['search', '/search?q=%22SSH+server%22'],
  ['stig', '/stigs/harbor_linux_3'],
  ['rule', '/stigs/harbor_linux_3/rules/V-900003'],
  ['diff', '/stigs/harbor_linux_3/diff'],
  ['crosswalk', '/controls/nist-800-171/3.1.5', 'Crosswalk'],
  ['list', list],
  ['upgrade', '/upgrade?slug=harbor_linux_3'],
  ['ledger', '/catalog/imports/1?outcome=imported'],
  ['api', '/docs/stig-catalog'],
];
/** Pictures that say enough at less height: the README is to stay small. */
const low: Record<string, number> = { home: 390, upgrade: 400, ledger: 300 };
for (const [name, path, heading] of pictures) {
  await page.goto(path);
  if (name === 'diff')
    await page
      .locator('ins, del')
      .first()
      .evaluate((each) => each.scrollIntoView({ block: 'center' }));
  else if (name === 'ledger') await page.getByRole('table').evaluate((each) => each.scrollIntoView());
  else if (name === 'upgrade') {
    await page.getByLabel('Checklist').setInputFiles(file);
    await page.getByRole('button', { name: 'Preview upgrade' }).click();
    await page.getByRole('button', { name: 'Download upgraded checklist' }).waitFor();
  } else if (heading !== undefined)
    await page.getByRole('heading', { name: heading, exact: true }).evaluate((each) => each.scrollIntoView());
  const picture = join(folder, `${name}.png`);
  const height = low[name] ?? 510;
  await page.screenshot({ path: picture, clip: { x: 0, y: 0, width: 840, height } });
  process.stdout.write(`${name}.png ${statSync(picture).size} bytes\n`);
}
await leave(visitor);
await browser.close();
served.child.kill('SIGTERM');
