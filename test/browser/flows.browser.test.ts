import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { browserSuite, leave, plainHost, signIn, violations } from '../support/browser.ts';
import { writeResults } from '../support/results-writer.ts';
import { put } from '../support/scratch.ts';

const { tests: flows, site } = browserSuite('What a reader does', {
  withReal: true,
  entitlements: ['occ', 'regdoc'],
});

const titleOf = async (slug: string) => (await site.ask<{ title: string }>(`/api/v1/stigs/${slug}`)).title;

flows('from a search to a rule', async () => {
  const visitor = await site.visit();
  const { page } = visitor;
  await page.goto('/stigs/harbor_linux_3');
  assert.match(
    page.url(),
    /\/signin\?next=%2Fstigs%2Fharbor_linux_3$/,
    'a page that needs a reader asks for one',
  );
  await page.getByLabel('User token').fill(site.token);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  assert.match(
    (await page.getByRole('heading', { level: 1 }).textContent())!,
    /^Harbor Linux 3/,
    'and leads back',
  );
  await page.getByRole('searchbox', { name: 'Search STIGs, rules' }).fill('V-900001');
  await page.getByRole('searchbox', { name: 'Search STIGs, rules' }).press('Enter');
  assert.match(page.url(), /\/stigs\/harbor_linux_3\/rules\/V-900001$/, 'one id opens what it names');
  for (const name of ['Discussion', 'Check', 'Fix'])
    assert.is(await page.getByRole('heading', { name, exact: true }).count(), 1);
  await page.getByRole('link', { name: 'CCI-', exact: false }).first().click();
  assert.match(page.url(), /\/ccis\/CCI-\d{6}$/);
  assert.ok(
    (await page.getByRole('link', { name: /Harbor Linux 3/ }).count()) > 0,
    'the CCI leads back to the STIG',
  );
  await leave(visitor);
});

for (const javaScriptEnabled of [true, false]) {
  flows(
    `a search is narrowed by all that it takes, ${javaScriptEnabled ? 'with' : 'without'} script`,
    async () => {
      const visitor = await site.visit({ javaScriptEnabled });
      const { page } = visitor;
      await signIn(page, site.token);
      await page.goto('/search?q=the');
      await page.getByText('Filters', { exact: true }).click();
      await page.getByLabel('STIG', { exact: true }).fill(await titleOf('harbor_linux_3'));
      await page.getByLabel(/ CAT II$/).check();
      await page.getByLabel('CCI', { exact: true }).fill('cci-15');
      await page.getByLabel('NIST SP 800-53 control').fill('ac-2(1)');
      await page.getByRole('button', { name: 'Apply filters' }).click();
      const query = 'q=the&severity=medium&stig=harbor_linux_3&cci=cci-15&control=ac-2%281%29&sort=relevance';
      const typed = new URL(page.url()).search;
      assert.is(typed.replace(/(?<=stig=)[^&]+/, 'harbor_linux_3'), `?${query}`);
      const { results } = await site.ask<{ results: { groupId: string }[] }>(`/api/v1/search?${query}`);
      assert.ok(results.length > 0);
      const found = page.locator('ol.results > li');
      assert.is(await found.count(), results.length);
      for (const [index, { groupId }] of results.entries())
        assert.ok((await found.nth(index).textContent())!.includes(groupId), groupId);
      assert.is(await page.getByLabel('NIST SP 800-53 control').inputValue(), 'ac-2(1)');
      await leave(visitor);
    },
  );
}

