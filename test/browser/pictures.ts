// Takes the pictures of the README and the guide from the sample data: `npm run pictures`. Not a test; it needs Chromium as they do.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import { leave, serveCatalog, signIn, startBrowser, visit } from '../support/browser.ts';

/**
 * Each picture, its page, and what the picture is to show: it begins at the heading above, or at the start of the page. One of much
 * text is less high, to stay small.
 */
const pictures: [name: string, path: string, seen: string | null, height?: number][] = [
  ['list', 'LIST', null],
  ['rule', '/stigs/harbor_linux_3/rules/V-900003', null, 480],
  ['diff', '/stigs/harbor_linux_3/diff', 'article.change'],
  ['coverage', '/stigs/harbor_linux_3/coverage?framework=nist-800-171', null],
];
const size = { width: 1200, height: 640 };

const folder = join(packageRoot, 'docs', 'pictures');
mkdirSync(folder, { recursive: true });
const browser = await startBrowser();
const served = await serveCatalog(false, {});
const visitor = await visit(browser, served.url, { viewport: size, colorScheme: 'light' });
const { page } = visitor;
const token = await served.token('ann', '--entitlement', 'occ', '--entitlement', 'regdoc');
const post = async (path: string, body: object) => {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${served.url}/api/v1${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return (await answer.json()) as { id: string };
};
const { id } = await post('/lists', { name: 'Harbor control systems', visibility: 'SHARED' });
const list = `/systems/${id}`;
await post(`/lists/${id}/stigs`, { slugs: ['harbor_linux_3', 'lantern_web_server_2'] });
await signIn(page, token);
for (const [name, path, seen, height = size.height] of pictures) {
  await page.goto(path.replace('LIST', list));
  if (seen !== null)
    await page
      .locator(`:is(h2, h3):has(~ * ${seen}), :is(h2, h3):has(~ ${seen})`)
      .last()
      .evaluate((each) => each.scrollIntoView());
  const picture = join(folder, `${name}.png`);
  await page.screenshot({ path: picture, clip: { x: 0, y: 0, width: size.width, height } });
  process.stdout.write(`${name}.png ${statSync(picture).size} bytes\n`);
}
await leave(visitor);
await browser.close();
served.child.kill('SIGTERM');
