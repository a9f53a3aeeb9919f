// Takes the pictures of the README from the sample data: `npm run pictures`. Not a test; it needs Chromium as they do.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/root.ts';
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
await page.getByRole('button', { name: 'Make the list' }).click();
const list = new URL(page.url()).pathname;
await page.getByText('Add STIGs by slug').click();
await page.getByLabel('Slugs').fill('harbor_linux_3\nlantern_web_server_2');
await page.getByRole('button', { name: 'Add', exact: true }).click();

const pictures: [name: string, path: string, heading?: string][] = [
  ['search', '/search?q=%22SSH+server%22'],
  ['stig', '/stigs/harbor_linux_3'],
  ['rule', '/stigs/harbor_linux_3/rules/V-900003'],
  ['diff', '/stigs/harbor_linux_3/diff'],
  ['crosswalk', '/controls/nist-800-171/3.1.5', 'Crosswalk'],
  ['list', list],
  ['api', '/docs/stig-catalog'],
];
for (const [name, path, heading] of pictures) {
  await page.goto(path);
  if (name === 'diff')
    await page
      .locator('ins, del')
      .first()
      .evaluate((each) => each.scrollIntoView({ block: 'center' }));
  else if (heading !== undefined)
    await page.getByRole('heading', { name: heading, exact: true }).evaluate((each) => each.scrollIntoView());
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file });
  process.stdout.write(`${name}.png ${statSync(file).size} bytes\n`);
}
await leave(visitor);
await browser.close();
served.child.kill('SIGTERM');
