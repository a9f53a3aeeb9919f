import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { productOf } from '../../importers/stigs/benchmark-products.ts';
import { testApp } from '../support/app.ts';
import { dumpCatalog, importTexts } from '../support/catalog-dump.ts';
import { suite, testIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { fieldFiles, fieldFolder } from '../support/reference.ts';
import { told } from '../support/told.ts';
import { type SampleBenchmark, type SampleRule, sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// Products with one benchmark id (rule D24.4).
const products = suite('identity: several products with one benchmark id');

const id = 'PostgreSQL';
const title = (name: string) => `${name} PostgreSQL STIG Readiness Guide`;
const [alpha, beta, gamma] = [
  sampleRules(40, 'ALFA-00', 300_000),
  sampleRules(40, 'BETA-00', 310_000),
  sampleRules(40, 'GAMA-00', 320_000),
] as const;
const day = (number: number) => `${String(number).padStart(2, '0')} Jan 2026`;
const release = (name: string, number: number, rules: SampleRule[], on = number): SampleBenchmark => ({
  id,
  title: title(name),
  release: number,
  date: day(on),
  rules,
});

function stigsOf(db: Parameters<typeof dumpCatalog>[0]): Record<string, string[]> {
  const { releases } = dumpCatalog(db);
  const bySlug = Map.groupBy(releases, ({ slug }) => slug);
  return Object.fromEntries(
    [...bySlug].map(([slug, list]) => [
      slug,
      list.map(({ title: named, version }) => `${String(named).split(' ')[0]} ${version}`),
    ]),
  );
}

async function imported(runs: SampleBenchmark[][]) {
  const db = emptyCatalog();
  const lines = [];
  for (const run of runs) lines.push(...(await importTexts(db, run.map(writeXccdf))).lines);
  return { db, lines };
}

products('titles of one product differ in version words, numbers and the maker only', () => {
  for (const [a, b] of [
    ['Harbor Server 2016 STIG', 'Harbor Server 2019 Security Technical Implementation Guide'],
    ['Harbor Server 7.x', 'Harbor Server Version 8 Release 2'],
    ['MS Harbor', 'Microsoft Harbor'],
    ['Harbor & Bay STIG', 'Bay and Harbor'],
    ['\u65e5\u672c 1', '\u65e5\u672c 2'],
  ] as const)
    assert.is(productOf(a), productOf(b), `${a}, ${b}`);
  for (const [a, b] of [
    ['Harbor Server STIG', 'Harbor Client STIG'],
    ['Harbor PostgreSQL', 'PostgreSQL'],
    ['\u65e5\u672c', '\u4e2d\u56fd'],
  ] as const)
    assert.is.not(productOf(a), productOf(b), `${a}, ${b}`);
});

products('three products with several releases each stay apart in any order', async () => {
  const moved = (rules: SampleRule[]) => rules.map((rule) => ({ ...rule, version: `N-${rule.version}` }));
  const legacy = (rules: SampleRule[], from: number) =>
    rules.map(({ groupId }, index) => ({
      groupId: `V-${from + index}`,
      ruleId: `SV-${from + index}r1_rule`,
      version: `GNEW-${index}`,
      legacyIds: [groupId!],
    }));
  const all = [
    release('Alpha', 1, alpha, 9),
    release('Alpha', 2, alpha.slice(5), 2),
    // The same versions under other titles, renumbered: V-numbers and former ones tell what they are.
    release('Beta', 1, beta, 4),
    release('Beta', 2, moved(beta), 8),
    release('Gamma', 2, gamma, 5),
    release('Gamma', 3, legacy(gamma, 330_000), 3),
  ];
  const expected = {
    alpha_postgresql_stig_readiness_guide: ['Alpha V1R1', 'Alpha V1R2'],
    beta_postgresql_stig_readiness_guide: ['Beta V1R1', 'Beta V1R2'],
    gamma_postgresql_stig_readiness_guide: ['Gamma V1R2', 'Gamma V1R3'],
  };
  let first: unknown = null;
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(all, { minLength: all.length }),
      fc.integer({ min: 1, max: 6 }),
      async (order, size) => {
        const runs = Array.from({ length: Math.ceil(order.length / size) }, (_, index) =>
          order.slice(index * size, (index + 1) * size),
        );
        const { db } = await imported(runs);
        assert.equal(stigsOf(db), expected);
        const dump = dumpCatalog(db);
        first ??= dump;
        assert.equal(dump, first);
        db.close();
      },
    ),
    { numRuns: 8 },
  );
});

