import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { linesOf, rowsOf } from '../support/tables.ts';
import { told } from '../support/told.ts';
import { type SampleRule, sampleRules } from '../support/xccdf-writer.ts';

const rules = suite('The page of a rule');

type Finding = Record<'groupId' | 'severity' | 'ruleTitle' | 'checkContent', string> & {
  ruleIdents: string[];
};

let t: TestApp;
let ann: Caller;
const home = '/stigs/harbor_linux_3/rules';

rules.before(async () => {
  t = await testApp([shipped()]);
  ann = await sessionCaller(t, await userCaller(t, { sub: 'ann', entitlements: ['occ'] }));
});
rules.after(() => t.db.close());

const load = async (path: string) => (await loadPage(t, path, ann)).html;
const part = (html: string, pattern: RegExp) => pattern.exec(html)?.[0] ?? '';
const aside = (html: string) => part(html, /<aside.*<\/aside>/s);
const column = (html: string) => part(html, /<nav class="rule-list".*?<\/nav>/s);

rules('any id of a rule leads to it: V-id, SV-id, STIG id, a former one', async () => {
  const title = (html: string) => textOf(part(html, /<h1>.*?<\/h1>/s));
  const own = title(await load(`${home}/V-900002`));
  const ids = linesOf('V-900002 \n v-900002 \n SV-900002r1_rule \n SV-900002 \n HARB-03-000020 \n V-800112');
  for (const id of ids)
    for (const at of ['/rules', home]) assert.is(title(await load(`${at}/${id}`)), own, id);
  for (const path of linesOf(`
    /rules/V-1
    ${home}/V-1
    /stigs/lantern_web_server_2/rules/V-900002
    ${home}/V-900002?version=V9R9
  `))
    assert.is((await loadPage(t, path, ann)).status, 404, path);
});

rules('the chain leads from the requirement over each CCI to 800-53 and 800-171', async () => {
  const html = aside(await load('/rules/V-900003'));
  const chain = part(html, /<ol class="chain">.*?<\/section>/s);
  const { findings } = (await t.get('/api/v1/stigs/harbor_linux_3')).json;
  const rule = findings.find((each: { groupId: string }) => each.groupId === 'V-900003');
  const expected = ['/search?q=SRG-OS-000480-GPOS-00227'];
  for (const cci of rule.ruleIdents) {
    expected.push(`/ccis/${cci}`);
    const { paths } = (await t.get(`/api/v1/crosswalk/resolve?from=cci:${cci}&to=nist-800-53&maxHops=1`))
      .json;
    for (const path of paths) {
      const { identifier } = path.controls.at(-1);
      expected.push(`/controls/nist-800-53/${identifier}`);
      const query = `from=nist-800-53:${identifier}&to=nist-800-171&maxHops=1`;
      const related = (await t.get(`/api/v1/crosswalk/resolve?${query}`)).json.paths;
      for (const each of related) expected.push(`/controls/nist-800-171/${each.controls.at(-1).identifier}`);
    }
  }
  assert.ok(expected.length > 3, expected.join());
  assert.equal(attributesOf(chain, 'href'), expected);
  for (const word of ['SRG requirement', 'CCI', 'NIST SP 800-53', 'NIST SP 800-171'])
    assert.ok(textOf(chain).includes(word), word);
});

rules('its releases are told by shape and words, each with the difference at the rule', async () => {
  const strip = async (id: string) => part(await load(`/rules/${id}`), /<ol class="strip">.*?<\/ol>/s);
  const moved = await strip('V-900012');
  const difference = '/stigs/harbor_linux_3/diff?from=V1R1&to=V1R2&rule=V-900012#V-900012';
  assert.ok(attributesOf(moved, 'href').includes(difference));
  const changed = '⇅ V1R2 2026-04-15 changed since V1R1: compare :';
  assert.match(textOf(moved), new RegExp(`${changed} .*severity.* ◆ CAT II → to ▲ CAT I`));
  for (const [id, words] of rowsOf(`
    V-900012 | ○ V1R1 2026-01-15 oldest stored release
    V-900003 | = V1R2 2026-04-15 same
    V-900001 | ≠ V1R2 2026-04-15 changed since V1R1: compare : check
    V-900015 | + V1R2 2026-04-15 added
    V-900013 | − V1R2 2026-04-15 removed
  `))
    assert.match(textOf(await strip(id!)), words!);
});

