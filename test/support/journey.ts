import type { Locator, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { leave, type Site, signIn, type Visit, violations } from './browser.ts';

/** A task as a reader does it: from home, each click counted. */
export interface Journey {
  page: Page;
  /** Clicks, and counts it. Filling in a field and choosing from a list are no clicks; sending a form is one. */
  click(what: Locator): Promise<void>;
  /** Clicks what downloads, and gives the name and the bytes of the file. */
  download(what: Locator): Promise<{ name: string; bytes: Buffer }>;
  /** Fails where axe finds something. It needs script: the visit without passes. */
  accessible(): Promise<void>;
}

/** The most clicks that a task may take. */
const most = 5;

/** A desk and a phone. */
export const sizes = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];

/**
 * Does a task at a desk with script and on a phone without, each time signed in at home at first; a task that needs script
 * has it on both. Fails where it takes more than five clicks, or where a page does what it must not.
 */
export async function journey(
  site: Site,
  task: (journey: Journey) => Promise<void>,
  options: { javaScriptEnabled?: boolean[]; viewport?: { width: number; height: number } } = {},
): Promise<void> {
  const { javaScriptEnabled: ways = [true, false], viewport } = options;
  const visits = viewport
    ? ways.map((way) => ({ javaScriptEnabled: way, size: viewport }))
    : sizes.map((size, index) => ({ javaScriptEnabled: ways[index] ?? ways[0]!, size }));
  for (const { javaScriptEnabled, size } of visits) {
    const visitor: Visit = await site.visit({ javaScriptEnabled, acceptDownloads: true, viewport: size });
    const { page } = visitor;
    await signIn(page, site.token);
    await page.goto('/');
    let clicks = 0;
    const click = async (what: Locator) => {
      clicks += 1;
      await what.click();
    };
    await task({
      page,
      click,
      async download(what) {
        // Inside a closed menu it has no role.
        const menus = page.locator('details.menu:not([open]) > summary', { hasText: 'Download' });
        if ((await what.count()) === 0) await click(menus.first());
        const [file] = await Promise.all([page.waitForEvent('download'), click(what)]);
        const parts: Buffer[] = [];
        for await (const part of await file.createReadStream()) parts.push(part as Buffer);
        return { name: file.suggestedFilename(), bytes: Buffer.concat(parts) };
      },
      async accessible() {
        if (javaScriptEnabled) assert.equal(await violations(page), []);
      },
    });
    const way = `${javaScriptEnabled ? 'with' : 'without'} script at ${size.width} px`;
    assert.ok(clicks <= most, `${clicks} clicks ${way}`);
    await leave(visitor);
  }
}
