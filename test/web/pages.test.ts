import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { programName } from '../../src/base/installation.ts';
import { packageRoot } from '../../src/base/root.ts';
import type { SearchResult } from '../../src/catalog/search/schema.ts';
import { createMarker, Field } from '../../src/site/parts/diff-text.tsx';
import { searchPage } from '../../src/site/search/search.tsx';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { type Caller, countingIds, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { noStig, noVersion } from '../support/words.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const pages = suite('Pages');

const t = await testApp([shipped()], { newId: countingIds() });
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann', entitlements: ['occ', 'regdoc'] }));
pages.after(() => t.db.close());

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Every kind of page, and what it has to say about the sample data. */
const shown: [path: string, words: (string | RegExp)[]][] = [
  ['/', ['Bring your STIGs', 'Latest releases', 'Harbor Linux 3', 'Compare with V1R1']],
  ['/search?q=console', ['Results for “console”', 'Rules']],
  ['/search?q=ac-2(1)+ac-99', ['Automated System Account Management', 'in no source here']],
  ['/stigs', ['What changed', '2 STIGs', 'Lantern Web Server 2']],
  ['/stigs/harbor_linux_3', ['V1R2', '14 rules', 'With V1R1', 'Releases 2']],
  ['/stigs/harbor_linux_3?version=V1R1', ['Harbor Linux 3 V1R1', 'This is not the latest release.']],
  ['/stigs/harbor_linux_3/releases', ['Changes since V1R1']],
  ['/stigs/harbor_linux_3/roles', ['Network and Computer Systems Administrators']],
  ['/stigs/harbor_linux_3/about', ['Harbor_Linux_3_STIG', 'accepted']],
  ['/stigs/harbor_linux_3/rules/V-900001', ['V-900001', 'SV-900001r100090_rule', 'Discussion', 'CCI-']],
  [
    '/rules/HARB-03-000010',
    ['V-900001', 'Rule 1 of 14', 'From requirement to control', 'Over time', 'Who acts'],
  ],
  ['/stigs/harbor_linux_3/diff', ['Changes from V1R1 to V1R2', 'Changed']],
  ['/controls', ['NIST SP 800-53', 'Rev 5.2.0', '1,014', '157', '5,046']],
  ['/controls/nist-800-53?family=ac&baseline=low', ['11 controls', 'AC-22']],
  ['/controls/nist-800-171?type=basic', ['31 controls', '3.1.1']],
  ['/controls/dod-8500?mac=MAC+I&impact=High', [/\d+ controls? of DoDI 8500\.2/]],
  ['/controls/nist-800-53/ac-02(01)', ['AC-2(1)', 'Automated System Account Management', 'CCI-000015']],
  ['/controls/nist-800-53/AC-2(10)', ['This control is withdrawn.', 'AC-2']],
  ['/controls/nist-800-171/03.01.01', ['03.01.01', 'Rev 3']],
  ['/controls/dod-8500/ECCT-1', ['ECCT-1', 'SENSITIVE', 'Medium impact']],
  [
    '/ccis?search=CCI-00001',
    ['Control Correlation Identifiers (CCIs)', 'CCI-000015', /\d+ CCIs of /, 'Definition Type'],
  ],
  ['/ccis?search=no-such', ['No CCIs match these filters.', '0 CCIs of ']],
  ['/ccis/cci-15', ['CCI-000015', 'AC-2(1)']],
  ['/lists', ['No lists yet.']],
  ['/collections', ['No collections yet.']],
  ['/favorites', ['No favorite STIGs yet.']],
  [
    '/catalog',
    [
      'Recent imports',
      'NIST SP 800-171',
      '110',
      'First twelve',
      /SHA-256 [0-9a-f]{64}/,
      'Bundle No signed bundle',
    ],
  ],
  ['/catalog/imports/1', ['harbor-basic-directive.json', 'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml']],
  ['/catalog/imports/1?outcome=rejected', ['No sources have this outcome.']],
  ['/documents', ['2 documents']],
  ['/documents/harbor-basic-directive', ['Requirements', 'Sections']],
  ['/roles', ['29 occupations', '15-1244.00']],
  ['/roles/15-1244.00', ['Network and Computer Systems Administrators', 'Harbor Linux 3']],
  ['/checklists/upgrade?slug=harbor_linux_3', ['Upgrade checklists', 'eMASS sheet']],
  ['/checklists/results', ['Checklist from scan results']],
  ['/checklists/inspect', ['Inspect checklists']],
  ['/checklists/hosts', ['Checklists for hosts']],
  ['/checklists/emass', ['Sheet for eMASS', 'POA&M']],
  ['/docs', ['GET /api/v1/stigs/{slug}/diff', 'user+regdoc']],
  ['/docs/guide', ['Upgrade a checklist', 'the rules that hold both words']],
  ['/docs/rules', ['D7.3 Every path of up to 4 hops', 'The scheme is compared']],
  ['/docs/crosswalk', ['POST', '/api/v1/crosswalk/resolve/batch', 'Try it']],
  ['/signin', ['User token']],
];

pages(
  'the links to other pages of documents and roles keep each filter, and its field shows it',
  async () => {
    const folder = scratchFolder();
    for (const title of ['Rule One', 'Rule Two', 'Rule Three'])
      put(
        folder,
        `${title}.md`,
        `---\ntitle: ${title}\npublisher: Harbor\ndoctype: law\n---\n# One\n\nAct.\n`,
      );
    const own = await testApp([folder, shipped('roles')]);
    const caller = await sessionCaller(
      own,
      await userCaller(own, { sub: 'sam', entitlements: ['occ', 'regdoc'] }),
    );
    for (const [path, filter] of [
      ['/documents', { search: 'rule', publisher: 'harbor', doctype: 'LAW', limit: '1' }],
      ['/roles', { search: 'a', family: 'computer and mathematical', limit: '5' }],
    ] as const) {
      const query = new URLSearchParams(filter).toString();
      const { html } = await loadPage(own, `${path}?${query}`, caller);
      const links = attributesOf(html, 'href').filter((href) => /[?&]page=2$/.test(href));
      assert.equal([...new Set(links)], [`${path}?${query}&page=2`]);
      for (const [name, value] of Object.entries(filter))
        assert.match(html, new RegExp(`name="${name}"[^>]* value="${value}"`), name);
    }
    own.db.close();
  },
);

pages('what is loaded counts documents and occupations for those entitled to them alone', async () => {
  for (const entitlements of [[], ['regdoc'], ['occ'], ['regdoc', 'occ']]) {
    const caller = await sessionCaller(t, await userCaller(t, { sub: 'sam', entitlements }));
    const { html } = await loadPage(t, '/catalog', caller);
    const totals = textOf(/<ul class="totals">.*?<\/ul>/s.exec(html)![0]);
    assert.is(/\b2 documents\b/.test(totals), entitlements.includes('regdoc'), entitlements.join());
    assert.is(/\b29 occupations\b/.test(totals), entitlements.includes('occ'), entitlements.join());
    assert.is(/document/.test(totals), entitlements.includes('regdoc'));
    assert.is(/occupation/.test(totals), entitlements.includes('occ'));
  }
});

pages('the ledger and what is loaded say one of one, and more of more', async () => {
  const few = await testApp([writeBenchmarks([{}])]);
  const caller = await sessionCaller(
    few,
    await userCaller(few, { sub: 'sam', entitlements: ['regdoc', 'occ'] }),
  );
  const words = async (path: string) => textOf((await loadPage(few, path, caller)).html);
  assert.match(await words('/catalog/imports/1'), /\b1 rule, /);
  assert.match(await words('/catalog'), '1 STIG 1 rule ▲ CAT I: ');
  assert.match(await words('/catalog'), '0 documents 0 occupations');
  few.db.close();
  const page = textOf((await loadPage(t, '/catalog/imports/1', ann)).html);
  assert.match(page, /\b14 rules, \d+ profiles?\b.* ▲ CAT I: \d+ ◆ CAT II: \d+ ● CAT III: \d+/);
  assert.not.match(page, / 1 (?:rules|profiles|documents|categories)\b/);
  assert.match(page, ', 5 categories');
  assert.match(page, '1,196 controls');
});

pages('the ledger of an import shows nobody what needs an entitlement that they lack', async () => {
  const regulatory = ['harbor-basic-directive', 'lantern-web-guideline', 'regdoc', 'actionable items'];
  const occupational = ['nice-work-roles', 'O*NET', 'onet', 'work roles'];
  const seen: Record<string, string[]> = {};
  for (const entitlements of [[], ['regdoc'], ['occ'], ['regdoc', 'occ']]) {
    const caller = await sessionCaller(t, await userCaller(t, { sub: 'sam', entitlements }));
    const own = entitlements.join(' and ') || 'none';
    const page = textOf((await loadPage(t, '/catalog/imports/1', caller)).html);
    const all = textOf((await loadPage(t, '/catalog', caller)).html);
    for (const [product, words] of Object.entries({ regdoc: regulatory, occ: occupational }))
      for (const word of words)
        assert.is(page.includes(word), entitlements.includes(product), `${word} with ${own}`);
    assert.ok(page.includes('U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml'), own);
    const [, sources] = /(\d+) sources/.exec(page)!;
    const [, inList, imported] = /UTC (\d+) (\d+) /.exec(all)!;
    assert.is(inList, sources, `${own}: the totals count what is shown`);
    seen[own] = [sources!, imported!];
  }
  const [sources, imported] = seen['regdoc and occ']!.map(Number);
  assert.equal(seen.regdoc, [sources! - 2, imported! - 2].map(String));
  assert.equal(seen.occ, [sources! - 2, imported! - 2].map(String));
  assert.equal(seen.none, [sources! - 4, imported! - 4].map(String));
});

pages('an import of nothing that a user may see is not there for them', async () => {
  const alone = await testApp([shipped('regulatory')]);
  for (const [entitlements, status] of [
    [[], 404],
    [['occ'], 404],
    [['regdoc'], 200],
  ] as const) {
    const caller = await sessionCaller(
      alone,
      await userCaller(alone, { sub: 'sam', entitlements: [...entitlements] }),
    );
    assert.is((await loadPage(alone, '/catalog/imports/1', caller)).status, status);
    const { html } = await loadPage(alone, '/catalog', caller);
    assert.is(textOf(html).includes('No imports yet.'), status === 404);
  }
  alone.db.close();
});

for (const [path, words] of shown) {
  pages(`${path} says what it is about`, async () => {
    const { status, html, headers } = await loadPage(t, path, ann);
    assert.is(status, 200);
    const text = textOf(html);
    for (const word of words)
      if (typeof word === 'string') assert.ok(text.includes(word), `${word}: ${text.slice(0, 3000)}`);
      else assert.match(text, word);

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
    assert.match(html, /^<!DOCTYPE html><html lang="en">/);
    assert.match(html, /<a class="skip" href="#main">/);
  });
}

pages(
  'until a STIG of a publisher is there, the first page says what to carry in and where to put it',
  async () => {
    const site = await testApp([shipped()], { inbox: '/srv/inbox' });
    const eve = await sessionCaller(site, await userCaller(site));
    const textFor = async (caller?: Caller) => textOf((await loadPage(site, '/', caller)).html);
    assert.match(await textFor(eve), /Bring your STIGs .*Put them into the folder \/srv\/inbox/);
    assert.match(
      await textFor(),
      /Bring your STIGs .*node dist\/src\/cli\.js import FILE/,
      'a folder is named to users alone',
    );
    assert.not.match(await textFor(), /srv/);
    await runImport(site.db, [put(scratchFolder(), 'one.xml', writeXccdf())]);
    for (const caller of [eve, undefined]) assert.not.match(await textFor(caller), /Bring your STIGs/);
    site.db.close();
  },
);

pages('a page without its data has less than 100 KB, what it loads included', async () => {
  const empty = await testApp();
  const eve = await sessionCaller(empty, await userCaller(empty, { entitlements: ['occ', 'regdoc'] }));
  const { html } = await loadPage(empty, '/', eve);
  const loaded = [...attributesOf(html, 'src'), ...attributesOf(html, 'href')].filter((each) =>
    each.startsWith('/assets/'),
  );
  assert.is(new Set(loaded).size, 4, 'style, dark colors, script and mark');
  let assets = 0;
  for (const path of new Set(loaded)) {
    const response = await empty.app.request(path);
    assert.is(response.status, 200);
    assert.is(response.headers.get('Cache-Control'), 'public, max-age=31536000, immutable');
    assets += (await response.arrayBuffer()).byteLength;
  }
  for (const path of [
    '/',
    '/stigs',
    '/controls',
    '/lists',
    '/collections',
    '/favorites',
    '/catalog',
    '/documents',
    '/roles',
    '/checklists/upgrade',
    '/search',
    '/controls/dod-8500',
    '/ccis',
  ]) {
    const { status, html: text } = await loadPage(empty, path, eve);
    assert.is(status, 200, path);
    assert.ok(text.length + assets < 50_000, `${path}: ${text.length} + ${assets}`);
  }
  // With data too where a page is made of one thing or of a page of things.
  for (const [path] of shown) {
    const { html: text } = await loadPage(t, path, ann);
    assert.ok(text.length + assets < 100_000, `${path}: ${text.length} + ${assets}`);
  }
  empty.db.close();
});

pages('what pages load is there under its hash alone', async () => {
  assert.is((await loadPage(t, '/assets/style.css')).status, 404);
  assert.is((await loadPage(t, '/assets/style.0000000000000000.css')).status, 404);
  assert.is((await loadPage(t, '/assets/..%2f..%2fpackage.json')).status, 404);
});

pages('signing in takes a token once, leads on, and signing out ends the session', async () => {
  const token = await t.token({ sub: 'zoe', email: undefined });
  const from = { 'Sec-Fetch-Site': 'same-origin' };
  const form = { token: `  ${token}\n`, next: '/stigs?search=harbor' };
  const signedIn = await loadPage(t, '/signin', from, form);
  assert.is(signedIn.status, 303);
  assert.is(signedIn.location, '/stigs?search=harbor');
  const set = signedIn.headers.get('Set-Cookie')!;
  assert.match(set, /^gapstone_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.not.match(signedIn.html + set, token.slice(0, 30));
  const caller = { ...from, Cookie: set.split(';')[0]! };
  assert.match(textOf((await loadPage(t, '/', caller)).html), 'zoe Sign out');
  assert.is((await loadPage(t, '/stigs', caller)).status, 200);
  const out = await loadPage(t, '/signout', caller, {});
  assert.is(out.status, 303);
  assert.match(out.headers.get('Set-Cookie')!, /^gapstone_session=; Max-Age=0/);
  assert.is((await loadPage(t, '/stigs', caller)).status, 303);
  const start = await loadPage(t, '/?done=signed-out');
  assert.match(textOf(start.html), 'You are signed out.');
  assert.is(start.headers.get('Content-Security-Policy'), policy, 'without a session no script asks');
});

pages('a token that is none, of another origin, or of a program signs nobody in', async () => {
  const token = await t.token({ sub: 'zoe' });
  const wrong = 'This token cannot be used: it is not a user token, or it is invalid, expired or revoked';
  const own = { 'Sec-Fetch-Site': 'same-origin' };
  const cases: [Caller, string, number, string][] = [
    [own, '', 401, wrong],
    [own, 'eyJ.not.one', 401, wrong],
    [own, `${token}x`, 401, wrong],
    [own, await t.token({ exp: 1 }), 401, wrong],
    [own, `gsi_${'a'.repeat(43)}`, 401, wrong],
    [{}, token, 403, 'Send this form from a page of this server'],
    [{ 'Sec-Fetch-Site': 'cross-site' }, token, 403, 'Send this form from a page of this server'],
    [{ Origin: 'http://evil.example' }, token, 403, 'Send this form from a page of this server'],
  ];
  for (const [caller, given, status, words] of cases) {
    const answer = await loadPage(t, '/signin', caller, { token: given, next: '/' });
    assert.is(answer.status, status, given.slice(0, 20));
    assert.match(textOf(answer.html), words);
    assert.is(answer.headers.get('Set-Cookie'), null);
    if (given !== '') assert.not.ok(answer.html.includes(given), 'the token is not written back');
  }
  // Plain HTTP on a site's network sends no Sec-Fetch-Site: there the origin speaks.
  const plain = await loadPage(
    t,
    '/signin',
    { Origin: 'http://here.example', Host: 'here.example' },
    { token },
  );
  assert.is(plain.status, 303);
});

pages('signing in leads to our own pages alone', async () => {
  const token = await t.token({ sub: 'zoe' });
  for (const next of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/a\nb',
    '',
    'stigs',
    '/%0d%0ax',
    '/..//evil.example',
  ]) {
    const { location } = await loadPage(t, '/signin', { 'Sec-Fetch-Site': 'same-origin' }, { token, next });
    const led = new URL(location!, 'http://here.example');
    assert.is(led.host, 'here.example', next);
    assert.not.match(location!, /^\/[/\\]|[\r\n\t]/, next);
    const { html } = await loadPage(t, `/signin?next=${encodeURIComponent(next)}`);
    const kept = /name="next" value="([^"]*)"/.exec(html)![1]!;
    assert.is(new URL(kept, 'http://here.example').host, 'here.example', next);
  }
});

