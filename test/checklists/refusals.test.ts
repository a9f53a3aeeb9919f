import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';

// What is no checklist, no results and no request about them: a 400 with one clear line, and nothing is stored. What
// wants to cost much is in hostile.deep.test.ts.
const refusals = suite('Refused checklists and results');

let t: TestApp;
let old: Cklb;
let ckl: string;
let scan: string;
let list: string;
let before: object;

refusals.before(async () => {
  const products = Array.from({ length: 9 }, (_, n) => ({ id: `P${n}_STIG`, title: `Product ${n} STIG` }));
  t = await testApp([shipped('stigs'), writeBenchmarks(products)]);
  old = (await t.get('/api/v1/stigs/harbor_linux_3/download?version=V1R1&hostName=h')).json;
  ckl = writeCkl(old);
  const rules = (await t.get('/api/v1/stigs/harbor_linux_3/download')).json.stigs[0].rules as Rule[];
  scan = writeResults(
    rules.map(({ rule_id_src: id }) => ({ id, result: 'pass' })),
    { target: 'h' },
  );
  list = (await t.send('POST', '/api/v1/lists', { name: 'Eleven' })).json.id;
  const { stigs } = (await t.get('/api/v1/stigs')).json;
  const slugs = stigs.map(({ slug }: { slug: string }) => slug);
  await t.send('POST', `/api/v1/lists/${list}/stigs`, { slugs });
  before = { ...tableDigests(t.db) };
});
refusals.after(() => {
  assert.equal({ ...tableDigests(t.db) }, before, 'nothing is stored');
  t.db.close();
});
type Rule = Cklb['stigs'][number]['rules'][number];

/** The rows of a table of refusals.txt: what is refused, what is said of it. */
function rowsOf(name: string): [given: string, words: string][] {
  const tables = readFileSync(join(import.meta.dirname, 'refusals.txt'), 'utf8').split(/^# /m);
  const [, ...lines] = tables
    .find((each) => each.startsWith(`${name}: `))!
    .trim()
    .split('\n');
  const read = (text: string) =>
    text
      .replace(
        /\\(?:u([\da-f]{4})|(.))/g,
        (_, code, sign) => sign ?? String.fromCharCode(Number.parseInt(code, 16)),
      )
      .replace(/\(([^()]*)\*(\d+)\)/gs, (_, part, times) => part.repeat(Number(times)));
  return lines.map((line) => {
    const [given, words] = line.split(/ +=> */, 2) as [string, string];
    return [read(given), read(words)];
  });
}

/** Sends a body; asserts that it is refused with a message, in which `…` stands for anything. */
async function refused(to: string, body: unknown, words: string, where = words): Promise<void> {
  const path = to === 'hosts' ? `/api/v1/lists/${list}/checklists` : `/api/v1/checklists/${to}`;
  const { status, text, json }: Answer = await t.send('POST', path, body);
  assert.is(status, 400, `${where}: ${text.slice(0, 200)}`);
  const { code, message } = json.error;
  assert.is(code, 'BAD_REQUEST');
  const parts = words.split('…').map((part) => part.replace(/[.*+?^$()|[\]{}\\]/g, '\\$&'));
  assert.match(message, new RegExp(`^${parts.join('.*')}$`), where);
  assert.ok(message.length <= (to === 'emass' ? 1000 : 300) && !message.includes('\n'), where);
}
/** Sends a checklist, or its rules alone, to be upgraded. */
const refusedChecklist = (checklist: unknown, words: string) =>
  refused(
    'upgrade',
    { slug: 'harbor_linux_3', checklist },
    words,
    `${JSON.stringify(checklist).slice(0, 60)} ${words}`,
  );

const hosts = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ hostName: `h${n}` })));

refusals('the request itself', async () => {
  for (const [request, words] of rowsOf('requests')) {
    const [, to, body] = /^(\S+) ?(.*)$/.exec(request)!;
    const given = body!
      .replaceAll('GOOD', JSON.stringify(old))
      .replaceAll('SCAN', JSON.stringify(scan))
      .replace(/HOSTS(\d+)/, (_, count) => hosts(Number(count)));
    await refused(to!, given, words, request.slice(0, 200));
  }
});

/** What a line of these tables stands for, made of a good text. */
function madeOf(whole: string, line: string): string {
  const [from, to] = line.split(' ~ ');
  if (to !== undefined) return whole.replace(from!, to);
  return line.replace('HALF', whole.slice(0, whole.length / 2)).replace('WHOLE', whole);
}

refusals('what is no checklist', async () => {
  for (const [text, words] of rowsOf('checklists')) await refusedChecklist(JSON.parse(text), words);
  const [first, second, ...rest] = old.stigs[0]!.rules;
  const withRules = (rules: object[]) => ({ ...old, stigs: [{ ...old.stigs[0]!, rules }] });
  for (const [text, words] of rowsOf('firstRules')) {
    const change = JSON.parse(text.replace('TWICE', second!.rule_id));
    await refusedChecklist(withRules([{ ...first!, ...change }, second!, ...rest]), words);
  }
  for (const [line, words] of rowsOf('ckls')) await refusedChecklist(madeOf(ckl, line), words);
  const twice = ckl.replace(/(<VULN>[\s\S]*?<\/VULN>)/, '$1$1');
  await refusedChecklist(twice, 'checklist: V-9… in Harbor Linux 3 …repeats the rule…');
});

