import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';

const pages = suite('Pages of coverage');

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

let t: TestApp;
let ann: Caller;
const home = `/lists/${testId(1)}/coverage`;

pages.before(async () => {
  t = await testApp([shipped('stigs'), shipped('controls'), shipped('mappings')], { newId: countingIds() });
  const token = await userCaller(t);
  ann = await sessionCaller(t, token);
  await ask(t, 'POST', '/api/v1/lists', token, { name: 'A system' });
  const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
  await ask(t, 'POST', `/api/v1/lists/${testId(1)}/stigs`, token, { slugs });
});
pages.after(() => t.db.close());

const page = async (path: string): Promise<string> => {
  const { status, html } = await loadPage(t, path, ann);
  assert.is(status, 200, path);
  return html;
};

pages('a cell for each control says how many rules it has, and leads to them beside the map', async () => {
  for (const path of [home, '/stigs/harbor_linux_3/coverage'])
    for (const query of ['', '?rollup=true', '?revision=Rev+4', '?framework=nist-800-171']) {
      const html = await page(path + query);
      const json: Json = (await t.get(`/api/v1${path}${query}`)).json;
      const cells = [
        ...html.matchAll(/<a class="n(\d)" href="\?([^"]*)#chosen" title="([^"]*)"[^>]*>(.*?)<\/a>/g),
      ];
      assert.equal(
        cells.map(([, shade, href, title, text]) => [
          ...[shade, new URLSearchParams(href!.replaceAll('&amp;', '&')).get('control')],
          ...[title!.split(': ').at(-1), textOf(text!)],
        ]),
        json.controls.map(({ identifier, rules: { total } }: Json) => {
          const words = total === 0 ? 'no rule' : total === 1 ? '1 rule' : `${total} rules`;
          const shade = [1, 2, 5, 20].filter((from) => total >= from).length;
          return [String(shade), identifier, words, total === 0 ? identifier : `${identifier} ${total}`];
        }),
        path + query,
      );
      const text = textOf(html);
      const { controls, covered, uncovered, rules, mappedRules, unmappedRules } = json.totals;
      for (const words of [
        `${covered} controls of ${controls.toLocaleString('en-US')} addressed`,
        `${mappedRules} of ${rules} rules mapped.`,
        `Controls without a rule ${uncovered} Controls addressed ${covered}`,
        `Rules not mapped ${unmappedRules}`,
        'It does not mean satisfied',
      ])
        assert.ok(text.includes(words), `${path}${query}: ${words}`);
      assert.not.match(text.replace('It does not mean satisfied', ''), /satisf/i);
      const unmapped = textOf(await page(`${path}${query}${query === '' ? '?' : '&'}show=unmapped`));
      for (const rule of json.unmapped)
        assert.ok(unmapped.includes(`${rule.groupId} ${rule.title}`), `${path}${query}: ${rule.groupId}`);
    }
});

pages('beside the map stand the rules of the chosen control, as many as its cell says', async () => {
  for (const query of ['', 'rollup=true&', 'framework=nist-800-171&', 'framework=dod-8500&']) {
    const { controls, framework }: Json = (await t.get(`/api/v1${home}?${query}`)).json;
    const covered = controls.filter((each: Json) => each.covered);
    for (const { identifier, rules, stigs } of [
      ...covered.slice(0, 4),
      controls.find((each: Json) => !each.covered),
    ]) {
      const html = await page(`${home}?${query}control=${encodeURIComponent(identifier)}`);
      const [chosen] = /<aside id="chosen".*?<\/aside>/s.exec(html)!;
      const links = attributesOf(chosen, 'href').filter((href) => href.includes('/rules/'));
      assert.is(links.length, rules.total, `${query}${identifier}`);
      assert.equal([...new Set(links.map((href) => href.split('/')[2]))].sort(), [...stigs].sort());
      assert.match(chosen, `href="/controls/${framework}/${encodeURIComponent(identifier)}?list=`);
      assert.is(html.match(/<a class="n\d"[^>]*aria-current="true"/g)!.length, 1);
    }
  }
  assert.not.match(await page(`${home}?control=none`), 'id="chosen"');
  assert.is((await loadPage(t, `${home}?by=chance`, ann)).status, 400);
});

pages('where a square leads there are as many rules as it says', async () => {
  for (const framework of ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci']) {
    const { controls }: Json = (await t.get(`/api/v1${home}?framework=${framework}`)).json;
    const covered = controls.filter((each: Json) => each.covered);
    assert.ok(covered.length > 5, framework);
    for (const { identifier, rules } of covered) {
      const path = `/api/v1/control-rules/${framework}/${encodeURIComponent(identifier)}?list=${testId(1)}`;
      assert.is((await t.get(path)).json.pagination.total, rules.total, `${framework} ${identifier}`);
    }
  }
});

