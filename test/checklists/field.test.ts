import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { safeName } from '../../src/checklists/names.ts';
import type { Leftover } from '../../src/checklists/schema.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite, testIf } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { readZip } from '../support/read-zip.ts';
import { fieldFiles, fieldFolder, hasReferenceData, reference, shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';
import { assertError } from '../support/service.ts';
import { told } from '../support/told.ts';
import { sampleRules } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

// Checklists and results as tools of the field write them: what they say reaches the new checklist, the sheet or a warning.
const field = suite('Checklists of the field');

type Rule = Cklb['stigs'][number]['rules'][number];
const slug = 'harbor_linux_3';
const api = (name: string) => `/api/v1/checklists/${name}`;
let t: TestApp;
let ann: Record<string, string>;
let blank: Cklb;

field.before(async () => {
  t = await testApp([shipped('stigs'), shipped('controls'), shipped('mappings')]);
  ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
  blank = (await t.get(`/api/v1/stigs/${slug}/download?version=V1R1&hostName=db01`)).json;
});
field.after(() => t.db.close());

/** The checklist with its first rule open, changed. */
function checklist(
  rule: Record<string, unknown> = {},
  target: Partial<Cklb['target_data']> = {},
  mine = structuredClone(blank),
): Cklb {
  Object.assign(mine.stigs[0]!.rules[0]!, { status: 'open', finding_details: 'seen' }, rule);
  Object.assign(mine.target_data, target);
  return mine;
}
const upgrade = (given: unknown, more: object = {}) =>
  t.send('POST', api('upgrade'), { slug, checklist: given, ...more });
const firstOf = ({ status, json, text }: Answer): Rule => {
  assert.is(status, 200, text.slice(0, 300));
  return json.checklist.stigs[0].rules[0];
};
const fieldsOf = ({ notCarried }: Answer['json']) =>
  notCarried.filter(({ kind }: Leftover) => kind === 'field');
const sheet = async (name: string, ...checklists: unknown[]) => {
  const { status, json, text } = await t.send('POST', api('emass'), {
    ...{ checklists, sheet: name, format: 'json' },
  });
  assert.is(status, 200, text.slice(0, 300));
  return json as {
    header: string[];
    rows: string[][];
    withoutCci: { host: string; ruleId: string }[];
    warnings?: string[];
  };
};
const column = ({ header, rows }: { header: string[]; rows: string[][] }, name: string) =>
  rows.map((row) => row[header.findIndex((each) => each.trim() === name)]);

field('every CCI of one text reaches its row of a sheet, whatever stands between them', async () => {
  for (const [text, numbers] of [
    ['CCI-000366, CCI-000213', '000213 000366'],
    ['CCI-000366;CCI-000213', '000213 000366'],
    ['CCI-000366CCI-000213', '000213 000366'],
    ['cci 366 | CCI-0213', '000213 000366'],
    ['CCI-000366, 000213', '000213 000366'],
    ['CCI-000366 (V-257777)', '000366'],
    ['CCI-00 366', ''],
    ['none', ''],
  ] as const) {
    for (const given of [checklist({ ccis: [text] }), writeCkl(checklist({ ccis: [text] }))]) {
      const made = await sheet('test-results', given);
      const open = made.rows.filter((row) => row.includes('Non-Compliant'));
      assert.equal(open.map((row) => row[made.header.indexOf('CCI')]).join(' '), numbers, text);
    }
  }
  // Words beside several CCIs are named, and one STIG_DATA may have several texts.
  const { report } = (await upgrade(checklist({ ccis: ['CCI-000366 and CCI-000213: waived'] }))).json;
  const waived = 'stigs[0].rules[0].ccis[0] CCI-000366 and CCI-000213: waived';
  assert.equal(told(fieldsOf(report), 'path', 'value'), [waived]);
  const twice = writeCkl(checklist({ ccis: ['CCI-000366'] })).replace(
    '<ATTRIBUTE_DATA>CCI-000366</ATTRIBUTE_DATA>',
    '<ATTRIBUTE_DATA>CCI-000366</ATTRIBUTE_DATA><ATTRIBUTE_DATA>CCI-000213</ATTRIBUTE_DATA>',
  );
  const poam = await sheet('poam', twice);
  assert.match(column(poam, 'Comments')[0]!, /^CCI-000213, CCI-000366\n/);
});

field('a severity override in the words of any tool; an unknown one is a warning', async () => {
  const words: Record<string, string> = {
    ...{ 'CAT III': 'low', III: 'low', '3': 'low', low: 'low', catiii: 'low' },
    ...{ cat_ii: 'medium', 'Category II': 'medium', 'Cat 1': 'high', HIGH: 'high' },
  };
  for (const [word, severity] of Object.entries(words)) {
    const given = checklist({ overrides: { severity: { severity: word, reason: 'walled' } } });
    for (const form of [given, writeCkl(given)])
      assert.equal(firstOf(await upgrade(form)).overrides, { severity: { severity, reason: 'walled' } });
  }
  const number = checklist({ overrides: { severity: { severity: 3, reason: '' } } });
  assert.is(firstOf(await upgrade(number)).overrides.severity!.severity, 'low');

  const none = checklist({ overrides: { severity: { severity: '  ' } } });
  assert.equal(firstOf(await upgrade(none)).overrides, {});
  for (const unknown of ['CAT IX', 'severe', '4', 'x'.repeat(2000)]) {
    const given = checklist({ overrides: { severity: { severity: unknown, reason: 'why' } } });
    const answer = await upgrade(writeCkl(given));
    const rule = firstOf(answer);
    assert.equal([rule.status, rule.overrides], ['open', {}]);
    const [warning] = answer.json.report.warnings;
    assert.match(warning, /^1 severity override left out, not high, medium, low or CAT I to III: /);
    assert.ok(
      warning.includes(`${rule.group_id} "${unknown.slice(0, 16)}"`) && warning.length < 200,
      warning,
    );
    assert.equal(told(fieldsOf(answer.json.report), 'value'), [unknown, 'why']);
    assert.equal((await sheet('poam', given)).warnings, [`db01: ${warning}`]);
    const inspected = (await t.send('POST', api('inspect'), { checklist: given })).json.stigs[0].findings;
    assert.ok(inspected.some(({ code }: { code: string }) => code === 'bad-severity'));
    const scan = writeResults([{ id: rule.rule_id_src, result: 'fail' }]);
    const merged = await t.send('POST', api('from-results'), { results: scan, checklist: given });
    assert.is(merged.json.report.warnings[0], warning);
  }
});

field('web and database instances of a host stay apart', async () => {
  const of = (web_db_site: string, web_db_instance: string, host_name = 'db01') =>
    checklist({ ccis: ['CCI-000366'] }, { is_web_database: true, host_name, web_db_site, web_db_instance });
  const devices = [of('', 'HR'), of('SITE', 'HR'), of('SITE', ''), of('', ' '), of('', 'HR', '')];
  const names = ['db01 (HR)', 'db01 (SITE, HR)', 'db01 (SITE)', 'db01', '(HR)'];
  const sent = devices.map((each, index) => (index % 2 === 0 ? each : writeCkl(each)));
  const poam = await sheet('poam', ...sent);
  assert.equal(column(poam, 'Devices Affected'), [names.join('\n')]);
  assert.match(column(poam, 'Comments')[0]!, /db01 \(SITE, HR\): seen/);
  const results = column(await sheet('test-results', ...sent), 'Test Results').join('\n');
  for (const name of names) assert.ok(results.includes(`\n${name}: SV-`), name);

  const form = new FormData();
  form.set('as', 'file');
  for (const [index, each] of devices.entries())
    form.append('file', new File([JSON.stringify(each)], `${index}.cklb`));
  const init = { method: 'POST', body: form, headers: ann };
  const zip = await t.app.request('http://here.example/checklists/upgrade', init);
  const files = readZip(Buffer.from(await zip.arrayBuffer()));
  assert.equal(
    [...(await files).keys()].slice(1),
    names.map((name) => `${safeName(name)}_${slug}_V1R2.cklb`),
  );
  assert.match(String((await files).get('upgrade-report.csv')), /,db01 \(HR\),/);

  // Scanners name the instance among their facts.
  const facts = ['site', 'instance'].map(
    (name) => `<fact name="fact:asset:identifier:${name}">${name}-1</fact>`,
  );
  const rule = blank.stigs[0]!.rules[0]!.rule_id_src;
  const scan = writeResults([{ id: rule, result: 'fail' }], {
    ...{ target: 'db01', facts: `<target-facts>${facts.join('')}</target-facts>` },
  });
  const { checklist: made, report } = (await t.send('POST', api('from-results'), scan)).json;
  const { is_web_database, web_db_site, web_db_instance } = made.target_data;
  assert.equal([is_web_database, web_db_site, web_db_instance], [true, 'site-1', 'instance-1']);
  assert.equal([report.target.site, report.target.instance], ['site-1', 'instance-1']);
  const file = await t.send('POST', `${api('from-results')}?download=true`, scan);
  assert.match(
    decodeURIComponent(file.headers.get('Content-Disposition')!),
    'db01 (site-1, instance-1)_harbor_linux_3_V1R',
  );
});

field('a gzip of a checklist or of results is read, within bounds, wherever a file is', async () => {
  const given = checklist();
  const rule = given.stigs[0]!.rules[0]!.rule_id_src;
  const scan = writeResults([{ id: rule, result: 'fail' }], { target: 'web01' });
  const post = async (name: string, bytes: Uint8Array) => {
    const headers = { Authorization: `Bearer ${await t.token()}` };
    const answer = await t.app.request(api(name), { method: 'POST', body: new Uint8Array(bytes), headers });
    return { status: answer.status, json: (await answer.json()) as Answer['json'] };
  };
  const body = { checklists: [given], sheet: 'poam', format: 'json' };
  for (const [name, text] of [
    ['upgrade', JSON.stringify(given)],
    ['upgrade', writeCkl(given)],
    ['upgrade', JSON.stringify({ slug, checklist: given })],
    ['from-results', scan],
    ['inspect', scan],
    ['emass', JSON.stringify(body)],
  ] as const)
    assert.equal(await post(name, gzipSync(text)), await post(name, Buffer.from(text)), name);
  const whole = gzipSync(writeCkl(given));
  const damaged = await post('upgrade', whole.subarray(0, whole.length - 9));
  assert.is(damaged.status, 400);
  assert.match(damaged.json.error.message, /^The body is a damaged gzip: /);
  const bomb = await post('from-results', gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1, ' ')));
  assert.equal([bomb.status, bomb.json.error.code], [413, 'PAYLOAD_TOO_LARGE']);

  // On the pages, and inside zips, those of Windows too.
  const load = (bytes: Buffer, name: string) => {
    const form = new FormData();
    form.append('file', new File([new Uint8Array(bytes)], name));
    return loadPage(t, '/checklists/upgrade', ann, form);
  };
  const inside = [
    { name: 'ckls\\web01.ckl', data: writeCkl(given) },
    { name: 'ckls\\', data: '' },
    { name: 'ckls\\more/web02.ckl.gz', data: gzipSync(writeCkl(given)) },
    { name: 'web03.cklb', data: gzipSync(JSON.stringify(given)) },
  ];
  for (const [bytes, name, words] of [
    [gzipSync(writeCkl(given)), 'a.ckl.gz', 'V1R1 to V1R2'],
    [gzipSync(scan), 'scan', 'web01'],
    [makeZip(inside), 'all.zip', '3 of 3 checklists upgraded'],
    [makeZip(inside.slice(0, 1)), 'one.zip', 'V1R1 to V1R2'],
  ] as const) {
    const { status, html } = await load(bytes, name);
    assert.is(status, 200, textOf(html).slice(0, 400));
    assert.match(textOf(html), words);
  }
  for (const name of ['..\\x.ckl', 'C:\\x.ckl', '\\x.ckl']) {
    const { status, html } = await load(makeZip([{ name, data: writeCkl(given) }]), 'all.zip');
    assert.is(status, 400);
    assert.match(textOf(html), name.startsWith('..') ? 'relative path' : 'absolute path');
  }
  const large = await load(gzipSync(Buffer.alloc(49 * 1024 * 1024)), 'large.ckl.gz');
  assert.is(large.status, 413);
});

