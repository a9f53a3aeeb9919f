import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { suite, testIf } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { readCklb } from '../support/stig-manager.ts';
import { readBenchmark } from '../support/xccdf-reader.ts';

interface Row {
  groupId: string;
  status: string;
  evidence: string;
  comment: string;
}

const stigFile = reference('xccdf', 'U_ASD_STIG_V6R4_Manual-xccdf.xml');
const table = shipped('assessment', 'application_security_and_development.csv');
const rows = parse(await readFile(table, 'utf8'), { columns: true }) as Row[];

const test = suite('Self-assessment');

test('every answer says what it rests on, and the files it names exist', () => {
  assert.is(rows.length, 286);
  for (const { groupId, status, evidence, comment } of rows) {
    assert.match(groupId, /^V-\d{6}$/);
    assert.ok(['not_a_finding', 'not_applicable', 'open'].includes(status), groupId);
    assert.ok(comment.length >= 10, `${groupId} says why`);
    if (status !== 'open') assert.ok(evidence !== '', `${groupId} names its evidence`);
    for (const path of evidence.split(' ').filter((each) => each !== '')) {
      assert.ok(existsSync(join(packageRoot, path)), `${groupId} names ${path}, which is not there`);
    }
  }
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, test);

onReal('every rule of the real STIG is answered, and none of its text is in the table', async () => {
  const text = await readFile(stigFile, 'utf8');
  const { rules } = readBenchmark(text);
  assert.equal(rows.map((row) => row.groupId).sort(), rules.map((rule) => rule.groupId).sort());
  const words = (each: string) => each.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const published = ` ${words(text).join(' ')} `;
  for (const { groupId, comment } of rows) {
    const own = words(comment);
    for (let at = 0; at + 8 <= own.length; at++) {
      const phrase = own.slice(at, at + 8).join(' ');
      assert.not.ok(published.includes(` ${phrase} `), `${groupId}: ${phrase}`);
    }
  }
});

onReal('the command makes a checklist of the imported STIG that other readers take', async () => {
  const cwd = scratchFolder();
  assert.is((await commandHere(['import', stigFile], { cwd })).code, 0);
  const { code, stdout, stderr } = await commandHere(['check', '--self-assessment'], { cwd });
  assert.is(code, 0, stderr);
  assert.match(stderr, /V6R4: 286 of 286 rules answered\n$/);
  const checklist = Cklb.parse(JSON.parse(stdout));
  const read = readCklb(stdout);
  assert.is(read.target.name, 'gapstone');
  assert.is(read.checklists[0]!.reviews.length, 286);
  const answers = new Map(rows.map((row) => [row.groupId, row]));
  for (const rule of checklist.stigs[0]!.rules) {
    const { status, comment, evidence } = answers.get(rule.group_id)!;
    assert.is(rule.status, status);
    assert.is(rule.finding_details, evidence === '' ? comment : `${comment}\nEvidence: ${evidence}`);
  }
  assert.is(
    (await commandHere(['check', '--self-assessment'], { cwd })).stdout,
    stdout,
    'the same bytes again',
  );
});

test('a table and a STIG of one’s own: what has no answer and what has no rule is told', async () => {
  const cwd = scratchFolder();
  assert.is((await commandHere(['import', shipped('stigs')], { cwd })).code, 0);
  const stig = JSON.parse(
    (
      await commandHere(['check', '--self-assessment', '--stig', 'harbor_linux_3', '--answers', table], {
        cwd,
      })
    ).stdout,
  ) as Cklb;
  const groupIds = stig.stigs[0]!.rules.map((rule) => rule.group_id);
  assert.ok(stig.stigs[0]!.rules.every((rule) => rule.status === 'not_reviewed'));
  const lines = [`open,${groupIds[1]},"of 2, ""all""",`, 'open,V-1,,', ''];
  put(cwd, 'own.csv', ['status,groupId,comment,evidence', ...lines].join('\r\n'));
  const args = 'check --self-assessment --stig harbor_linux_3 --answers own.csv --host-name web01';
  const { code, stdout, stderr } = await commandHere(args.split(' '), { cwd });
  assert.is(code, 0, stderr);
  const filled = JSON.parse(stdout) as Cklb;
  assert.is(filled.target_data.host_name, 'web01');
  const answered = filled.stigs[0]!.rules.filter((rule) => rule.status !== 'not_reviewed');
  assert.equal(
    answered.map((rule) => [rule.group_id, rule.status, rule.finding_details]),
    [[groupIds[1], 'open', 'of 2, "all"']],
  );
  assert.match(stderr, new RegExp(`: 1 of ${groupIds.length} rules answered\n`));
  assert.match(stderr, new RegExp(`without an answer: ${groupIds.filter((_, at) => at !== 1).join(', ')}\n`));
  assert.match(stderr, /answers for rules that the STIG lacks: V-1\n/);
});

test.run();
