import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { type Caller, countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';

const everywhere = suite('What every page has');

const t = await testApp([shipped('stigs')], { newId: countingIds() });
const bearer = await userCaller(t, { sub: 'ann' });
const ann = await sessionCaller(t, bearer);
const nobody: Caller = { 'Sec-Fetch-Site': 'same-origin' };
everywhere.after(() => t.db.close());

const token = () => (bearer as { Authorization: string }).Authorization.replace('Bearer ', '');
everywhere('paper has the release, the day, the digest and the banner', async () => {
  const { digest } = (await t.get('/api/v1/catalog')).json;
  const spoken = `${digest.slice(0, 4)} ${digest.slice(4, 8)} ${digest.slice(8, 12)}`;
  const printed = async (path: string, caller: Caller) =>
    textOf(/<p class="printed">.*?<\/p>/s.exec((await loadPage(t, path, caller)).html)![0]);
  const release = 'Harbor Linux 3 Security Technical Implementation Guide V1R2, 2026-04-15';
  const made = `Gapstone, 2026-11-21, catalog ${spoken}`;
  for (const path of ['/stigs/harbor_linux_3', '/stigs/harbor_linux_3/rules/V-900001'])
    assert.is(await printed(path, ann), `${release} · ${made}`);
  assert.is(await printed('/controls', ann), made);
  assert.is(await printed('/controls', nobody), 'Gapstone, 2026-11-21', 'the digest takes a session');
  const marked = await testApp([], { db: t.db, banner: 'CUI "A" </style>' });
  const { html } = await loadPage(marked, '/controls', nobody);
  const style = await (await marked.app.request(/href="(\/assets\/style[^"]*)"/.exec(html)![1]!)).text();
  const boxes = [...style.matchAll(/@(?:top|bottom)-center \{ content: "([^"]*)"/g)].map(([, text]) =>
    text!.replace(/\\([0-9a-f]+) /g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16))),
  );
  assert.equal(boxes, ['CUI "A" </style>', 'CUI "A" </style>']);
  assert.not.match(style, '</style>');
});

everywhere('what another site sends, a file, and what is too large are never kept', async () => {
  const typed = { name: 'planted', visibility: 'SHARED' };
  const parts = new FormData();
  parts.set('name', 'planted');
  const from = (site: string): Caller => ({ 'Sec-Fetch-Site': site });
  for (const [caller, form, next] of [
    ...['cross-site', 'same-site', 'none'].map((site) => [from(site), typed, '/'] as const),
    [nobody, parts, '/'],
    [nobody, { ...typed, description: 'x'.repeat(256 * 1024) }, '/'],
    // The page that the form stands on is found again, by its path alone.
    [{ ...nobody, Referer: 'https://site.example/lists?page=2' }, parts, '/lists?page=2'],
    [{ ...nobody, Referer: 'https://evil.example//evil.example/x' }, parts, '/'],
  ] as const) {
    const { status, location, html } = await loadPage(t, '/lists', caller, form);
    assert.equal([status, location], [303, `/signin?next=${encodeURIComponent(next)}`]);
    assert.not.match(html, 'planted');
  }
  // Signing in takes nothing from elsewhere, and leads nowhere else.
  const fields = { to: '/lists', fields: 'name=planted', token: token() };
  assert.is((await loadPage(t, '/signin', from('cross-site'), fields)).status, 403);
  for (const to of ['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    const { status, location } = await loadPage(t, '/signin', nobody, { ...fields, to });
    assert.equal([status, location], [303, '/'], to);
  }
});

everywhere.run();
