import * as assert from 'uvu/assert';
import { shortTitle } from '../../src/pages/parts/components.tsx';
import { testApp } from '../support/app.ts';
import { ask, countingIds, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { attributesOf, listOf, loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { scapRules, writeScap } from '../support/scap-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { linesOf, rowsOf } from '../support/tables.ts';

const answers = suite('A page shows what the API answers');

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

// Of the 14 rules of Harbor Linux 3 the first has its very revision tested, the next another, the third none.
const [first, second, third] = scapRules(900_001, 3);
const scap = writeScap({
  title: 'Harbor SCAP &lt;b&gt;',
  rules: [
    { ...first!, ruleId: 'SV-900001r100090_rule' },
    { ...second!, ruleId: 'SV-900002r1_rule' },
    { ...third!, ruleId: 'SV-900003r1_rule', checks: ['ocil'] },
  ],
});
const t = await testApp([shipped(), put(scratchFolder(), 'scap.xml', scap)], { newId: countingIds() });
const token = await userCaller(t, { sub: 'ann' });
const ann = await sessionCaller(t, token);
const eve = await sessionCaller(t, await userCaller(t, { sub: 'eve', org: 'blue' }));
const list = testId(1);
await ask(t, 'POST', '/api/v1/lists', token, { name: 'A system' });
const slugs = ['harbor_linux_3', 'lantern_web_server_2'];
await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, token, { slugs });
answers.after(() => t.db.close());

const page = async (path: string, caller = ann): Promise<string> => {
  const { status, html } = await loadPage(t, path, caller);
  assert.is(status, 200, path);
  return html;
};
const api = async (path: string): Promise<Json> => {
  const { status, json } = await t.get(`/api/v1${listOf(path)}`, {
    token: null,
    headers: ann,
  });
  assert.is(status, 200, path);
  return json;
};
const part = (html: string, pattern: RegExp) => pattern.exec(html)?.[0] ?? '';
const ruleLinks = (html: string) => attributesOf(html, 'href').filter((href) => href.includes('/rules/'));
const pathsOf = (rules: Json[]): string[] =>
  rules.map(({ slug, groupId }) => `/stigs/${slug}/rules/${groupId}`);
const groupsIn = (html: string) =>
  ruleLinks(html).flatMap((href) => /\/rules\/(V-\d+)/.exec(href)?.[1] ?? []);
const groupsOf = (rules: Json[]): string[] => rules.map(({ groupId }) => groupId);
const changesIn = (html: string) =>
  [...html.matchAll(/<article class="change" id="([^"]*)"/g)].map(([, id]) => id);
const idsIn = (html: string) => [...html.matchAll(/<a class="ids"[^>]*>([^<]*)</g)].map(([, id]) => id);
const idsOf = (controls: Json[]): string[] => controls.map(({ identifier }) => identifier);
const rulesOfControl = (html: string) => part(html, /<section aria-labelledby="rules">.*?<\/section>/s);
const severities = ({ high, medium, low }: Json) => `▲ CAT I: ${high} ◆ CAT II: ${medium} ● CAT III: ${low}`;
const times = (total: number) => (total === 0 ? 'no rule' : total === 1 ? '1 rule' : `${total} rules`);

/** What a kind of page shows, and what the API answers. */
const kinds: Record<string, { shown(html: string): unknown; wanted(json: Json): unknown }> = {
  stigs: {
    shown: (html) => attributesOf(html, 'href').filter((href) => /^\/stigs\/\w+$/.test(href)),
    wanted: ({ stigs }) => stigs.map(({ slug }: Json) => `/stigs/${slug}`),
  },
  rules: {
    shown: (html) => groupsIn(part(html, /<table [^>]*><caption class="hidden">Rules of .*?<\/table>/s)),
    wanted: ({ findings }) => groupsOf(findings),
  },
  found: {
    shown: (html) => attributesOf(part(html, /<ol class="results".*?<\/ol>/s), 'href'),
    wanted: ({ results }) => pathsOf(results),
  },
  mapped: {
    shown: (html) => [
      ruleLinks(rulesOfControl(html)),
      /▲ CAT I: \d+ ◆ CAT II: \d+ ● CAT III: \d+/.exec(textOf(rulesOfControl(html)))?.[0],
    ],
    wanted: ({ stigs, counts }) => [
      stigs.flatMap(({ slug, rules }: Json) => pathsOf(rules.map((rule: Json) => ({ slug, ...rule })))),
      severities(counts),
    ],
  },
  covered: {
    shown: (html) =>
      [...html.matchAll(/<a class="n(\d)" href="\?([^"]*)#chosen" title="([^"]*)"[^>]*>(.*?)<\/a>/g)].map(
        ([, shade, href, title, text]) => [
          ...[shade, new URLSearchParams(href!.replaceAll('&amp;', '&')).get('control')],
          ...[title!.split(': ').at(-1), textOf(text!)],
        ],
      ),
    wanted: ({ controls }) =>
      controls.map(({ identifier, rules: { total } }: Json) => {
        const shade = [1, 2, 5, 20].filter((from) => total >= from).length;
        return [String(shade), identifier, times(total), total === 0 ? identifier : `${identifier} ${total}`];
      }),
  },
  gaps: {
    shown: (html) =>
      [...html.matchAll(/<a class="n(\d)"[^>]*tabindex="-1"[^>]*>([^<]*)/g)].map(([, shade, id]) => [
        shade,
        id!.trim(),
      ]),
    wanted: ({ controls }) =>
      idsOf(controls.filter(({ covered }: Json) => !covered)).map((identifier) => ['0', identifier]),
  },
  'with rules': {
    shown: idsIn,
    wanted: ({ controls }) => idsOf(controls.filter(({ covered }: Json) => covered)),
  },
  'without rules': {
    shown: idsIn,
    wanted: ({ controls }) => idsOf(controls.filter(({ covered }: Json) => !covered)).slice(0, 200),
  },
  outside: { shown: idsIn, wanted: ({ outside }) => idsOf(outside) },
  changes: { shown: changesIn, wanted: ({ changed }) => groupsOf(changed.map((each: Json) => each.new)) },
};

