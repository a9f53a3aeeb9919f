import { transform } from 'esbuild';
import * as assert from 'uvu/assert';
import { programName } from '../../src/base/installation.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { countingIds, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, listOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { linesOf, rowsOf } from '../support/tables.ts';

const pages = suite('Pages');

const t = await testApp([shipped()], { newId: countingIds() });
const userOf = async (site: TestApp, sub: string, entitlements: string[] = []) =>
  sessionCaller(site, await userCaller(site, { sub, entitlements }));
const ann = await userOf(t, 'ann', ['occ', 'regdoc']);
pages.after(() => t.db.close());

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Every kind of page, and what it has to say about the sample data. */
const shown = rowsOf(`
/ | Bring your STIGs | Latest releases | Harbor Linux 3 | Compare with V1R1
/search?q=console | Results for “console” | Rules
/search?q=ac-2(1)+ac-99 | Automated System Account Management | unknown
/stigs | What changed | 2 STIGs | Lantern Web Server 2
/stigs/harbor_linux_3 | V1R2 | 14 rules | With V1R1 | Releases 2
/stigs/harbor_linux_3?version=V1R1 | Harbor Linux 3 V1R1 | This is not the latest release.
/stigs/harbor_linux_3/releases | Changes since V1R1
/stigs/harbor_linux_3/roles | Network and Computer Systems Administrators
/stigs/harbor_linux_3/about | Harbor_Linux_3_STIG | accepted
/stigs/harbor_linux_3/rules/V-900001 | V-900001 | SV-900001r100090_rule | Discussion | CCI-
/rules/HARB-03-000010 | V-900001 | Rule 1 of 14 | From requirement to control | Over time | Who is responsible
/rules/V-900002 | Legacy IDs V-800112 SV-800112
/stigs/harbor_linux_3/diff | Changes from V1R1 to V1R2 | Changed
/controls | NIST SP 800-53 | Rev 5.2.0 | 1,014 | 157 | 5,046
/controls/nist-800-53?family=ac&baseline=low | 11 controls | AC-22
/controls/nist-800-171?type=basic | 31 controls | 3.1.1
/controls/dod-8500?mac=MAC+I&impact=High | of DoDI 8500.2
/controls/nist-800-53/ac-02(01) | AC-2(1) | Automated System Account Management | CCI-000015
/controls/nist-800-53/AC-2(10) | This control is withdrawn. | AC-2
/controls/nist-800-171/03.01.01 | 03.01.01 | Rev 3
/controls/dod-8500/ECCT-1 | ECCT-1 | SENSITIVE | Medium impact
/ccis?search=CCI-00001 | Control Correlation Identifiers (CCIs) | CCI-000015 | Definition Type
/ccis?search=no-such | No CCIs match these filters. | 0 CCIs of
/ccis/cci-15 | CCI-000015 | AC-2(1)
/systems | No lists yet.
/collections | No collections yet.
/favorites | No favorite STIGs yet.
/content | Recent imports | NIST SP 800-171 | 110 | First twelve | SHA-256 | Bundle No signed bundle
/content/imports/1 | harbor-basic-directive.json | U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml
/content/imports/1?outcome=rejected | No sources have this outcome.
/documents | 2 documents
/documents/harbor-basic-directive | Requirements | Sections
/roles | 29 occupations | 15-1244.00
/roles/15-1244.00 | Network and Computer Systems Administrators | Harbor Linux 3
/checklists/upgrade?slug=harbor_linux_3 | Upgrade checklists | eMASS sheet
/docs/guide | Upgrade a checklist | the rules that hold both words
/docs/rules | D7.3 Every path of up to 4 hops | The scheme is compared
/docs/crosswalk | POST | /api/v1/crosswalk/resolve/batch | With curl
/signin | User token
`);
for (const [path, ...words] of shown)
  pages(`${path} says what it is about`, async () => {
    const { status, html, headers } = await loadPage(t, path!, ann);
    assert.is(status, 200);
    const text = textOf(html);
    for (const word of words) assert.ok(text.includes(word), `${word}: ${text.slice(0, 3000)}`);
    assert.is(headers.get('Content-Type'), 'text/html; charset=UTF-8');
    assert.is(headers.get('Content-Security-Policy'), `${policy}; connect-src 'self'`);
    assert.is(headers.get('Cache-Control'), 'private, no-store');
    assert.is(headers.get('X-Content-Type-Options'), 'nosniff');

    // What a policy of this kind would block must not be there to begin with.
    assert.not.match(html, /\sstyle="|\son[a-z]+="|javascript:|<style|<script>|<iframe|<object/i);
    for (const name of ['src', 'href', 'action'])
      for (const address of attributesOf(html, name))
        assert.match(address, /^(?:\/(?!\/)|#|\?)/, `${name}="${address}" leads elsewhere`);
    const ids = attributesOf(html, 'id');
    assert.equal(ids.length, new Set(ids).size, 'an id stands twice');
    for (const id of attributesOf(html, 'for'))
      assert.ok(ids.includes(id), `a label is for #${id}, which is not there`);
    assert.is(html.match(/<h1[ >]/g)?.length, 1);
    assert.ok(html.length < 70_000, `${html.length}`);
    assert.match(html, /^<!DOCTYPE html><html lang="en">/);
    assert.match(html, /<a class="skip" href="#main">/);
  });

pages('each user sees of what is loaded and of an import what they are entitled to', async () => {
  const products = {
    regdoc: linesOf('harbor-basic-directive \n lantern-web-guideline \n regdoc \n actionable items'),
    occ: linesOf('nice-work-roles \n O*NET \n onet \n work roles'),
  };
  const totals = { regdoc: '2 documents', occ: '29 occupations' };
  const only = await testApp([shipped('regulatory')]);
  const seen: number[] = [];
  for (const entitlements of [[], ['regdoc'], ['occ'], ['regdoc', 'occ']]) {
    const caller = await userOf(t, 'sam', entitlements);
    const report = textOf((await loadPage(t, '/content/imports/1', caller)).html);
    const { html } = await loadPage(t, '/content', caller);
    const loaded = textOf(/<ul class="totals">.*?<\/ul>/s.exec(html)![0]);
    for (const [product, words] of Object.entries(products)) {
      const isEntitled = entitlements.includes(product);
      for (const word of words) assert.is(report.includes(word), isEntitled, `${word}: ${entitlements}`);
      assert.is(loaded.includes(totals[product as 'occ']), isEntitled, `${product}: ${entitlements}`);
      assert.is(loaded.includes(totals[product as 'occ'].split(' ')[1]!), isEntitled);
    }
    assert.ok(report.includes('U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml'));
    const [, sources] = /(\d+) sources/.exec(report)!;
    assert.is(/UTC (\d+) /.exec(textOf(html))![1], sources, 'the totals count what is shown');
    seen.push(Number(sources));
    // An import of nothing that a user may see is not there for them.
    const status = entitlements.includes('regdoc') ? 200 : 404;
    const other = await userOf(only, 'sam', entitlements);
    assert.is((await loadPage(only, '/content/imports/1', other)).status, status);
    const list = textOf((await loadPage(only, '/content', other)).html);
    assert.is(list.includes('No imports yet.'), status === 404);
  }
  const all = seen.at(-1)!;
  assert.equal(seen, [all - 4, all - 2, all - 2, all]);
  only.db.close();
});

pages('who is not entitled sees nothing of who acts on a STIG, whichever STIG it is', async () => {
  const plain = await userOf(t, 'plain');
  const part = (html: string) => /<section aria-label="Who is responsible">.*?<\/section>/s.exec(html)![0];
  const [harbor, lantern] = await Promise.all(
    ['harbor_linux_3', 'lantern_web_server_2'].map((slug) => loadPage(t, `/stigs/${slug}/roles`, plain)),
  );
  assert.is(part(harbor!.html), part(lantern!.html));
  assert.not.match(harbor!.html, /15-\d{4}|href="\/roles"/);
});

pages('an empty catalog says so, and what to do about it; its pages are small', async () => {
  const empty = await testApp();
  const eve = await userOf(empty, 'eve', ['occ', 'regdoc']);
  const { html } = await loadPage(empty, '/', eve);
  const loaded = new Set([...attributesOf(html, 'src'), ...attributesOf(html, 'href')]);
  let assets = 0;
  for (const path of [...loaded].filter((each) => each.startsWith('/assets/'))) {
    const response = await empty.app.request(path);
    assert.is(response.status, 200);
    assert.is(response.headers.get('Cache-Control'), 'public, max-age=31536000, immutable');
    // As the build minifies them.
    const loader = /\.(css|js)$/.exec(path)?.[1] as 'css' | 'js' | undefined;
    const bytes = Buffer.from(await response.arrayBuffer());
    assets += loader ? (await transform(bytes, { loader, minify: true })).code.length : bytes.length;
  }
  assert.ok(assets > 0);
  const files = `Import the publishers’ files with ${programName} import PATH.`;
  const own = `Import the publisher’s own files with ${programName} import PATH.`;
  for (const [path, words] of rowsOf(`
    /stigs | 0 STIGs No STIGs yet. ${files}
    /controls/nist-800-53 | 0 controls No controls yet. ${own}
    /ccis | 0 CCIs No CCIs yet. ${own}
    /documents | 0 documents No documents yet. Import them with ${programName} import PATH.
    /roles | 0 occupations No occupations yet. Import a release of O*NET with ${programName} import PATH.
    / | Bring your STIGs
    /systems | No lists yet.
    /content | No imports yet.
    /checklists/upgrade | Upgrade checklists
    /search | Search
  `)) {
    const answer = await loadPage(empty, path!, eve);
    assert.match(textOf(answer.html), words!, path);
    assert.ok(answer.html.length + assets < 50_000, `${path}: ${answer.html.length} + ${assets}`);
  }
  for (const name of ['style.css', 'style.0000000000000000.css', '..%2f..%2fpackage.json'])
    assert.is((await loadPage(t, `/assets/${name}`)).status, 404, 'under its hash alone');
  empty.db.close();
});

pages('signing in takes a token once, leads on, and signing out ends the session', async () => {
  const token = await t.token({ sub: 'zoe', email: undefined });
  const from = { 'Sec-Fetch-Site': 'same-origin' };
  const form = { token: `  ${token}\n`, next: '/stigs?search=harbor' };
  const signedIn = await loadPage(t, '/signin', from, form);
  assert.equal([signedIn.status, signedIn.location], [303, '/stigs?search=harbor']);
  const set = signedIn.headers.get('Set-Cookie')!;
  assert.match(set, /^gapstone_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.not.match(signedIn.html + set, token.slice(0, 30));
  const caller = { ...from, Cookie: set.split(';')[0]! };
  assert.match(textOf((await loadPage(t, '/', caller)).html), 'zoe Sign out');
  const out = await loadPage(t, '/signout', caller, {});
  assert.is(out.status, 303);
  assert.match(out.headers.get('Set-Cookie')!, /^gapstone_session=; Max-Age=0/);
  assert.is((await loadPage(t, '/stigs', caller)).status, 303);
  const start = await loadPage(t, '/?done=signed-out');
  assert.match(textOf(start.html), 'You are signed out.');
  assert.is(start.headers.get('Content-Security-Policy'), policy, 'without a session no script asks');
});

pages('a token that is none, or of a program, signs nobody in', async () => {
  const token = await t.token({ sub: 'zoe' });
  const wrong = 'This token cannot be used: it is not a user token, or it is invalid, expired or revoked';
  const own = { 'Sec-Fetch-Site': 'same-origin' };
  const program = `gsi_${'a'.repeat(43)}`;
  for (const given of ['', 'eyJ.not.one', `${token}x`, await t.token({ exp: 1 }), program]) {
    const answer = await loadPage(t, '/signin', own, { token: given, next: '/' });
    assert.equal([answer.status, answer.headers.get('Set-Cookie')], [401, null], given.slice(0, 20));
    assert.match(textOf(answer.html), wrong);
    if (given !== '') assert.not.ok(answer.html.includes(given), 'the token is not written back');
  }
  // Plain HTTP on a site's network sends no Sec-Fetch-Site: there the origin speaks.
  const plain = { Origin: 'http://here.example', Host: 'here.example' };
  assert.is((await loadPage(t, '/signin', plain, { token })).status, 303);
});

pages('signing in leads to our own pages alone', async () => {
  const token = await t.token({ sub: 'zoe' });
  const elsewhere = linesOf(`
    //evil.example
    /\\evil.example
    https://evil.example/
    javascript:alert(1)
    stigs
    /%0d%0ax
    /..//evil.example
  `);
  for (const next of [...elsewhere, '', '/\t/evil.example', '/a\nb']) {
    const { location } = await loadPage(t, '/signin', { 'Sec-Fetch-Site': 'same-origin' }, { token, next });
    assert.is(new URL(location!, 'http://here.example').host, 'here.example', next);
    assert.not.match(location!, /^\/[/\\]|[\r\n\t]/, next);
    const { html } = await loadPage(t, `/signin?next=${encodeURIComponent(next)}`);
    const kept = /name="next" value="([^"]*)"/.exec(html)![1]!;
    assert.is(new URL(kept, 'http://here.example').host, 'here.example', next);
  }
  // What another site sends, and a file, is never kept, and leads back by its path alone.
  const parts = new FormData();
  parts.set('name', 'planted');
  const from = { 'Sec-Fetch-Site': 'same-origin' };
  for (const [caller, form, next] of [
    [{ 'Sec-Fetch-Site': 'cross-site' }, { name: 'planted', visibility: 'SHARED' }, '/'],
    [{ ...from, Referer: 'https://site.example/systems?page=2' }, parts, '/systems?page=2'],
    [{ ...from, Referer: 'https://evil.example//evil.example/x' }, parts, '/'],
  ] as const) {
    const answer = await loadPage(t, '/systems', caller, form);
    assert.equal([answer.status, answer.location], [303, `/signin?next=${encodeURIComponent(next)}`]);
    assert.not.match(answer.html, 'planted');
  }
});

pages('what is wrong with an address is said in the words of the API', async () => {
  for (const [path, status, words] of rowsOf(`
    /controls/acme | 404 | Framework not found: acme
    /controls/acme/AC-2 | 404 | Framework not found: acme
    /controls/__proto__ | 404 | Framework not found: __proto__
    /controls/${'x'.repeat(90)}?version=4 | 404 | Framework not found: ${'x'.repeat(64)}
    /controls/a%3Cb/AC-2 | 404 | Framework not found: a<b
    /stigs?page=0 | 400 | page must be a decimal integer of at least 1
    /stigs/harbor_linux_3/controls?severity=urgent | 400 | severity must be one or more of: high, medium, low
    /stigs/harbor_linux_3/diff?from=x | 400 | from must be a release such as V2R8
    /controls/nist-800-53?baseline=huge | 400 | baseline must be one or more of: low, moderate, high, privacy
    /controls/nist-800-53/AC-2?status=maybe | 400 | status must be one or more of: auto, verified, rejected
    /stigs?search=%ff | 400 | The URL contains a malformed percent-encoding
  `)) {
    const page = await loadPage(t, path!.replace('/controls?severity', '?severity'), ann);
    assert.is(page.status, Number(status), path);
    assert.ok(textOf(page.html).includes(words!), textOf(page.html));
    // Crosswalk and control are one page, and two operations.
    if (path!.includes('?status=')) continue;
    const { status: own, json } = await t.get(`/api/v1${path}`);
    assert.equal([own, json.error?.message], [Number(status), words], path);
  }
  const accept = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
  for (const [path, kind] of rowsOf(`
    /no/such/page | page
    /controls/iso-27001 | page
    /controls/cci | page
    /docs/none | page
    /no/such/page | JSON
    /api/v1/nothing | JSON
  `)) {
    const isPage = kind === 'page' || path!.startsWith('/api');
    const answer = await loadPage(t, path!, { Accept: isPage ? accept : '*/*' });
    assert.is(answer.status, 404, path);
    if (kind === 'page') assert.match(answer.html, /<h1/);
    else assert.is(JSON.parse(answer.html).error.code, 'NOT_FOUND');
  }
});

pages('a listing keeps its filters from page to page; past its end it leads to the first', async () => {
  const filter = { search: 'a', family: 'computer and mathematical', limit: '5' };
  const query = new URLSearchParams(filter).toString();
  const { html } = await loadPage(t, `/roles?${query}`, ann);
  const links = attributesOf(html, 'href').filter((href) => /[?&]page=2$/.test(href));
  assert.equal([...new Set(links)], [`/roles?${query}&page=2`]);
  for (const [name, value] of Object.entries(filter))
    assert.match(html, new RegExp(`name="${name}"[^>]* value="${value}"`), name);

  const made = await loadPage(t, '/systems', ann, { name: 'Few', visibility: 'PRIVATE' });
  await loadPage(t, `${made.location}/stigs`, ann, { slugs: 'harbor_linux_3' });
  const diff = '/stigs/harbor_linux_3/diff?from=V1R1&to=V1R2&class=check';
  for (const [path, place = ''] of rowsOf(`
    /stigs?search=a&page=
    /stigs/harbor_linux_3?severity=high&page= | #rules
    ${diff}&page= | #changed
    /controls/nist-800-53?baseline=low&page=
    /ccis?page=
    ${made.location}?page=
    /content/imports/1?page=
    /documents?page=
    /roles?page=
    /search?q=the&page= | #rules
    /ccis/CCI-000366?rulePage= | #rules
  `)) {
    const { status, html } = await loadPage(t, `${path}99`, ann);
    assert.is(status, 200, path);
    const first = `${path}1${place}`.replaceAll('&', '&amp;');
    assert.match(html, `There is no page 99. <a href="${first}">Go to the first page</a></p>`);
  }
});

pages('lists are made, filled, changed, copied, deleted and restored by forms', async () => {
  const form = { name: 'Web', tags: 'prod, , dmz', color: '#2a6fdb', visibility: 'SHARED' };
  const made = await loadPage(t, '/systems', ann, { ...form, description: 'two\r\nlines' });
  const home = made.location!;
  assert.match(home, /^\/systems\/[0-9a-f-]{36}$/);
  const api = async () => (await t.get(`/api/v1${listOf(home)}`, { token: null, headers: ann })).json;
  const leads = async (path: string, fields: Record<string, string>, to = home) =>
    assert.is((await loadPage(t, path, ann, fields)).location, to, path);
  const { name, description, tags, color, visibility, createdById } = await api();
  assert.equal(
    { name, description, tags, color, visibility, createdById },
    { ...form, description: 'two\nlines', tags: ['prod', 'dmz'], createdById: 'ann' },
  );

  await leads(`${home}/stigs`, { slugs: 'harbor_linux_3' });
  await leads('/systems/add', { list: home.slice('/systems/'.length), slug: 'lantern_web_server_2' });
  const entry = `${home}/stigs/lantern_web_server_2`;
  assert.match((await loadPage(t, entry, ann)).html, /name="position"[^>]*value="2"/);
  await leads(entry, { notes: 'front\r\ndoor', position: '7' });
  assert.is((await loadPage(t, entry, ann, { notes: '', position: 'first' })).status, 400);
  const text = textOf((await loadPage(t, home, ann)).html);
  const counts = '▲ CAT I: 4 ◆ CAT II: 8 ● CAT III: 2';
  for (const words of ['front door', '7', 'Harbor Linux 3', counts, 'prod', 'Organization'])
    assert.ok(text.includes(words), `${words}: ${text}`);

  const settings = `${home}/settings`;
  assert.is((await loadPage(t, `${home}/edit`, ann)).location, settings);
  assert.match((await loadPage(t, settings, ann)).html, /value="prod, dmz"/);
  const again = await loadPage(t, settings, ann, { ...form, name: '' });
  assert.is(again.status, 400);
  assert.match(again.html, /value="#2a6fdb"/, 'what was typed is kept');
  await leads(settings, { ...form, name: 'Renamed' }, settings);
  assert.is((await api()).name, 'Renamed');

  const copy = await loadPage(t, `${home}/duplicate`, ann, {});
  assert.match(textOf((await loadPage(t, copy.location!, ann)).html), 'Renamed (copy)');
  await leads(`${home}/stigs/remove`, { slug: 'harbor_linux_3' });
  assert.is((await api()).stigCount, 1);
  await leads(`${home}/delete`, {}, '/systems');
  assert.is((await loadPage(t, home, ann)).status, 404);
  const bob = await userOf(t, 'bob');
  const restore = `action="${home}/restore"`;
  assert.ok((await loadPage(t, '/systems', ann)).html.includes(restore));
  const others = (await loadPage(t, '/systems', bob)).html;
  assert.not.ok(others.includes(restore), 'its maker alone may restore it');
  assert.not.ok(others.includes('Renamed (copy)'), 'a copy is private');
  await leads(`${home}/restore`, {});
  assert.is((await api()).stigCount, 1);
});

pages('collections and favorites are made and changed by forms', async () => {
  const made = await loadPage(t, '/collections', ann, { name: 'Accounts', visibility: 'PRIVATE' });
  const home = made.location!;
  const leads = async (path: string, fields: Record<string, string>, to: string) =>
    assert.is((await loadPage(t, path, ann, fields)).location, to, path);
  const add = { framework: 'nist-800-53', controlIds: 'AC-2\r\nac-02(01)', notes: 'ops' };
  await leads(`${home}/controls`, add, home);
  assert.is((await loadPage(t, `${home}/controls`, ann, { ...add, controlIds: 'ZZ-9' })).status, 400);
  const collection = home.split('/')[2]!;
  await leads('/collections/add', { collection, framework: 'dod-8500', controlId: 'ECCT-1' }, home);
  const text = textOf((await loadPage(t, home, ann)).html);
  for (const words of ['AC-2(1)', 'ECCT-1', 'ops', 'Access Control']) assert.ok(text.includes(words), words);
  await leads(`${home}/controls/remove`, { framework: 'nist-800-53', controlId: 'AC-2' }, home);
  const { json } = await t.get(`/api/v1/control-${home.slice(1)}`, { token: null, headers: ann });
  assert.equal(
    json.controls.map((each: { controlId: string }) => each.controlId),
    ['AC-2(1)', 'ECCT-1'],
  );
  const back = { slug: 'harbor_linux_3', next: '/stigs/harbor_linux_3' };
  await leads('/favorites/stigs', back, back.next);
  assert.match(textOf((await loadPage(t, back.next, ann)).html), '★ Remove from favorites');
  assert.is((await loadPage(t, '/favorites/stigs', ann, { slug: 'none', next: '/' })).status, 400);
  const control = { framework: 'nist-800-171', controlId: '03.01.01', next: '//evil.example' };
  await leads('/favorites/controls', control, '/favorites');
  assert.match(textOf((await loadPage(t, '/favorites', ann)).html), /Harbor Linux 3.*03\.01\.01/);
});

const nasty = `"><script>alert(1)</script><img src=x onerror=alert(1)> ' & {{x}} \${y} --> ]]>`;
/** The tags that pages are written with: a text can add none. */
const known = new Set(
  linesOf(`
    html head meta title link script body a header div img search form label input button span p nav ul ol li
    main footer h1 h2 h3 h4 section article aside table caption thead tbody tr th td dl dt dd details summary
    select option datalist textarea fieldset legend code pre b strong time svg rect path g text circle mark
    ins del br noscript output em
  `).flatMap((line) => line.split(' ')),
);

pages('hostile names and texts stay texts', async () => {
  const title = `Nasty ${nasty} Security Technical Implementation Guide`;
  const evil = await testApp([writeBenchmarks([{ id: 'Nasty_STIG', title, description: nasty }])], {
    newId: countingIds(),
  });
  const eve = await sessionCaller(evil, await userCaller(evil, { sub: nasty, email: undefined }));
  const [{ slug }] = (await evil.get('/api/v1/stigs')).json.stigs;
  const tags = nasty.replaceAll(',', ' ').slice(0, 50);
  const form = { name: nasty, description: nasty, tags, color: '', icon: tags, visibility: 'PRIVATE' };
  const { location: list } = await loadPage(evil, '/systems', eve, form);
  const { location: collection } = await loadPage(evil, '/collections', eve, form);
  await loadPage(evil, '/favorites/stigs', eve, { slug, next: '/' });
  const ask = encodeURIComponent(nasty);
  for (const path of linesOf(`
    /
    /stigs
    /stigs/${slug}
    /favorites
    /systems
    ${list}
    ${list}/edit
    /collections
    ${collection}
    /content/imports/1
    /checklists/upgrade
    /search?q=${ask}
    /stigs?search=${ask}
    /stigs/${slug}?search=${ask}&cci=${ask}
    /controls/nist-800-53?search=${ask}&family=${ask}
    /signin?next=${ask}
    /systems/${ask}
    /?done=${ask}
    /stigs/${ask}
  `)) {
    const { html } = await loadPage(evil, path, eve);
    assert.not.ok(html.includes('<script>alert') || html.includes('<img src=x'), path);
    for (const [, tag] of html.matchAll(/<([a-z][a-z0-9]*)/gi))
      assert.ok(known.has(tag!.toLowerCase()), `${path}: <${tag}>`);
  }
  const shown = textOf((await loadPage(evil, list!, eve)).html);
  assert.ok(shown.includes('<script>alert(1)</script>'), 'it is shown as it is');
  evil.db.close();
});

pages('a classification banner is on every page, twice, and on every export', async () => {
  const banner = 'SECRET//REL -- "A&B" é';
  const marked = await testApp([shipped()], { banner, newId: countingIds() });
  const eve = { ...(await userOf(marked, 'eve', ['occ', 'regdoc'])), Accept: 'text/html' };
  const paths = linesOf(
    '/ \n /stigs/harbor_linux_3 \n /controls \n /content \n /docs/guide \n /signin \n /no-such-list',
  );
  for (const path of [...paths, `/systems/${testId(99)}`]) {
    const { html } = await loadPage(marked, path, eve);
    const texts = [...html.matchAll(/<p class="banner">(.*?)<\/p>/g)].map((match) => textOf(match[1]!));
    assert.equal(texts, [banner, banner], path);
  }
  // Paper has it above and below, with the release, the day and the digest.
  const { html } = await loadPage(marked, '/stigs/harbor_linux_3/rules/V-900001', eve);
  const style = await (await marked.app.request(/href="(\/assets\/style[^"]*)"/.exec(html)![1]!)).text();
  const boxes = [...style.matchAll(/@(?:top|bottom)-center \{ content: "([^"]*)"/g)].map(([, text]) =>
    text!.replace(/\\([0-9a-f]+) /g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16))),
  );
  assert.equal(boxes, [banner, banner]);
  const { digest } = (await t.get('/api/v1/catalog')).json;
  const made = `catalog ${digest.slice(0, 4)} ${digest.slice(4, 8)} ${digest.slice(8, 12)}`;
  const printed = (page: string) => textOf(/<p class="printed">.*?<\/p>/s.exec(page)![0]);
  const release = 'Harbor Linux 3 Security Technical Implementation Guide V1R2, 2026-04-15';
  assert.is(printed(html), `${release} · Gapstone, 2026-11-21, ${made}`);
  const open = await loadPage(marked, '/controls', {});
  assert.is(printed(open.html), 'Gapstone, 2026-11-21', 'the digest takes a session');
  for (const format of ['cklb', 'json', 'csv', 'xml']) {
    const download = `/api/v1/stigs/harbor_linux_3/download?format=${format}`;
    const [with_, without] = [await marked.get(download), await t.get(download)];
    assert.is(with_.headers.get('X-Classification'), 'SECRET//REL -- "A&B" %C3%A9');
    assert.match(with_.headers.get('Content-Disposition')!, `filename="SECRET_REL_A_B_`);
    assert.is(without.headers.get('X-Classification'), null);
    const unmarked = {
      cklb: with_.text.replace(`"classification":${JSON.stringify(banner)}`, '"classification":null'),
      xml: with_.text.replace('\n<!-- SECRET//REL - - "A&B" é -->', ''),
    }[format];
    assert.is(unmarked ?? with_.text, without.text, `${format}: nothing else differs`);
    if (unmarked !== undefined) assert.is.not(with_.text, without.text);
  }
  marked.db.close();
});

pages('the lines for curl name the address at which the documents are read', async () => {
  for (const [Host, origin] of [
    ['here.example', 'http://here.example'],
    ['Stigs.example:8443', 'http://stigs.example:8443'],
    ['[::1]:8080', 'http://[::1]:8080'],
  ])
    for (const path of ['/docs/stig-catalog', '/docs/api', '/docs/mcp']) {
      const { html } = await loadPage(t, path, { Host: Host! });
      for (const line of html.match(/curl [^<]*https?:\/\/[^<\s]*/g)!)
        assert.ok(line.includes(`${origin}/`), line);
      assert.not.match(html, /127\.0\.0\.1:8080/, path);
    }
});

pages.run();
