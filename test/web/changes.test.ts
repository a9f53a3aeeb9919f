import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage } from '../support/pages.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';

const pages = suite('Pages of changes');

const t = await testApp([
  shipped('stigs'),
  ...(hasReferenceData ? [reference('xccdf'), reference('zips')] : []),
]);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
pages.after(() => t.db.close());

const diff = '/stigs/harbor_linux_3/diff';

pages('a comparison to carry away: the same bytes again, nothing from elsewhere, no script', async () => {
  const query = '?from=V1R1&to=V1R2';
  const { status, html, headers } = await loadPage(t, `${diff}/file${query}`, ann);
  assert.is(status, 200);
  assert.is(headers.get('Content-Type'), 'text/html; charset=utf-8');
  const name = 'harbor_linux_3_V1R1_to_V1R2_changes.html';
  assert.ok(headers.get('Content-Disposition')!.startsWith(`attachment; filename="${name}"`));
  assert.is((await loadPage(t, `${diff}/file${query}`, ann)).html, html);
  assert.not.match(html, /<script|<link|<img|<form|\ssrc=|\sstyle=|\son[a-z]+=|url\(|@import/i);
  assert.equal(
    [...html.matchAll(/ href="([^#][^"]*)"/g)].map((match) => match[1]),
    [],
  );
  // Each line of the contents leads to a change, and each change has all of its text.
  const anchors = [...html.matchAll(/ href="#([^"]*)"/g)].map((match) => match[1]);
  const ids = [...html.matchAll(/<article class="change" id="([^"]*)"/g)].map((match) => match[1]);
  assert.equal(anchors, ids);
  const { changed } = (await t.get(`/api/v1${diff}${query}`)).json;
  assert.equal(
    ids,
    changed.map((rule: { new: { groupId: string } }) => rule.new.groupId),
  );
  assert.is(
    html.match(/<summary>Whole text/g)?.length,
    html.match(/<article.*?\[…\].*?<\/article>/gs)?.length,
  );
});

pages('the file is narrowed as its page is', async () => {
  const filter = 'kind=changed&class=severity&severity=high';
  const { html } = await loadPage(t, `${diff}?from=V1R1&to=V1R2&${filter}`, ann);
  const links = [...html.matchAll(/ href="([^"]*(?:diff\/file|format=)[^"]*)"/g)].map((match) =>
    match[1]!.replaceAll('&amp;', '&'),
  );
  assert.is(links.length, 4);
  for (const each of links) assert.ok(each.includes(filter), each);
  const file = await loadPage(t, links.find((each) => each.includes('/file'))!, ann);
  assert.match(
    file.headers.get('Content-Disposition')!,
    '_V1R1_to_V1R2_changes_kind-changed_class-severity_severity-high.html"',
  );
  const shown = (text: string) =>
    [...text.matchAll(/<article class="change" id="([^"]*)"/g)].map((m) => m[1]);
  assert.equal(shown(file.html), shown(html));
  assert.match(file.html, 'Only rules with kind: changed; class: severity; severity: high.');
});

pages('a wrong day, release, rule or filter is refused or ignored, as the API does', async () => {
  for (const path of [
    '/changes?since=x',
    `${diff}?kind=all`,
    `${diff}/file?from=1`,
    `${diff}?rule=${'x'.repeat(201)}`,
  ])
    assert.is((await loadPage(t, path, ann)).status, 400, path);
  assert.is((await loadPage(t, '/stigs/none/diff/file', ann)).status, 404);
  const { html } = await loadPage(t, `${diff}?from=V1R1&to=V1R2&rule=%3Cb%3E`, ann);
  assert.not.match(html, '<b>"');
  assert.is(
    (await loadPage(t, '/changes?since=9999-12-31', ann)).html.includes('No STIG has a release'),
    true,
  );
});

pages(
  'every comparison of real releases has pages of less than 300 KB, with every change on one of them',
  async () => {
    const slugs: string[] = (await t.get('/api/v1/stigs?limit=150')).json.stigs.map(
      ({ slug }: { slug: string }) => slug,
    );
    let most = 0;
    for (const slug of slugs) {
      const { versions } = (await t.get(`/api/v1/stigs/${slug}/versions`)).json;
      const [newest] = versions;
      for (const { version } of versions.slice(1)) {
        const query = `from=${version}&to=${newest.version}`;
        const { changed } = (await t.get(`/api/v1/stigs/${slug}/diff?${query}`)).json;
        most = Math.max(most, changed.length);
        const found: string[] = [];
        for (let page = 1; page === 1 || found.length < changed.length; page++) {
          assert.ok(page < 10, slug);
          const { html } = await loadPage(t, `/stigs/${slug}/diff?${query}&page=${page}`, ann);
          assert.ok(html.length < 300_000, `${slug} ${query}: ${html.length}`);
          found.push(
            ...[...html.matchAll(/<article class="change" id="([^"]*)"/g)].map((match) => match[1]!),
          );
        }
        assert.equal(
          found,
          changed.map((rule: { new: { groupId: string } }) => rule.new.groupId),
        );
        // Whatever page it is on, a rule is found by its V-id.
        const last = found.at(-1);
        if (last === undefined) continue;
        const { html } = await loadPage(t, `/stigs/${slug}/diff?${query}&rule=${last}`, ann);
        assert.match(html, `<article class="change" id="${last}">`);
      }
    }
    if (hasReferenceData) assert.ok(most > 94, String(most));
  },
);

pages.run();