pages(
  'an unknown framework is named wherever a path has one; a known one without a catalog has no path',
  async () => {
    for (const [framework, message] of [
      ['acme', 'Framework not found: acme'],
      ['__proto__', 'Framework not found: __proto__'],
      ['x'.repeat(90), `Framework not found: ${'x'.repeat(64)}`],
      ['a%3Cb', 'Framework not found: a<b'],
      ['cci', 'This path does not exist'],
    ])
      for (const end of ['', '/AC-2', '?version=4']) {
        const { status, json } = await t.get(`/api/v1/controls/${framework}${end}`);
        assert.equal([status, json.error.message], [404, message]);
        const page = await loadPage(t, `/controls/${framework}${end}`);
        assert.is(page.status, 404);
        assert.ok(textOf(page.html).includes(message!), textOf(page.html));
      }
  },
);

pages('an unknown path is a page for a browser, JSON for all others and under /api/', async () => {
  const accept = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
  const page = await loadPage(t, '/no/such/page', { Accept: accept });
  assert.is(page.status, 404);
  assert.match(textOf(page.html), 'This path does not exist');
  for (const [path, headers] of [
    ['/no/such/page', {}],
    ['/no/such/page', { Accept: '*/*' }],
    ['/api/v1/nothing', { Accept: accept }],
  ] as const) {
    const response = await t.app.request(path, { headers });
    assert.is(response.status, 404);
    assert.is(((await response.json()) as { error: { code: string } }).error.code, 'NOT_FOUND');
  }
  for (const path of ['/controls/cci', '/controls/iso-27001', '/docs/none'])
    assert.is((await loadPage(t, path)).status, 404, path);
});

pages('what is wrong with a query or a form is said in the words of the API', async () => {
  const cases: [string, Record<string, string> | undefined, string][] = [
    ['/stigs?page=0', undefined, 'page must be a decimal integer of at least 1'],
    [
      '/stigs/harbor_linux_3?severity=urgent',
      undefined,
      'severity must be one or more of: high, medium, low',
    ],
    ['/stigs/harbor_linux_3/diff?from=x', undefined, 'from must be a release such as V2R8'],
    [
      '/controls/nist-800-53?baseline=huge',
      undefined,
      'baseline must be one or more of: low, moderate, high, privacy',
    ],
    [
      '/controls/nist-800-53/AC-2?status=maybe',
      undefined,
      'status must be one or more of: auto, verified, rejected',
    ],
    [`/search?q=${'x'.repeat(501)}`, undefined, 'q must have at most 500 characters'],
    ['/stigs?search=%ff', undefined, 'The URL contains a malformed percent-encoding'],
    ['/lists', { name: ' ', visibility: 'PRIVATE' }, 'name must have 1 to 200 characters'],
    ['/lists', { name: 'x', color: 'red', visibility: 'PRIVATE' }, 'color must be #RRGGBB'],
    ['/lists', { name: 'x', visibility: 'PUBLIC' }, 'visibility must be PRIVATE or SHARED'],
    [
      '/collections',
      { name: 'x', tags: 'a,'.repeat(21).replace(/a/g, 'tag'), visibility: 'PRIVATE' },
      'tags must contain at most 20 texts',
    ],
    ['/checklists/upgrade', { slug: 'harbor_linux_3' }, 'Choose a checklist: a .ckl or .cklb file'],
  ];
  for (const [path, form, words] of cases) {
    const { status, html } = await loadPage(t, path, ann, form);
    assert.is(status, 400, path);
    assert.ok(textOf(html).includes(words), `${path}: ${textOf(html).slice(0, 400)}`);
  }
});

