// Takes the pictures of the README from the sample data: `npm run pictures`. Not a test; it needs Chromium as they do.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import { leave, serveCatalog, signIn, startBrowser, visit } from '../support/browser.ts';

/** Each picture, its page, and what the picture is to show: it begins at the heading above, or at the start of the page. */
const pictures: [name: string, path: string, seen: string | null][] = [
  ['home', '/', null],
  ['diff', '/stigs/harbor_linux_3/diff', 'ins'],
  ['coverage', '/stigs/harbor_linux_3/coverage?framework=nist-800-171', '.families'],
  ['crosswalk', '/controls/nist-800-171/3.1.5', 'svg[role="img"]'],
];
const size = { width: 1200, height: 640 };

const folder = join(packageRoot, 'docs', 'pictures');
mkdirSync(folder, { recursive: true });
const browser = await startBrowser();
const served = await serveCatalog(false, {});
const visitor = await visit(browser, served.url, { viewport: size, colorScheme: 'light' });
const { page } = visitor;
await signIn(page, await served.token('ann', '--entitlement', 'occ', '--entitlement', 'regdoc'));
for (const [name, path, seen] of pictures) {
  await page.goto(path);
  if (seen !== null)
    await page
      .locator(`:is(h2, h3):has(~ * ${seen}), :is(h2, h3):has(~ ${seen})`)
      .last()
      .evaluate((each) => each.scrollIntoView());
  const picture = join(folder, `${name}.png`);
  await page.screenshot({ path: picture });
  process.stdout.write(`${name}.png ${statSync(picture).size} bytes\n`);
}
await leave(visitor);
await browser.close();
served.child.kill('SIGTERM');
