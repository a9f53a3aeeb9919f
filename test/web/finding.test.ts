import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const finding = suite('Pages that find');

const t = await testApp([shipped()], { newId: countingIds() });
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann', entitlements: [] }));
const eve = await sessionCaller(t, await userCaller(t, { sub: 'eve', org: 'blue', entitlements: [] }));
finding.after(() => t.db.close());

const section = (html: string, id: string) =>
  new RegExp(`<section aria-labelledby="${id}">.*?</section>`, 's').exec(html)?.[0] ?? '';
const number = (text: string) => Number(text.replaceAll(',', ''));

finding('each number of the start page leads to a listing that shows that number', async () => {
  const { html } = await loadPage(t, '/', ann);
  const totals = [...html.matchAll(/<li><a href="([^"]*)"><b>([\d,]+)<\/b>(.*?)<\/a><\/li>/gs)];
  assert.is(totals.length, 5);
  const { catalog, severity } = (await t.get('/api/v1/stigs/stats')).json;
  assert.equal(
    totals.map(([, , shown]) => number(shown!)),
    [catalog.totalBenchmarks, catalog.totalFindings, severity.high, severity.medium, severity.low],
  );
  for (const [, href, shown] of totals) {
    const listing = textOf((await loadPage(t, href!.replaceAll('&amp;', '&'), ann)).html);
    const said = href === '/stigs' ? `${shown} STIGs` : `Rules ${shown} `;
    assert.ok(listing.includes(said), `${href}: ${said}`);
  }
});

finding('the start page has the lists of the reader, and what the last import brought', async () => {
  const home = async (caller = ann) => textOf((await loadPage(t, '/', caller)).html);
  assert.match(await home(), 'Your lists A list contains the STIGs of a system. Create a list');
  assert.not.match(await home(), 'Releases from the last import', 'the first import brought all there is');
  for (let made = 1; made <= 21; made++)
    await loadPage(t, '/lists', ann, { name: `List ${made}`, visibility: 'PRIVATE' });
  assert.match(await home(), /(?:List \d+ 0 STIGs nothing each STIG was added ){20}Show all 21 lists/);
  assert.match(await home(eve), 'Your lists A list contains', 'nobody else’s');
  const other = await testApp([shipped('stigs')], { newId: countingIds() });
  const { runImport } = await import('../../importers/run.ts');
  other.clock.now = new Date('2026-11-21T13:14:00Z');
  const later = writeBenchmarks([{ id: 'Later', title: 'Later STIG' }]);
  await runImport(other.db, [later], { now: () => other.clock.now });
  const bob = await sessionCaller(other, await userCaller(other, { sub: 'bob', entitlements: [] }));
  const { html } = await loadPage(other, '/', bob);
  const words =
    'Releases from the last import 1 release, imported 2026-11-21 13:14 UTC . What the import did';
  assert.match(textOf(html), words);
  assert.match(html, '<a href="/catalog/imports/2">What the import did</a>');
  // An import that brings no release leaves it at that.
  await runImport(other.db, [later], { now: () => new Date('2026-11-21T14:00:00Z') });
  assert.match(textOf((await loadPage(other, '/', bob)).html), words);
  other.db.close();
});

finding('STIGs are found by what people call them, on their page and in the search', async () => {
  for (const called of ['hl3', 'HL 3', 'Harbor_Linux_3_STIG', 'U_Harbor_Linux_3_V1R2_STIG.zip', 'bor lin']) {
    const query = encodeURIComponent(called);
    const stigs = (await loadPage(t, `/stigs?search=${query}`, ann)).html;
    const found = attributesOf(stigs, 'href').filter((href) => /^\/stigs\/\w+$/.test(href));
    assert.equal(found, ['/stigs/harbor_linux_3'], called);
    const { html } = await loadPage(t, `/search?q=${query}`, ann);
    const title = 'Harbor Linux 3 Security Technical Implementation Guide';
    assert.match(textOf(html), `STIGs 1 Select ${title} ${title} V1R2`, called);
  }
  const none = textOf((await loadPage(t, '/stigs?search=nothing', ann)).html);
  assert.match(none, '0 STIGs No STIG matches this name. Show all');
});