/** What the form of the search holds: its fields in the order of the page, boxes and options where they are chosen. */
function searchForm(html: string): string[] {
  const form = /<form class="filters" action="\/search">.*?<\/form>/s.exec(html)?.[0] ?? '';
  const held =
    /<input(?=[^>]*type="checkbox")(?=[^>]*checked)[^>]*>|<input(?![^>]*checkbox)[^>]*>|<select[^>]*>|<option(?=[^>]*selected)[^>]*>/g;
  let select = '';
  return [...form.matchAll(held)].flatMap(([tag]) => {
    const [[name = select], [value]] = [attributesOf(tag, 'name'), attributesOf(tag, 'value')];
    select = name;
    return tag.startsWith('<select') ? [] : [`${name}=${value}`];
  });
}

pages('the search has a field for each filter, and finds what the API finds', async () => {
  const cases = [
    'severity=high&severity=low',
    'stig=harbor_linux_3',
    'cci=cci-366',
    'control=ac-2.1',
    'stig=lantern_web_server_2&cci=CCI-000366&control=CM-6&severity=medium',
    'stig=harbor_linux_3&stig=lantern_web_server_2&sort=severity',
  ];
  for (const filter of cases) {
    const { html } = await loadPage(t, `/search?q=the&${filter}`, ann);
    const { results } = (await t.get(`/api/v1/search?q=the&${filter}`)).json;
    const found = /<ol class="results".*?<\/ol>/s.exec(html)?.[0] ?? '';
    assert.equal(
      attributesOf(found, 'href'),
      results.map((each: { slug: string; groupId: string }) => `/stigs/${each.slug}/rules/${each.groupId}`),
      filter,
    );
    const given = new URLSearchParams(`q=the&${filter}`);
    const unset: Record<string, string[]> = { cci: [''], control: [''], sort: ['relevance'] };
    const expected = ['q', 'severity', 'stig', 'cci', 'control', 'sort'].flatMap((name) => {
      const values = given.getAll(name);
      const held = values.length === 0 ? (unset[name] ?? []) : values;
      // Below the STIGs that are chosen is a field for another.
      return (name === 'stig' ? [...held, ''] : held).map((value) => `${name}=${value}`);
    });
    assert.equal(searchForm(html), expected, filter);
  }
});

pages('the search offers all STIGs by their titles, and takes any of their names', async () => {
  const { stigs } = (await t.get('/api/v1/stigs')).json;
  const titles = stigs.map((each: { title: string }) => each.title);
  assert.is(titles.length, 2);
  for (const query of ['q=the', 'q=nothinglikeit', '', 'q=the&stig=%3Cb%3E']) {
    const { html } = await loadPage(t, `/search?${query}`, ann);
    const [list = ''] = /<datalist id="stigs">.*?<\/datalist>/s.exec(html) ?? [];
    assert.equal(attributesOf(list, 'value'), titles, query);
    assert.is(html.includes('value="&lt;b&gt;" checked'), query.includes('%3C'), query);
  }
  const slugs = [
    'lantern_web_server_2',
    'Lantern_Web_Server_2_STIG',
    titles[1],
    'lantern',
    'U_Lantern_Web_Server_2_STIG',
  ];
  for (const name of slugs) {
    const { status, html } = await loadPage(t, `/search?q=the&stig=${encodeURIComponent(name)}`, ann);
    assert.is(status, 200, name);
    assert.match(html, 'name="stig" value="lantern_web_server_2" checked');
    assert.not.match(html, '/stigs/harbor_linux_3/rules/');
  }
});

pages('the counts beside the results are filters, and take themselves back', async () => {
  const countsOf = async (query: string) => {
    const { html } = await loadPage(t, `/search?${query}`, ann);
    const [part = ''] = /<section class="counts".*?<\/section>/s.exec(html) ?? [];
    return { text: textOf(part), hrefs: attributesOf(part, 'href') };
  };
  const { counts } = (await t.get('/api/v1/search?q=the')).json;
  const { high, medium, low } = counts.severity;
  const [harbor, lantern] = counts.stigs;
  assert.ok(high > 0 && harbor.rules > lantern.rules);
  const all = await countsOf('q=the');
  assert.is(
    all.text,
    `▲ CAT I ${high} ◆ CAT II ${medium} ● CAT III ${low} Harbor Linux 3 ${harbor.rules} Lantern Web Server 2 ${lantern.rules}`,
  );
  assert.equal(all.hrefs, [
    '/search?q=the&severity=high',
    '/search?q=the&severity=medium',
    '/search?q=the&severity=low',
    '/search?q=the&stig=harbor_linux_3',
    '/search?q=the&stig=lantern_web_server_2',
  ]);
  const narrowed = await countsOf('q=the&severity=high&stig=harbor_linux_3');
  assert.equal(narrowed.hrefs, ['/search?q=the&stig=harbor_linux_3', '/search?q=the&severity=high']);
  assert.equal((await countsOf('q=nothinglikeit')).hrefs, []);
});

pages('one id opens what it names, several are a table', async () => {
  const cases: [q: string, location: string | undefined][] = [
    ['V-900001', '/stigs/harbor_linux_3/rules/V-900001'],
    ['v-900001', '/stigs/harbor_linux_3/rules/V-900001'],
    ['V-900013', '/stigs/harbor_linux_3/rules/V-900013?version=V1R1'],
    ['ac-2(1)', '/controls/nist-800-53/AC-2(1)'],
    ['AC-2 d 3', '/controls/nist-800-53/AC-2'],
    ['cci-366', '/ccis/CCI-000366'],
    ['V-1234567', undefined],
    ['"V-900001"', undefined],
    ['V-900001 V-900002', undefined],
    ['V-900001&severity=high', undefined],
  ];
  for (const [q, location] of cases) {
    const query = q.replace('"', '%22').replaceAll(' ', '+');
    const answer = await loadPage(t, `/search?q=${query}`, ann);
    assert.is(answer.location ?? undefined, location, q);
    assert.is(answer.status, location === undefined ? 200 : 303, q);
  }
  assert.is((await loadPage(t, '/search?q=ac-2(1)', {})).location, '/controls/nist-800-53/AC-2(1)');
  const hidden = await loadPage(t, '/search?q=V-900001', {});
  assert.is(hidden.status, 200);
  assert.not.match(hidden.html, '/stigs/harbor_linux_3');
  const { html } = await loadPage(t, '/search?q=V-900013,+ac-2(1);cci-366+V-1234567', ann);
  const [table = ''] = /<tbody[^>]*>.*?<\/tbody>/s.exec(html) ?? [];
  const { rules } = (await t.get('/api/v1/search?q=ac-2(1)')).json.answers[0];
  const rows = [...table.matchAll(/<tr[^>]*>.*?<\/tr>/gs)].map(([row]) => textOf(row));
  assert.is(rows.length, 4);
  assert.match(rows[0]!, /^V-900013 .* removed after V1R1$/);
  assert.is(
    rows[1],
    `ac-2(1) Automated System Account Management current · ${rules} ${rules === 1 ? 'rule' : 'rules'}`,
  );
  assert.is(rows[2], 'cci-366 current · 1 rule');
  assert.is(rows[3], 'V-1234567 in no source here');
  const listed = async (query: string) =>
    (await loadPage(t, `/search?q=${query}`, ann)).html.includes('id="rules"');
  assert.is(await listed('V-900001,+V-900002'), false, 'ids alone list no rules');
  for (const more of ['+console', '&severity=medium'])
    assert.is(await listed(`V-900001,+V-900002${more}`), true, more);
});

pages('what a question was read as is said above its rules', async () => {
  const said = async (q: string) => {
    const { html } = await loadPage(t, `/search?q=${encodeURIComponent(q)}`, ann);
    const [, part = ''] = /<h2 id="rules">.*?<\/h2>(.*?)<details/s.exec(html) ?? [];
    return { text: textOf(part), html };
  };
  const passed = await said('how must the consoles zeppelin');
  assert.is(
    passed.text,
    'No rule has all of these words. These are the best with some of them, without how, must, and the.',
  );
  assert.match(passed.html, '<mark>console</mark>');
  const narrowed = await said('hl3 console zeppelin');
  assert.match(narrowed.text, 'These are the best with some of them in Harbor Linux 3.');
  assert.not.match(narrowed.html, '/stigs/lantern_web_server_2/rules/');
  const misspelt = await said('consoele');
  assert.match(misspelt.text, 'No rule has “consoele”. Did you mean console ?');
  assert.match(misspelt.html, '<a href="/search?q=console">console</a>');
  const some = await said('console');
  const { exact, pagination } = (await t.get('/api/v1/search?q=console')).json;
  assert.ok(exact > 0 && exact < 10);
  if (pagination.total > exact) assert.match(some.html, '<h3>With some of the words</h3>');
  assert.is((await said('the')).text, '');
});

