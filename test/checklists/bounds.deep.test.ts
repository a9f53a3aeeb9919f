import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { createIdentify, type IdentifiedRelease } from '../../src/catalog/stigs/identify.ts';
import { createStigNameIndex } from '../../src/catalog/stigs/name-index.ts';
import { createStigService } from '../../src/catalog/stigs/queries.ts';
import { checklistFromResults } from '../../src/checklists/results.ts';
import { inspectionOf, readResults } from '../../src/checklists/results-upload.ts';
import { upgradeSeveral } from '../../src/checklists/upgrade-several.ts';
import type { CatalogAnswer, Wanted } from '../../src/checklists/upload.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { growthOf } from '../support/effort.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';

// Uploads in shapes that cost most (rule D28.4): their work grows with their size alone, and what is made is bounded.
const bounds = suite('Bounds of uploads');

let t: TestApp;
let old: Cklb;
let release: IdentifiedRelease;
let ids: string[];

bounds.before(async () => {
  t = await testApp([shipped('stigs')]);
  const slug = 'harbor_linux_3';
  old = (await t.get(`/api/v1/stigs/${slug}/download?hostName=h`)).json;
  ids = old.stigs[0]!.rules.map((rule) => rule.rule_id_src);
  const stated = { slug, benchmarkIds: [], ruleIds: ids, benchmarkDate: null, release: null };
  const identify = createIdentify(t.db, createStigService(t.db), createStigNameIndex(t.db));
  release = (await identify(stated))!;
});
bounds.after(() => t.db.close());

/** Does work to its end, each of its questions answered with the release. */
function work<T>(steps: Generator<Wanted, T, CatalogAnswer>): T {
  let step = steps.next(null);
  while (!step.done) step = steps.next(release);
  return step.value;
}

bounds('many results of one rule take time that grows with their number', async () => {
  const scanOf = (count: number) =>
    writeResults(Array.from({ length: count }, () => ({ id: ids[0]!, result: 'fail' })));
  const options = { hostName: 'h', banner: null };
  const made = (xml: string) => checklistFromResults(readResults(xml), release, options, null);
  const inspected = (xml: string) => work(inspectionOf(xml));
  for (const each of [made, inspected]) {
    const growth = await growthOf((size) => each(scanOf(size)), 10_000);
    assert.ok(growth < 3.5, `${growth.toFixed(1)}`);
  }
});

bounds('small files that become large ones are refused together, long names are cut in the report', () => {
  const long = 'x'.repeat(2_000_000);
  const given = { ...old, target_data: { ...old.target_data, host_name: long } };
  const files = ['a', 'b'].map((name) => ({ name: name + long, bytes: Buffer.from(JSON.stringify(given)) }));
  const options = { onChange: 'keep', format: 'cklb' } as const;
  const [one] = work(upgradeSeveral(files, options));
  assert.equal([one!.file.length, one!.host.length], [255, 255]);
  const bytes = 2 * one!.made!.content.length;
  assert.is(work(upgradeSeveral(files, options, bytes)).length, 2);
  const words = `would have more than ${bytes - 1} bytes together: upgrade fewer at once`;
  assert.throws(() => work(upgradeSeveral(files, options, bytes - 1)), new RegExp(words));
});

bounds.run();
