import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { sortedBy } from '../support/control-oracle.ts';
import { stigsAndControls } from '../support/controls.ts';
import {
  expectedCoverage,
  type OracleFrame,
  type OracleStig,
  readFrames,
} from '../support/coverage-oracle.ts';
import { suiteIf } from '../support/harness.ts';
import { readCsv } from '../support/read-exports.ts';
import { benchmarkFiles } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';
import { readBenchmark, versionString } from '../support/xccdf-reader.ts';
import { readSheet } from '../support/xlsx-reader.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

const real = suiteIf(referenceData, 'coverage: real files');
if (real) {
  const app = await testApp(stigsAndControls);
  const frames = readFrames();

  const byName = new Map<string, ReturnType<typeof readBenchmark>>();
  for (const { text } of await benchmarkFiles()) {
    const benchmark = readBenchmark(text);
    byName.set(`${benchmark.id} ${versionString(benchmark)}`, benchmark);
  }
  /** Every retained release; the current one of each STIG first. */
  const releases: (OracleStig & { current: boolean })[] = [];
  for (const { slug } of (await app.get('/api/v1/stigs?limit=150')).json.stigs) {
    for (const { version, current } of (await app.get(`/api/v1/stigs/${slug}/versions`)).json.versions) {
      const { benchmarkId } = (await app.get(`/api/v1/stigs/${slug}?version=${version}`)).json;
      const { title, rules } = byName.get(`${benchmarkId} ${version}`)!;
      releases.push({ slug, title: title.replace(/\s+/g, ' '), version, rules, current });
    }
  }
  const stigs = sortedBy(
    releases.filter((each) => each.current),
    (each) => `${each.title.toLowerCase()}\n${each.title}\n${each.slug}`,
  );

  /** What is asked: a frame with one of its baselines or none, rolled up or not. */
  type Choice = { frame: OracleFrame; baseline: string | null; rollup: boolean };
  const choices: Choice[] = frames.flatMap((frame) =>
    [null, ...frame.baselines.keys()].flatMap((baseline) =>
      [false, true].map((rollup) => ({ frame, baseline, rollup })),
    ),
  );
  const query = ({ frame, baseline, rollup }: Choice, more = {}) =>
    new URLSearchParams({
      framework: frame.framework,
      ...(frame.asked === '' ? {} : { revision: frame.asked }),
      ...(baseline === null ? {} : { baseline }),
      ...(rollup ? { rollup: 'true' } : {}),
      ...more,
    });

  /** Asks, and compares; a difference is told by the part that differs. */
  async function compare(path: string, choice: Choice, of: OracleStig[], more = {}): Promise<number> {
    const expected: Json = expectedCoverage(choice.frame, of, choice);
    const { text, json } = await app.get(`${path}?${query(choice, more)}`);
    if (text !== JSON.stringify(expected)) {
      for (const name of Object.keys(json)) assert.equal(json[name], expected[name], `${path} ${name}`);
      assert.unreachable(`${path}: the same, in another order`);
    }
    return expected.totals.mappedRules;
  }

  real(
    'every release in a framework, a baseline and a rollup in turn is what the source files say',
    async () => {
      assert.ok(releases.length > 40 && choices.length === 32, `${releases.length} ${choices.length}`);
      let mapped = 0;
      for (const [index, { version, ...release }] of releases.entries()) {
        const path = `/api/v1/stigs/${release.slug}/coverage`;
        const choice = choices[(5 * index) % choices.length]!;
        mapped += await compare(path, choice, [{ ...release, version }], { version });
      }
      assert.ok(mapped > 2000, `${mapped}`);
    },
  );

  const newList = async (slugs: string[]): Promise<string> => {
    const { id } = (await app.send('POST', '/api/v1/lists', { name: 'a system' })).json;
    if (slugs.length > 0) await app.send('POST', `/api/v1/lists/${id}/stigs`, { slugs });
    return `/api/v1/lists/${id}/coverage`;
  };

  real('all STIGs in one list, every framework, each baseline rolled up or not in turn', async () => {
    const path = await newList(stigs.map(({ slug }) => slug).reverse());
    for (const choice of choices.filter((_, index) => index % 4 === 0 || index % 4 === 3))
      await compare(path, choice, stigs);
  });

  real('the cells of csv and xlsx are those of the json', async () => {
    const path = await newList(stigs.map(({ slug }) => slug));
    for (const choice of choices.filter((_, index) => index % 16 === 0)) {
      const expected = expectedCoverage(choice.frame, stigs, choice);
      const header = 'section identifier title family covered total high medium low stigs'.split(' ');
      const cells = [
        header,
        ...expected.controls.map(({ identifier, title, family, covered, rules, stigs: of }) => [
          ...['control', identifier, title, family, String(covered)],
          ...[rules.total, rules.high, rules.medium, rules.low].map(String),
          of.join(';'),
        ]),
        ...expected.outside.map(({ identifier, title, rules }) => [
          ...['outside', identifier, title, '', '', String(rules), '', '', '', ''],
        ]),
      ];
      const csv = await app.get(`${path}?${query(choice, { format: 'csv' })}`);
      assert.equal(readCsv(csv.text), cells);
      const headers = { Authorization: `Bearer ${await app.token()}` };
      const xlsx = await app.app.request(`${path}?${query(choice, { format: 'XLSX' })}`, { headers });
      assert.equal(readSheet(new Uint8Array(await xlsx.arrayBuffer())).rows, cells);
    }
  });

  real('the coverage of known STIGs, by number', async () => {
    const totals = async (more: string) =>
      Object.values((await app.get(`/api/v1/stigs/red_hat_enterprise_linux_9/coverage${more}`)).json.totals);
    assert.equal(await totals(''), [1007, 82, 925, 446, 446, 0]);
    assert.equal(await totals('?baseline=moderate'), [287, 52, 235, 446, 446, 0]);
  });

  real.after(() => app.db.close());
  real.run();
}