pages('a filter that is wrong leaves the question and the others in the form', async () => {
  const severity = 'severity must be one or more of: high, medium, low';
  const cases: [query: string, message: string, form: string[]][] = [
    [
      'q=the&severity=urgent&cci=CCI-999999',
      severity,
      ['q=the', 'cci=CCI-999999', 'control=', 'sort=relevance'],
    ],
    [
      'q=%22a+b%22&severity=High,urgent&severity=low&stig=harbor_linux_3&cci=1&control=AC-2',
      severity,
      [
        'q="a b"',
        'severity=high',
        'severity=low',
        'cci=1',
        'control=AC-2',
        'sort=relevance',
        'stig=harbor_linux_3',
      ],
    ],
    ['severity=urgent&control=AC-2', severity, ['q=', 'cci=', 'control=AC-2', 'sort=stig']],
    [
      `q=the&cci=${'x'.repeat(101)}`,
      'cci must have at most 100 characters',
      ['q=the', `cci=${'x'.repeat(101)}`, 'control=', 'sort=relevance'],
    ],
    [
      'q=the&control=AC-2&control=AC-3',
      'control must be one text',
      ['q=the', 'cci=', 'control=AC-2', 'sort=relevance'],
    ],
    ['q=the&sort=size', 'sort must be one of: relevance, severity, stig, id', ['q=the', 'cci=', 'control=']],
    [
      'q=the&page=0&stig=no_such',
      'page must be a decimal integer of at least 1',
      ['q=the', 'cci=', 'control=', 'sort=relevance', 'stig=no_such'],
    ],
    [
      'q=the&stig=no_such',
      'STIG not found: no_such',
      ['q=the', 'cci=', 'control=', 'sort=relevance', 'stig=no_such'],
    ],
    [
      'q=the&cci=CCI-999999',
      'CCI not found: CCI-999999',
      ['q=the', 'cci=CCI-999999', 'control=', 'sort=relevance'],
    ],
    ['control=AC-99', 'Control not found: AC-99', ['q=', 'cci=', 'control=AC-99', 'sort=stig']],
    [
      'q=the&cci=366',
      'cci must be a CCI such as CCI-000366',
      ['q=the', 'cci=366', 'control=', 'sort=relevance'],
    ],
    [
      'q=-windows',
      'q must have a word to find beside those that it excludes, or a filter',
      ['q=-windows', 'cci=', 'control=', 'sort=relevance'],
    ],
    [
      `q=${'x'.repeat(501)}&control=AC-2`,
      'q must have at most 500 characters',
      [`q=${'x'.repeat(501)}`, 'cci=', 'control=AC-2', 'sort=relevance'],
    ],
  ];
  for (const [query, message, form] of cases) {
    const { status, html } = await loadPage(t, `/search?${query}`, ann);
    assert.equal(html.match(/<p class="problem" role="alert">[^<]*<\/p>/g), [
      `<p class="problem" role="alert">${message}</p>`,
    ]);
    assert.is(status, / not found: /.test(message) ? 404 : 400, query);
    // The chosen STIGs and the field for another stand behind the severities.
    const before = form.filter((each) => /^(?:q|severity)=/.test(each));
    const stigs = form.filter((each) => each.startsWith('stig='));
    const after = form.filter((each) => !before.includes(each) && !stigs.includes(each));
    assert.equal(searchForm(html), [...before, ...stigs, 'stig=', ...after], query);
    assert.not.match(textOf(html), /Found for/, query);
    const api = await t.get(`/api/v1/search?${query.startsWith('q=') ? '' : 'q=x&'}${query}`);
    assert.is(api.json.error.message, message, query);
  }
});

pages('what was searched, and what was not, is said as it is', async () => {
  const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob', entitlements: ['occ'] }));
  const none = 'No rule has any of these words, in another form or by a synonym either.';
  const samples = 'Only the samples are here: see how to import what DISA and NIST publish .';
  const wordless = 'Rules were not searched: enter at least one letter, digit or underscore.';
  const nothing = 'Nothing was searched: enter at least one letter, digit or underscore.';
  const signIn = 'Sign in to search STIGs and their rules too.';
  const narrowed = 'No rule with these filters has any of these words. Clear filters .';
  const cases: [query: string, caller: Caller, words: string][] = [
    ['q=zzz', ann, `${none} No STIG, control, CCI, role, or document has “zzz” in its name. ${samples}`],
    [
      'q=zzz',
      bob,
      `${none} No STIG, control, CCI, or role has “zzz” in its name. You need permission to search documents (regdoc). ${samples}`,
    ],
    ['q=zzz', {}, `No control or CCI has “zzz” in its name. ${signIn}`],
    ['q=zzz&severity=high', {}, `No control or CCI has “zzz” in its name. ${signIn}`],
    ['q=zzz&severity=high', ann, `${narrowed} ${samples}`],
    ['q=zzz&control=AC-2', ann, `${narrowed} ${samples}`],
    ['q=zzz&page=2', ann, `${none} ${samples}`],
    ['q=%2B%2B%2B', ann, `${wordless} No STIG, control, CCI, role, or document has “+++” in its name.`],
    ['q=%22%22*', ann, nothing],
    ['q=%22%22*', {}, `${nothing} ${signIn}`],
    [
      'q=Devicez+Locz*',
      ann,
      `${none} No STIG, control, CCI, role, or document has “Devicez Locz” in its name. ${samples}`,
    ],
    ['severity=high&control=PM-9', ann, `No rule matches these filters. Clear filters . ${samples}`],
    ['stig=harbor_linux_3', {}, 'Sign in to search STIGs and their rules too.'],
    ['q=zzz&cci=cci-366&control=ac-02', ann, `${narrowed} ${samples}`],
    ['q=zzz&cci=CCI-999999', {}, `No control or CCI has “zzz” in its name. ${signIn}`],
  ];
  for (const [query, caller, words] of cases) {
    const { status, html } = await loadPage(t, `/search?${query}`, caller);
    assert.is(status, 200, query);
    const said = [...html.matchAll(/<p class="empty">.*?<\/p>/gs)].map(([part]) => textOf(part));
    assert.equal(said, [words], query);
  }
  const { html } = await loadPage(t, '/search?q=a&severity=high&cci=CCI-15', {});
  assert.ok(html.includes(`/signin?next=${encodeURIComponent('/search?q=a&severity=high&cci=CCI-15')}`));
});

pages('an empty catalog says so, and what to do about it', async () => {
  const empty = await testApp([]);
  const caller = await sessionCaller(
    empty,
    await userCaller(empty, { sub: 'ann', entitlements: ['occ', 'regdoc'] }),
  );
  const cases: [path: string, words: string][] = [
    ['/stigs', `0 STIGs No STIGs yet. Import the publishers’ files with ${programName} import PATH.`],
    [
      '/controls/nist-800-53',
      `0 controls No controls yet. Import the publisher’s own files with ${programName} import PATH.`,
    ],
    ['/ccis', `0 CCIs No CCIs yet. Import the publisher’s own files with ${programName} import PATH.`],
    ['/documents', `0 documents No documents yet. Import them with ${programName} import PATH.`],
    [
      '/roles',
      `0 occupations No occupations yet. Import a release of O*NET with ${programName} import PATH.`,
    ],
  ];
  for (const [path, words] of cases)
    assert.match(textOf((await loadPage(empty, path, caller)).html), words, path);
  empty.db.close();
});

pages('where a long title is cut, the piece with what was found stands below it', () => {
  const ruleTitle = `${'word '.repeat(60)}needle here`;
  const result = (snippet: SearchResult['snippet'], title: string): SearchResult => ({
    slug: 'a_stig',
    stigTitle: 'A STIG',
    version: 'V1R1',
    groupId: 'V-1',
    ruleId: 'SV-1r1_rule',
    ruleVersion: 'A-1',
    ruleTitle: title,
    severity: 'low',
    ruleIdents: [],
    snippet,
    rank: 1,
  });
  const results = [
    result({ field: 'title', text: '…word needle here', marks: [[6, 12]] }, ruleTitle),
    result({ field: 'title', text: 'a needle', marks: [[2, 8]] }, 'a needle'),
  ];
  const view = searchPage({
    q: 'needle',
    hasWords: true,
    filter: { severity: [], stig: [], list: '', cci: '', control: '', sort: '' },
    lists: [],
    own: [],
    entitlements: new Set(),
    stigs: [],
    kinds: null,
    titles: new Map(),
    answers: [],
    onlySamples: false,
    rules: {
      ...{ results, relaxed: false, exact: 2, dropped: [], narrowedTo: [], suggestions: [], answers: [] },
      counts: { severity: { high: 0, medium: 2, low: 0 }, stigs: [] },
      pagination: { page: 1, limit: 20, total: 2, totalPages: 1 },
    },
    problem: null,
  });
  const [long, short] = /<ol.*<\/ol>/s.exec(String(view.body))![0].split('<li>').slice(1);
  assert.match(textOf(long!), ruleTitle);
  assert.match(long!, '<span class="quiet">title: </span>…word <mark>needle</mark> here</p>');
  assert.match(short!, 'a <mark>needle</mark></a>');
  assert.not.match(short!, 'title: ');
});

pages('the changes since the release before are one step from a STIG', async () => {
  const { html } = await loadPage(t, '/stigs/harbor_linux_3', ann);
  const href = '/stigs/harbor_linux_3/diff?from=V1R1&amp;to=V1R2';
  assert.match(html, `<a class="button" href="${href}">With V1R1</a>`);
  const oldest = await loadPage(t, '/stigs/harbor_linux_3?version=V1R1', ann);
  assert.not.match(oldest.html, /\/diff\?/);
});

pages('a page past the end of a listing says so, and leads to the first', async () => {
  const made = await loadPage(t, '/lists', ann, { name: 'Few', visibility: 'PRIVATE' });
  const list = made.headers.get('Location')!.replace(/\?.*/, '');
  await loadPage(t, `${list}/stigs`, ann, { slugs: 'harbor_linux_3' });
  const cases: [path: string, first: string][] = [
    ['/stigs?search=a', '/stigs?search=a&amp;page=1'],
    ['/stigs/harbor_linux_3?severity=high', '/stigs/harbor_linux_3?severity=high&amp;page=1#rules'],
    [
      '/stigs/harbor_linux_3/diff?class=check',
      '/stigs/harbor_linux_3/diff?from=V1R1&amp;to=V1R2&amp;class=check&amp;page=1#changed',
    ],
    ['/controls/nist-800-53?baseline=low', '/controls/nist-800-53?baseline=low&amp;page=1'],
    ['/ccis?', '/ccis?page=1'],
    [`${list}?`, `${list}?page=1`],
    ['/catalog/imports/1?', '/catalog/imports/1?page=1'],
    ['/documents?', '/documents?page=1'],
    ['/roles?', '/roles?page=1'],
    ['/search?q=the', '/search?q=the&amp;page=1#rules'],
  ];
  for (const [path, first] of cases) {
    const { status, html } = await loadPage(t, `${path}&page=99`, ann);
    assert.is(status, 200, path);
    const said = [...html.matchAll(/<p class="empty">.*?<\/p>/gs)].map(([part]) => part);
    assert.equal(said.slice(0, 1), [
      `<p class="empty">There is no page 99. <a href="${first}">Go to the first page</a></p>`,
    ]);
  }
  const { html } = await loadPage(t, '/ccis/CCI-000366?rulePage=99', ann);
  assert.match(
    html,
    'There is no page 99. <a href="/ccis/CCI-000366?rulePage=1#rules">Go to the first page</a>',
  );
});