const harbor = '/stigs/harbor_linux_3';
const coverage = `/systems/${list}/coverage`;
/** The kind of page, its address, and the path of the API where it is not the same. */
const table = rowsOf(`
stigs | /stigs
stigs | /stigs?search=lantern
stigs | /stigs?search=hl3 | /stigs?search=harbor
stigs | /stigs?search=HL+3 | /stigs?search=harbor
stigs | /stigs?search=Harbor_Linux_3_STIG | /stigs?search=harbor
stigs | /stigs?search=U_Harbor_Linux_3_V1R2_STIG.zip | /stigs?search=harbor
stigs | /stigs?search=bor+lin | /stigs?search=harbor
rules | ${harbor} | ${harbor}/controls
rules | ${harbor}?severity=high | ${harbor}/controls?severity=high
rules | ${harbor}?severity=low&severity=high&search= | ${harbor}/controls?severity=low&severity=high
rules | ${harbor}?search=v-900006 | ${harbor}/controls?search=v-900006
rules | ${harbor}?search=zzzz | ${harbor}/controls?search=zzzz
rules | ${harbor}?version=V1R1&severity=medium | ${harbor}/controls?version=V1R1&severity=medium
found | /search?q=the&severity=high&severity=low
found | /search?q=the&stig=harbor_linux_3
found | /search?q=the&cci=cci-366
found | /search?q=the&control=ac-2.1
found | /search?q=the&stig=harbor_linux_3&cci=CCI-000366&control=CM-6&severity=medium,high,low
found | /search?q=the&stig=harbor_linux_3&stig=lantern_web_server_2&sort=severity
mapped | /controls/nist-800-53/CM-7
mapped | /controls/nist-800-53/CM-7?stig=harbor_linux_3
mapped | /controls/nist-800-53/CM-7?stig=harbor_linux_3&stig=lantern_web_server_2
mapped | /controls/nist-800-53/CM-7?list=${list}
mapped | /controls/nist-800-53/CM-7?severity=low&severity=high
covered | ${coverage}
covered | ${coverage}?rollup=true
covered | ${coverage}?revision=Rev+4
covered | ${coverage}?framework=nist-800-171
covered | ${harbor}/coverage
covered | ${harbor}/coverage?rollup=true
covered | ${harbor}/coverage?framework=nist-800-171&version=V1R1
gaps | ${coverage}?show=gaps | ${coverage}
gaps | ${coverage}?show=gaps&framework=nist-800-171 | ${coverage}?framework=nist-800-171
gaps | ${coverage}?show=gaps&framework=dod-8500&baseline=mac+i | ${coverage}?framework=dod-8500&baseline=1
with rules | ${coverage}?show=covered&framework=dod-8500&baseline=mac+i | ${coverage}?framework=dod-8500&baseline=1
without rules | ${coverage}?show=uncovered&framework=dod-8500 | ${coverage}?framework=dod-8500
without rules | ${coverage}?show=uncovered&framework=cci | ${coverage}?framework=cci
outside | ${coverage}?show=outside&framework=dod-8500&baseline=mac+i | ${coverage}?framework=dod-8500&baseline=1
changes | ${harbor}/diff?from=V1R1&to=V1R2
`);
for (const [kind, path, asked] of table)
  answers(`${kind}: ${path}`, async () => {
    const own = path!.replace('/controls/', '/control-rules/').replace('?search=hl3', '?search=harbor');
    const { shown, wanted } = kinds[kind!]!;
    const json = await api(asked ?? own);
    const rows = wanted(json) as unknown[];
    const isEmpty = [rows[0] ?? []].flat().length === 0;
    assert.is(isEmpty, path!.includes('zzzz'), 'only what nothing matches is empty');
    assert.equal(shown(await page(path!)), rows);
  });

