import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { type SampleResult, writeResults } from '../support/results-writer.ts';

// Scan results that lie, are damaged, or want to cost much: a 400 with one clear message, nothing stored, never a 500.
const hostile = suite('Hostile scan results');

const path = '/api/v1/checklists/from-results';
let t: TestApp;
let results: SampleResult[];
let before: object;

hostile.before(async () => {
  t = await testApp([shipped('stigs')]);
  const { json } = await t.get('/api/v1/stigs/harbor_linux_3/download');
  results = json.stigs[0].rules.map((rule: { rule_id_src: string }) => ({
    id: rule.rule_id_src,
    result: 'pass',
  }));
  before = { ...tableDigests(t.db) };
});
hostile.after(() => {
  assert.equal({ ...tableDigests(t.db) }, before, 'nothing is stored');
  t.db.close();
});

const send = (body: unknown): Promise<Answer> => t.send('POST', path, body);
const sound = () => writeResults(results, { target: 'h' });

function assertRefused(answer: Answer, words: RegExp, where: string): void {
  assert.is(answer.status, 400, `${where}: ${answer.text.slice(0, 200)}`);
  assert.is(answer.json.error.code, 'BAD_REQUEST');
  assert.match(answer.json.error.message, words, where);
  assert.ok(answer.json.error.message.length <= 300 && !answer.json.error.message.includes('\n'), where);
}

hostile('the request itself', async () => {
  const xml = sound();
  const cases: [body: unknown, words: RegExp][] = [
    ['', /not valid JSON/],
    ['null', /object/],
    ['[]', /object/],
    [{}, /^results must be the text/],
    [{ results: 7 }, /^results must be the text/],
    [{ results: { TestResult: {} } }, /^results must be the text/],
    [{ results: '' }, /^results: /],
    [{ results: '{}' }, /^results: /],
    [{ results: xml, slug: 7 }, /^slug must be one text/],
    [{ results: xml, slug: 'a\0' }, /^slug must not contain NUL/],
    [{ results: xml, hostName: 'x'.repeat(256) }, /^hostName must have at most 255/],
    [{ results: xml, overwrite: 'yes' }, /^overwrite must be true or false/],
    [{ results: xml, format: 'pdf' }, /^Invalid format/],
    [{ results: xml, checklist: 5 }, /^checklist must be the text/],
    [{ results: xml, checklist: {} }, /has no stigs/],
    [{ results: xml, checklist: xml }, /^checklist: must begin with <CHECKLIST>/],
  ];
  for (const [body, words] of cases)
    assertRefused(await send(body), words, JSON.stringify(body).slice(0, 60));
  for (const body of [{}, { checklist: {}, results: xml }, '[]', '{', 'PK\u0003\u0004'])
    assert.is(
      (await t.send('POST', '/api/v1/checklists/inspect', body)).status,
      400,
      JSON.stringify(body).slice(0, 40),
    );
});

hostile('what is no result of one scan', async () => {
  const xml = sound();
  const test = /<TestResult[\s\S]*<\/TestResult>/.exec(xml)![0];
  const cases: [string, RegExp][] = [
    ['<', /^results: /],
    [xml.slice(0, xml.length / 2), /^results: /],
    [xml.replace('</result>', '</resulT>'), /unexpected close tag/],
    ['<html><body>Sign in</body></html>', /has no TestResult: .* \(root <html>\)/],
    [`<${'x'.repeat(100_000)}/>`, /has no TestResult: .* \(root <x{64}>\)/],
    ['<CHECKLIST/>', /this is a checklist \(ckl\)/],
    [xml.replace(test, ''), /has no TestResult/],
    [
      xml.replace(test, test + test.replace('id="t"', 'id="u"')),
      /contains 2 test results \(t h .*, u h .*\): send one/,
    ],
    [xml.replace(test, test.repeat(1001)), /more than 1000 test results/],
    [xml.replace(/<rule-result[\s\S]*<\/rule-result>/, ''), /its TestResult has no rule-result/],
    [xml.replaceAll('SV-9', 'SV-8'), /no rule in them belongs to a STIG in the catalog/],
    [xml.replace(/idref="SV-[^"]+"/g, 'idref="xccdf_org.ssgproject.content_rule_a"'), /--stig-viewer/],
    [xml.replace('<target>', '<target>\0'), /^results: /],
    [xml.replace('<target>', '<target>&nbsp;'), /undefined entity/],
    [xml.replace('<target>', '<x:target>').replace('</target>', '</x:target>'), /prefix "x" is not bound/],
  ];
  for (const [text, words] of cases) {
    assertRefused(await send(text), words, text.slice(0, 60));
    assertRefused(await send({ results: text }), words, text.slice(0, 60));
  }
  // What stands in an ARF outside of its reports is what was to be tested.
  const arf = writeResults(results, { around: 'arf' });
  const outside = arf
    .replace(/<a:reports>[\s\S]*<\/a:reports>/, '')
    .replace('<a:report-requests>', `<a:report-requests>${test}`);
  assertRefused(await send(outside), /has no TestResult/, 'arf');
  assert.is((await send(arf)).status, 200);
  assert.is((await send(xml)).status, 200);
});

hostile('entities, bombs and external references are refused with their DOCTYPE', async () => {
  const body = sound().replace(/^.*\n/, '');
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
    '',
  );
  for (const doctype of [
    '<!DOCTYPE TestResult [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE TestResult SYSTEM "http://127.0.0.1:1/x.dtd">',
    `<!DOCTYPE TestResult [<!ENTITY l0 "lol">${laughs}]>`,
  ]) {
    const text = `<?xml version="1.0"?>${doctype}${body.replace('<target>', '<target>&x;&l9;')}`;
    assertRefused(await send(text), /^results: a DOCTYPE is not allowed/, doctype);
    assertRefused(
      await t.send('POST', '/api/v1/checklists/inspect', text),
      /a DOCTYPE is not allowed/,
      doctype,
    );
  }
});