pages('a body that is no form is refused, and so is one that is too large or no UTF-8', async () => {
  const send = (type: string, body: string | Uint8Array) =>
    t.app.request('/lists', {
      method: 'POST',
      headers: { ...ann, 'Content-Type': type },
      body: body as never,
    });
  const cases: [string, string | Uint8Array, number, string][] = [
    ['application/json', '{"name":"x"}', 400, 'The request body is not a form'],
    ['text/plain', 'name=x', 400, 'The request body is not a form'],
    ['application/x-www-form-urlencoded', 'name=%ff', 400, 'The request body is not valid UTF-8'],
    [
      'application/x-www-form-urlencoded',
      new Uint8Array([0x6e, 0x3d, 0xff]),
      400,
      'The request body is not valid UTF-8',
    ],
    ['multipart/form-data; boundary=x', 'nothing of the kind', 400, 'The request body is not a form'],
    ['multipart/form-data', 'name', 400, 'The request body is not a form'],
    [
      'application/x-www-form-urlencoded',
      `name=${'x'.repeat(64 * 1024)}`,
      413,
      'The request body is larger than 65536 bytes',
    ],
  ];
  for (const [type, body, status, words] of cases) {
    const response = await send(type, body);
    assert.is(response.status, status, type);
    assert.ok(textOf(await response.text()).includes(words), type);
  }
});

pages('lists are made, filled, changed, copied, deleted and restored by forms', async () => {
  const form = {
    name: 'Web servers',
    description: 'two\r\nlines',
    tags: 'prod, , dmz',
    color: '#2a6fdb',
    visibility: 'SHARED',
  };
  const made = await loadPage(t, '/lists', ann, form);
  assert.is(made.status, 303);
  const home = made.location!;
  assert.match(home, /^\/lists\/[0-9a-f-]{36}$/);
  const id = home.slice('/lists/'.length);
  const api = async () => (await t.get(`/api/v1/lists/${id}`, { token: null, headers: ann })).json;
  const { name, description, tags, color, visibility, createdById } = await api();
  assert.equal(
    { name, description, tags, color, visibility, createdById },
    { ...form, description: 'two\nlines', tags: ['prod', 'dmz'], createdById: 'ann' },
  );

  const unknown = await loadPage(t, `${home}/stigs`, ann, { slugs: 'harbor_linux_3\r\nno_such_stig' });
  assert.is(unknown.status, 400);
  assert.match(textOf(unknown.html), '1 added. 1 not in the catalog: no_such_stig.');
  assert.is((await api()).stigCount, 1);
  assert.is(
    (await loadPage(t, '/lists/add', ann, { list: id, slug: 'lantern_web_server_2' })).location,
    home,
  );
  const entry = `${home}/stigs/lantern_web_server_2`;
  assert.match((await loadPage(t, entry, ann)).html, /name="position"[^>]*value="2"/);
  assert.is((await loadPage(t, entry, ann, { notes: 'front\r\ndoor', position: '7' })).location, home);
  assert.is((await loadPage(t, entry, ann, { notes: '', position: 'first' })).status, 400);
  const page = textOf((await loadPage(t, home, ann)).html);
  for (const words of [
    'front door',
    '7',
    'Harbor Linux 3',
    '▲ CAT I: 4 ◆ CAT II: 8 ● CAT III: 2',
    'prod',
    'Organization',
  ])
    assert.ok(page.includes(words), `${words}: ${page}`);

  const settings = `${home}/settings`;
  assert.is((await loadPage(t, `${home}/edit`, ann)).location, settings);
  assert.match((await loadPage(t, settings, ann)).html, /value="prod, dmz"/);
  const again = await loadPage(t, settings, ann, { ...form, name: '' });
  assert.is(again.status, 400);
  assert.match(again.html, /value="#2a6fdb"/, 'what was typed is kept');
  assert.is((await loadPage(t, settings, ann, { ...form, name: 'Renamed' })).location, settings);
  assert.is((await api()).name, 'Renamed');

  const copy = await loadPage(t, `${home}/duplicate`, ann, {});
  assert.match(textOf((await loadPage(t, copy.location!, ann)).html), 'Renamed (copy)');
  assert.is((await loadPage(t, `${home}/stigs/remove`, ann, { slug: 'harbor_linux_3' })).location, home);
  assert.is((await api()).stigCount, 1);

  assert.is((await loadPage(t, `${home}/delete`, ann, {})).location, '/lists');
  assert.is((await loadPage(t, home, ann)).status, 404);
  const lists = await loadPage(t, '/lists', ann);
  assert.ok(lists.html.includes(`action="${home}/restore"`));
  assert.is((await loadPage(t, `${home}/restore`, ann, {})).location, home);
  assert.is((await api()).stigCount, 1);
  const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
  assert.not.ok((await loadPage(t, '/lists', bob)).html.includes('Renamed (copy)'), 'a copy is private');
});

pages('deleted lists are offered for 30 days, to their maker alone', async () => {
  const late = await testApp([shipped('stigs')], { newId: countingIds() });
  const token = async (sub: string) => sessionCaller(late, await userCaller(late, { sub }));
  const [alice, bob] = [await token('alice'), await token('bob')];
  const { location } = await loadPage(late, '/lists', alice, { name: 'Mine', visibility: 'SHARED' });
  await loadPage(late, `${location}/delete`, alice, {});
  assert.ok((await loadPage(late, '/lists', alice)).html.includes(`${location}/restore`));
  assert.not.ok((await loadPage(late, '/lists', bob)).html.includes('Mine'));
  late.clock.now = new Date(late.clock.now.getTime() + 30 * 86_400_000 + 1);
  const later = await token('alice');
  assert.not.ok((await loadPage(late, '/lists', later)).html.includes('Mine'));
  assert.is((await loadPage(late, `${location}/restore`, later, {})).status, 404);
  late.db.close();
});

pages('collections and favorites are made and changed by forms', async () => {
  const { location: home } = await loadPage(t, '/collections', ann, {
    name: 'Accounts',
    visibility: 'PRIVATE',
  });
  const add = { framework: 'nist-800-53', controlIds: 'AC-2\r\nac-02(01)', notes: 'ops' };
  assert.is((await loadPage(t, `${home}/controls`, ann, add)).location, home);
  assert.is((await loadPage(t, `${home}/controls`, ann, { ...add, controlIds: 'ZZ-9' })).status, 400);
  const ecct = { collection: home!.split('/')[2]!, framework: 'dod-8500', controlId: 'ECCT-1' };
  assert.is((await loadPage(t, '/collections/add', ann, ecct)).location, home);
  const page = textOf((await loadPage(t, home!, ann)).html);
  for (const words of ['AC-2(1)', 'ECCT-1', 'ops', 'Access Control']) assert.ok(page.includes(words), words);
  await loadPage(t, `${home}/controls/remove`, ann, { framework: 'nist-800-53', controlId: 'AC-2' });
  assert.equal(
    (await t.get(`/api/v1/control-${home!.slice(1)}`, { token: null, headers: ann })).json.controls.map(
      (each: { controlId: string }) => each.controlId,
    ),
    ['AC-2(1)', 'ECCT-1'],
  );
  const back = { slug: 'harbor_linux_3', next: '/stigs/harbor_linux_3' };
  assert.is((await loadPage(t, '/favorites/stigs', ann, back)).location, back.next);
  assert.match(textOf((await loadPage(t, back.next, ann)).html), '★ Remove from favorites');
  assert.is((await loadPage(t, '/favorites/stigs', ann, { slug: 'none', next: '/' })).status, 400);
  assert.is(
    (
      await loadPage(t, '/favorites/controls', ann, {
        framework: 'nist-800-171',
        controlId: '03.01.01',
        next: '//evil.example',
      })
    ).location,
    '/favorites',
  );
  const favorites = textOf((await loadPage(t, '/favorites', ann)).html);
  assert.match(favorites, 'Harbor Linux 3');
  assert.match(favorites, '03.01.01');
});

pages('the rules of a STIG are filtered by text, severity and CCI', async () => {
  const home = '/stigs/harbor_linux_3';
  const { findings } = (await t.get('/api/v1/stigs/harbor_linux_3')).json as {
    findings: { groupId: string; severity: string; ruleIdents: string[] }[];
  };
  const rulesOf = async (query: string) => {
    const { html } = await loadPage(t, `${home}?${query}`, ann);
    return attributesOf(html, 'href').flatMap((href) => /\/rules\/(V-\d+)(?:\?|$)/.exec(href)?.[1] ?? []);
  };
  const ids = (wanted: (finding: (typeof findings)[number]) => boolean) =>
    findings.filter(wanted).map((each) => each.groupId);
  assert.equal(
    await rulesOf(''),
    ids(() => true),
  );
  assert.equal(
    await rulesOf('severity=high'),
    ids((each) => each.severity === 'high'),
  );
  assert.equal(
    await rulesOf('severity=low&severity=high&search='),
    ids((each) => each.severity !== 'medium'),
  );
  const cci = findings[3]!.ruleIdents[0]!;
  const spelled = `cci-${Number(cci.slice(4))}`;
  assert.equal(
    await rulesOf(`cci=${spelled}`),
    ids((each) => each.ruleIdents.includes(cci)),
  );
  assert.equal(await rulesOf(`search=${findings[5]!.groupId.toLowerCase()}`), [findings[5]!.groupId]);
  assert.match(textOf((await loadPage(t, `${home}?search=zzzz`, ann)).html), 'No rules match these filters.');
});

