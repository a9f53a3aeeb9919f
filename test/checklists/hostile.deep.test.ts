import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { jsonLimits } from '../../src/base/json.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { type SampleResult, writeResults } from '../support/results-writer.ts';

// Checklists and results that want to cost much, or to be taken for something else; any bytes are a 200 or a 400.
const hostile = suite('Hostile checklists and results');

const slug = 'harbor_linux_3';
const [upgrade, fromResults, inspect] = ['upgrade', 'from-results', 'inspect'].map(
  (name) => `/api/v1/checklists/${name}`,
) as [string, string, string];
let t: TestApp;
let old: Cklb;
let results: SampleResult[];
let before: object;

hostile.before(async () => {
  t = await testApp([shipped('stigs')]);
  old = (await t.get(`/api/v1/stigs/${slug}/download?version=V1R1&hostName=h`)).json;
  const rules = (await t.get(`/api/v1/stigs/${slug}/download`)).json.stigs[0].rules;
  results = rules.map((rule: { rule_id_src: string }) => ({ id: rule.rule_id_src, result: 'pass' }));
  before = { ...tableDigests(t.db) };
});
hostile.after(() => {
  assert.equal({ ...tableDigests(t.db) }, before, 'nothing is stored');
  t.db.close();
});

const send = (checklist: unknown): Promise<Answer> => t.send('POST', upgrade, { slug, checklist });
async function refused(asked: Promise<Answer>, words: RegExp): Promise<void> {
  const { status, json, text } = await asked;
  assert.is(status, 400, `${words}: ${text.slice(0, 200)}`);
  assert.is(json.error.code, 'BAD_REQUEST');
  assert.match(json.error.message, words);
  assert.ok(json.error.message.length <= 300, `${words}`);
}

hostile('depth, names and numbers of everything are bounded', async () => {
  const inAsset = (xml: string) => send(`<CHECKLIST><ASSET>${xml}</ASSET></CHECKLIST>`);
  const inTarget = (facts: string) => t.send('POST', fromResults, writeResults(results, { facts }));
  const many = `<a ${Array.from({ length: 65 }, (_, n) => `a${n}="x"`).join(' ')}/>`;
  for (const inside of [inAsset, inTarget]) await refused(inside(many), /more than 64 attributes/);
  await refused(send('<CHECKLIST>'.repeat(100_000)), /nested deeper than 64/);
  await refused(inAsset('<a/>'.repeat(2_000_001)), /more than 2000000 elements/);
  await refused(inAsset('<a>x</a>'.repeat(100_001)), /more than 100000 fields/);
  const stigs = '<iSTIG/>'.repeat(101);
  await refused(send(`<CHECKLIST><STIGS>${stigs}</STIGS></CHECKLIST>`), /more than 100 STIGs/);
  // What takes most memory of all: a text in millions of pieces.
  await refused(inAsset(`<HOST_NAME>ж${'&lt;'.repeat(2_000_000)}</HOST_NAME>`), /has no stigs/);

  await refused(t.send('POST', fromResults, '<a>'.repeat(100_000)), /nested deeper than 64/);
  await refused(inTarget('<a/>'.repeat(5_000_001)), /more than 5000000 elements/);
  const facts = `<target-facts>${'<a/>'.repeat(100_000)}</target-facts>`;
  await refused(inTarget(facts), /more than 100000 elements in <target-facts>/);
  await refused(inTarget('<target-address>1</target-address>'.repeat(10_001)), /more than 10000 facts/);
  const ids = Array.from({ length: 20_001 }, (_, n) => `SV-${n}r1_rule`);
  const scan = writeResults(ids.map((id) => ({ id, result: 'pass' })));
  await refused(t.send('POST', fromResults, scan), /more than 20000 rule results/);

  const { depth, values } = jsonLimits;
  const nested = '['.repeat(200_000);
  const post = (body: string) => t.send('POST', upgrade, body);
  await refused(post(`{"slug":"${slug}","checklist":${nested}`), new RegExp(`nested deeper than ${depth}`));
  const objects = `{"stigs":[${'{},'.repeat(values)}{}]}`;
  await refused(post(`{"slug":"a","checklist":${objects}}`), new RegExp(`more than ${values} values`));
  await refused(send(`{"stigs":${nested}`), /checklist is nested deeper/);
  await refused(send(`{"stigs":[${'0,'.repeat(values)}0]}`), /more than 1000000 values/);
  const rules = ids.map((id) => ({ rule_id: id, severity: 'low' }));
  await refused(send({ stigs: [{ rules }] }), /more than 20000 rules/);
  await refused(send({ stigs: Array(101).fill({}) }), /more than 100 STIGs/);
  const unknown = Object.fromEntries(Array.from({ length: 100_001 }, (_, n) => [`k${n}`, 1]));
  await refused(send({ ...old, ...unknown }), /more than 100000 fields/);
});

