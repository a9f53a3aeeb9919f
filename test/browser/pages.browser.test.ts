import * as assert from 'uvu/assert';
import {
  banner,
  browserSuite,
  hasRealReleases,
  leave,
  signIn,
  type Visit,
  violations,
} from '../support/browser.ts';
import { linesOf } from '../support/tables.ts';

const { tests: pages, site } = browserSuite('Every page in a browser', {
  withReal: true,
  entitlements: ['occ', 'regdoc'],
});

/** What the pages show: a list, a collection and favorites are made before. */
const paths = linesOf(`
  /
  /search?q=audit*
  /search?q=AC-2(1)
  /search?q=audit*&severity=high&stig=harbor_linux_3&cci=CCI-000366&control=CM-6
  /search?q=nothing-like-it
  /search?q=V-900001+AC-2(1)+CCI-000366+V-999999
  /cite?ref=harbor_linux_3@V1R1%23SV-900002r100013_rule
  /search?severity=urgent&stig=harbor_linux_3
  /search
  /search?control=CM-7&stig=harbor_linux_3&stig=lantern_web_server_2&sort=severity
  /search?q=hl3
  /stigs
  /stigs/harbor_linux_3
  /stigs/harbor_linux_3?search=nothing-like-it
  /stigs/harbor_linux_3/releases
  /stigs/harbor_linux_3/roles
  /stigs/harbor_linux_3/about?version=V1R1
  /stigs/harbor_linux_3/diff?rule=V-900001
  /stigs/harbor_linux_3/coverage?show=gaps
  /stigs/harbor_linux_3/coverage?show=covered
  /stigs/harbor_linux_3/coverage?control=CM-6
  /stigs/harbor_linux_3/worksheet?print=true
  /stigs/harbor_linux_3/rules/V-900001
  /stigs/harbor_linux_3/rules/V-900002?severity=medium&search=harbor
  /rules/V-900013
  /stigs/harbor_linux_3/diff
  /stigs/harbor_linux_3/diff?kind=changed&class=check&severity=high&severity=medium
  /changes
  /changes?since=2020-01-01
  /stigs/harbor_linux_3/coverage?version=V1R1&framework=nist-800-171
  /stigs/harbor_linux_3/automation?version=V1R1
  /controls
  /controls/nist-800-53
  /controls/nist-800-53/AC-2
  /controls/nist-800-53/AC-2(10)
  /controls/nist-800-53/CM-7?stig=harbor_linux_3&severity=high
  /controls/nist-800-171/3.1.1?maxHops=3
  /controls/dod-8500/ECCT-1
  /ccis
  /ccis/CCI-000015
  /systems
  LIST
  LIST/changes
  LIST/changes?since=2026-01-01
  LIST/settings
  LIST/coverage
  LIST/coverage?framework=dod-8500&baseline=MAC+I
  LIST/automation
  LIST/checklists
  LIST/stigs/harbor_linux_3
  /collections
  COLLECTION
  COLLECTION/edit
  /favorites
  /content
  /content?olderThan=182&sort=-date
  /content/imports/1
  /documents
  /documents/harbor-basic-directive
  /roles
  /roles/15-1244.00
  /checklists/upgrade
  /checklists/results
  /checklists/inspect
  /checklists/hosts
  /checklists/emass
  /references
  /docs
  /docs/stig-catalog
  /docs/crosswalk
  /docs/guide
  /docs/rules
  /signin
  /systems/none
  /nothing/here
`);
if (hasRealReleases)
  paths.push('/stigs/red_hat_enterprise_linux_9', '/stigs/red_hat_enterprise_linux_9/diff?class=severity');

const own: Record<'LIST' | 'COLLECTION', string> = { LIST: '', COLLECTION: '' };
const addressOf = (path: string) =>
  path.replace(/^(LIST|COLLECTION)/, (name) => own[name as keyof typeof own]);

pages.before(async () => {
  const bundle = {
    name: `A list with a rather long name for a small screen, and ${'W'.repeat(120)}`,
    description: 'What it is for',
    tags: ['one', 'two'],
    color: '#aa3300',
    visibility: 'SHARED',
  };
  own.LIST = `/systems/${(await site.post('/api/v1/lists', bundle)).id}`;
  await site.post(`/api/v1${own.LIST}/stigs`, { slugs: ['harbor_linux_3', 'lantern_web_server_2'] });
  own.COLLECTION = `/collections/${(await site.post('/api/v1/control-collections', bundle)).id}`;
  await site.post(`/api/v1/control-${own.COLLECTION.slice(1)}/controls`, {
    controls: [{ framework: 'nist-800-53', controlId: 'AC-2', notes: 'a note' }],
  });
  await site.post('/api/v1/my-stigs', { slugs: ['harbor_linux_3'] });
  await site.post('/api/v1/my-controls', { framework: 'dod-8500', controlId: 'ECCT-1' });
});

/** Opens everything that can be opened: what is behind a line is a part of the page. */
const openAll = (visitor: Visit) =>
  visitor.page.$$eval('details', (all) => {
    for (const each of all) each.open = true;
  });

async function seenIn(colorScheme: 'light' | 'dark', widths: number[]): Promise<string[]> {
  const visitor = await site.visit({ colorScheme });
  await signIn(visitor.page, site.token);
  const found: string[] = [];
  for (const path of paths) {
    await visitor.page.goto(addressOf(path));
    await openAll(visitor);
    for (const width of widths) {
      await visitor.page.setViewportSize({ width, height: 900 });
      for (const problem of await violations(visitor.page)) found.push(`${path}, ${width} px: ${problem}`);
    }
    assert.is(await visitor.page.getByText(banner).count(), 2, path);
  }
  await leave(visitor);
  return found;
}

// Both at once: it is the longest of the browser tests by far, and each waits for its own page.
pages('no violation of WCAG 2.2 AA, nothing from elsewhere, light and dark', async () => {
  assert.equal(await Promise.all([seenIn('light', [390, 1280]), seenIn('dark', [1280])]), [[], []]);
});

pages('no violation for who is not signed in', async () => {
  const visitor = await site.visit();
  for (const path of ['/', '/search?q=audit', '/controls/nist-800-53/AC-2', '/signin?next=/stigs', '/docs']) {
    await visitor.page.goto(path);
    assert.equal(await violations(visitor.page), [], path);
  }
  await leave(visitor);
});

// 320 px is also what is left of 640 px at 200 %, and of 1280 px at 400 %; from 705 px on tables are tables.
pages('no page scrolls sideways', async () => {
  const visitor = await site.visit();
  await signIn(visitor.page, site.token);
  for (const path of paths) {
    await visitor.page.goto(addressOf(path));
    await openAll(visitor);
    for (const width of [320, 640, 706]) {
      await visitor.page.setViewportSize({ width, height: 700 });
      const wide = await visitor.page.locator('html').evaluate((html) => {
        const { scrollWidth, clientWidth } = html;
        if (scrollWidth <= clientWidth) return null;
        return [...html.querySelectorAll('body *')]
          .filter(
            (element) =>
              element.closest('.picture, pre') === null &&
              element.getBoundingClientRect().right > clientWidth + 1,
          )
          .slice(0, 3)
          .map((element) => element.outerHTML.slice(0, 120));
      });
      assert.is(wide, null, `${path} at ${width} px: ${JSON.stringify(wide)}`);
    }
  }
  await leave(visitor);
});

pages.run();
