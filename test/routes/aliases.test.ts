import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { noStig } from '../support/words.ts';

// A STIG that went by two titles and two ids: what it was called answers wherever a slug is taken, with its slug in the answer.
const test = suite('Former slugs and benchmark ids');
const slug = 'harbor_linux';
const aliases =
  `harbor_linux_3 Harbor_Linux_3_STIG HRB_Linux_STIG hrb_linux HARBOR_Linux hrb_LINUX_stig`.split(/\s+/);

let t: TestApp;
let ann: Caller;

test.before(async () => {
  const old = shipped('stigs', 'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml');
  const renamed = readFileSync(shipped('stigs', 'U_Harbor_Linux_3_STIG_V1R2_Manual-xccdf.xml'), 'utf8')
    .replaceAll('Harbor_Linux_3_STIG', 'HRB_Linux_STIG')
    .replace('<title>Harbor Linux 3 ', '<title>Harbor Linux ');
  t = await testApp([shipped('controls', 'nist-800-53_rev5.csv'), shipped('roles'), old]);
  await runImport(t.db, [put(scratchFolder(), 'renamed.xml', renamed)]);
  ann = await userCaller(t, { sub: 'ann', entitlements: ['occ'] });
});

test.after(() => t.db.close());

test('several names of one STIG in one request count once', async () => {
  for (const slugs of [aliases.slice(0, 2), [slug, ...aliases], [...aliases, slug, slug]]) {
    const list = `/api/v1/lists/${(await ask(t, 'POST', '/api/v1/lists', ann, { name: 'L' })).json.id}/stigs`;
    for (const path of ['/api/v1/my-stigs', list]) {
      const added = async () => (await ask(t, 'POST', path, ann, { slugs })).json;
      assert.equal(await added(), { success: true, added: 1, total: 1 }, path);
      assert.equal(await added(), { success: true, added: 0, total: 1 }, path);
      assert.is((await ask(t, 'DELETE', path, ann, { slugs })).json.removed, 1, path);
    }
  }
});

for (const alias of aliases)
  test(`${alias} answers as ${slug} does`, async () => {
    const same = [
      '/api/v1/stigs/$',
      '/api/v1/stigs/$?version=V1R1',
      '/api/v1/stigs/$/controls?limit=3',
      '/api/v1/stigs/$/versions',
      '/api/v1/stigs/$/diff',
      ...['cklb', 'json', 'csv', 'xml'].map((format) => `/api/v1/stigs/$/download?format=${format}`),
      '/api/v1/stigs/changelog?slug=$',
      '/api/v1/search?q=harbor&stig=$',
      '/api/v1/control-rules/nist-800-53/AC-2?stig=$',
    ];
    for (const path of same) {
      const [wanted, got] = await Promise.all(
        [slug, alias].map((name) => ask(t, 'GET', path.replace('$', name), ann)),
      );
      assert.is(got!.status, 200, path);
      assert.is(got!.text, wanted!.text, path);
    }
    assert.is((await ask(t, 'GET', `/api/v1/stigs/${alias}`, ann)).json.slug, slug);
    const batch = await ask(t, 'POST', '/api/v1/stigs/batch', ann, { slugs: [alias, slug, 'nothing'] });
    assert.equal(
      [batch.json.stigs.map((each: { slug: string }) => each.slug), batch.json.meta],
      [[slug], { requested: 3, found: 1, notFound: ['nothing'] }],
    );

    const list = `/api/v1/lists/${(await ask(t, 'POST', '/api/v1/lists', ann, { name: alias })).json.id}`;
    await ask(t, 'POST', `${list}/stigs`, ann, { slugs: [alias] });
    assert.is((await ask(t, 'PUT', `${list}/stigs/${alias}`, ann, { notes: 'mine' })).json.stigSlug, slug);
    const { stigs } = (await ask(t, 'GET', `${list}/stigs`, ann)).json;
    assert.equal([stigs[0].slug, stigs[0].version, stigs[0].notes], [slug, 'V1R2', 'mine']);
    await ask(t, 'POST', '/api/v1/my-stigs', ann, { slugs: [alias] });
    assert.equal((await ask(t, 'GET', '/api/v1/my-stigs', ann)).json.slugs, [slug]);
    assert.is((await ask(t, 'DELETE', '/api/v1/my-stigs', ann, { slugs: [alias] })).json.removed, 1);

    const checklist = (await ask(t, 'GET', `/api/v1/stigs/${slug}/download?version=V1R1`, ann)).json;
    const upgraded = await ask(t, 'POST', '/api/v1/checklists/upgrade', ann, { checklist, slug: alias });
    assert.equal(
      [upgraded.json.report.from.version, upgraded.json.report.to.slug, upgraded.json.report.to.version],
      ['V1R1', slug, 'V1R2'],
    );
    const reader = await sessionCaller(t, ann);
    assert.is(
      textOf((await loadPage(t, `/stigs/${alias}`, reader)).html),
      textOf((await loadPage(t, `/stigs/${slug}`, reader)).html),
    );
  });

test('what leads nowhere is told as it was asked for', async () => {
  const { status, json } = await ask(t, 'GET', '/api/v1/stigs/harbor_linux_4', ann);
  assert.equal([status, json.error.message], [404, noStig('harbor_linux_4')]);
});

test.run();