rules('a removed rule says which release was its last, and shows its text', async () => {
  for (const path of ['/rules/V-900013', `${home}/V-900013`, `${home}/V-900013?version=V1R1`]) {
    const html = await load(path);
    const text = textOf(html);
    const last =
      'Removed. V1R1 ( 2026-01-15 ) was the last release with V-900013; V1R2 ( 2026-04-15 ) does not';
    assert.match(text, last);
    const old = (await t.get('/api/v1/stigs/harbor_linux_3?version=V1R1')).json.findings as Finding[];
    const rule = old.find(({ groupId }) => groupId === 'V-900013')!;
    assert.ok(text.includes(textOf(rule.checkContent)), path);
    // What is before and after it is of the release that has it.
    assert.ok(attributesOf(html, 'href').includes(`${home}/V-900012?version=V1R1`), path);
  }
  assert.is((await loadPage(t, `${home}/V-900013?version=V1R2`, ann)).status, 404);
  const older = textOf(await load(`${home}/V-900001?version=V1R1`));
  assert.match(older, 'This is not the latest release. Show the rule in the latest release');
  assert.not.match(older, 'Removed.');
});

rules('the rules before and after, and the list, are those that the filters let pass', async () => {
  const { findings } = (await t.get('/api/v1/stigs/harbor_linux_3')).json as { findings: Finding[] };
  const all = told(findings, 'groupId');
  const those = (isIt: (each: Finding) => boolean) => told(findings.filter(isIt), 'groupId');
  const cci = findings[3]!.ruleIdents[0]!;
  const cases: [query: string, ids: string[]][] = [
    ['', all],
    ['severity=high', those((each) => each.severity === 'high')],
    ['search=ssh', those((each) => /ssh/i.test(each.ruleTitle))],
    [`cci=${cci}`, those((each) => each.ruleIdents.includes(cci))],
    ['search=no-such-rule', []],
  ];
  for (const [query, ids] of cases)
    for (const here of all.filter((_, index) => index % 4 === 0 || index === all.length - 1)) {
      const html = await load(`${home}/${here}?${query}`);
      const href = (id: string | undefined) =>
        id === undefined ? [] : [`${home}/${id}${query === '' ? '' : `?${query}`}`];
      const before = ids.filter((id) => all.indexOf(id) < all.indexOf(here));
      const after = ids.filter((id) => all.indexOf(id) > all.indexOf(here));
      const links = html.match(/<a rel="(?:prev|next)" href="[^"]*"/g)?.join('') ?? '';
      const linked = (rel: string) => attributesOf(links.replaceAll(`rel="${rel}" href`, 'to'), 'to');
      const twice = (one: string[]) => [...one, ...one];
      assert.equal(linked('prev'), twice(href(before.at(-1))), `${query} ${here}`);
      assert.equal(linked('next'), twice(href(after[0])), `${query} ${here}`);
      const place = before.length + (ids.includes(here) ? 1 : 0);
      assert.match(textOf(column(html)), `Rule ${place} of ${ids.length}.`);
      const near = [...before.slice(-5), ...ids.filter((id) => id === here), ...after.slice(0, 30)];
      const beyond = before.length > 5 ? before.slice(-6, -5) : [];
      const shown = [...beyond, ...near].flatMap(href);
      assert.equal(attributesOf(column(html), 'href'), shown, `${query} ${here}`);
    }
});

rules('the page of a STIG hands its filters on', async () => {
  const html = await load('/stigs/harbor_linux_3?severity=high&search=must&version=V1R1');
  const links = attributesOf(html, 'href').filter((href) => href.startsWith(home));
  assert.ok(links.length > 1, links.join());
  for (const href of links) assert.match(href, /\?version=V1R1&search=must&severity=high$/);
});

