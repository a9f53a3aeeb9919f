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
import { readCklb } from '../support/stig-manager.ts';
import { joinTexts, type ReadRule, readBenchmark } from '../support/xccdf-reader.ts';

// Checklists of the sample and of real STIGs with random answers, from one release to the next, against an independent reading of both files.

type Rule = Cklb['stigs'][number]['rules'][number];
type Answer = Pick<Rule, 'status' | 'finding_details' | 'comments' | 'overrides'>;

interface Pair {
  slug: string;
  from: string;
  to: string;
  files: [from: string, to: string];
  runs: number;
  /** How many rules of the new release are carried, carried with a warning, new; and how many of the old are gone. */
  counts: [carried: number, warned: number, fresh: number, gone: number];
}

const samples: Pair[] = [
  {
    slug: 'harbor_linux_3',
    from: 'V1R1',
    to: 'V1R2',
    files: ['Harbor_Linux_3_STIG_V1R1', 'Harbor_Linux_3_STIG_V1R2'],
    runs: 3,
    counts: [10, 3, 1, 1],
  },
];

const pairs: Pair[] = [
  {
    slug: 'red_hat_enterprise_linux_9',
    from: 'V2R7',
    to: 'V2R8',
    files: ['RHEL_9_STIG_V2R7', 'RHEL_9_STIG_V2R8'],
    runs: 3,
    counts: [421, 25, 0, 0],
  },
  {
    slug: 'mozilla_firefox',
    from: 'V6R6',
    to: 'V6R7',
    files: ['MOZ_Firefox_STIG_V6R6', 'MOZ_Firefox_STIG_V6R7'],
    runs: 5,
    counts: [33, 1, 0, 0],
  },
  {
    slug: 'google_chrome_current_windows',
    from: 'V2R9',
    to: 'V2R11',
    files: ['Google_Chrome_STIG_V2R9', 'Google_Chrome_STIG_V2R11'],
    runs: 5,
    counts: [38, 2, 6, 2],
  },
  {
    slug: 'kubernetes',
    from: 'V1R1',
    to: 'V1R2',
    files: ['Kubernetes_STIG_V1R1', 'Kubernetes_STIG_V1R2'],
    runs: 5,
    counts: [84, 9, 0, 0],
  },
  {
    slug: 'ms_sql_server_2016_instance',
    from: 'V3R5',
    to: 'V3R6',
    files: ['MS_SQL_Server_2016_Instance_STIG_V3R5', 'MS_SQL_Server_2016_Instance_STIG_V3R6'],
    runs: 5,
    counts: [78, 6, 0, 17],
  },
];

const results = {
  not_reviewed: 'notchecked',
  not_applicable: 'notapplicable',
  open: 'fail',
  not_a_finding: 'pass',
};

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
  status,
  finding_details,
  comments,
  overrides,
});
const nothing: Answer = { status: 'not_reviewed', finding_details: '', comments: '', overrides: {} };
const isAnswered = (given: Answer) =>
  given.status !== 'not_reviewed' ||
  given.finding_details.trim() !== '' ||
  given.comments.trim() !== '' ||
  given.overrides.severity !== undefined;

const check = (rule: ReadRule) => joinTexts(rule.checks.map((each) => each.content));
const fix = (rule: ReadRule) => joinTexts(rule.fixTexts);
const words = (value: string) =>
  value
    .split(/\s+/)
    .filter((word) => word !== '')
    .join(' ');

register(suite('Upgrade of sample checklists'), shipped('stigs'), samples);
const real = suiteIf(referenceData, 'Upgrade of real checklists');
if (real) register(real, reference('xccdf'), pairs);

function register(upgrades: ReturnType<typeof suite>, folder: string, registered: Pair[]): void {
  let t: TestApp;

  upgrades.before(async () => {
    t = await testApp([folder]);
  });
  upgrades.after(() => t.db.close());

  for (const { slug, from, to, files, runs, counts } of registered) {
    upgrades(`${slug} ${from} to ${to}: every answer, whatever it is`, async () => {
      const [before, after] = files.map(
        (file) =>
          new Map(
            readBenchmark(readFileSync(join(folder, `U_${file}_Manual-xccdf.xml`), 'utf8')).rules.map(
              (rule) => [rule.version, rule],
            ),
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
            const { status, json } = await t.send('POST', '/api/v1/checklists/upgrade', {
              slug,
              version: to,
              checklist,
              onChange,
            });
            assert.is(status, 200);
            const upgraded = Cklb.parse(json.checklist);
            const rules = upgraded.stigs[0]!.rules;
            assert.equal(
              rules.map((rule) => rule.rule_id_src),
              [...after.values()].map((rule) => rule.ruleId),
            );

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
            assert.equal([summary.carried, warned, summary.new, summary.removed], counts);

            // The reader of STIG Manager finds every rule with its state.
            const { target, checklists } = readCklb(JSON.stringify(upgraded));
            assert.is(target.name, 'host-1');
            assert.is(checklists[0]!.revisionStr, to);
            assert.equal(
              checklists[0]!.reviews.map(({ ruleId, result, detail, comment }) => [
                ruleId,
                result,
                detail,
                comment,
              ]),
              rules.map((rule) => [
                rule.rule_id_src,
                // It shows a rule that is not reviewed but has a text so.
                rule.status === 'not_reviewed' && rule.finding_details + rule.comments !== ''
                  ? 'informational'
                  : results[rule.status],
                rule.finding_details,
                rule.comments,
              ]),
            );
          },
        ),
        // A seed does not shrink to anything simpler.
        { numRuns: runs, endOnFailure: true, includeErrorInReport: true },
      );
    });
  }

  upgrades.run();
}
