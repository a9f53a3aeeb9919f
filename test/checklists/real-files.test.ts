import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import type { UpgradedRule } from '../../src/checklists/schema.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { readCklb, states } from '../support/stig-manager.ts';
import { told } from '../support/told.ts';
import { joinTexts, type ReadRule, readBenchmark } from '../support/xccdf-reader.ts';

// Checklists of the sample and of real STIGs with random answers, from one release to the next, against an independent reading of both files.

type Rule = Cklb['stigs'][number]['rules'][number];
type Answer = Pick<Rule, 'status' | 'finding_details' | 'comments' | 'overrides'>;

/** The slug, two releases and their files, how often they are tried; how many rules are carried, warned of, new, gone. */
type Pair = [slug: string, from: string, to: string, file: string, runs: string, ...counts: string[]];

const pairsOf = (table: string) => table.split('\n').map((line) => line.trim().split(/ +/) as Pair);
const samples = pairsOf('harbor_linux_3 V1R1 V1R2 Harbor_Linux_3_STIG 3 10 3 1 1');
const pairs = pairsOf(`red_hat_enterprise_linux_9    V2R7 V2R8  RHEL_9_STIG                    1 421 25 0 0
  mozilla_firefox               V6R6 V6R7  MOZ_Firefox_STIG               3  33  1 0 0
  google_chrome_current_windows V2R9 V2R11 Google_Chrome_STIG             3  38  2 6 2
  kubernetes                    V1R1 V1R2  Kubernetes_STIG                1  84  9 0 0
  ms_sql_server_2016_instance   V3R5 V3R6  MS_SQL_Server_2016_Instance_STIG 1 78 6 0 17`);

// What XML can hold, carriage returns aside: those it reads as line ends.
const text = fc
  .string({ unit: 'grapheme', maxLength: 60 })
  .map((value) => value.replace(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, '').toWellFormed());
const plain = { noNullPrototype: true };
const override = fc.record({ severity: fc.constantFrom('high', 'medium', 'low'), reason: text }, plain);
const answer: fc.Arbitrary<Answer> = fc.record(
  {
    status: fc.constantFrom('not_reviewed', 'not_applicable', 'open', 'not_a_finding'),
    finding_details: fc.oneof(fc.constant(''), text),
    comments: fc.oneof(fc.constant(''), text),
    overrides: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, fc.record({ severity: override }, plain)),
  },
  plain,
);

const answerOf = ({ status, finding_details, comments, overrides }: Rule): Answer => ({
  ...{ status, finding_details, comments, overrides },
});
const nothing: Answer = { status: 'not_reviewed', finding_details: '', comments: '', overrides: {} };
const isAnswered = (given: Answer) =>
  given.status !== 'not_reviewed' ||
  given.finding_details.trim() !== '' ||
  given.comments.trim() !== '' ||
  given.overrides.severity !== undefined;

const check = (rule: ReadRule) => joinTexts(rule.checks.map((each) => each.content));
const fix = (rule: ReadRule) => joinTexts(rule.fixTexts);
const words = (value: string) => value.split(/\s+/).filter(Boolean).join(' ');

register(suite('Upgrade of sample checklists'), shipped('stigs'), samples);
const real = suiteIf(referenceData, 'Upgrade of real checklists');
if (real) register(real, reference('xccdf'), pairs);