/** Loads pages of a site of some benchmarks. */
async function siteOf(benchmarks: Parameters<typeof writeBenchmarks>[0], ...more: string[]) {
  const made = await testApp([writeBenchmarks(benchmarks), ...more]);
  const sam = await sessionCaller(made, await userCaller(made, { sub: 'sam' }));
  return { made, page: async (path: string) => (await loadPage(made, path, sam)).html };
}

rules('a renumbered rule is found by either number; a number that several had is a choice', async () => {
  const [one, two] = sampleRules(2) as [SampleRule, SampleRule];
  const legacyIds = ['V-100001', 'SV-100001'];
  const now = { ...one, groupId: 'V-100101', ruleId: 'SV-100101r1_rule', legacyIds };
  const { made, page } = await siteOf([
    { release: 1, rules: [one] },
    { release: 2, date: '12 Feb 2024', rules: [now] },
  ]);
  const { slug } = (await made.get('/api/v1/stigs')).json.stigs[0];
  for (const [path, shown] of rowsOf(`
    /rules/V-100001 | V-100101
    /stigs/${slug}/rules/V-100001 | V-100101
    /stigs/${slug}/rules/V-100101?version=V1R1 | V-100001
    /stigs/${slug}/rules/V-100001?version=V1R1 | V-100001
  `)) {
    const text = textOf(await page(path!));
    assert.match(text, `V-ID ${shown}`, path);
    assert.match(text, '# V1R2 2024-02-12 renumbered', path);
  }
  made.db.close();

  const own = ['V-77', 'SV-77'];
  const shared = [
    { ...one, legacyIds: own, severity: 'high' },
    { ...two, legacyIds: own },
  ];
  const other = await siteOf([{ rules: shared }]);
  const html = await other.page('/rules/V-77');
  assert.match(textOf(html), /2 rules with the id V-77.*▲ CAT I V-100001 SAMP-01-000001 .* V1R1, latest/);
  const links = attributesOf(html, 'href').filter((href) => href.includes('/rules/'));
  assert.is(links.map((href) => href.replace(/^.*\/rules/, '')).join(), '/V-100001,/V-100002');
  other.made.db.close();
});

rules('who acts is told to the entitled alone', async () => {
  const primary = /Who is responsible Network and Computer Systems Administrators Primary, \d+%/;
  assert.match(textOf(aside(await load('/rules/V-900001'))), primary);
  const sam = await sessionCaller(t, await userCaller(t, { sub: 'sam' }));
  const other = aside((await loadPage(t, '/rules/V-900001', sam)).html);
  assert.match(textOf(other), 'You need the role-data permission (occ) to see this.');
  assert.not.match(other, 'Administrators');
});

rules('who DISA says is responsible is shown, and which of its CCIs is deprecated', async () => {
  const tag = (name: string, text: string) => `<${name}>${text}</${name}>`;
  const description = tag('VulnDiscussion', 'Why.') + tag('Responsibility', 'Demo Officer');
  const ccis = ['CCI-003658', 'CCI-000366'];
  const { made, page } = await siteOf(
    [{ id: 'Alpha', title: 'Alpha', rules: [{ ...sampleRules(1)[0]!, ccis, description }] }],
    shipped('controls'),
    shipped('mappings'),
  );
  assert.match(textOf(await page('/rules/V-100001')), 'Responsibility Demo Officer');
  for (const path of ['/stigs/alpha', '/stigs/alpha/rules/V-100001']) {
    assert.match(textOf(await page(path)), /CCI-003658 deprecated/, path);
    assert.not.match(textOf(await page(path)), /CCI-000366 deprecated/, path);
  }
  assert.match(textOf(await page('/ccis/CCI-003658')), /This CCI is deprecated\./);
  assert.not.match(textOf(await page('/ccis/CCI-003658')), /withdrawn/);
  assert.not.match(textOf(await page('/ccis/CCI-000366')), /deprecated/);
  made.db.close();
});

rules.run();
