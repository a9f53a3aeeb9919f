import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { createIdentify, type IdentifiedRelease } from '../../src/catalog/stigs/identify.ts';
import { createStigNameIndex } from '../../src/catalog/stigs/name-index.ts';
import { createStigService } from '../../src/catalog/stigs/queries.ts';
import { readChecklist } from '../../src/checklists/read-checklist.ts';
import { checklistFromResults } from '../../src/checklists/results.ts';
import { fromResultsOf, inspectionOf, readResults } from '../../src/checklists/results-upload.ts';
import { type UpgradedFile, upgradeSeveral } from '../../src/checklists/upgrade-several.ts';
import { type CatalogAnswer, upgradeOf, type Wanted } from '../../src/checklists/upload.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { growthOf } from '../support/effort.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';

// Uploads in shapes that cost most (rule D28.4): what leaves their thread is short, and their work grows with their size alone.
const bounds = suite('Bounds of uploads');

const slug = 'harbor_linux_3';
const benchmarkId = 'Harbor_Linux_3_STIG';
let t: TestApp;
let old: Cklb;
let release: IdentifiedRelease;
let ids: string[];

bounds.before(async () => {
  t = await testApp([shipped('stigs')]);
  old = (await t.get(`/api/v1/stigs/${slug}/download?hostName=h`)).json;
  ids = old.stigs[0]!.rules.map((rule) => rule.rule_id_src);
  const stigs = createStigService(t.db);
  const stated = { slug, benchmarkIds: [], ruleIds: ids, benchmarkDate: null, release: null };
  release = (await createIdentify(t.db, stigs, createStigNameIndex(t.db))(stated))!;
});
bounds.after(() => t.db.close());

const long = 'x'.repeat(2_000_000);
const rule = (id: string, more: object = {}) => ({ rule_id_src: id, severity: 'low', ...more });

/** Does work to its end, each question answered with what `find` gives; the longest of its questions, as JSON. */
function work<T>(
  steps: Generator<Wanted, T, CatalogAnswer>,
  find: () => CatalogAnswer,
): { made: T; longest: number } {
  let longest = 0;
  let step = steps.next(null);
  while (!step.done) {
    longest = Math.max(longest, JSON.stringify(step.value).length);
    step = steps.next(find());
  }
  return { made: step.value, longest };
}

bounds('what an upload asks of the catalog is short, whatever stands in it', () => {
  const most = 1000;
  const texts = { title: long, group_title: long, rule_title: long, discussion: long, check_content: long };
  const target = { host_name: long, fqdn: long, comments: long, classification: long };
  const full = {
    ...old,
    title: long,
    target_data: target,
    stigs: [{ ...old.stigs[0]!, display_name: long, rules: [rule('SV-1r1_rule', texts)] }],
  };
  const read = readChecklist(full);
  const one = { target: release.target, names: [full.stigs[0]!.stig_id] };
  const identified = { ...release, names: one.names };
  const options = { onChange: 'keep', format: 'cklb' } as const;
  assert.ok(work(upgradeOf(read, options), () => one).longest < most);
  assert.ok(work(inspectionOf(full), () => release).longest < most);
  const scan = readResults(
    writeResults([{ id: ids[0]!, result: 'pass' }], { target: long, tool: long.slice(0, 9999) }),
  );
  assert.ok(work(fromResultsOf(scan, { banner: null }, read), () => identified).longest < most);
  const files = [1, 2].map((number) => ({
    name: long,
    bytes: Buffer.from(JSON.stringify({ ...full, number })),
  }));
  const { made, longest } = work(upgradeSeveral(files, options), () => identified);
  assert.ok(longest < most);
  // The name of a file and of a host stands in each line of the report.
  for (const { file, host, rows } of made) {
    assert.equal([file.length, host.length], [255, 255]);
    assert.ok(rows.every((row) => row.file === file && row.host === host));
  }
});

bounds('many results of one rule take time that grows with their number', async () => {
  const scanOf = (count: number) =>
    writeResults(Array.from({ length: count }, () => ({ id: ids[0]!, result: 'fail' })));
  const options = { hostName: 'h', banner: null };
  const made = (xml: string) => checklistFromResults(readResults(xml), release, options, null);
  const inspected = (xml: string) => work(inspectionOf(xml), () => release);
  for (const each of [made, inspected]) {
    const growth = await growthOf((size) => each(scanOf(size)), 10_000);
    assert.ok(growth < 3.5, `${growth.toFixed(1)}`);
  }
});

bounds('dots at the end of a domain name are left off', () => {
  const read = (text: string) =>
    readResults(
      writeResults([{ id: ids[0]!, result: 'pass' }], {
        facts: `<target-facts><fact name="x:fqdn">${text}</fact></target-facts>`,
      }),
    ).target.fqdn;
  assert.equal(['web.mil..', '.', 'a.b', '..a.'].map(read), ['web.mil', '', 'a.b', '..a']);
});

bounds('a file of many STIGs is written and hashed once, not once for each', () => {
  const count = 40;
  const rules = [rule(ids[0]!, { comments: 'c'.repeat(20_000) })];
  const stigs = Array.from({ length: count }, (_, n) => ({ ...old.stigs[0]!, stig_id: `S${n}`, rules }));
  const files = [{ name: 'a.cklb', bytes: Buffer.from(JSON.stringify({ ...old, stigs })) }];
  const { stringify } = JSON;
  let written = 0;
  let made: UpgradedFile[] = [];
  try {
    JSON.stringify = ((...given: [unknown]) => {
      const text = stringify(...given);
      if (text.length > 100_000) written++;
      return text;
    }) as typeof stringify;
    const steps = upgradeSeveral(files, { onChange: 'keep', format: 'cklb' });
    let step = steps.next();
    while (!step.done) step = steps.next(release);
    made = step.value;
  } finally {
    JSON.stringify = stringify;
  }
  assert.is(made[0]!.stigs.length, count);
  assert.ok(written <= 3, `${written} times`);
  const { id, stigs: upgraded } = JSON.parse(made[0]!.made!.content.toString()) as Cklb;
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.is(new Set(upgraded.map(({ uuid }) => uuid)).size, count);
  assert.is(new Set(upgraded.flatMap((each) => each.rules.map((rule) => rule.stig_uuid))).size, count);
});

bounds('small files that become large ones are refused together, with what to do', () => {
  const files = ['a', 'b'].map((name) => ({ name, bytes: Buffer.from(JSON.stringify(old)) }));
  const options = { onChange: 'keep', format: 'cklb' } as const;
  const find = () => release;
  const [one] = work(upgradeSeveral(files, options), find).made;
  const bytes = one!.made!.content.length;
  assert.is(work(upgradeSeveral(files, options, 2 * bytes), find).made.length, 2);
  const words = `would have more than ${2 * bytes - 1} bytes together: upgrade fewer at once`;
  assert.throws(() => work(upgradeSeveral(files, options, 2 * bytes - 1), find), new RegExp(words));
});

bounds('a STIG that a checklist names by its title alone is the one that is upgraded', () => {
  const [own] = old.stigs;
  const other = { ...own!, stig_id: '', stig_name: 'Another', rules: own!.rules };
  const mine = { ...own!, stig_id: ' ', stig_name: benchmarkId.toUpperCase(), rules: own!.rules.slice(0, 1) };
  const read = readChecklist({ ...old, stigs: [other, mine] });
  const find = () => ({ target: release.target, names: [mine.stig_name] });
  const { upgrade } = work(upgradeOf(read, { onChange: 'keep', format: 'cklb' }), find).made;
  assert.is(upgrade.report.otherStigs[0]!.title, 'Another');
});

bounds.run();