/** Signs in, makes a list, adds a STIG, exports it, deletes and restores it, signs out. */
async function workWithLists(javaScriptEnabled: boolean, host?: string): Promise<void> {
  const visitor = await site.visit({ javaScriptEnabled, acceptDownloads: true }, host);
  const { page } = visitor;
  await signIn(page, site.token);
  await page.getByRole('link', { name: 'Systems', exact: true }).click();
  await page.getByLabel('Name').fill('Web servers');
  await page.getByLabel('Tags').fill('prod, dmz');
  await page.getByLabel('Visibility').selectOption('SHARED');
  await page.getByRole('button', { name: 'Create list' }).click();
  await page.getByText('Created.').waitFor();
  const home = new URL(page.url()).pathname;
  await page.goto('/stigs/harbor_linux_3');
  await page.getByText('Add to a list').click();
  await page.getByLabel('List', { exact: true }).selectOption({ label: 'Web servers' });
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  assert.is(new URL(page.url()).pathname, home);
  await page.getByText('Added.').waitFor();
  await page.locator('summary', { hasText: 'Download' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('list', { name: 'Download' }).getByRole('link', { name: 'CSV' }).click(),
  ]);
  assert.is(download.suggestedFilename(), 'UNCLASSIFIED_TEST__Web servers.csv');
  const csv = readFileSync(await download.path(), 'utf8').split('\r\n');
  assert.match(csv[0]!, /^slug,title,version,/);
  assert.match(csv[1]!, /^harbor_linux_3,/);
  assert.is(csv.length, 3);
  await page.getByRole('link', { name: 'Sharing and settings' }).click();
  await page.getByText('Delete this list').click();
  await page.getByRole('button', { name: 'Delete list' }).click();
  await page.getByText('List deleted.').waitFor();
  await page.getByRole('button', { name: 'Restore Web servers' }).first().click();
  await page.getByText('List restored').waitFor();
  await page.getByRole('link', { name: 'Sharing and settings' }).click();
  await page.getByText('Delete this list').click();
  await page.getByRole('button', { name: 'Delete list' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  await page.goto('/systems');
  assert.match(page.url(), /\/signin\?next=/);
  await page.goBack();
  assert.is(await page.getByText('Web servers').count(), 0, 'nothing is kept for who sits down next');
  await leave(visitor);
}

flows('a list is made, filled, exported, deleted and restored', () => workWithLists(true));
flows('all of that without script', () => workWithLists(false));
flows('and over plain HTTP from another machine', () => workWithLists(true, plainHost));

flows('scan results and a checklist are chosen together, looked at, merged, and downloaded', async () => {
  const visitor = await site.visit({ acceptDownloads: true });
  const { page } = visitor;
  await signIn(page, site.token);
  const checklist = await site.ask<{ stigs: { rules: { rule_id_src: string; group_id: string }[] }[] }>(
    '/api/v1/stigs/harbor_linux_3/download',
  );
  const [first] = checklist.stigs[0]!.rules;
  const results = writeResults([{ id: first!.rule_id_src, result: 'fail' }], { target: 'web01' });
  const files = [
    put(site.served.folder, 'merge.cklb', JSON.stringify(checklist)),
    put(site.served.folder, 'results.xml', results),
  ];
  await page.goto('/checklists/inspect');
  await page.getByLabel('Checklists, scan results, or a zip of them').setInputFiles(files[0]!);
  await page.getByRole('button', { name: 'Inspect' }).click();
  assert.match((await page.getByRole('main').textContent())!, 'The target has no host name');
  assert.equal(await violations(page), []);
  await page.goto('/checklists/results');
  await page.getByLabel('Scan results').setInputFiles(files);
  await page.getByRole('button', { name: 'Preview checklist' }).click();
  assert.is(
    await page.getByRole('row').filter({ hasText: first!.group_id }).filter({ hasText: 'Open' }).count(),
    1,
  );
  assert.equal(await violations(page), []);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download checklist' }).click(),
  ]);
  assert.match(download.suggestedFilename(), /web01_harbor_linux_3_V1R2\.cklb$/);
  const merged = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.is(merged.stigs[0].rules[0].status, 'open');
  await leave(visitor);
});

flows('with the keyboard alone: skip, find, open, and every stop is seen', async () => {
  const visitor = await site.visit();
  const { page } = visitor;
  await signIn(page, site.token);
  await page.goto('/stigs/harbor_linux_3');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  assert.ok(await skip.evaluate((each) => each === each.ownerDocument.activeElement));
  assert.ok((await skip.boundingBox())!.y >= 0, 'it comes into sight');
  await page.keyboard.press('Enter');
  assert.is(await page.locator('html').evaluate((html) => html.ownerDocument.activeElement.id), 'main');

  // Round the whole page: each stop is seen, in the order of the page, and the end is reached.
  await page.goto('/stigs/harbor_linux_3');
  const stops = await page.$$eval(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]',
    (all) => all.filter((each) => each.checkVisibility()).length,
  );
  let last = -1;
  let seen = 0;
  for (let step = 0; step < stops + 5; step++) {
    await page.keyboard.press('Tab');
    const stop = await page.locator('html').evaluate((html) => {
      const { activeElement: active, body, defaultView: view } = html.ownerDocument;
      if (active === null || active === body) return null;
      const style = view.getComputedStyle(active);
      const { top, bottom, width } = active.getBoundingClientRect();
      return {
        place: [...html.querySelectorAll('*')].indexOf(active),
        outline: style.outlineStyle === 'none' ? 0 : Number.parseFloat(style.outlineWidth),
        visible: bottom > 0 && top < view.innerHeight && width > 0,
        html: active.outerHTML.slice(0, 100),
      };
    });
    if (stop === null) break;
    assert.ok(stop.outline >= 2, `no visible focus: ${stop.html}`);
    assert.ok(stop.visible, `out of sight: ${stop.html}`);
    if (stop.place < last) break;
    last = stop.place;
    seen++;
  }
  assert.is(seen, stops, 'every stop once, and none is a trap');

  await page.keyboard.press('/');
  await page.keyboard.type('lantern');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/search\?q=lantern/);
  await page
    .getByRole('link', { name: /^Lantern Web Server 2/ })
    .first()
    .focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/stigs\/lantern_web_server_2$/);
  await leave(visitor);
});

flows.run();