field('what a ckl cannot hold, and what of results is not read, is said', async () => {
  const odd = checklist(
    { comments: 'a\u0007b', finding_details: 'bell \u001b[0m' },
    { comments: 'x\u0000', host_name: 'h' },
  );
  const { group_id, rule_id_src } = odd.stigs[0]!.rules[0]!;
  const said = `A ckl cannot hold control characters: they are left out of 3 texts (the target, ${group_id})`;
  const results = writeResults([{ id: rule_id_src, result: 'fail' }], { target: 'h' });
  for (const format of ['ckl', 'cklb']) {
    const expected = format === 'ckl' ? [said] : [];
    const merged = await t.send('POST', api('from-results'), { results, checklist: odd, format });
    for (const { report } of [(await upgrade(odd, { format })).json, merged.json])
      assert.equal(
        report.warnings.filter((each: string) => each.startsWith('A ckl')),
        expected,
      );
  }

  const facts = `<title>t</title><organization>o</organization><organization>p</organization><remark/>
    <target-facts><fact name="os_name">x</fact><fact name="os:version"> </fact><fact name="fqdn">h.x.test</fact></target-facts>`;
  const scan = writeResults([{ id: rule_id_src, result: 'fail', message: 'm' }], { target: 'h', facts })
    .replace('<result>', '<odd xmlns="urn:o"><a>1</a><b/></odd><instance context="u">root</instance><result>')
    .replace(
      '</rule-result>',
      `<complex-check operator="AND"><check system="s"><check-content-ref href="h" name="oval:1"/></check>
       <check system="s"><check-content-ref href="h" name="oval:2"/><check-import name="n">v</check-import></check></complex-check></rule-result>`,
    );
  const made = await t.send('POST', api('from-results'), scan);
  assert.is(
    made.json.report.warnings.find((each: string) => each.startsWith('Not read')),
    'Not read of the results: title (1), organization (2), rule-result/odd (1), rule-result/instance (1), rule-result/check/check-import (1), target-facts/fact (1)',
  );
  const [rule] = made.json.checklist.stigs[0].rules.filter((each: Rule) => each.status === 'open');
  assert.match(rule.finding_details, 'oval:1, oval:2');
});

