import * as assert from 'uvu/assert';
import type { Ask } from '../../src/base/ask.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { createIdentify } from '../../src/catalog/stigs/identify.ts';
import { createStigNameIndex } from '../../src/catalog/stigs/name-index.ts';
import { createStigService } from '../../src/catalog/stigs/queries.ts';
import { upgradeSeveral } from '../../src/checklists/upgrade-several.ts';
import { testApp } from '../support/app.ts';
import { rejects, suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { told } from '../support/told.ts';

// What is made of uploads is bounded (rule D28.4).
const bounds = suite('Bounds of uploads');

bounds('small files that become large ones are refused together, long names are cut in it', async () => {
  const t = await testApp([shipped('stigs')]);
  const slug = 'harbor_linux_3';
  const old: Cklb = (await t.get(`/api/v1/stigs/${slug}/download?hostName=h`)).json;
  const ruleIds = told(old.stigs[0]!.rules, 'rule_id_src');
  const identify = createIdentify(t.db, createStigService(t.db), createStigNameIndex(t.db));
  const release = identify({ slug, benchmarkIds: [], ruleIds, benchmarkDate: null, release: null });
  const ask: Ask = async () => release as never;
  const long = 'x'.repeat(2_000_000);
  const given = { ...old, target_data: { ...old.target_data, host_name: long } };
  const files = ['a', 'b'].map((name) => ({ name: name + long, bytes: Buffer.from(JSON.stringify(given)) }));
  const options = { onChange: 'keep', format: 'cklb' } as const;
  const [one] = await upgradeSeveral(ask, files, options);
  assert.equal([one!.file.length, one!.host.length], [255, 255]);
  const bytes = 2 * one!.made!.content.length;
  assert.is((await upgradeSeveral(ask, files, options, bytes)).length, 2);
  const words = `would have more than ${bytes - 1} bytes together: upgrade fewer at once`;
  await rejects(upgradeSeveral(ask, files, options, bytes - 1), new RegExp(words));
  t.db.close();
});

bounds.run();
