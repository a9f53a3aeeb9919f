import type { Locator, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { browserSuite, leave, plainHost, signIn, violations } from '../support/browser.ts';
import { journey } from '../support/journey.ts';

const { tests: tasks, site } = browserSuite('Tasks: reading a rule', { entitlements: ['occ'] });

const find = async (page: Page, words: string) =>
  page.getByRole('searchbox', { name: /^Search/ }).fill(words);
const searchButton = (page: Page) => page.getByRole('button', { name: 'Search', exact: true }).first();

interface Published {
  groupId: string;
  checkContent: string;
  fixText: string;
}
const published = async (id: string): Promise<Published> => {
  const { findings } = await site.ask<{ findings: Published[] }>('/api/v1/stigs/harbor_linux_3');
  return findings.find(({ groupId }) => groupId === id)!;
};

/** What the clipboard holds, read where a page may: on this machine. */
const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

for (const host of ['127.0.0.1', plainHost])
  tasks(`a check, a fix and a command are copied as they were published, from ${host}`, async () => {
    const visitor = await site.visit({}, host);
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'], {
      origin: site.served.url,
    });
    const { page } = visitor;
    await signIn(page, site.token);
    await page.goto('/rules/V-900003');
    const { checkContent, fixText } = await published('V-900003');
    // Over plain HTTP no page reads the clipboard: another one does, of the same site.browser.
    const reader = await visitor.context.newPage();
    await reader.goto(`${site.served.url}/signin`);
    const copied = async (button: Locator) => {
      await page.bringToFront();
      await button.click();
      await button.and(page.locator('.done')).waitFor();
      await reader.bringToFront();
      return clipboard(reader);
    };
    const copyOf = (name: string) =>
      page.locator(`section:has(> * > [data-copy=${name}]) .section-head .copy`);
    assert.is(await copied(copyOf('check')), checkContent);
    assert.is(await copied(copyOf('fix')), fixText);
    const commands = await page.locator('.prose kbd').allTextContents();
    assert.ok(commands.length > 0);
    for (const [index, command] of commands.entries()) {
      assert.not.match(command, /^\s*[$#>]/);
      assert.is(await copied(page.locator('code.typed .copy').nth(index)), command);
    }
    await leave(visitor);
  });

tasks('what is shown is what was published, with the buttons and without', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const visitor = await site.visit({ javaScriptEnabled });
    await signIn(visitor.page, site.token);
    for (const id of ['V-900001', 'V-900003', 'V-900012']) {
      await visitor.page.goto(`/rules/${id}`);
      const { checkContent, fixText } = await published(id);
      const shown = await visitor.page.locator('.prose[data-copy]').allTextContents();
      assert.equal(shown, [checkContent, fixText], id);
      const byHand = await visitor.page.locator('.prose[data-copy]').evaluateAll((all) =>
        all.map((each) => {
          const selection = each.ownerDocument.defaultView.getSelection();
          selection.selectAllChildren(each);
          return selection.toString();
        }),
      );
      assert.equal(byHand, shown, `${id}, selected by hand`);
    }
    await leave(visitor);
  }
});

tasks('three columns on a wide screen, where j and k go on and back with the filters', async () => {
  const visitor = await site.visit({ viewport: { width: 1400, height: 900 } });
  const { page } = visitor;
  await signIn(page, site.token);
  await page.goto('/stigs/harbor_linux_3/rules/V-900002?severity=high');
  const boxes = await Promise.all(
    ['.rule-list', '.read', '.rule-aside'].map((each) => page.locator(each).boundingBox()),
  );
  const [list, read, aside] = boxes.map((box) => box!);
  assert.ok(list!.x + list!.width <= read!.x && read!.x + read!.width <= aside!.x, 'side by side');
  assert.is(await page.locator('.rule-list [aria-current=page]').count(), 1);
  await page.keyboard.press('j');
  await page.waitForURL('**/rules/V-900003?severity=high');
  await page.keyboard.press('j');
  await page.waitForURL('**/rules/V-900004?severity=high');
  await page.keyboard.press('k');
  await page.waitForURL('**/rules/V-900003?severity=high');
  await page.locator('.rule-list').getByLabel('ID or title contains').press('j');
  assert.match(page.url(), /V-900003/, 'what is typed into a field is no command');
  assert.equal(await violations(page), []);
  await page.setViewportSize({ width: 900, height: 900 });
  assert.is(await page.locator('.rule-list').isVisible(), false);
  assert.ok(await page.locator('.read a[rel=next]').first().isVisible());
  await leave(visitor);
});

tasks('a citation and the link of a rule are copied', () =>
  journey(
    site,
    async ({ page, click }) => {
      await find(page, 'V-900003');
      await click(searchButton(page));
      await click(page.locator('summary', { hasText: 'Copy' }));
      await page
        .context()
        .grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.served.url });
      await click(page.getByRole('button', { name: 'Copy citation' }));
      await page.getByRole('button', { name: 'Copied citation' }).waitFor();
      assert.match(await clipboard(page), /^harbor_linux_3@V1R2#SV-900003r\d+_rule$/);
      await click(page.getByRole('button', { name: 'Copy link' }));
      await page.getByRole('button', { name: 'Copied link' }).waitFor();
      const link = `${site.served.url}/stigs/harbor_linux_3/rules/V-900003?version=V1R2`;
      assert.is(await clipboard(page), link);
      await click(page.getByRole('link', { name: /^harbor_linux_3@V1R2#SV-900003r\d+_rule$/ }));
      assert.match(page.url(), /\/cite\?ref=harbor_linux_3%40V1R2%23SV-900003r/);
    },
    { javaScriptEnabled: [true] },
  ),
);

tasks.run();