function register(upgrades: ReturnType<typeof suite>, folder: string, registered: Pair[]): void {
  let t: TestApp;

  upgrades.before(async () => {
    t = await testApp([folder]);
  });
  upgrades.after(() => t.db.close());

  for (const [slug, from, to, name, runs, ...counts] of registered) {
    upgrades(`${slug} ${from} to ${to}: every answer, whatever it is`, async () => {
      const [before, after] = [from, to].map(
        (version) =>
          new Map(
            readBenchmark(
              readFileSync(join(folder, `U_${name}_${version}_Manual-xccdf.xml`), 'utf8'),
            ).rules.map((rule) => [rule.version, rule]),
          ),
      ) as [Map<string, ReadRule>, Map<string, ReadRule>];
      const download = `/api/v1/stigs/${slug}/download?version=${from}&hostName=host-1`;
      const blank = (await t.get(download)).text;
      const size = before.size;
      assert.is((JSON.parse(blank) as Cklb).stigs[0]!.rules.length, size);

      await fc.assert(
        fc.asyncProperty(
          fc.integer(),
          fc.constantFrom('keep', 'reset'),
          fc.boolean(),
          async (seed, onChange, asCkl) => {
            const answers = fc.sample(answer, { seed, numRuns: size });
            const old = JSON.parse(blank) as Cklb;
            const given = new Map<string, Answer>();
            for (const [index, rule] of old.stigs[0]!.rules.entries()) {
              Object.assign(rule, answers[index]);
              given.set(rule.rule_version, answers[index]!);
            }
            const checklist = asCkl ? writeCkl(old) : old;
            const asked = { slug, version: to, checklist, onChange };
            const { status, json } = await t.send('POST', '/api/v1/checklists/upgrade', asked);
            assert.is(status, 200);
            const upgraded = Cklb.parse(json.checklist);
            const rules = upgraded.stigs[0]!.rules;
            assert.equal(told(rules, 'rule_id_src'), told([...after.values()], 'ruleId'));

            for (const [index, rule] of rules.entries()) {
              const report = json.report.rules[index] as UpgradedRule;
              const [was, now] = [before.get(rule.rule_version), after.get(rule.rule_version)!];
              const said = given.get(rule.rule_version);
              assert.is(report.ruleId, rule.rule_id_src);
              assert.is(rule.check_content, check(now));
              if (!was || !said) {
                assert.is(report.outcome, 'new', rule.rule_version);
                assert.equal(answerOf(rule), nothing);
                continue;
              }
              assert.is(report.oldRuleId, was.ruleId);
              assert.is(report.answered, isAnswered(said));
              const isStale = words(check(was)) !== words(check(now)) || words(fix(was)) !== words(fix(now));
              const isWarned = isStale || was.severity !== now.severity;
              const outcome =
                isStale && onChange === 'reset' ? 'reset' : isWarned ? 'carried-with-warning' : 'carried';
              assert.is(report.outcome, outcome, rule.rule_version);
              assert.equal(answerOf(rule), outcome === 'reset' ? nothing : said, rule.rule_version);
              assert.equal(report.lost, outcome === 'reset' && isAnswered(said) ? said : null);
              if (check(was) === check(now) && fix(was) === fix(now) && was.severity === now.severity)
                assert.is(report.outcome, 'carried');
            }

            // What is gone comes back whole, and nothing else does.
            const gone = [...before.values()].filter((rule) => !after.has(rule.version));
            assert.equal(
              json.report.notCarried.map((each: { ruleId: string; answer: Answer }) => [
                each.ruleId,
                each.answer,
              ]),
              gone.map((rule) => [rule.ruleId, given.get(rule.version)]),
            );
            const { summary } = json.report;
            const warned = summary.carriedWithWarning + summary.reset;
            assert.equal([summary.carried, warned, summary.new, summary.removed], counts.map(Number));

            // The reader of STIG Manager finds every rule with its state.
            const { target, checklists } = readCklb(JSON.stringify(upgraded));
            assert.equal([target.name, checklists[0]!.revisionStr], ['host-1', to]);
            assert.equal(
              checklists[0]!.reviews.map((each) => [each.ruleId, each.result, each.detail, each.comment]),
              rules.map((each) => [each.rule_id_src, states(each), each.finding_details, each.comments]),
            );
          },
        ),
        // A seed does not shrink to anything simpler.
        { numRuns: Number(runs), endOnFailure: true, includeErrorInReport: true },
      );
    });
  }

  upgrades.run();
}
