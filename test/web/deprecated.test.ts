import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const pages = suite('Pages: deprecated CCIs');

let t: TestApp;
let ann: Caller;

pages.before(async () => {
  const rule = { groupId: 'V-900001', ruleId: 'SV-900001r1_rule', version: 'ALPH-01-000001' };
  const ccis = ['CCI-003658', 'CCI-000366'];
  const file = put(
    scratchFolder(),
    'alpha.xml',
    writeXccdf({ id: 'Alpha_STIG', rules: [{ ...rule, ccis }] }),
  );
  t = await testApp([file, shipped('controls'), shipped('mappings')]);
  ann = await sessionCaller(t, await userCaller(t));
});
pages.after(() => t.db.close());

pages(
  'a CCI that DISA deprecated says so in the rules of a STIG, on the rule and on its own page',
  async () => {
    const slug = (await t.get('/api/v1/stigs')).json.stigs[0].slug;
    for (const path of [`/stigs/${slug}`, `/stigs/${slug}/rules/V-900001`]) {
      const text = textOf((await loadPage(t, path, ann)).html);
      assert.match(text, /CCI-003658 deprecated/, path);
      assert.not.match(text, /CCI-000366 deprecated/, path);
    }
    const own = textOf((await loadPage(t, '/ccis/CCI-003658', ann)).html);
    assert.match(own, /This CCI is deprecated\./);
    assert.not.match(own, /withdrawn/);
    const active = textOf((await loadPage(t, '/ccis/CCI-000366', ann)).html);
    assert.not.match(active, /deprecated/);
  },
);

pages.run();