field('a STIG that a checklist names by its title alone is the one that is upgraded', async () => {
  const [own] = blank.stigs;
  const other = { ...own!, stig_id: '', stig_name: 'Another' };
  const mine = { ...own!, stig_id: ' ', stig_name: 'HARBOR_LINUX_3_STIG', rules: own!.rules.slice(0, 1) };
  const { report } = (await upgrade({ ...blank, stigs: [other, mine] }, { slug: undefined })).json;
  assert.is(report.otherStigs[0].title, 'Another');
});

field('of two STIGs in one checklist the one to upgrade is asked for', async () => {
  const names = ['Oak', 'Elm'].map((name) => ({ id: `${name}_STIG`, title: `${name} STIG` }));
  const wood = await testApp([writeBenchmarks(names)]);
  const of = async (slug: string): Promise<Cklb> => (await wood.get(`/api/v1/stigs/${slug}/download`)).json;
  const [oak, elm] = [await of('oak'), await of('elm')];
  const given = { ...oak, stigs: [...oak.stigs, ...elm.stigs] };
  const ask = (more: object) => wood.send('POST', api('upgrade'), { checklist: given, ...more });
  const said =
    'The checklist names more than one STIG in the catalog: Oak STIG, Elm STIG. Choose the one to upgrade';
  assertError(await ask({}), 400, 'BAD_REQUEST', said);
  assert.is((await ask({ slug: 'elm' })).status, 200);
  wood.db.close();
});

