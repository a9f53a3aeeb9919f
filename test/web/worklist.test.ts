import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { testApp } from '../support/app.ts';
import { countingIds, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { type SampleRule, writeXccdf } from '../support/xccdf-writer.ts';

// What is new to a reader, and their brief.
const work = suite('The day of an assessor');

const folder = scratchFolder();
const rule = (number: number, title: string, more: SampleRule = {}): SampleRule => ({
  ...{ groupId: `V-${number}`, ruleId: `SV-${number}r1_rule`, version: `RULE-00-${number}`, title },
  ...{ severity: 'medium', checks: ['Look.'], ...more },
});
const guide = (name: string, release: number, rules: SampleRule[]) =>
  put(
    folder,
    `${name}-${release}.xml`,
    writeXccdf({
      ...{ id: name.replaceAll(' ', '_'), title: `${name} Security Technical Implementation Guide` },
      ...{ version: 1, release, date: `0${release} Feb 2026`, rules },
    }),
  );
const old = [
  rule(1001, 'Fern Seven must lock idle sessions.'),
  rule(1002, 'Fern Seven must log sign-ins.'),
  rule(1003, 'Fern Seven must remove telnet.'),
  rule(1004, 'Fern Seven must show a banner.'),
];

const t = await testApp(
  [guide('Fern Seven', 1, old), guide('Moss', 1, [rule(3001, 'Moss must be green.')])],
  {
    newId: countingIds(),
  },
);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
work.after(() => t.db.close());

const page = async (path: string, who = ann) => (await loadPage(t, path, who)).html;
const home = (await loadPage(t, '/lists', ann, { name: 'Ship', visibility: 'SHARED' })).location!;
await loadPage(t, `${home}/stigs`, ann, { slugs: 'fern_seven\tkeep\nmoss' });
const raised = old.map((each, index) => ({
  ...each,
  ...(index === 1 ? { severity: 'high', checks: ['Look twice.'], ruleId: 'SV-1002r2_rule' } : {}),
}));

work('the start page says what is new in each list until it is marked as read', async () => {
  assert.match(textOf(await page('/')), 'Ship 2 STIGs nothing each STIG was added');
  await runImport(t.db, [
    guide('Fern Seven', 2, [...raised.slice(0, 3), rule(1005, 'Fern Seven must be new.')]),
  ]);
  assert.match(
    textOf(await page('/')),
    /1 newer release , 1 raised to . CAT I , 1 changed, 1 added, 1 removed/u,
  );
  assert.ok(textOf(await page('/', bob)).includes('1 newer release'));
  assert.is((await loadPage(t, `${home}/seen`, ann, {})).location, '/');
  assert.match(textOf(await page('/')), /Ship 2 STIGs nothing /);
  assert.match(textOf(await page('/', bob)), '1 newer release', 'what one has read is new to another');
  assert.not.match(await page('/', { Cookie: '' }), 'Your lists');
});

work.run();