pages('who is not entitled sees nothing of who acts on a STIG, whichever STIG it is', async () => {
  const plain = await sessionCaller(t, await userCaller(t, { sub: 'plain' }));
  const part = (html: string) => /<section aria-label="Who acts">.*?<\/section>/s.exec(html)![0];
  const [harbor, lantern] = await Promise.all(
    ['harbor_linux_3', 'lantern_web_server_2'].map((slug) => loadPage(t, `/stigs/${slug}/roles`, plain)),
  );
  assert.is(part(harbor!.html), part(lantern!.html));
  assert.not.match(harbor!.html, /15-\d{4}/);
  assert.not.match(harbor!.html, /href="\/roles"/);
});

const nasty = `"><script>alert(1)</script><img src=x onerror=alert(1)> ' & {{x}} \${y} --> ]]>`;

pages('hostile names and texts stay texts', async () => {
  const folder = writeBenchmarks([
    { id: 'Nasty_STIG', title: `Nasty ${nasty} Security Technical Implementation Guide`, description: nasty },
  ]);
  const evil = await testApp([folder], { newId: countingIds() });
  const eve = await sessionCaller(evil, await userCaller(evil, { sub: nasty, email: undefined }));
  const [slug] = (await evil.get('/api/v1/stigs')).json.stigs.map((stig: { slug: string }) => stig.slug);
  const form = {
    name: nasty,
    description: nasty,
    tags: nasty.replaceAll(',', ' ').slice(0, 50),
    color: '',
    icon: nasty.slice(0, 50),
    visibility: 'PRIVATE',
  };
  const { location: list } = await loadPage(evil, '/lists', eve, form);
  const { location: collection } = await loadPage(evil, '/collections', eve, form);
  await loadPage(evil, '/favorites/stigs', eve, { slug, next: '/' });
  const ask = encodeURIComponent(nasty);
  const paths = [
    '/',
    '/stigs',
    `/stigs/${slug}`,
    '/favorites',
    '/lists',
    list!,
    `${list}/edit`,
    '/collections',
    collection!,
    '/catalog/imports/1',
    '/checklists/upgrade',
    `/search?q=${ask}`,
    `/stigs?search=${ask}`,
    `/stigs/${slug}?search=${ask}&cci=${ask}`,
    `/controls/nist-800-53?search=${ask}&family=${ask}`,
    `/signin?next=${ask}`,
    `/lists/${ask}`,
    `/?done=${ask}`,
    `/stigs/${ask}`,
  ];
  for (const path of paths) {
    const { html } = await loadPage(evil, path, eve);
    assert.not.ok(html.includes('<script>alert') || html.includes('<img src=x'), path);
    // Only tags that the pages are written with: a text can add none.
    for (const [, tag] of html.matchAll(/<([a-z][a-z0-9]*)/gi))
      assert.ok(known.has(tag!.toLowerCase()), `${path}: <${tag}>`);
  }
  assert.ok(
    textOf((await loadPage(evil, list!, eve)).html).includes('<script>alert(1)</script>'),
    'it is shown as it is',
  );
  evil.db.close();
});

const known = new Set(
  'html head meta title link script body a header div img search form label input button span p nav ul ol li main footer h1 h2 h3 h4 section article aside table caption thead tbody tr th td dl dt dd details summary select option datalist textarea fieldset legend code pre b strong time svg rect path g text circle mark ins del br noscript output em'.split(
    ' ',
  ),
);

pages('the diff marks what went and what came, and adds nothing', async () => {
  const { html } = await loadPage(t, '/stigs/harbor_linux_3/diff?from=V1R1&to=V1R2', ann);
  const diff = (await t.get('/api/v1/stigs/harbor_linux_3/diff?from=V1R1&to=V1R2')).json;
  const sides = [...html.matchAll(/<p class="text">(.*?)<\/p>/gs)].map((match) => match[1]!);
  const expected = diff.changed.flatMap(
    (rule: { fields: { old: string | string[]; new: string | string[] }[] }) =>
      rule.fields.flatMap((field) => [[field.old].flat().join('\n'), [field.new].flat().join('\n')]),
  );
  const severities: Record<string, string> = { '▲ CAT I': 'high', '◆ CAT II': 'medium', '● CAT III': 'low' };
  const plain = (side: string) =>
    (side.startsWith('<span class="severity') ? severities[textOf(side)]! : side)
      .replace(/<\/?(?:ins|del)>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&');
  assert.is(sides.length, expected.length);
  // What is left out is named, and what is shown is there in this order; each change is shown.
  const shortened = sides.filter((side) => side.includes('[…]'));
  assert.ok(shortened.length > 0);
  for (const [index, side] of sides.map(plain).entries()) {
    const parts = side.split(' […] ').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    assert.match(expected[index]!, new RegExp(`^${parts.join('[^]*')}$`));
  }
  for (const rule of diff.changed) {
    const whole = await loadPage(
      t,
      `/stigs/harbor_linux_3/diff?from=V1R1&to=V1R2&rule=${rule.new.groupId}`,
      ann,
    );
    const article = whole.html
      .split('<article class="change"')
      .find((each) => each.startsWith(` id="${rule.new.groupId}"`))!;
    const texts = [...article.matchAll(/<p class="text">(.*?)<\/p>/gs)].map((match) => plain(match[1]!));
    assert.equal(
      texts,
      rule.fields.flatMap((field: { old: string | string[]; new: string | string[] }) => [
        [field.old].flat().join('\n'),
        [field.new].flat().join('\n'),
      ]),
    );
  }
  for (const [index, side] of sides.entries()) assert.not.match(side, index % 2 === 0 ? '<ins>' : '<del>');
  const one = await loadPage(t, '/stigs/harbor_linux_3/diff?class=severity', ann);
  const wanted = diff.changed.filter((rule: { classes: string[] }) =>
    rule.classes.includes('severity'),
  ).length;
  assert.is(one.html.match(/<article class="change" id="[^"]*">/g)?.length ?? 0, wanted);
});

pages('a page marks words in 600,000 characters at most, and shows the rest as it is', async () => {
  const marker = createMarker(Number.POSITIVE_INFINITY);
  const [before, after] = ['old words '.repeat(10_000), 'new words '.repeat(10_000)];
  for (let time = 0; time < 3; time++) {
    const segments = marker(before, after)!;
    assert.is(
      segments
        .filter(({ kind }) => kind !== 'added')
        .map(({ text }) => text)
        .join(''),
      before,
    );
    assert.is(
      segments
        .filter(({ kind }) => kind !== 'removed')
        .map(({ text }) => text)
        .join(''),
      after,
    );
  }
  assert.is(marker('one more', 'one more time'), null);
  const sides = String(
    Field({
      field: { field: 'check', old: 'a < b', new: 'a > b' },
      from: 'V1R1',
      to: 'V1R2',
      marker,
    }),
  );
  assert.equal(
    [...sides.matchAll(/<p class="text">(.*?)<\/p>/g)].map((match) => match[1]),
    ['a &lt; b', 'a &gt; b'],
  );
});

pages('a checklist is upgraded by a form, and the file comes without choosing it again', async () => {
  const old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1')).json;
  old.stigs[0].rules[0].status = 'not_a_finding';
  old.stigs[0].rules[0].comments = 'seen — by Ann\nfirst line';
  const form = new FormData();
  const before = JSON.stringify(old);
  form.set('file', new File([before], 'old.cklb'));
  form.set('slug', 'harbor_linux_3');
  form.set('onChange', 'keep');
  const report = await loadPage(t, '/checklists/upgrade', ann, form);
  assert.is(report.status, 200);
  assert.match(textOf(report.html), 'V1R1 to V1R2');
  assert.match(
    textOf(report.html),
    /V-900001 HARB-03-000010 .* Not a finding Not a finding Its check changed answer kept/,
  );
  const again = new FormData();
  for (const [, name, value] of report.html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g))
    again.set(name!, value!);
  const file = await loadPage(t, '/checklists/upgrade', ann, again);
  assert.is(file.headers.get('Content-Type'), 'application/json');
  assert.match(file.headers.get('Content-Disposition')!, /filename="U_Harbor_Linux_3_STIG_V1R2\.cklb"/);
  const byApi = await t.send('POST', '/api/v1/checklists/upgrade?download=true', {
    slug: 'harbor_linux_3',
    checklist: JSON.stringify(old),
  });
  assert.is(file.html, byApi.text, 'the very file of the API');
  again.set('format', 'ckl');
  const asCkl = await loadPage(t, '/checklists/upgrade', ann, again);
  assert.is(asCkl.headers.get('Content-Type'), 'application/xml; charset=utf-8');
  assert.match(asCkl.headers.get('Content-Disposition')!, /filename="U_Harbor_Linux_3_STIG_V1R2\.ckl"/);
  assert.match(asCkl.html, '<COMMENTS>seen — by Ann\nfirst line</COMMENTS>');
  // What the new checklist does not hold is on the page whole, as it is in the report of the API.
  const stig = old.stigs[0];
  const overrides = { severity: { severity: 'low', reason: 'behind a <wall>' } };
  Object.assign(stig.rules[0], { overrides, finding_details: 'two\nlines' });
  const gone = {
    ...stig.rules[0],
    group_id: 'V-1',
    rule_id: 'SV-1r1',
    rule_id_src: 'SV-1r1_rule',
    rule_version: 'X',
  };
  const more = { ...old, stigs: [{ ...stig, rules: [...stig.rules, gone] }] };
  const reset = new FormData();
  reset.set('file', new File([JSON.stringify(more)], 'old.cklb'));
  reset.set('slug', 'harbor_linux_3');
  reset.set('onChange', 'reset');
  const answer =
    /<dt>Status<\/dt><dd><span class="prose">not_a_finding<\/span>.*?<dt>Severity<\/dt><dd><span class="severity low"><span aria-hidden="true">●<\/span> CAT III<\/span>.*?<dt>Reason for the severity<\/dt><dd><span class="prose">behind a &lt;wall&gt;<\/span>.*?<dt>Finding details<\/dt><dd><span class="prose">two\nlines<\/span>.*?<dt>Comments<\/dt><dd><span class="prose">seen — by Ann\nfirst line<\/span>/s;
  const { html: anew } = await loadPage(t, '/checklists/upgrade', ann, reset);
  const item = (id: string) => anew.split(/<li>|<tr/).find((each) => each.includes(`>${id}<`))!;
  assert.match(item('V-900001'), 'the request asks to reset such answers');
  assert.match(item('V-900001'), answer);
  assert.match(item('V-1'), '(the release no longer has this rule)');
  assert.match(item('V-1'), answer);
  // PowerShell writes UTF-16 by itself, with its byte-order mark.
  const units = Buffer.from(`\ufeff${before}`, 'utf16le');
  for (const [bytes, encoding] of [
    [units, 'UTF-16LE'],
    [Buffer.from(units).swap16(), 'UTF-16BE'],
  ] as const) {
    form.set('file', new File([bytes], 'old.cklb'));
    form.set('as', 'file');
    assert.is((await loadPage(t, '/checklists/upgrade', ann, form)).html, byApi.text, encoding);
    form.set('file', new File([bytes.subarray(0, -1)], 'old.cklb'));
    const cut = await loadPage(t, '/checklists/upgrade', ann, form);
    assert.match(textOf(cut.html), `The checklist is not valid ${encoding}`);
  }
  const bad = new FormData();
  bad.set('file', new File(['{'], 'bad.cklb'));
  bad.set('slug', 'harbor_linux_3');
  const refused = await loadPage(t, '/checklists/upgrade', ann, bad);
  assert.is(refused.status, 400);
  assert.match(textOf(refused.html), 'checklist: the text is not valid JSON');
});

/** What a form on a page would send, were it sent as it stands there. */
function hiddenFields(html: string): Record<string, string> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name!, value!]));
}