field('two STIGs, or two rules, that fit equally well are named', async () => {
  const rules = sampleRules(3).map((rule) => ({ ...rule, legacyIds: ['V-17', 'SV-17'] }));
  const both = await testApp([
    writeBenchmarks(
      ['One_STIG', 'Two_STIG'].map((id) => ({
        ...{ id, title: `${id} Security Technical Implementation Guide`, rules },
      })),
    ),
  ]);
  const said = /^(?:Two|One)_STIG\b.* fits it as well as (?:One|Two)_STIG\b.*: choose the STIG to be sure$/;
  const results = ['SV-100001r1_rule', 'SV-100002r1_rule', 'V-17'].map((id) => ({ id, result: 'fail' }));
  const made = await both.send('POST', api('from-results'), writeResults(results));
  const { warnings, rules: reported } = made.json.report;
  assert.ok(
    warnings.some((each: string) => said.test(each)),
    warnings.join('\n'),
  );
  assert.match(reported[0].reason, 'V-17 fits other rules as well: V-100002, V-100003');
  const { slug: chosen } = made.json.report.release;
  const named = await both.send('POST', `${api('from-results')}?slug=${chosen}`, writeResults(results));
  assert.not.ok(named.json.report.warnings.some((each: string) => said.test(each)));
  const unnamed = made.json.checklist as Cklb;
  Object.assign(unnamed.stigs[0]!, { stig_id: '', stig_name: '' });
  const ask = async (name: string) => (await both.send('POST', api(name), { checklist: unnamed })).json;
  for (const texts of [
    (await ask('upgrade')).report.warnings,
    told((await ask('inspect')).stigs[0].findings, 'message'),
  ])
    assert.match(texts.join('\n'), 'fits it as well as');
  both.db.close();
});