pages('the tables name every control once, with a rule or without', async () => {
  const json: Json = (await t.get(`/api/v1${home}?framework=dod-8500&baseline=1`)).json;
  const table = async (view: string, number = 1): Promise<(string | undefined)[]> => {
    const html = await page(`${home}?framework=dod-8500&baseline=mac+i&show=${view}&page=${number}`);
    assert.not.match(html, /<a class="n\d"/);
    const shown = [...html.matchAll(/<a class="ids"[^>]*>([^<]*)</g)].map(([, identifier]) => identifier);
    return shown.length < 200 ? shown : [...shown, ...(await table(view, number + 1))];
  };
  const of = (isCovered: boolean) =>
    json.controls.filter((each: Json) => each.covered === isCovered).map((each: Json) => each.identifier);
  assert.equal(await table('uncovered'), of(false));
  assert.equal(await table('covered'), of(true));
  assert.equal(
    await table('outside'),
    json.outside.map((each: Json) => each.identifier),
  );
});

pages('downloads keep what is asked for', async () => {
  const html = await page(
    '/stigs/harbor_linux_3/coverage?version=v1r1&framework=nist-800-53&rollup=TRUE&revision=4',
  );
  const files = attributesOf(html, 'href').filter((each) => each.startsWith('/api/'));
  const asked = 'framework=nist-800-53&revision=Rev+4&rollup=true';
  assert.equal(
    files,
    ['json', 'csv', 'xlsx'].map(
      (each) => `/api/v1/stigs/harbor_linux_3/coverage?${asked}&format=${each}&version=V1R1`,
    ),
  );
  for (const file of files) assert.is((await t.get(file)).status, 200, file);
});

pages(
  'another framework in the form leaves revision and baseline behind; what is wrong is said',
  async () => {
    const form = `${home}?of=nist-800-53&framework=dod-8500&revision=Rev+4&baseline=moderate`;
    assert.match(textOf(await page(form)), /DoD 8500\.2 DoDI 8500\.2 \(2003\), all active controls:/);
    const { status, html } = await loadPage(t, form.replace('of=nist-800-53&', ''), ann);
    assert.is(status, 400);
    assert.match(textOf(html), /baseline must be one of: MAC I, MAC II, MAC III/);
    const { status: unknown } = await loadPage(t, '/stigs/none/coverage', ann);
    assert.is(unknown, 404);
    assert.match(await page('/stigs/harbor_linux_3'), /href="\/stigs\/harbor_linux_3\/coverage"/);
  },
);

pages('another revision in the form keeps the page where it lacks the baseline, and says so', async () => {
  const asked = '/stigs/harbor_linux_3/coverage?framework=nist-800-53&revision=Rev+4&baseline=privacy';
  const { status, html } = await loadPage(t, `${asked}&of=nist-800-53`, ann);
  assert.is(status, 400);
  const text = textOf(html);
  assert.match(text, 'No control of Rev 4 is in privacy: all its controls are counted.');
  assert.match(text, /NIST SP 800-53 Rev 4, all active controls:/);
  assert.match(html, /<select[^>]* name="revision"/);
  assert.is((await loadPage(t, asked, ann)).status, 400);
});

pages('the map of gaps alone has each control without a rule, and no other', async () => {
  for (const query of ['', 'framework=nist-800-171&', 'framework=dod-8500&baseline=mac+i&']) {
    const json: Json = (await t.get(`/api/v1${home}?${query}`)).json;
    const html = await page(`${home}?${query}show=gaps`);
    assert.equal(
      [...html.matchAll(/<a class="n(\d)"[^>]*tabindex="-1"[^>]*>([^<]*)/g)].map(([, shade, id]) => [
        shade,
        id!.trim(),
      ]),
      json.uncovered === undefined
        ? json.controls.filter((each: Json) => !each.covered).map((each: Json) => ['0', each.identifier])
        : json.uncovered.map((each: Json) => ['0', each.identifier]),
      query,
    );
  }
});

pages('five thousand CCIs are told by their families, and stand in tables page by page', async () => {
  const html = await page(`${home}?framework=cci`);
  assert.not.match(html, /<a class="n\d"/);
  const { totals, controls }: Json = (await t.get(`/api/v1${home}?framework=cci`)).json;
  const last = Math.ceil(totals.uncovered / 200);
  const path = `${home}?framework=cci&show=uncovered&page=${last}`;
  const shown = [...(await page(path)).matchAll(/<a class="ids"[^>]*>([^<]*)</g)].map(([, id]) => id);
  const gaps = controls.filter((each: Json) => !each.covered).map((each: Json) => each.identifier);
  assert.equal(shown, gaps.slice((last - 1) * 200));
});

pages('an empty list says what to do', async () => {
  await ask(t, 'POST', '/api/v1/lists', await userCaller(t), { name: 'None' });
  assert.match(textOf(await page(`/lists/${testId(2)}/coverage`)), /This list is empty\. Browse STIGs/);
});

pages.run();
