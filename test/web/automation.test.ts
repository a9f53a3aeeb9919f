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
    '1 rule a scan answers 1 rule whose scan is of another revision',
    `${totals.manual + totals.none} rules a person must look at`,
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

pages('the page of a STIG has the state of each rule', async () => {
  const text = await page('/stigs/harbor_linux_3/automation');
  assert.match(text, /HARB-03-000010 .+? ⚙ Scan Harbor SCAP <b>/);
  assert.is(text.match(/◔ Other revision/g)!.length, 1);
  assert.is(text.match(/– No SCAP content/g)!.length, 11);
  const rules = await page('/stigs/harbor_linux_3');
  assert.match(rules, /What a scan answers/);
  assert.is(rules.match(/☞ By hand/g)!.length, 1);
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