const here = { ...fieldFiles, here: hasReferenceData && fieldFiles.here };

testIf(here, field)('the files of the field folder', async () => {
  const real = await testApp([reference('xccdf', 'U_Google_Chrome_STIG_V2R11_Manual-xccdf.xml')]);
  const text = (name: string) => readFileSync(join(fieldFolder, name), 'utf8');
  const send = (name: string, body: unknown) => real.send('POST', api(name), body);
  const { json } = await send('upgrade', text('override-cat-iii.ckl'));
  const rules = json.checklist.stigs[0].rules as Rule[];
  assert.equal(rules.find(({ group_id }) => group_id === 'V-221558')!.overrides, {
    severity: { severity: 'low', reason: 'isolated host' },
  });
  const checklists = ['hr', 'pay'].map((each) => text(`instance-${each}.ckl`));
  const poam = (await send('emass', { checklists, sheet: 'poam', format: 'json' })).json;
  assert.equal(column(poam, 'Devices Affected'), ['db01 (HR)\ndb01 (PAY)']);
  const caller = await sessionCaller(real, await userCaller(real, { sub: 'ann' }));
  const form = new FormData();
  form.append('file', new File([readFileSync(join(fieldFolder, 'powershell5-checklists.zip'))], 'p.zip'));
  const { html } = await loadPage(real, '/checklists/upgrade', caller, form);
  assert.match(textOf(html), 'V2R10 to V2R11');
  real.db.close();
});

field.run();
