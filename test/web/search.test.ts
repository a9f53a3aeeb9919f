import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { type Caller, countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { linesOf, rowsOf } from '../support/tables.ts';
import { sampleRules } from '../support/xccdf-writer.ts';

const search = suite('The page of the search, and the start page');

const t = await testApp([shipped()], { newId: countingIds() });
const userOf = async (sub: string, entitlements: string[] = []) =>
  sessionCaller(t, await userCaller(t, { sub, entitlements }));
const ann = await userOf('ann', ['occ', 'regdoc']);
const bob = await userOf('bob', ['occ']);
search.after(() => t.db.close());

const load = (query: string, caller: Caller = ann, site = t) => loadPage(site, `/search?${query}`, caller);
const harbor = 'Harbor Linux 3 Security Technical Implementation Guide';

/** What the form of the search holds, in the order of the page: fields, and boxes and options that are chosen. */
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

/** What the form holds of a query: its fields, and below the STIGs that are chosen one for another. */
function formOf(query: string, sort = 'relevance'): string[] {
  const given = new URLSearchParams(query);
  const unset: Record<string, string[]> = { q: [''], cci: [''], control: [''], sort: [sort] };
  return linesOf('q \n severity \n stig \n cci \n control \n sort').flatMap((name) => {
    const values = given.getAll(name);
    const held = values.length === 0 ? (unset[name] ?? []) : values;
    return (name === 'stig' ? [...held, ''] : held).map((value) => `${name}=${value}`);
  });
}

search('the form has a field for each filter, and offers all STIGs by any of their names', async () => {
  for (const query of linesOf(`
    q=the&severity=high&severity=low
    q=the&stig=lantern_web_server_2&cci=CCI-000366&control=CM-6&severity=medium
    q=the&stig=harbor_linux_3&stig=lantern_web_server_2&sort=severity
  `))
    assert.equal(searchForm((await load(query)).html), formOf(query), query);
  const titles = (await t.get('/api/v1/stigs')).json.stigs.map((each: { title: string }) => each.title);
  for (const query of ['q=the', 'q=nothinglikeit', '', 'q=the&stig=%3Cb%3E']) {
    const { html } = await load(query);
    const [list = ''] = /<datalist id="stigs">.*?<\/datalist>/s.exec(html) ?? [];
    assert.equal(attributesOf(list, 'value'), titles, query);
    assert.is(html.includes('value="&lt;b&gt;" checked'), query.includes('%3C'), query);
  }
  for (const name of linesOf(`
    lantern_web_server_2
    Lantern_Web_Server_2_STIG
    ${titles[1]}
    lantern
    U_Lantern_Web_Server_2_STIG
  `)) {
    const { html } = await load(`q=the&stig=${encodeURIComponent(name)}`);
    assert.match(html, 'name="stig" value="lantern_web_server_2" checked');
    assert.not.match(html, '/stigs/harbor_linux_3/rules/');
  }
});

search('the counts beside the results are filters, and take themselves back', async () => {
  const countsOf = async (query: string) => {
    const [part = ''] = /<section class="counts".*?<\/section>/s.exec((await load(query)).html) ?? [];
    return { text: textOf(part), hrefs: attributesOf(part, 'href') };
  };
  const { severity, stigs } = (await t.get('/api/v1/search?q=the')).json.counts;
  const all = await countsOf('q=the');
  const counted = `▲ CAT I ${severity.high} ◆ CAT II ${severity.medium} ● CAT III ${severity.low}`;
  assert.is(all.text, `${counted} Harbor Linux 3 ${stigs[0].rules} Lantern Web Server 2 ${stigs[1].rules}`);
  const filters = 'severity=high severity=medium severity=low stig=harbor_linux_3 stig=lantern_web_server_2';
  const hrefs = filters.split(' ').map((filter) => `/search?q=the&${filter}`);
  assert.equal(all.hrefs, hrefs);
  const narrowed = await countsOf('q=the&severity=high&stig=harbor_linux_3');
  assert.equal(narrowed.hrefs, ['/search?q=the&stig=harbor_linux_3', '/search?q=the&severity=high']);
  assert.equal((await countsOf('q=nothinglikeit')).hrefs, []);
});

search('one id opens what it names, several are a table', async () => {
  for (const [q, location = null] of rowsOf(`
    V-900001 | /stigs/harbor_linux_3/rules/V-900001
    v-900001 | /stigs/harbor_linux_3/rules/V-900001
    V-900013 | /stigs/harbor_linux_3/rules/V-900013?version=V1R1
    ac-2(1) | /controls/nist-800-53/AC-2(1)
    AC-2+d+3 | /controls/nist-800-53/AC-2
    cci-366 | /ccis/CCI-000366
    V-1234567
    %22V-900001%22
    V-900001+V-900002
    V-900001&severity=high
    ann@example.org
  `)) {
    const answer = await load(`q=${q}`);
    assert.equal([answer.status, answer.location], [location === null ? 200 : 303, location], q);
  }
  assert.is((await load('q=ac-2(1)', {})).location, '/controls/nist-800-53/AC-2(1)');
  const hidden = await load('q=V-900001', {});
  assert.is(hidden.status, 200);
  assert.not.match(hidden.html, '/stigs/harbor_linux_3');
  const { html } = await load('q=V-900013,+ac-2(1);cci-366+V-1234567');
  const [table = ''] = /<tbody[^>]*>.*?<\/tbody>/s.exec(html) ?? [];
  const { rules } = (await t.get('/api/v1/search?q=ac-2(1)')).json.answers[0];
  const [removed, ...rows] = [...table.matchAll(/<tr[^>]*>.*?<\/tr>/gs)].map(([row]) => textOf(row));
  assert.match(removed!, /^V-900013 .* removed after V1R1$/);
  assert.equal(rows, [
    `ac-2(1) Automated System Account Management current · ${rules} ${rules === 1 ? 'rule' : 'rules'}`,
    'cci-366 current · 1 rule',
    'V-1234567 unknown',
  ]);
  for (const [more, isListed] of [
    ['', false],
    ['+console', true],
    ['&severity=medium', true],
  ] as const)
    assert.is((await load(`q=V-900001,+V-900002${more}`)).html.includes('id="rules"'), isListed, more);
});

search('a citation opens its page, and an id of a framework of the site its control', async () => {
  const ask = (q: string, caller?: Caller, site = t) => load(`q=${encodeURIComponent(q)}`, caller, site);
  const [{ ruleId }] = (await t.get('/api/v1/stigs/harbor_linux_3/controls')).json.findings;
  for (const ref of [`harbor_linux_3@V1R2#${ruleId}`, 'harbor_linux_3@V1R1', 'harbor_linux_3@V9R9']) {
    const { status, location } = await ask(ref);
    assert.equal([status, new URLSearchParams(location!.slice(6)).get('ref')], [303, ref]);
    assert.is((await loadPage(t, location!, ann)).status, 200);
    assert.is((await ask(ref, {})).status, 200, 'not for who is not signed in');
  }
  assert.is((await ask('nist-800-53@Rev 5.2.0#AC-2', {})).status, 303);
  const controls = ['PL', 'PL-01', 'PL-02'].map((id) => ({ id, title: `Plank ${id}` }));
  const metadata = { title: 'Planks', version: '1', 'last-modified': '2026-01-01T00:00:00Z' };
  const planks = JSON.stringify({ catalog: { metadata, controls } });
  const own = await testApp([put(scratchFolder(), 'planks.json', planks)]);
  for (const [q, location = null] of rowsOf('pl.01 \n PL-01 | /controls/planks/PL-01 \n "PL-01" \n Plank'))
    assert.is((await ask(q!, {}, own)).location, location, q);
  assert.match(textOf((await ask('Plank', {}, own)).html), /Controls of planks 3/);
  own.db.close();
});

search('what a question was read as is said above its rules', async () => {
  const said = async (q: string) => {
    const { html } = await load(`q=${encodeURIComponent(q)}`);
    const [, part = ''] = /<h2 id="rules">.*?<\/h2>(.*?)<details/s.exec(html) ?? [];
    return { text: textOf(part), html };
  };
  const best = 'These are the best with some of them';
  const passed = await said('how must the consoles zeppelin');
  assert.is(passed.text, `No rule has all of these words. ${best}, without how, must, and the.`);
  assert.match(passed.html, '<mark>console</mark>');
  const narrowed = await said('hl3 console zeppelin');
  assert.match(narrowed.text, `${best} in Harbor Linux 3.`);
  assert.not.match(narrowed.html, '/stigs/lantern_web_server_2/rules/');
  const misspelt = await said('consoele');
  assert.match(misspelt.text, 'No rule has “consoele”. Did you mean console ?');
  assert.match(misspelt.html, '<a href="/search?q=console">console</a>');
  for (const [q, isMore] of [
    ['console', false],
    ['audit log', true],
  ] as const) {
    const { exact, pagination } = (await t.get(`/api/v1/search?q=${encodeURIComponent(q)}`)).json;
    assert.equal([exact > 0, pagination.total > exact], [true, isMore], q);
    assert.is((await said(q)).html.includes('<h3>With some of the words</h3>'), isMore, q);
  }
  assert.is((await said('the')).text, '');
});

search('a filter that is wrong leaves the question and the others in the form', async () => {
  const severity = 'severity must be one or more of: high, medium, low';
  const long = 'x'.repeat(101);
  // A second query is what the form holds where that is not what was asked.
  for (const [query, message, held] of rowsOf(`
    q=the&severity=urgent&cci=CCI-999999 | ${severity} | q=the&cci=CCI-999999
    q=%22a+b%22&severity=High,urgent&stig=harbor_linux_3&cci=1 | ${severity} | q=%22a+b%22&severity=high&stig=harbor_linux_3&cci=1
    severity=urgent&control=AC-2 | ${severity} | control=AC-2
    q=the&cci=${long} | cci must have at most 100 characters
    q=the&control=AC-2&control=AC-3 | control must be one text | q=the&control=AC-2
    q=the&page=0&stig=no_such | page must be a decimal integer of at least 1
    q=the&stig=no_such | STIG not found: no_such
    q=the&cci=CCI-999999 | CCI not found: CCI-999999
    control=AC-99 | Control not found: AC-99
    q=the&cci=366 | cci must be a CCI such as CCI-000366
    q=-windows | q must have a word to find beside those that it excludes, or a filter
    q=${'x'.repeat(501)}&control=AC-2 | q must have at most 500 characters
  `)) {
    const { status, html } = await load(query!);
    assert.equal(html.match(/<p class="problem" role="alert">[^<]*<\/p>/g), [
      `<p class="problem" role="alert">${message}</p>`,
    ]);
    assert.is(status, / not found: /.test(message!) ? 404 : 400, query);
    const sort = query!.startsWith('q=') ? 'relevance' : 'stig';
    assert.equal(searchForm(html), formOf(held ?? query!, sort), query);
    assert.not.match(textOf(html), /Found for/, query);
    const api = await t.get(`/api/v1/search?${query!.startsWith('q=') ? '' : 'q=x&'}${query}`);
    assert.is(api.json.error.message, message, query);
  }
  const unsorted = await load('q=the&sort=size');
  assert.is(unsorted.status, 400);
  assert.match(unsorted.html, 'sort must be one of: relevance, severity, stig, id');
});

search('what was searched, and what was not, is said as it is', async () => {
  const none = 'No rule has any of these words, in another form or by a synonym either.';
  const samples = 'Only the samples are here: see how to import what DISA and NIST publish .';
  const word = 'enter at least one letter, digit or underscore.';
  const signIn = 'Sign in to search STIGs and their rules too.';
  const narrowed = 'No rule with these filters has any of these words. Clear filters .';
  const kinds = 'No STIG, control, CCI, role, or document has';
  const callers: Record<string, Caller> = { ann, bob, nobody: {} };
  for (const [who, query, words] of rowsOf(`
    ann | q=zzz | ${none} ${kinds} “zzz” in its name. ${samples}
    bob | q=zzz | ${none} No STIG, control, CCI, or role has “zzz” in its name. You need permission to search documents (regdoc). ${samples}
    nobody | q=zzz | No control or CCI has “zzz” in its name. ${signIn}
    nobody | q=zzz&severity=high | No control or CCI has “zzz” in its name. ${signIn}
    ann | q=zzz&severity=high | ${narrowed} ${samples}
    ann | q=zzz&cci=cci-366&control=ac-02 | ${narrowed} ${samples}
    ann | q=zzz&page=2 | ${none} ${samples}
    ann | q=%2B%2B%2B | Rules were not searched: ${word} ${kinds} “+++” in its name.
    ann | q=%22%22* | Nothing was searched: ${word}
    nobody | q=%22%22* | Nothing was searched: ${word} ${signIn}
    ann | q=Devicez+Locz* | ${none} ${kinds} “Devicez Locz” in its name. ${samples}
    ann | severity=high&control=PM-9 | No rule matches these filters. Clear filters . ${samples}
    nobody | stig=harbor_linux_3 | ${signIn}
    nobody | q=zzz&cci=CCI-999999 | No control or CCI has “zzz” in its name. ${signIn}
  `)) {
    const { status, html } = await load(query!, callers[who!]);
    assert.is(status, 200, query);
    const said = [...html.matchAll(/<p class="empty">.*?<\/p>/gs)].map(([part]) => textOf(part));
    assert.equal(said, [words], query);
  }
  const { html } = await load('q=a&severity=high&cci=CCI-15', {});
  assert.ok(html.includes(`/signin?next=${encodeURIComponent('/search?q=a&severity=high&cci=CCI-15')}`));
  const named = textOf((await load('q=hl3')).html);
  assert.match(named, new RegExp(`STIGs 1 (?:Select )?${harbor}.* V1R2`));
  const stigs = textOf((await loadPage(t, '/stigs?search=nothing', ann)).html);
  assert.match(stigs, '0 STIGs No STIG matches this name. Show all');
});

search('where a long title is cut, the piece with what was found stands below it', async () => {
  const title = `${'word '.repeat(60)}needle here`;
  const [one, two] = sampleRules(2);
  const rules = [
    { ...one!, title },
    { ...two!, title: 'a needle' },
  ];
  const own = await testApp([writeBenchmarks([{ rules }])]);
  const sam = await sessionCaller(own, await userCaller(own));
  const { html } = await load('q=needle&sort=id', sam, own);
  const [long, short] = /<ol class="results".*?<\/ol>/s.exec(html)![0].split('<li>').slice(1);
  assert.match(textOf(long!), title);
  assert.match(long!, /<span class="quiet">title: <\/span>…[^<]*word <mark>needle<\/mark> here<\/p>/);
  assert.match(short!, 'a <mark>needle</mark></a>');
  assert.not.match(short!, 'title: ');
  own.db.close();
});

search('what was found is downloaded as it is filtered and sorted', async () => {
  const query = 'q=the&severity=high&severity=low&control=CM-6&sort=id&stig=harbor_linux_3';
  const hrefs = attributesOf((await load(query)).html, 'href').filter((href) =>
    href.startsWith('/api/v1/search?'),
  );
  const sorted = (text: string) => [...new URLSearchParams(text)].map(String).sort();
  for (const [index, format] of ['csv', 'xlsx'].entries()) {
    assert.equal(sorted(hrefs[index]!.split('?')[1]!), sorted(`${query}&format=${format}`));
    assert.is((await t.app.request(hrefs[index]!, { headers: ann })).status, 200);
  }
  assert.is(hrefs.length, 2);
  assert.not.match((await load('q=zzz')).html, '/api/v1/search?');
});

search('the start page has the lists of the reader, and what the last import brought', async () => {
  const home = async (caller: Caller) => textOf((await loadPage(t, '/', caller)).html);
  assert.match(await home(ann), 'Your lists A list contains the STIGs of a system. Create a list');
  assert.not.match(await home(ann), 'Releases from the last import', 'the first import brought all there is');
  for (let made = 1; made <= 21; made++)
    await loadPage(t, '/systems', ann, { name: `List ${made}`, visibility: 'PRIVATE' });
  assert.match(await home(ann), /(?:List \d+ 0 STIGs nothing each STIG was added ){20}Show all 21 lists/);
  assert.match(await home(bob), 'Your lists A list contains', 'nobody else’s');
  const other = await testApp([shipped('stigs')]);
  const later = writeBenchmarks([{ id: 'Later', title: 'Later STIG' }]);
  // The second import brings no release, and leaves it at that.
  for (const time of ['13:14', '14:00']) {
    await runImport(other.db, [later], { now: () => new Date(`2026-11-21T${time}:00Z`) });
    const { html } = await loadPage(other, '/', await sessionCaller(other, await userCaller(other)));
    assert.match(textOf(html), 'Releases from the last import 1 release, imported 2026-11-21 13:14 UTC .');
    assert.match(html, '<a href="/content/imports/2">What the import did</a>');
  }
  other.db.close();
});

search.run();
