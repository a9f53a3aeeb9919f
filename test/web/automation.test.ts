import * as assert from 'uvu/assert';
import { shortTitle } from '../../src/site/parts/components.tsx';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, countingIds, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { scapRules, writeScap } from '../support/scap-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const pages = suite('Pages of automation');

let t: TestApp;
let ann: Caller;

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

pages.before(async () => {
  const content = put(scratchFolder(), 'scap.xml', scap);
  t = await testApp([shipped('stigs'), shipped('controls'), shipped('mappings'), content], {
    newId: countingIds(),
  });
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
  assert.not.match(html, /<b>(?:&gt;)?<\/b>|SCAP <b>/);
  return textOf(html);
};

pages('the plan of work of a list says what a scan answers, and what is left for people', async () => {
  const path = `/lists/${testId(1)}/automation`;
  const text = await page(path);
  const { totals, stigs, families } = (await t.get(`/api/v1${path}`)).json;
  assert.equal([totals.automated, totals.stale, totals.manual], [1, 1, 1]);
  for (const words of [
    'Plan of work',
    `Of ${totals.rules} rules a scan answers 1 (4 %). For 1 it tests another revision.`,
    `${totals.manual + totals.none} need a person.`,
    `CAT I `,
    'Harbor SCAP <b>',
  ])
    assert.ok(text.includes(words), `${words}: ${text}`);
  for (const { title, version, totals: own } of stigs)
    assert.ok(
      text.includes(
        `${shortTitle(title)} ${version} ${own.rules} ${own.automated} ${own.stale} ${own.manual} ${own.none}`,
      ),
      title,
    );
  for (const { family, totals: own } of families)
    assert.ok(text.includes(`${family} ${own.rules} ${own.automated}`.trim()), family);
});

pages('the page of a STIG counts its rules by state, and each number leads to its rules', async () => {
  const home = '/stigs/harbor_linux_3';
  const text = await page(`${home}/automation`);
  const { rules } = (await t.get(`/api/v1${home}/automation`)).json;
  for (const [state, name] of [
    ['automated', '⚙ Scan'],
    ['stale', '◔ Other revision'],
    ['manual', '☞ By hand'],
    ['none', '– No SCAP content'],
  ] as const) {
    const own = rules.filter((rule: { state: string }) => rule.state === state);
    const of = (level: string) => own.filter((rule: { severity: string }) => rule.severity === level).length;
    assert.ok(text.includes(`${name} ${of('high')} ${of('medium')} ${of('low')} ${own.length} `), state);
    const { html } = await loadPage(t, `${home}?checked=${state}`, ann);
    assert.equal(
      [...html.matchAll(/rules\/(V-\d+)\?checked=/g)].map(([, id]) => id),
      own.map(({ groupId }: { groupId: string }) => groupId),
      state,
    );
  }
  const second = await page(`${home}/rules/V-900004?checked=none`);
  assert.match(second, /Rule 1 of 11\./, 'the next rule is of the same state');
  assert.is((await loadPage(t, `${home}?checked=unknown`, ann)).status, 400);
});

pages('coverage may count the rules that a scan answers alone', async () => {
  const path = '/stigs/harbor_linux_3/coverage';
  const { html } = await loadPage(t, `${path}?by=automated`, ann);
  assert.match(textOf(html), /1 of 1 rule mapped/);
  assert.match(textOf(html), 'Download by all rules');
  const cited = (await t.get('/api/v1/stigs/harbor_linux_3/controls')).json.findings[0].ruleIdents;
  const reached = new Set<string>();
  for (const cci of cited) {
    const { json } = await t.get(`/api/v1/crosswalk/resolve?from=cci:${cci}&to=nist-800-53`);
    for (const way of json.paths) reached.add(way.controls.at(-1).identifier);
  }
  const covered = [...html.matchAll(/<a class="n[1-4]"[^>]*>(\S+) /g)].map(([, id]) => id!);
  assert.equal(covered.sort(), [...reached].sort());
});

pages('a STIG without content says so, and what to do', async () => {
  assert.match(
    await page('/stigs/lantern_web_server_2/automation'),
    /No SCAP content is imported for it\. Import/,
  );
  assert.not.match(await page('/stigs/lantern_web_server_2'), /Checked by/);
});

pages('the page of a rule has its state', async () => {
  const text = await page('/stigs/harbor_linux_3/rules/V-900001');
  assert.match(text, /Checked by ⚙ Scan Harbor SCAP <b>/);
});

pages('the pages name what an older version skipped, until it is imported', async () => {
  const path = `/lists/${testId(1)}/automation`;
  assert.not.match(await page(path), /Import again/);
  const skip = t.db.sqlite.prepare(
    `INSERT INTO import_ledger VALUES (1, ?, '/in/lib.zip!/old.xml', 'scap', ?, 'skipped',
      'SCAP content (automated checks, root <data-stream-collection>): it cannot be imported as a STIG', '[]', NULL, '{}', 0)`,
  );
  skip.run(901, 'a'.repeat(64));
  t.db.sqlite.exec('UPDATE catalog SET generation = generation + 1');
  assert.match(await page(path), /skipped 1 file that this one reads\. Import again: lib\.zip!\/old\.xml/);
  assert.match(await page('/stigs/lantern_web_server_2/automation'), /Import again/);
});

pages.run();