answers('each number of the start page leads to a listing that shows that number', async () => {
  const html = await page('/');
  const totals = [...html.matchAll(/<li><a href="([^"]*)"><b>([\d,]+)<\/b>(.*?)<\/a><\/li>/gs)];
  const { catalog, severity } = await api('/stigs/stats');
  assert.equal(
    totals.map(([, , shown]) => Number(shown!.replaceAll(',', ''))),
    [catalog.totalBenchmarks, catalog.totalFindings, severity.high, severity.medium, severity.low],
  );
  for (const [, href, shown] of totals) {
    const said = href === '/stigs' ? `${shown} STIGs` : `Rules ${shown} `;
    assert.ok(textOf(await page(href!.replaceAll('&amp;', '&'))).includes(said), `${href}: ${said}`);
  }
});

answers('the search of the rules of a control has as many, and hides what may not be seen', async () => {
  const path = '/controls/nist-800-53/CM-7';
  for (const query of ['', '?severity=high', `?list=${list}`]) {
    const { pagination } = await api(`/control-rules/nist-800-53/CM-7${query}`);
    const rules = rulesOfControl(await page(path + query));
    const [search] = attributesOf(rules, 'href').filter((href) => href.startsWith('/search?'));
    assert.match(textOf(await page(search!)), `Rules ${pagination.total} `);
  }
  assert.match(
    textOf(rulesOfControl(await page(`${path}?stig=lantern_web_server_2&control=x&severity=high`))),
    'No rule that is mapped to it matches these filters. Clear filters',
  );
  assert.is((await loadPage(t, `${path}?list=${list}`, eve)).status, 404);
  assert.is((await loadPage(t, `${path}?stig=no_such`, ann)).status, 404);
});