refusals('what is no result of one scan', async () => {
  const test = /<TestResult[\s\S]*<\/TestResult>/.exec(scan)![0];
  const ruleResults = /<rule-result[\s\S]*<\/rule-result>/;
  const another = test + test.replace('id="t"', 'id="u"');
  const unknown = scan.replace(/idref="SV-[^"]+"/g, 'idref="xccdf_org.ssgproject.content_rule_a"');
  const arf = writeResults([{ id: 'SV-1r1_rule', result: 'pass' }], { around: 'arf' });
  // What stands in an ARF outside of its reports is what was to be tested.
  const outside = arf
    .replace(/<a:reports>[\s\S]*<\/a:reports>/, '')
    .replace('<a:report-requests>', `<a:report-requests>${test}`);
  for (const [text, words] of [
    ...rowsOf('results').map(([line, words]) => [madeOf(scan, line), words] as const),
    [scan.replace(test, ''), '…has no TestResult…'],
    [outside, '…has no TestResult…'],
    [scan.replace(test, another), '…contains 2 test results (t h …, u h …): send one…'],
    [scan.replace(test, test.repeat(1001)), '…more than 1000 test results…'],
    [scan.replace(ruleResults, ''), '…its TestResult has no rule-result…'],
    [scan.replaceAll('SV-9', 'SV-8'), '…no rule in them belongs to a STIG in the catalog…'],
    [unknown, '…--stig-viewer…'],
  ] as const) {
    await refused('from-results', text, words);
    await refused('from-results', { results: text }, words);
  }
});

refusals('entities, bombs and external references are refused with their DOCTYPE', async () => {
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
    '',
  );
  for (const doctype of [
    '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">',
    `<!DOCTYPE x [<!ENTITY l0 "lol">${laughs}]>`,
    '<!DOCTYPE x>',
  ]) {
    const text = (whole: string, tag: string) =>
      `<?xml version="1.0"?>${doctype}${whole.replace(/^.*\n/, '').replace(tag, `${tag}&x;&l9;`)}`;
    await refusedChecklist(text(ckl, '<COMMENTS>'), 'checklist: a DOCTYPE is not allowed…');
    await refused('from-results', text(scan, '<target>'), 'results: a DOCTYPE is not allowed…');
    await refused('inspect', text(scan, '<target>'), '…a DOCTYPE is not allowed…');
  }
});

refusals('each field of a wrong type is named with its place', async () => {
  const rule = old.stigs[0]!.rules[3]!;
  for (const name of Object.keys(rule)) {
    // Nobody reads the one; the others take a number or a word for their text, and one node of the tree may stand alone.
    if (name === 'stig_uuid') continue;
    const isObject = ['overrides', 'check_content_ref', 'group_tree'].includes(name);
    const isScalar = name === 'weight' || name === 'documentable';
    const values = isScalar
      ? [{ a: 1 }, ['a', 1]]
      : [['a', 1], Number.MAX_VALUE, true, ...(isObject ? [] : [{ a: 1 }])];
    for (const value of values) {
      const rules = old.stigs[0]!.rules.with(3, { ...rule, [name]: value });
      const place = name === 'group_tree' && Array.isArray(value) ? 'group_tree[0]' : name;
      const given = { ...old, stigs: [{ ...old.stigs[0]!, rules }] };
      await refusedChecklist(given, `checklist: ${place} of rule 4 of STIG 1 must be …`);
    }
  }
  const wrong = { title: 7, active: 'yes', mode: '1', target_data: 'web01', id: { a: 1 } };
  for (const [name, value] of Object.entries(wrong))
    await refusedChecklist({ ...old, [name]: value }, `checklist: ${name} must be …`);
});

refusals('a name that is too long for any is named with its place, on the page too', async () => {
  const much = 'x'.repeat(2_000_000);
  const most = 'must have at most 1000 characters';
  const headers = { Authorization: `Bearer ${await t.token()}` };
  for (const place of 'stig_id stig_name release_info version rule_id_src rule_id group_id rule_version'.split(
    ' ',
  )) {
    const isOfRule = place in old.stigs[0]!.rules[0]!;
    const rule = { rule_id_src: place === 'rule_id' ? '' : 'a', severity: 'low', [place]: much };
    const stig = { stig_id: 'A', stig_name: 'A', version: '1', rules: isOfRule ? [rule] : [] };
    const checklist = { stigs: [isOfRule ? stig : { ...stig, [place]: much }] };
    const words = `checklist: ${place} of ${isOfRule ? 'rule 1 of ' : ''}STIG 1 ${most}`;
    await refusedChecklist(checklist, words);
    await refused('inspect', checklist, words);
    const body = new FormData();
    body.append('file', new File([JSON.stringify(checklist)], 'a.cklb'));
    const page = await t.app.request('/checklists/upgrade', { method: 'POST', body, headers });
    assert.is(page.status, 400);
    assert.match(await page.text(), most);
  }
  const id = much.slice(0, 2000);
  await refused('from-results', writeResults([{ id, result: 'pass' }]), `results: the id of a rule …`);
  const named = writeResults([{ id: 'SV-1r1_rule', result: 'pass' }], { benchmarkId: id });
  await refused('from-results', named, `results: the id of its benchmark ${most}`);
});

refusals.run();