hostile('32 MiB of a checklist and 64 MiB of results are the limit, and what fits is read', async () => {
  const mebibyte = 1024 * 1024;
  for (const [path, body] of [
    [upgrade, ' '.repeat(32 * mebibyte + 1)],
    [fromResults, `<${' '.repeat(64 * mebibyte)}`],
    // Elsewhere the limit is the smaller one.
    ['/api/v1/stigs/batch', JSON.stringify({ slugs: ['x'.repeat(16 * mebibyte)] })],
  ] as const) {
    const { status, json } = await t.send('POST', path, body);
    assert.equal([status, json.error.code], [413, 'PAYLOAD_TOO_LARGE'], path);
  }
  await refused(t.send('POST', upgrade, ' '.repeat(32 * mebibyte)), /not valid JSON/);
  const comments = 'x'.repeat(16 * mebibyte);
  const [first, ...rest] = old.stigs[0]!.rules;
  const large = { ...old, stigs: [{ ...old.stigs[0]!, rules: [{ ...first, comments }, ...rest] }] };
  const { status, json } = await send(large);
  assert.is(status, 200);
  assert.is(json.checklist.stigs[0].rules[0].comments.length, comments.length);

  const frame = writeResults(results, { around: 'arf', target: 'h' });
  const oval = '<definition class="compliance"><criterion comment="жx"/></definition>';
  const room = Math.floor((64 * mebibyte - frame.length - 100) / Buffer.byteLength(oval));
  const filled = (times: number) =>
    frame.replace('<a:report-requests>', `<a:report-requests>${oval.repeat(times)}`);
  const full = filled(room);
  assert.ok(Buffer.byteLength(full) > 64 * mebibyte - 1000);
  const read = await t.send('POST', fromResults, full);
  assert.is(read.status, 200, read.text.slice(0, 200));
  assert.equal([read.json.report.kind, read.json.report.counts.not_a_finding], ['arf', results.length]);
});

hostile('__proto__ and constructor are names like others', async () => {
  const evil = '{"status":"open","polluted":true}';
  const text = JSON.stringify(old)
    .replace(
      '"target_data":{',
      `"__proto__":${evil},"constructor":{"prototype":${evil}},"target_data":{"__proto__":${evil},`,
    )
    .replace('"rules":[{', `"rules":[{"__proto__":${evil},"toString":"x","hasOwnProperty":1,`);
  const paths = `target_data.__proto__ stigs[0].rules[0].__proto__ stigs[0].rules[0].toString
    stigs[0].rules[0].hasOwnProperty __proto__ constructor`;
  for (const body of [
    JSON.stringify({ slug, checklist: text }),
    `{"slug":"${slug}","__proto__":{"onChange":"reset"},"checklist":${text}}`,
  ]) {
    const { status, json } = await t.send('POST', upgrade, body);
    assert.is(status, 200);
    assert.is(({} as { polluted?: boolean }).polluted, undefined);
    assert.is(json.checklist.stigs[0].rules[0].status, 'not_reviewed');
    assert.is(json.report.summary.reset, 0);
    const left = json.report.notCarried.flatMap((each: { path?: string }) => each.path ?? []);
    assert.equal(left, paths.split(/\s+/));
  }
  const attribute = '<VULN_ATTRIBUTE>__proto__</VULN_ATTRIBUTE><ATTRIBUTE_DATA>z</ATTRIBUTE_DATA>';
  const ckl = writeCkl(old, {
    inAsset: '<__proto__>x</__proto__><constructor>y</constructor>',
    inRule: `<STIG_DATA>${attribute}</STIG_DATA>`,
  });
  const { notCarried } = (await send(ckl)).json.report;
  const fields = notCarried.filter(({ kind }: { kind: string }) => kind === 'field');
  assert.is(fields.map(({ value }: { value: string }) => value).join(''), `xy${'z'.repeat(14)}`);
});

hostile('words and ids of results are no words of ours', async () => {
  const words = ['__proto__', 'constructor', 'toString', '', 'PASS', 'hasOwnProperty', '<&>'];
  const odd = results.map(({ id }, index) => ({ id, result: words[index % words.length]! }));
  const { json } = await t.send('POST', fromResults, writeResults(odd));
  for (const [index, { status, reason }] of json.report.rules.entries()) {
    const isPass = words[index % words.length] === 'PASS';
    assert.is(status, isPass ? 'not_a_finding' : 'not_reviewed');
    assert.is(reason === null, isPass);
  }
  const shape = { target: `\n../${'x'.repeat(1_000_000)}`, tool: 'cpe:/a:b:constructor:1' };
  const named = await t.send('POST', `${fromResults}?download=true`, writeResults(results, shape));
  assert.ok(named.headers.get('Content-Disposition')!.length < 2000);
  assert.match(named.json.stigs[0].rules[0].finding_details, '(constructor 1, ');
  const more = writeResults([...results, { id: '__proto__', result: 'pass' }]);
  assert.is((await t.send('POST', fromResults, more)).json.report.unknown[0].id, '__proto__');
});

const is200or400 = ({ status }: Answer) => assert.ok(status === 200 || status === 400, `${status}`);

hostile('whatever is changed in sound results, the answer is 200 or 400', async () => {
  const texts = [
    writeResults(results, { target: 'h' }),
    writeResults(results, { around: 'arf', prefix: 'c' }),
  ];
  const put = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom(...'< > & " <TestResult> SV-'.split(' ')),
  );
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(60), put), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...texts), edits, async (text, changes) => {
      let damaged = text;
      for (const [at, length, other] of changes) {
        const where = at % damaged.length;
        damaged = damaged.slice(0, where) + other + damaged.slice(where + length);
      }
      for (const path of [fromResults, inspect])
        is200or400(await t.send('POST', path, damaged.toWellFormed()));
    }),
    { numRuns: 40 },
  );
});

hostile.run();