finding('what was found is downloaded as it is filtered and sorted', async () => {
  const query = 'q=the&severity=high&severity=low&control=CM-6&sort=id&stig=harbor_linux_3';
  const { html } = await loadPage(t, `/search?${query}`, ann);
  const hrefs = attributesOf(html, 'href').filter((href) => href.startsWith('/api/v1/search?'));
  assert.is(hrefs.length, 2);
  for (const [index, format] of ['csv', 'xlsx'].entries()) {
    const asked = new URLSearchParams(hrefs[index]!.slice(hrefs[index]!.indexOf('?')));
    const expected = new URLSearchParams(`${query}&format=${format}`);
    asked.sort();
    expected.sort();
    assert.is(String(asked), String(expected));
    assert.is((await t.app.request(hrefs[index]!, { headers: ann })).status, 200);
  }
  assert.not.match((await loadPage(t, '/search?q=zzz', ann)).html, '/api/v1/search?');
});

finding('a citation opens its page, and an id of a framework of the site its control', async () => {
  const ruleId = /SV-900003r\d+_rule/.exec(
    (await t.get('/api/v1/stigs/harbor_linux_3/controls?limit=5')).text,
  )![0];
  const ask = (app: typeof t, q: string, caller = {}) =>
    loadPage(app, `/search?q=${encodeURIComponent(q)}`, caller);
  for (const ref of [`harbor_linux_3@V1R2#${ruleId}`, 'harbor_linux_3@V1R1', 'harbor_linux_3@V9R9']) {
    const { status, location } = await ask(t, ref, ann);
    assert.equal([status, new URLSearchParams(location!.slice(6)).get('ref')], [303, ref]);
    assert.is((await loadPage(t, location!, ann)).status, 200);
    assert.is((await ask(t, ref)).status, 200, 'not for who is not signed in');
  }
  assert.is((await ask(t, 'nist-800-53@Rev 5.2.0#AC-2')).status, 303);
  assert.is((await ask(t, 'ann@example.org', ann)).status, 200);

  const controls = ['PL', 'PL-01', 'PL-02'].map((id) => ({ id, title: `Plank ${id}` }));
  const metadata = { title: 'Planks', version: '1', 'last-modified': '2026-01-01T00:00:00Z' };
  const planks = { catalog: { metadata, controls } };
  const own = await testApp([put(scratchFolder(), 'planks.json', JSON.stringify(planks))]);
  assert.equal(
    await Promise.all(['pl.01', 'PL-01', '"PL-01"', 'Plank'].map(async (q) => (await ask(own, q)).location)),
    [null, '/controls/planks/PL-01', null, null],
  );
  assert.match(textOf((await ask(own, 'Plank')).html), /Controls of planks 3/);
  own.db.close();
});