answers('enhancements stand below their base control, with as many rules as they have', async () => {
  const all = idsOf((await api('/controls/nist-800-53')).controls).filter((id) => /^AC-2(?:\(|$)/.test(id));
  for (const query of ['', '?stig=lantern_web_server_2', '?severity=high']) {
    const html = await page(`/controls/nist-800-53/AC-2(1)${query}`);
    const own = part(html, /<section aria-labelledby="enhancements">.*?<\/section>/s);
    const nodes = [...own.matchAll(/<li>(.*?)(?=<ul>|<\/li>)/gs)].map(([, node]) => node!);
    assert.is(nodes.length, all.length);
    for (const [index, node] of nodes.entries()) {
      const id = encodeURIComponent(all[index]!);
      const { pagination } = await api(`/control-rules/nist-800-53/${id}${query}`);
      assert.match(
        textOf(node),
        new RegExp(`^${all[index]!.replace(/[()]/g, '\\$&')} .* ${times(pagination.total)}$`),
      );
      const link = query === '' ? `/${id}"` : query.slice(1);
      assert.match(node, all[index] === 'AC-2(1)' ? '<strong aria-current="true">' : link);
    }
  }
  const open = await page('/controls/nist-800-53/AC-2', {});
  const seen = textOf(part(open, /<section aria-labelledby="enhancements">.*?<\/section>/s));
  assert.match(seen, 'AC-2(1)', 'everybody sees them');
  assert.not.match(seen, /rule/, 'but their rules who is signed in alone');
  for (const path of linesOf('/controls/nist-800-171/3.1.1 \n /controls/dod-8500/ECCT-1 \n /ccis/CCI-000015'))
    assert.not.match(await page(path), 'id="enhancements"', path);
});

answers(
  'coverage is told in words, with the rules of the chosen control and what is not mapped',
  async () => {
    for (const query of ['', 'rollup=true&', 'framework=nist-800-171&', 'framework=dod-8500&']) {
      const { controls, framework, totals, unmapped } = await api(`${coverage}?${query}`);
      const text = textOf(await page(`${coverage}?${query}show=unmapped`));
      for (const words of [
        `${totals.covered} controls of ${totals.controls.toLocaleString('en-US')} addressed`,
        `${totals.mappedRules} of ${totals.rules} rules mapped.`,
        `Controls without a rule ${totals.uncovered.toLocaleString('en-US')} Controls addressed ${totals.covered}`,
        `Rules not mapped ${totals.unmappedRules}`,
        ...unmapped.map(({ groupId, title }: Json) => `${groupId} ${title}`),
      ])
        assert.ok(text.includes(words), `${query}: ${words}`);
      const covered = controls.filter((each: Json) => each.covered);
      for (const { identifier, rules, stigs } of [
        ...covered.slice(0, 3),
        controls.find((each: Json) => !each.covered),
      ]) {
        const id = encodeURIComponent(identifier);
        const html = await page(`${coverage}?${query}control=${id}`);
        const chosen = part(html, /<aside id="chosen".*?<\/aside>/s);
        assert.is(ruleLinks(chosen).length, rules.total, `${query}${identifier}`);
        assert.equal(
          [...new Set(ruleLinks(chosen).map((href) => href.split('/')[2]))].sort(),
          [...stigs].sort(),
        );
        assert.match(chosen, `href="/controls/${framework}/${id}?list=`);
        assert.is(html.match(/<a class="n\d"[^>]*aria-current="true"/g)!.length, 1);
      }
    }
    assert.not.match(await page(`${coverage}?control=none`), 'id="chosen"');
    // Five thousand CCIs stand in tables page by page.
    const cci = await api(`${coverage}?framework=cci`);
    const gaps = idsOf(cci.controls.filter((each: Json) => !each.covered));
    const last = Math.ceil(gaps.length / 200);
    const shown = await page(`${coverage}?framework=cci&show=uncovered&page=${last}`);
    assert.equal(idsIn(shown), gaps.slice((last - 1) * 200));
  },
);

answers('the crosswalk of a control has every step of every path', async () => {
  const query = 'from=nist-800-171:3.1.1&maxHops=2';
  const steps: Json[] = [];
  for (const to of ['nist-800-53', 'dod-8500', 'cci'])
    for (const { controls } of (await api(`/crosswalk/resolve?${query}&to=${to}`)).paths)
      steps.push(...controls.slice(1));
  assert.ok(steps.length > 10);
  const tables = (await page('/controls/nist-800-171/3.1.1')).split('</svg>').at(-1)!;
  assert.is(tables.match(/class="status (?:verified|auto)"/g)!.length, steps.length);
  for (const { identifier } of steps) assert.ok(textOf(tables).includes(identifier), identifier);
});

answers(
  'a form of coverage leaves behind what another framework or revision lacks, and says so',
  async () => {
    const form = `${coverage}?of=nist-800-53&framework=dod-8500&revision=Rev+4&baseline=moderate`;
    assert.match(textOf(await page(form)), /DoD 8500\.2 DoDI 8500\.2 \(2003\), all active controls:/);
    const asked = `${harbor}/coverage?framework=nist-800-53&revision=Rev+4&baseline=privacy`;
    const cases: [path: string, status: number, words: string][] = [
      [form.replace('of=nist-800-53&', ''), 400, 'baseline must be one of: MAC I, MAC II, MAC III'],
      [`${asked}&of=nist-800-53`, 400, 'No control of Rev 4 is in privacy: all its controls are counted.'],
      [`${coverage}?by=chance`, 400, 'by must be'],
      ['/stigs/none/coverage', 404, 'STIG not found: none'],
    ];
    for (const [path, status, words] of cases) {
      const answer = await loadPage(t, path, ann);
      assert.is(answer.status, status, path);
      assert.match(textOf(answer.html), words);
    }
    const odd = await page(`${harbor}/coverage?version=v1r1&framework=nist-800-53&rollup=TRUE&revision=4`);
    const downloads = attributesOf(odd, 'href').filter((each) => each.startsWith('/api/'));
    const kept = `/api/v1${harbor}/coverage?framework=nist-800-53&revision=Rev+4&rollup=true`;
    const wanted = ['json', 'csv', 'xlsx'].map((format) => `${kept}&format=${format}&version=V1R1`);
    assert.equal(downloads, wanted);
    for (const path of downloads) assert.is((await t.get(path)).status, 200, path);
    await ask(t, 'POST', '/api/v1/lists', token, { name: 'None' });
    assert.match(textOf(await page(`/systems/${testId(2)}/coverage`)), /This list is empty\. Browse STIGs/);
  },
);

answers('the plan of work says what a scan answers, of a list, a STIG and a rule', async () => {
  const path = `/systems/${list}/automation`;
  const text = textOf(await page(path));
  const { totals, stigs, families } = await api(path);
  assert.equal([totals.automated, totals.stale, totals.manual], [1, 1, 1]);
  const line = ({ rules, automated, stale, manual, none }: Json) =>
    `${rules} ${automated} ${stale} ${manual} ${none}`;
  for (const words of [
    `Of ${totals.rules} rules a scan answers 1 (4 %). For 1 it tests another revision.`,
    `${totals.manual + totals.none} need a person.`,
    'Harbor SCAP <b>',
    ...stigs.map((each: Json) => `${shortTitle(each.title)} ${each.version} ${line(each.totals)}`),
    ...families.map(({ family, totals: own }: Json) => `${family} ${own.rules} ${own.automated}`.trim()),
  ])
    assert.ok(text.includes(words), `${words}: ${text}`);

  const { rules } = await api(`${harbor}/automation`);
  for (const [state, name] of rowsOf(`
    automated | ⚙ Scan
    stale | ◔ Older text
    manual | ☞ By hand
    none | – No SCAP content
  `)) {
    const own = rules.filter((rule: Json) => rule.state === state);
    const of = (level: string) => own.filter(({ severity }: Json) => severity === level).length;
    const counts = `${name} ${of('high')} ${of('medium')} ${of('low')} ${own.length} `;
    assert.ok(textOf(await page(`${harbor}/automation`)).includes(counts), counts);
    assert.equal(kinds.rules!.shown(await page(`${harbor}?checked=${state}`)), groupsOf(own), state);
  }
  const none = await page(`${harbor}/rules/V-900004?checked=none`);
  assert.match(textOf(none), /Rule 1 of 11\./, 'the next rule is of the same state');
  assert.is((await loadPage(t, `${harbor}?checked=unknown`, ann)).status, 400);
  assert.match(textOf(await page(`${harbor}/rules/V-900001`)), /Checked by ⚙ Scan Harbor SCAP <b>/);
  const lantern = textOf(await page('/stigs/lantern_web_server_2/automation'));
  assert.match(lantern, /No SCAP content is imported for it\. Import/);
  assert.not.match(textOf(await page('/stigs/lantern_web_server_2')), /Checked by/);

  // Coverage may count the rules that a scan answers alone.
  const automated = await page(`${harbor}/coverage?by=automated`);
  for (const words of ['1 of 1 rule mapped', 'Download by all rules']) assert.match(textOf(automated), words);
  const [{ ruleIdents }] = (await api(`${harbor}/controls`)).findings;
  const reached = new Set<string>();
  for (const cci of ruleIdents)
    for (const { controls } of (await api(`/crosswalk/resolve?from=cci:${cci}&to=nist-800-53`)).paths)
      reached.add(controls.at(-1).identifier);
  const covered = [...automated.matchAll(/<a class="n[1-4]"[^>]*>(\S+) /g)].map(([, id]) => id!);
  assert.equal(covered.sort(), [...reached].sort());
});

answers('the pages name what an older version skipped, until it is imported', async () => {
  const path = `/systems/${list}/automation`;
  assert.not.match(textOf(await page(path)), /Import again/);
  const skip = t.db.sqlite.prepare(
    `INSERT INTO import_ledger VALUES (1, ?, '/in/lib.zip!/old.xml', 'scap', ?, 'skipped',
      'SCAP content (automated checks, root <data-stream-collection>): it cannot be imported as a STIG', '[]', NULL, '{}', 0)`,
  );
  skip.run(901, 'a'.repeat(64));
  t.db.sqlite.exec('UPDATE catalog SET generation = generation + 1');
  const again = /skipped 1 file that this one reads\. Import again: lib\.zip!\/old\.xml/;
  assert.match(textOf(await page(path)), again);
  assert.match(textOf(await page('/stigs/lantern_web_server_2/automation')), again);
});

answers.run();