products('a release joins the product with which it shares most; few are a warning', async () => {
  const between = release('Delta', 3, [...alpha.slice(0, 30), ...beta.slice(0, 10)], 20);
  const few = release('Epsilon', 4, [...beta.slice(0, 2), ...sampleRules(38, 'EPSI-00', 340_000)], 21);
  const all = [release('Alpha', 1, alpha), release('Beta', 2, beta), between, few];
  for (const order of [all, [...all].reverse(), [all[1]!, all[3]!, all[0]!, all[2]!]]) {
    const { db, lines } = await imported(order.map((each) => [each]));
    assert.equal(stigsOf(db), {
      delta_postgresql_stig_readiness_guide: ['Alpha V1R1', 'Delta V1R3'],
      epsilon_postgresql_stig_readiness_guide: ['Beta V1R2', 'Epsilon V1R4'],
    });
    const told = lines.flatMap(({ warnings }) => warnings.filter((each) => each.includes('another release')));
    assert.ok(
      told.includes('2 of its 40 rules are in another release of epsilon_postgresql_stig_readiness_guide'),
      told.join('\n'),
    );
    db.close();
  }
  const { lines } = await imported([[all[0]!], [all[1]!]]);
  assert.match(
    lines[1]!.reason!,
    /alpha_postgresql_stig_readiness_guide has the same benchmark id, but names another product and shares no rule/,
  );
});

products('releases that are set apart from one title go to the STIG with which they share most', async () => {
  // One title, two lines of rules under the same versions: the newest release leads.
  const of = (number: number, rules: SampleRule[], on: number) => release('Alpha', number, rules, on);
  const all = [of(1, alpha, 8), of(2, alpha.slice(1), 2), of(1, beta, 3), of(2, beta.slice(1), 9)];
  for (const order of [all, [...all].reverse()]) {
    const { db } = await imported([order]);
    const lineOf = (slug: string) =>
      dumpCatalog(db).releases.flatMap((each) =>
        each.slug === slug ? [[each.version, each.finding_count]] : [],
      );
    const rulesOf = db.sqlite
      .prepare<[], { slug: string; stems: string }>(
        `SELECT s.slug, group_concat(DISTINCT substr(f.rule_version, 1, 4)) AS stems FROM findings AS f
           JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id GROUP BY s.slug ORDER BY s.slug`,
      )
      .all();
    assert.equal(told(rulesOf, 'stems'), ['BETA', 'ALFA']);
    for (const { slug } of rulesOf) assert.is(lineOf(slug).length, 2, slug);
    db.close();
  }
});

products('a checklist is upgraded to its own product', async () => {
  const { db } = await imported([
    [release('Alpha', 1, alpha), release('Beta', 3, beta), release('Alpha', 2, alpha)],
  ]);
  const t = await testApp([], { db });
  const [own, other] = ['alpha', 'beta'].map((name) => `${name}_postgresql_stig_readiness_guide`);
  const cklb = (await t.get(`/api/v1/stigs/${own}/download?version=V1R1&hostName=db01`)).json;
  const upgrade = async (more: object) => {
    const { status, json } = await t.send('POST', '/api/v1/checklists/upgrade', {
      checklist: cklb,
      ...more,
    });
    assert.is(status, 200, JSON.stringify(json).slice(0, 300));
    return json.report;
  };
  const nothing = /^Nothing is carried: none of its answered rules is in Beta /;
  for (const status of ['not_reviewed', 'open']) {
    for (const rule of cklb.stigs[0].rules) rule.status = status;
    const { to, warnings } = await upgrade({});
    assert.equal([to.slug, to.version, warnings], [own, 'V1R2', []]);
    const wrong = await upgrade({ slug: other });
    assert.is(wrong.warnings.length, 1);
    assert.match(wrong.warnings[0], nothing);
  }
  // Of two STIGs with one id in a checklist each goes to its own.
  const second = (await t.get(`/api/v1/stigs/${other}/download?hostName=db01`)).json.stigs[0];
  cklb.stigs.unshift(second);
  const { from, warnings } = await upgrade({ slug: own });
  assert.equal([from.title, warnings], [title('Alpha'), []]);
  db.close();
});

const onField = testIf(fieldFiles, products);

onField('the files of the field are two STIGs', async () => {
  const [a, b] = ['id-a-director-v1r1.xml', 'id-b-identity-v1r3.xml'].map((name) => join(fieldFolder, name));
  for (const paths of [
    [a!, b!],
    [b!, a!],
  ]) {
    const db = emptyCatalog();
    for (const path of paths) await runImport(db, [path]);
    assert.is(dumpCatalog(db).stigs.length, 2);
    assert.ok(readFileSync(a!).length > 0);
    db.close();
  }
});

products.run();