finding(
  'a control begins with its statement, and its rules are narrowed by STIGs, severity and list',
  async () => {
    const path = '/controls/nist-800-53/CM-7';
    const made = await loadPage(t, '/lists', ann, { name: 'Web', visibility: 'PRIVATE' });
    const list = made.headers.get('Location')!.replace(/\?.*/, '').replace('/lists/', '');
    await loadPage(t, `/lists/${list}/stigs`, ann, { slugs: 'lantern_web_server_2' });
    const { html: whole } = await loadPage(t, path, ann);
    const places = ['<h2>Statement</h2>', 'id="enhancements"', 'id="rules"', 'id="crosswalk"'].map((mark) =>
      whole.indexOf(mark),
    );
    assert.equal(
      places,
      [...places].sort((a, b) => a - b),
    );
    assert.ok(places[0]! > 0);
    for (const query of [
      '',
      'stig=harbor_linux_3',
      'stig=harbor_linux_3&stig=lantern_web_server_2',
      `list=${list}`,
      'severity=low&severity=high',
      `list=${list}&stig=harbor_linux_3`,
    ]) {
      const asked = query.replace(`list=${list}`, 'stig=lantern_web_server_2');
      const isNone = query.includes('list=') && query.includes('stig=');
      const { json } = await t.get(`/api/v1/control-rules/nist-800-53/CM-7?limit=25&${asked}`);
      const { html } = await loadPage(t, `${path}?${query}`, ann);
      const rules = section(html, 'rules');
      if (isNone) {
        assert.match(textOf(rules), 'No rule that is mapped to it matches these filters. Clear filters');
        continue;
      }
      const { high, medium, low } = json.counts;
      assert.match(
        textOf(rules),
        `in current releases, mapped through CCIs: ▲ CAT I: ${high} ◆ CAT II: ${medium} ● CAT III: ${low}`,
      );
      const shown = attributesOf(rules, 'href').filter((href) => /\/rules\//.test(href));
      const expected = json.stigs.flatMap((stig: { slug: string; rules: { groupId: string }[] }) =>
        stig.rules.map((rule) => `/stigs/${stig.slug}/rules/${rule.groupId}`),
      );
      assert.equal(shown, expected, query);
      const [search] = attributesOf(rules, 'href').filter((href) => href.startsWith('/search?'));
      const there = textOf((await loadPage(t, search!, ann)).html);
      assert.match(there, `Rules ${json.pagination.total} `, 'the search has as many');
    }
    const unseen = await loadPage(t, `${path}?list=${list}`, eve);
    assert.is(unseen.status, 404);
    assert.is((await loadPage(t, `${path}?stig=no_such`, ann)).status, 404);
  },
);

finding(
  'enhancements stand below their base control, with as many rules as their own pages show',
  async () => {
    for (const query of ['', '?stig=lantern_web_server_2', '?severity=high']) {
      const { html } = await loadPage(t, `/controls/nist-800-53/AC-2(1)${query}`, ann);
      const nodes = [...section(html, 'enhancements').matchAll(/<li>(.*?)(?=<ul>|<\/li>)/gs)].map(
        ([, node]) => node!,
      );
      const { controls } = (await t.get('/api/v1/controls/nist-800-53')).json as {
        controls: { identifier: string }[];
      };
      const expected = controls
        .map(({ identifier }) => identifier)
        .filter((each) => /^AC-2(?:\(|$)/.test(each));
      assert.equal(
        nodes.map((node) => textOf(node).split(' ')[0]),
        expected,
      );
      for (const [index, node] of nodes.entries()) {
        const path = `/api/v1/control-rules/nist-800-53/${encodeURIComponent(expected[index]!)}${query}`;
        const { total } = (await t.get(path)).json.pagination;
        const said = total === 0 ? 'no rule' : total === 1 ? '1 rule' : `${total} rules`;
        assert.ok(textOf(node).endsWith(` ${said}`), textOf(node));
        if (expected[index] === 'AC-2(1)') assert.match(node, '<strong aria-current="true">');
        else assert.match(node, query === '' ? `/${encodeURIComponent(expected[index]!)}"` : query.slice(1));
      }
    }
    const { html } = await loadPage(t, '/controls/nist-800-53/AC-2');
    assert.match(textOf(section(html, 'enhancements')), 'AC-2(1)', 'everybody sees them');
    assert.not.match(textOf(section(html, 'enhancements')), /rule/, 'but their rules who is signed in alone');
    for (const path of ['/controls/nist-800-171/3.1.1', '/controls/dod-8500/ECCT-1', '/ccis/CCI-000015'])
      assert.not.match((await loadPage(t, path, ann)).html, 'id="enhancements"', path);
  },
);

finding('the CCIs of a control are folded', async () => {
  const { html } = await loadPage(t, '/controls/nist-800-53/AC-2(1)', ann);
  assert.match(html, /<details class="more"><summary>CCIs: \d+ CCIs?, \d+ paths?<\/summary>/);
});

finding.run();
