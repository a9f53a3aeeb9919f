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
const cookieOf = (headers: Headers) => headers.get('Set-Cookie');
const withCookie = (caller: Caller, cookie: string): Caller => ({
  ...caller,
  Cookie: [(caller as Record<string, string>).Cookie, cookie].filter((each) => each).join('; '),
});

everywhere('a theme is kept in the browser, and each page is made for who asks', async () => {
  for (const caller of [ann, nobody]) {
    const chosen = await loadPage(t, '/theme', caller, { theme: 'dark', next: '/controls?x=1#y' });
    assert.is(chosen.status, 303);
    assert.is(chosen.location, '/controls?x=1#y');
    assert.match(
      cookieOf(chosen.headers)!,
      /^gapstone_theme=dark; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  }
  const looks = async (cookie: string) => {
    const { html, headers } = await loadPage(t, '/controls', withCookie(nobody, cookie));
    assert.is(headers.get('Cache-Control'), 'private, no-store');
    const media = /href="\/assets\/dark\.[^"]*" media="([^"]*)"/.exec(html)?.[1] ?? null;
    const pressed = /value="(\w+)"[^>]*aria-pressed="true"/.exec(html)![1];
    return [/<html lang="en"( data-theme="\w+")?>/.exec(html)![1] ?? '', media, pressed];
  };
  const system = ['', 'screen and (prefers-color-scheme: dark)', 'system'];
  assert.equal(await looks(''), system);
  assert.equal(await looks('gapstone_theme=dark'), [' data-theme="dark"', 'screen', 'dark']);
  assert.equal(await looks('gapstone_theme=light'), [' data-theme="light"', null, 'light']);
  assert.equal(await looks(''), system);
  for (const odd of ['gapstone_theme="><script>', 'gapstone_theme=DARK', 'gapstone_theme='])
    assert.equal(await looks(odd), system, odd);
  const back = await loadPage(t, '/theme', nobody, { theme: 'system', next: '//evil.example' });
  assert.is(back.location, '/');
  assert.match(cookieOf(back.headers)!, /^gapstone_theme=system; Max-Age=0; /);
  assert.is((await loadPage(t, '/theme', nobody, { theme: 'pink' })).status, 400);
  for (const site of ['cross-site', 'same-site', 'none']) {
    const other = await loadPage(t, '/theme', { 'Sec-Fetch-Site': site }, { theme: 'dark' });
    assert.is(other.status, 403);
    assert.is(cookieOf(other.headers), null);
  }
});

everywhere('help leads to the heading of the guide about the page', async () => {
  const { html: guide } = await loadPage(t, '/docs/guide', nobody);
  const home = '/stigs/harbor_linux_3';
  for (const [path, heading] of [
    [home, 'read-a-stig'],
    [`${home}/coverage`, 'what-does-a-list-cover'],
    [`${home}/automation`, 'plan-the-work'],
    [`${home}/worksheet`, 'plan-the-work'],
    [`${home}/roles`, 'roles-and-regulations'],
    [`${home}/rules/V-900001`, 'a-rule'],
    [`${home}/diff`, 'compare-two-releases'],
    ['/controls', 'trace-a-control'],
    ['/checklists/upgrade', 'upgrade-a-checklist'],
    ['/checklists/results', 'scan-results'],
    ['/checklists/emass', 'emass'],
    ['/references', 'check-the-ids-in-a-text'],
    ['/lists', 'work-with-lists'],
    ['/search?q=console', 'search'],
    ['/catalog', 'what-is-in-the-catalog'],
  ]) {
    const { html } = await loadPage(t, path!, ann);
    assert.match(html, `<a href="/docs/guide#${heading}">Help</a>`, path);
    assert.match(guide, `id="${heading}"`);
  }
});

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

/** The form of a page that holds a field, as a browser would send it. */
function formWith(html: string, field: string): { action: string; fields: Record<string, string> } {
  const form = [...html.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].find(([, , body]) =>
    body!.includes(`name="${field}"`),
  )!;
  const plain = (text: string) =>
    text
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  const hidden = form[2]!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g);
  return {
    action: form[1]!,
    fields: Object.fromEntries([...hidden].map(([, name, value]) => [plain(name!), plain(value!)])),
  };
}

const ended = { Cookie: `gapstone_session=${'x'.repeat(43)}`, 'Sec-Fetch-Site': 'same-origin' };

everywhere('what was typed when a session has ended is sent after signing in', async () => {
  const typed = {
    name: 'Über "web" & <b>',
    description: 'two\nlines &quot; + %41',
    visibility: 'PRIVATE',
    tags: '',
  };
  const refused = await loadPage(t, '/lists', ended, typed);
  assert.is(refused.status, 401);
  assert.match(textOf(refused.html), 'Your session has ended. This page keeps what you typed');
  const { action, fields } = formWith(refused.html, 'fields');
  assert.is(action, '/signin');
  assert.is(fields.to, '/lists');

  // A wrong token keeps it too.
  const wrong = await loadPage(t, action, nobody, { ...fields, token: 'no.such.token' });
  assert.is(wrong.status, 401);
  assert.equal(formWith(wrong.html, 'fields').fields, fields);

  const count = () => t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get();
  const before = count();
  const signedIn = await loadPage(t, action, nobody, { ...fields, token: token() });
  assert.is(signedIn.status, 200);
  assert.is(count(), before, 'nothing is sent before its sender says so');
  const cookie = cookieOf(signedIn.headers)!.split(';')[0]!;
  const again = formWith(signedIn.html, 'visibility');
  assert.is(again.action, '/lists');
  assert.equal(again.fields, typed);
  assert.not.match(signedIn.html, token());
  const made = await loadPage(t, again.action, withCookie(nobody, cookie), again.fields);
  assert.is(made.status, 303);
  const list = await t.get(`/api/v1${made.location}`, { token: null, headers: withCookie(nobody, cookie) });
  assert.is(list.json.name, typed.name);
  assert.is(list.json.description, typed.description);
});

everywhere('what another site sends, a file, and what is too large are never kept', async () => {
  const typed = { name: 'planted', visibility: 'SHARED' };
  const led = (status: number, location: string | null) =>
    assert.equal([status, location], [303, '/signin?next=%2F']);
  for (const site of ['cross-site', 'same-site', 'none']) {
    const { status, location, html } = await loadPage(t, '/lists', { 'Sec-Fetch-Site': site }, typed);
    led(status, location);
    assert.not.match(html, 'planted');
  }
  const parts = new FormData();
  parts.set('name', 'planted');
  const file = await loadPage(t, '/lists', nobody, parts);
  led(file.status, file.location);
  // The page that the form stands on is found again, by its path alone.
  for (const [referrer, next] of [
    ['https://site.example/lists?page=2', '/lists?page=2'],
    ['https://evil.example//evil.example/x', '/'],
    ['nothing', '/'],
  ] as const) {
    const { location } = await loadPage(t, '/lists', { ...nobody, Referer: referrer }, parts);
    assert.is(location, `/signin?next=${encodeURIComponent(next)}`);
  }
  const large = await loadPage(t, '/lists', nobody, { ...typed, description: 'x'.repeat(256 * 1024) });
  led(large.status, large.location);
  const most = await loadPage(t, '/lists', nobody, { ...typed, description: 'x'.repeat(255 * 1024) });
  assert.is(most.status, 401);

  // Signing in takes nothing from elsewhere, and leads nowhere else.
  const fields = { to: '/lists', fields: 'name=planted', token: token() };
  assert.is((await loadPage(t, '/signin', { 'Sec-Fetch-Site': 'cross-site' }, fields)).status, 403);
  for (const to of ['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    const { status, location } = await loadPage(t, '/signin', nobody, { ...fields, to });
    assert.equal([status, location], [303, '/'], to);
  }
});

everywhere('who is signed in is told when the page has been open for long, by script alone', async () => {
  assert.match(
    (await loadPage(t, '/lists', ann)).html,
    /<div class="notice" id="session-over"[^>]* data-idle="900" data-left="3600"[^>]* hidden/,
  );
  assert.not.match((await loadPage(t, '/controls', nobody)).html, 'session-over');
});

everywhere.run();
