import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import type { StigDiff } from '../../src/catalog/stigs/diff-schema.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { rowsOf } from '../support/tables.ts';
import { noStig, noVersion } from '../support/words.ts';
import { joinTexts, type ReadRule, readBenchmark } from '../support/xccdf-reader.ts';
import { sampleRules } from '../support/xccdf-writer.ts';

const routes = suite('Differences of releases');

const slug = 'sample_product';
const path = `/api/v1/stigs/${slug}/diff`;
let t: TestApp;

routes.before(async () => {
  const [one, two, three] = sampleRules(3) as [object, object, object];
  t = await testApp([
    writeBenchmarks([
      { release: 1, rules: [one, two] },
      {
        release: 2,
        rules: [one, { ...two, severity: 'high', checks: ['Look twice.'] }],
        date: '12 Feb 2024',
      },
      {
        release: 10,
        rules: [one, { ...two, severity: 'high', ruleId: 'SV-100002r2_rule' }, three],
        date: '12 Mar 2024',
      },
    ]),
    shipped('stigs'),
  ]);
});
routes.after(() => t.db.close());

const versionsOf = ({ from, to }: StigDiff) => `${from.version} ${to.version}`;

routes('from and to: given, left out, turned round, in small letters', async () => {
  for (const [query, versions] of rowsOf(`
    | V1R2 V1R10
    ?to=V1R2 | V1R1 V1R2
    ?from=V1R1 | V1R1 V1R10
    ?from=v1r1&to=v1r2 | V1R1 V1R2
    ?from=V1R10&to=V1R1 | V1R10 V1R1
    ?to=V1R10&from=V1R10 | V1R10 V1R10
  `))
    assert.is(versionsOf((await t.get(path + query)).json), versions, query);
});

routes('the whole answer, word for word', async () => {
  const { json } = await t.get(`${path}?from=V1R1&to=V1R2`);
  const ids = { groupId: 'V-100002', ruleId: 'SV-100002r1_rule', ruleVersion: 'SAMP-01-000002' };
  assert.equal(json, {
    slug,
    title: 'Sample Product Security Technical Implementation Guide',
    from: { version: 'V1R1', releaseDate: '2024-01-12', findingCount: 2 },
    to: { version: 'V1R2', releaseDate: '2024-02-12', findingCount: 2 },
    summary: {
      added: 0,
      removed: 0,
      changed: 1,
      renumbered: 0,
      unchanged: 1,
      classes: { check: 1, fix: 0, severity: 0, mapping: 0, cosmetic: 0 },
    },
    groupIds: { added: [], removed: [] },
    added: [],
    removed: [],
    changed: [
      {
        matchedBy: 'stigId',
        old: ids,
        new: ids,
        ruleTitle: 'Setting 2 must be on.',
        severity: 'high',
        class: 'check',
        classes: ['check', 'severity'],
        fields: [
          { field: 'severity', class: 'severity', old: 'medium', new: 'high' },
          { field: 'check', class: 'check', old: 'Look whether setting 2 is on.', new: 'Look twice.' },
        ],
      },
    ],
    renumbered: [],
  });
});

routes('unknown STIGs and versions are a 404, malformed versions a 400', async () => {
  const missing = (words: string) => [404, 'NOT_FOUND', words] as const;
  assertError(await t.get('/api/v1/stigs/nothing/diff'), ...missing(noStig('nothing')));
  assertError(await t.get(`${path}?from=V1R7`), ...missing(noVersion('V1R7')));
  assertError(await t.get(`${path}?to=V9R1`), ...missing(noVersion('V9R1')));
  for (const [where, version] of [
    [`${path}?to=V1R1`, 'V1R1'],
    ['/api/v1/stigs/lantern_web_server_2/diff', 'V2R3'],
  ] as const)
    assertError(await t.get(where), ...missing(noVersion(`no release before ${version} is retained`)));
  for (const name of ['from', 'to'])
    for (const bad of ['', 'V2', '2R8', 'V2R8x', 'latest', 'V1R1%0A', `V${'1'.repeat(90)}R1`, 'V１R１'])
      assertError(
        await t.get(`${path}?${name}=${bad}`),
        400,
        'BAD_REQUEST',
        `${name} must be a release such as V2R8`,
      );
  // The input is looked at before the object.
  assert.is((await t.get('/api/v1/stigs/nothing/diff?from=x')).status, 400);
});

routes.run();