hostile('numbers of everything are bounded', async () => {
  const inside = (facts: string) => writeResults(results, { facts });
  const cases: [string, RegExp][] = [
    ['<a>'.repeat(100_000), /nested deeper than 64/],
    [inside('<a/>'.repeat(5_000_001)), /more than 5000000 elements/],
    [inside('<target-address>1</target-address>'.repeat(10_001)), /more than 10000 facts/],
    [
      inside(`<a ${Array.from({ length: 65 }, (_, n) => `a${n}="x"`).join(' ')}/>`),
      /more than 64 attributes/,
    ],
    [
      writeResults(Array.from({ length: 20_001 }, (_, n) => ({ id: `SV-${n}r1_rule`, result: 'pass' }))),
      /more than 20000 rule results/,
    ],
  ];
  for (const [text, words] of cases) assertRefused(await send(text), words, words.source);
});

hostile('64 MiB is the limit, and what fits is read', async () => {
  const limit = 64 * 1024 * 1024;
  const over = await send(`<${' '.repeat(limit)}`);
  assert.equal([over.status, over.json.error.code], [413, 'PAYLOAD_TOO_LARGE']);
  const frame = writeResults(results, { around: 'arf', target: 'h' });
  const oval = '<definition class="compliance"><criterion comment="жx"/></definition>';
  const room = Math.floor((limit - frame.length - 100) / Buffer.byteLength(oval));
  const full = frame.replace('<a:report-requests>', `<a:report-requests>${oval.repeat(room)}`);
  assert.ok(Buffer.byteLength(full) > limit - 1000);
  const { status, json } = await send(full);
  assert.is(status, 200, JSON.stringify(json).slice(0, 200));
  assert.equal([json.report.kind, json.report.counts.not_a_finding], ['arf', results.length]);
  // In JSON it is longer by what is escaped there.
  const part = frame.replace(
    '<a:report-requests>',
    `<a:report-requests>${oval.repeat(Math.floor(room * 0.85))}`,
  );
  assert.is((await send({ results: part })).status, 200);
  assert.is((await t.send('POST', '/api/v1/checklists/inspect', full)).status, 200);
});

hostile('words and ids of the file are no words of ours', async () => {
  const words = ['__proto__', 'constructor', 'toString', '', 'PASS', 'hasOwnProperty', '<&>'];
  const odd = results.map(({ id }, index) => ({ id, result: words[index % words.length]! }));
  const { json } = await send(writeResults(odd));
  for (const [index, { status, reason }] of json.report.rules.entries()) {
    const isPass = words[index % words.length] === 'PASS';
    assert.is(status, isPass ? 'not_a_finding' : 'not_reviewed');
    assert.is(reason === null, isPass);
  }
  const named = await t.send(
    'POST',
    `${path}?download=true`,
    writeResults(results, { target: `\n../${'x'.repeat(1_000_000)}`, tool: 'cpe:/a:b:constructor:1' }),
  );
  assert.ok(named.headers.get('Content-Disposition')!.length < 2000);
  assert.match(named.json.stigs[0].rules[0].finding_details, '(constructor 1, ');
  assert.is(
    (await send(writeResults([...results, { id: '__proto__', result: 'pass' }]))).json.report.unknown[0].id,
    '__proto__',
  );
});

hostile('whatever is changed in sound results, the answer is 200 or 400', async () => {
  const texts = [sound(), writeResults(results, { around: 'arf', prefix: 'c' })];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...texts),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat(60),
          fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('<', '>', '&', '"', '<TestResult>', 'SV-')),
        ),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      async (text, edits) => {
        let damaged = text;
        for (const [at, length, put] of edits) {
          const where = at % damaged.length;
          damaged = damaged.slice(0, where) + put + damaged.slice(where + length);
        }
        for (const route of [path, '/api/v1/checklists/inspect']) {
          const { status } = await t.send('POST', route, damaged.toWellFormed());
          assert.ok(status === 200 || status === 400, `${status}`);
        }
      },
    ),
    { numRuns: 150 },
  );
});

hostile.run();