/** The form of a checklist, as a browser sends it. */
function upgradeForm(content: string | Uint8Array<ArrayBuffer> | null, fields: Record<string, string>) {
  const form = new FormData();
  if (content !== null) form.set('file', new File([content], 'old.cklb'));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

/** The form with several files. */
function filesForm(contents: string[], fields: Record<string, string> = {}) {
  const form = upgradeForm(null, fields);
  for (const content of contents) form.append('file', new File([content], 'a'));
  return form;
}

pages(
  'scan results become a checklist by the same form, alone or merged into one that is dropped with them',
  async () => {
    const old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R2')).json;
    const [first, second, third] = old.stigs[0].rules;
    Object.assign(first, { status: 'not_applicable', finding_details: 'Ann says so.' });
    const results = writeResults(
      [first, second, third].map((rule) => ({ id: rule.rule_id_src, result: 'fail' })),
      { target: 'web01', around: 'arf' },
    );
    const alone = await loadPage(t, '/checklists/upgrade', ann, filesForm([results]));
    assert.is(alone.status, 200);
    assert.match(textOf(alone.html), /Open \d+ \d+ \d+ 3 0 /);
    const checklist = JSON.stringify(old);
    for (const files of [
      [results, checklist],
      [checklist, results],
    ]) {
      const merged = await loadPage(t, '/checklists/upgrade', ann, filesForm(files));
      assert.match(textOf(merged.html), /Open \d+ \d+ \d+ 2 0 /);
      assert.match(textOf(merged.html), /Not applicable \d \d \d 1 1 /);
      const file = await loadPage(t, '/checklists/upgrade', ann, filesForm([], hiddenFields(merged.html)));
      assert.match(file.headers.get('Content-Disposition')!, 'filename="web01_harbor_linux_3_V1R2.cklb"');
      const byApi = await t.send('POST', '/api/v1/checklists/from-results?download=true', {
        results,
        checklist,
      });
      assert.is(file.html, byApi.text, 'the very file of the API');
    }
    const overwritten = await loadPage(
      t,
      '/checklists/upgrade',
      ann,
      filesForm([results, checklist], { overwrite: 'true' }),
    );
    assert.match(textOf(overwritten.html), /Open \d+ \d+ \d+ 3 0 /);
    const ckl = filesForm([], { ...hiddenFields(overwritten.html), format: 'ckl' });
    assert.match(
      (await loadPage(t, '/checklists/upgrade', ann, ckl)).headers.get('Content-Disposition')!,
      '.ckl"',
    );

    for (const [files, problem] of [
      [[results, results, checklist], 'Choose one checklist, one file of scan results, or one of each'],
      [[results.replaceAll('SV-9', 'SV-8')], 'no rule in them belongs to a STIG in the catalog'],
      [['<Benchmark/>'], 'has no TestResult'],
    ] as const) {
      const refused = await loadPage(t, '/checklists/upgrade', ann, filesForm([...files]));
      assert.is(refused.status, 400);
      assert.match(textOf(refused.html), problem);
    }
    // What could be read comes back, both of it.
    const refused = await loadPage(
      t,
      '/checklists/upgrade',
      ann,
      filesForm([results, checklist], { version: 'V9R9' }),
    );
    assert.match(textOf(refused.html), 'Your checklist and scan results are still attached');
    const taken = await loadPage(
      t,
      '/checklists/upgrade',
      ann,
      filesForm([], { ...hiddenFields(refused.html), version: '' }),
    );
    assert.match(textOf(taken.html), /Open \d+ \d+ \d+ 2 0 /);
  },
);

pages('a second look at a checklist by the same form, and on to its upgrade', async () => {
  const old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1&hostName=h')).json;
  Object.assign(old.stigs[0].rules[0], { status: 'passed' });
  Object.assign(old.stigs[0].rules[1], { status: 'open' });
  const seen = await loadPage(t, '/checklists/inspect', ann, filesForm([JSON.stringify(old)]));
  assert.is(seen.status, 200);
  const { json } = await t.send('POST', '/api/v1/checklists/inspect', old);
  assert.equal(
    json.stigs[0].findings.map((each: { code: string }) => each.code),
    ['bad-status', 'old-release', 'no-details'],
  );
  for (const { message, advice } of json.stigs[0].findings)
    assert.match(textOf(seen.html), `${message}. ${advice}`);
  const { checklist } = hiddenFields(seen.html);
  assert.is(String(Buffer.from(checklist!, 'base64')), JSON.stringify(old));
  const nothing = await loadPage(t, '/checklists/inspect', ann, filesForm(['{"stigs":[]}']));
  assert.is(nothing.status, 400);
  assert.match(textOf(nothing.html), 'has no stigs');
});

pages('a refused form brings back the checklist that could be read, and a sound one takes it', async () => {
  const old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1')).json;
  const content = JSON.stringify(old);
  const file = (html: string) => /<input id="file"[^>]*>/.exec(html)![0];
  const refusals: [fields: Record<string, string>, words: string][] = [
    [{ slug: 'harbor_linux_3', version: 'V9R9' }, noVersion('V9R9')],
    [{ slug: 'no_such_stig' }, noStig('no_such_stig')],
    [{ slug: 'lantern_web_server_2' }, 'none of its STIGs is lantern_web_server_2'],
    [{ slug: 'harbor_linux_3', hostName: 'x'.repeat(256) }, 'hostName must have at most 255 characters'],
    [{ slug: 'harbor_linux_3', onChange: 'drop' }, 'onChange must be keep or reset'],
  ];
  for (const [fields, words] of refusals) {
    const { status, html } = await loadPage(t, '/checklists/upgrade', ann, upgradeForm(content, fields));
    assert.is(status, 400, words);
    assert.match(textOf(html), words);
    assert.match(textOf(html), 'Your checklist is still attached');
    assert.not.match(file(html), 'required');
    assert.is(Buffer.from(hiddenFields(html).checklist!, 'base64').toString(), content, words);
    // A browser sends an empty part for a file that was not chosen.
    const sound = upgradeForm(null, { ...hiddenFields(html), slug: 'harbor_linux_3', hostName: 'web01' });
    sound.set('file', new File([], ''));
    const taken = await loadPage(t, '/checklists/upgrade', ann, sound);
    assert.is(taken.status, 200, textOf(taken.html).slice(0, 200));
    assert.match(textOf(taken.html), 'V1R1 to V1R2');
  }
  // Beside one that came back another of full size may be sent, so a large one does not come back.
  const large = JSON.stringify({ ...old, title: 'x'.repeat(11 * 1024 * 1024) });
  const { html: asked } = await loadPage(
    t,
    '/checklists/upgrade',
    ann,
    upgradeForm(large, { slug: 'no_such_stig' }),
  );
  assert.match(textOf(asked), noStig('no_such_stig'));
  assert.is(hiddenFields(asked).checklist, undefined);
  assert.match(file(asked), 'required');
  // What is no checklist is not kept, and another file goes before the one that was.
  for (const bad of ['{', '<CHECKLIST>', 'PK', '']) {
    const { status, html } = await loadPage(
      t,
      '/checklists/upgrade',
      ann,
      upgradeForm(bad, { slug: 'harbor_linux_3', checklist: '' }),
    );
    assert.is(status, 400);
    assert.is(hiddenFields(html).checklist, undefined, bad);
    assert.match(file(html), 'required');
  }
  const another = upgradeForm('{"stigs":[]}', { checklist: Buffer.from(content).toString('base64') });
  assert.match(textOf((await loadPage(t, '/checklists/upgrade', ann, another)).html), 'has no stigs');
});

pages('the STIG that a checklist names is taken where none is chosen', async () => {
  const harbor = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1')).json;
  const lantern = (await t.get('/api/v1/stigs/lantern_web_server_2/download')).json;
  const [ofHarbor, ofLantern] = [harbor.stigs[0], lantern.stigs[0]];
  const send = async (stigs: object[], fields: Record<string, string> = { slug: '' }) => {
    const content = JSON.stringify({ ...harbor, stigs });
    const { status, html } = await loadPage(t, '/checklists/upgrade', ann, upgradeForm(content, fields));
    return { status, html, text: textOf(html) };
  };
  const named = await send([ofHarbor]);
  assert.is(named.status, 200);
  assert.match(named.text, /V1R1 to V1R2 .* Harbor Linux 3 .*, the STIG named in the checklist/);
  assert.is(hiddenFields(named.html).slug, 'harbor_linux_3');
  const chosen = await send([ofHarbor], { slug: 'harbor_linux_3' });
  assert.not.match(chosen.text, 'the STIG named in the checklist');
  assert.is((await send([ofHarbor], {})).status, 200);
  const inCase = { ...ofHarbor, stig_id: ` ${ofHarbor.stig_id.toLowerCase()} ` };
  assert.is((await send([inCase])).status, 200);
  // One that the catalog does not have leaves no doubt about the other.
  const foreign = { ...ofLantern, stig_id: 'Nowhere_STIG', stig_name: 'Nowhere' };
  assert.match((await send([foreign, ofHarbor])).text, 'V1R1 to V1R2');
  const refusals: [stigs: object[], words: string][] = [
    [
      [ofHarbor, ofLantern],
      'The checklist names more than one STIG in the catalog: Harbor Linux 3 Security Technical Implementation Guide and 1 more. Choose the one to upgrade',
    ],
    [
      [{ ...foreign, rules: [] }],
      'The checklist names Nowhere_STIG, which is not in the catalog. Choose its STIG',
    ],
    [[{ ...foreign, rules: [], stig_id: '', stig_name: '' }], 'The checklist does not name its STIG'],
  ];
  for (const [stigs, words] of refusals) {
    const { status, text } = await send(stigs);
    assert.is(status, 400);
    assert.ok(text.includes(words), text.slice(0, 600));
  }
  const byRules = await send([foreign]);
  assert.match(
    byRules.text,
    'It names Nowhere_STIG, which is not in the catalog; most of its rules are those of Lantern',
  );
  // The form offers it first, unless a STIG was chosen on the way here; the API asks for the slug as before.
  const options = (html: string) => html.match(/<option[^>]*>/g)!.slice(0, 2);
  assert.equal(options((await loadPage(t, '/checklists/upgrade', ann)).html)[0], '<option value="">');
  assert.match(
    (await loadPage(t, '/checklists/upgrade?slug=harbor_linux_3', ann)).html,
    /value="harbor_linux_3" selected/,
  );
  const byApi = await t.send('POST', '/api/v1/checklists/upgrade', { slug: '', checklist: harbor });
  assert.is(byApi.status, 404);
});

pages(
  'what every rule holds and a cklb has no place for is one line on the page, and whole within it',
  async () => {
    const old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1')).json;
    const rules = old.stigs[0].rules.map((rule: object, index: number) => ({
      ...rule,
      createdAt: `2026-01-${index + 1}`,
      ...(index === 2 ? { seenBy: 'Ann <Lee>' } : {}),
    }));
    const checklist = { ...old, stigs: [{ ...old.stigs[0], rules }] };
    const form = upgradeForm(JSON.stringify(checklist), { slug: 'harbor_linux_3' });
    const { html } = await loadPage(t, '/checklists/upgrade', ann, form);
    const notCarried = html.slice(html.indexOf('Not carried over:'));
    const reason = 'a cklb has no field for this';
    const summaries = [...notCarried.matchAll(/<summary>(.*?)<\/summary>/gs)].map(([, text]) =>
      textOf(text!),
    );
    assert.equal(summaries, [`createdAt , ${rules.length} times: ${reason}`]);
    const of = (index: number) => `of ${rules[index].group_id} in ${old.stigs[0].stig_name}`;
    rules.forEach((_: object, index: number) => {
      assert.match(textOf(notCarried), `createdAt ${of(index)}: ${reason} 2026-01-${index + 1}`);
    });
    assert.match(textOf(notCarried), `seenBy ${of(2)}: ${reason} Ann <Lee>`);
    const { report } = (
      await t.send('POST', '/api/v1/checklists/upgrade', { slug: 'harbor_linux_3', checklist })
    ).json;
    const fields = report.notCarried.filter((each: { kind: string }) => each.kind === 'field');
    assert.is(fields.length, rules.length + 1, 'the API tells each');
  },
);

pages('a checklist that is no UTF-8 is read as an import reads it, and the report warns', async () => {
  const old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1')).json;
  old.stigs[0].rules[0].status = 'open';
  old.stigs[0].rules[0].comments = 'geprüft – „Müller“';
  const ansi = (text: string) => {
    const special: Record<string, number> = {
      '\u2026': 0x85,
      '\u2013': 0x96,
      '\u201c': 0x93,
      '\u201d': 0x94,
      '\u201e': 0x84,
    };
    return Uint8Array.from([...text].map((each) => special[each] ?? each.charCodeAt(0)));
  };
  const cklb = JSON.stringify(old);
  const ckl = (encoding: string) =>
    writeCkl(old).replace(/^<\?xml[^>]*\?>/, `<?xml version="1.0" encoding="${encoding}"?>`);
  const readAs = async (content: string | Uint8Array<ArrayBuffer>) => {
    const { status, html } = await loadPage(
      t,
      '/checklists/upgrade',
      ann,
      upgradeForm(content, { slug: '' }),
    );
    assert.is(status, 200, textOf(html).slice(0, 300));
    const form = upgradeForm(null, { ...hiddenFields(html) });
    const file = JSON.parse((await loadPage(t, '/checklists/upgrade', ann, form)).html);
    assert.is(file.stigs[0].rules[0].comments, old.stigs[0].rules[0].comments);
    return /The checklist is not valid UTF-8: byte 0x[0-9A-F]+ at offset \d+ \(line \d+\); the whole file was read as windows-1252/.test(
      textOf(html),
    );
  };
  assert.is(await readAs(ckl('windows-1252')), false, 'UTF-8, whatever it says');
  assert.is(await readAs(ansi(ckl('windows-1252'))), false, 'as it says');
  assert.is(await readAs(ansi(ckl('UTF-8'))), true);
  assert.is(await readAs(ansi(cklb)), true);
  for (const [content, words] of [
    [ansi(cklb.replace('gepr', 'gepr\u0081')), 'The checklist is not valid UTF-8'],
    [ansi(ckl('shift_jis')), 'The checklist is not valid UTF-8'],
  ] as const) {
    const refused = await loadPage(t, '/checklists/upgrade', ann, upgradeForm(content, { slug: '' }));
    assert.is(refused.status, 400);
    assert.match(textOf(refused.html), words);
  }
});

pages('a classification banner is on every page, twice, and on every export', async () => {
  const banner = 'SECRET//REL -- "A&B" é';
  const marked: TestApp = await testApp([shipped()], { banner, newId: countingIds() });
  const eve = await sessionCaller(
    marked,
    await userCaller(marked, { sub: 'eve', entitlements: ['occ', 'regdoc'] }),
  );
  for (const path of [...shown.map(([each]) => each), '/no-such-list', `/lists/${testId(99)}`]) {
    const { html } = await loadPage(marked, path, { ...eve, Accept: 'text/html' });
    const texts = [...html.matchAll(/<p class="banner">(.*?)<\/p>/g)].map((match) => textOf(match[1]!));
    assert.equal(texts, [banner, banner], path);
  }
  const download = '/api/v1/stigs/harbor_linux_3/download?format=';
  for (const format of ['cklb', 'json', 'csv', 'xml']) {
    const with_ = await marked.get(download + format);
    const without = await t.get(download + format);
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

pages('examples for curl use the address that the reader used', async () => {
  const hosts: [headers: Record<string, string>, origin: string][] = [
    [{}, 'http://here.example'],
    [{ Host: 'Stigs.example:8443' }, 'http://stigs.example:8443'],
    [{ Host: '[::1]:8080' }, 'http://[::1]:8080'],
  ];
  for (const [headers, origin] of hosts)
    for (const path of ['/docs/stig-catalog', '/docs/lists', '/docs/api', '/docs/mcp']) {
      const { html } = await loadPage(t, path, headers);
      const lines = html.match(/curl [^<]*https?:\/\/[^<\s]*/g)!;
      for (const line of lines) assert.ok(line.includes(`${origin}/`), line);
      assert.not.match(html, /127\.0\.0\.1:8080/, path);
    }
});

pages('without script the try-it forms are not shown, and every operation has a line for curl', async () => {
  const { html } = await loadPage(t, '/docs/stig-catalog');
  const forms = html.match(/<form class="try[^>]*>/g)!;
  const operations = html.match(/<article class="operation"/g)!.length;
  assert.is(forms.length, operations);
  for (const form of forms) assert.match(form, / hidden/);
  assert.is(html.match(/<pre>curl /g)!.length, operations);
  const document = (await t.get('/openapi.json', { token: null })).json as { paths: Record<string, object> };
  const all = Object.values(document.paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
  const contents = (await loadPage(t, '/docs')).html;
  const names = readdirSync(join(packageRoot, 'docs')).flatMap((name) => /^(\w+)\.md$/.exec(name)?.[1] ?? []);
  const linked = names
    .filter((name) => name !== 'decisions')
    .map((name) => `/docs/${name}`)
    .filter((each) => contents.includes(`href="${each}"`));
  assert.is(linked.length, names.length - 1, 'every document but the decisions is served');
  const documents = await Promise.all(
    linked.map(async (each) => [each, (await loadPage(t, each)).html] as const),
  );
  const ids = new Map(
    documents.map(([each, page]) => [each, new Set([...page.matchAll(/ id="([^"]+)"/g)].map((m) => m[1]!))]),
  );
  let anchors = 0;
  for (const [each, page] of documents) {
    assert.not.match(page, /<a href="[^"]*\.md/);
    for (const [, path, id] of page.matchAll(/<a href="(\/docs\/\w+)?#([^"]+)"/g)) {
      if (id === 'main') continue;
      assert.ok(ids.get(path ?? each)!.has(id!), `${each} leads to ${path}#${id}`);
      anchors++;
    }
  }
  assert.ok(anchors > 10, `${anchors} anchors`);
  assert.is(contents.match(/href="\/docs\/[a-z-]+#/g)!.length, all);
});

pages.run();