const real = suiteIf(referenceData, 'Differences of real releases');
if (real) {
  const file = (name: string) => reference('xccdf', name);
  let app: TestApp;
  // The V-ids that come and go are those of the table beside the files.
  const pairs = rowsOf(`
    red_hat_enterprise_linux_9 | V2R3 | V2R7 | RHEL_9 | 3,9
    red_hat_enterprise_linux_9 | V2R7 | V2R8 | RHEL_9 | 0,0
    google_chrome_current_windows | V2R10 | V2R11 | Google_Chrome | 6,2
    ms_sql_server_2016_instance | V3R5 | V3R6 | MS_SQL_Server_2016_Instance | 0,17
    kubernetes | V1R1 | V1R2 | Kubernetes | 4,4
    mozilla_firefox | V6R6 | V6R7 | MOZ_Firefox | 0,0
  `).map((row) => {
    const [slug, from, to, name, counts] = row as [string, string, string, string, string];
    const files = [from, to].map((version) => `U_${name}_STIG_${version}`) as [string, string];
    return [slug, from, to, files, counts.split(',').map(Number)] as const;
  });
  const rulesOf = (name: string) =>
    readBenchmark(readFileSync(file(`${name}_Manual-xccdf.xml`), 'utf8')).rules;
  const diffOf = async (name: string, from: string, to: string): Promise<StigDiff> =>
    (await app.get(`/api/v1/stigs/${name}/diff?from=${from}&to=${to}`)).json;

  real.before(async () => {
    app = await testApp(benchmarkPaths);
  });
  real.after(() => app.db.close());

  real('V-ids that came and went, against the table of the files', async () => {
    for (const [name, from, to, , counts] of pairs) {
      const there = await diffOf(name, from, to);
      const back = await diffOf(name, to, from);
      assert.equal([there.groupIds.added.length, there.groupIds.removed.length], counts, `${name} ${to}`);
      assert.equal(back.groupIds, { added: there.groupIds.removed, removed: there.groupIds.added });
      assert.equal([back.added, back.removed], [there.removed, there.added]);
      // Only Kubernetes gives a rule another V-id here: elsewhere what came and went by V-id was added and removed.
      const matched = name === 'kubernetes' ? 4 : 0;
      assert.equal([there.summary.added + matched, there.summary.removed + matched], counts);
    }
  });

  real('every field that differs, against an independent reading of both files', async () => {
    for (const [name, from, to, [oldFile, newFile]] of pairs) {
      const { changed, renumbered, summary } = await diffOf(name, from, to);
      const before = new Map(rulesOf(oldFile).map((rule) => [rule.version, rule]));
      const shared = rulesOf(newFile).filter((rule) => before.has(rule.version));
      const differing = shared.filter((rule) => isOther(before.get(rule.version)!, rule));
      assert.equal(
        changed.map((each) => each.new.ruleId),
        differing.map((rule) => rule.ruleId),
        `${name} ${to}`,
      );
      for (const [index, rule] of differing.entries()) {
        const old = before.get(rule.version)!;
        const { fields } = changed[index]!;
        const expected = Object.entries(fieldsOf(rule)).flatMap(([field, now]) =>
          String(fieldsOf(old)[field]) === String(now) ? [] : [[field, fieldsOf(old)[field], now]],
        );
        assert.equal(
          fields.map((each) => [each.field, each.old, each.new]),
          expected,
          rule.ruleId,
        );
      }
      const others = shared.filter((rule) => !differing.includes(rule));
      const renamed = others.filter(
        (rule) =>
          before.get(rule.version)!.ruleId !== rule.ruleId ||
          before.get(rule.version)!.groupId !== rule.groupId,
      );
      assert.equal(
        renumbered.map((each) => each.new.ruleId),
        renamed.map((rule) => rule.ruleId),
      );
      assert.is(summary.unchanged, others.length - renamed.length);
    }
  });

  real('RHEL 9 V2R7 to V2R8: 27 rule ids change, and what became of each', async () => {
    const { summary } = await diffOf('red_hat_enterprise_linux_9', 'V2R7', 'V2R8');
    assert.equal(summary, {
      added: 0,
      removed: 0,
      changed: 27,
      renumbered: 0,
      unchanged: 419,
      classes: { check: 16, fix: 1, severity: 8, mapping: 0, cosmetic: 2 },
    });
  });

  real.run();
}

function fieldsOf(rule: ReadRule): Record<string, string | string[]> {
  return {
    title: rule.title,
    severity: rule.severity,
    discussion: rule.tags.VulnDiscussion,
    check: joinTexts(rule.checks.map((check) => check.content)),
    fix: joinTexts(rule.fixTexts),
    ccis: rule.ccis,
  };
}

function isOther(old: ReadRule, now: ReadRule): boolean {
  return JSON.stringify(fieldsOf(old)) !== JSON.stringify(fieldsOf(now));
}
