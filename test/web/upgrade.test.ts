import { parse } from 'csv-parse/sync';
import * as assert from 'uvu/assert';
import { zipOf as writeZip } from '../../src/base/zip.ts';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { testApp } from '../support/app.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { formOnPage, loadPage, textOf } from '../support/pages.ts';
import { readZip } from '../support/read-zip.ts';
import { shipped } from '../support/reference.ts';
import { writeResults } from '../support/results-writer.ts';
import { readCkl, readCklb } from '../support/stig-manager.ts';
import { told } from '../support/told.ts';
import { noStig, noVersion } from '../support/words.ts';

// The forms of checklists and scan results: what they make is what the API makes.
const forms = suite('Checklists and scan results by forms');

const slug = 'harbor_linux_3';
const upgrade = '/checklists/upgrade';
const t = await testApp([shipped('stigs')]);
const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
forms.after(() => t.db.close());

type Files = Record<string, string | Uint8Array<ArrayBuffer>>;
type Fields = Record<string, string>;

/** The checklist of a release, every rule open. */
async function old(hostName = 'h', version = 'V1R1'): Promise<Cklb> {
  const path = `/api/v1/stigs/${slug}/download?version=${version}&hostName=${hostName}`;
  const checklist: Cklb = (await t.get(path)).json;
  for (const rule of checklist.stigs[0]!.rules)
    Object.assign(rule, { status: 'open', finding_details: `=seen on ${hostName}` });
  return checklist;
}
const oldText = async (hostName?: string) => JSON.stringify(await old(hostName));

/** The form with some files, as a browser sends it. */
function formOf(files: Files, fields: Fields = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const [name, content] of Object.entries(files)) form.append('file', new File([content], name));
  return form;
}

/** What a form makes of files: the page, its text, and the form on it that names the files. */
async function send(files: Files, fields: Fields = {}, path = upgrade) {
  const { status, html } = await loadPage(t, path, ann, formOf(files, fields));
  return { status, html, text: textOf(html), ...formIn(html) };
}

const formIn = (html: string): { action: string; fields: Fields } => ({
  action: /<form [^>]*action="(\/checklists[^"]*)"/.exec(html)?.[1] ?? '',
  fields: Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map((each) => each.slice(1)),
  ),
});

/** What a form that stands on a page makes when it is sent as it stands, or with other fields. */
async function made(form: FormData, action = upgrade) {
  const answer = await t.app.request(`http://here.example${action}`, {
    ...{ method: 'POST', body: form, headers: ann },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const name = /filename="([^"]*)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1];
  assert.ok(name, textOf(bytes.toString()).slice(0, 300));
  return { name, type: answer.headers.get('Content-Type'), bytes, text: bytes.toString() };
}

/** The files of the zip that a form makes, the report apart. */
async function zipOf(form: FormData, action?: string) {
  const { name, bytes } = await made(form, action);
  assert.is(name, 'upgraded_checklists.zip');
  const [[first, csv], ...files] = [...(await readZip(bytes))] as [[string, Buffer], ...[string, Buffer][]];
  assert.is(first, 'upgrade-report.csv');
  const report: Record<string, string>[] = parse(csv, { columns: true });
  const texts = new Map(files.map(([each, content]) => [each, content.toString()]));
  return { names: [...texts.keys()], texts, report };
}

const byApi = (body: object, path = 'upgrade') =>
  t.send('POST', `/api/v1/checklists/${path}?download=true`, body);

forms('a checklist is upgraded, and the file comes without choosing it again', async () => {
  const checklist = await old();
  const [first] = checklist.stigs[0]!.rules;
  Object.assign(first!, { status: 'not_a_finding', comments: 'seen — by Ann\nfirst line' });
  const text = JSON.stringify(checklist);
  const report = await send({ 'old.cklb': text }, { slug, onChange: 'keep' });
  assert.match(report.text, 'V1R1 to V1R2');
  const kept = /V-900001 HARB-03-000010 .* Not a finding Not a finding Its check changed answer kept/;
  assert.match(report.text, kept);
  const api = await byApi({ slug, checklist });
  const file = await made(formOf({}, report.fields), report.action);
  const wanted = ['U_Harbor_Linux_3_STIG_V1R2.cklb', 'application/json', api.text];
  assert.equal([file.name, file.type, file.text], wanted);
  const ckl = await made(formOf({}, { ...report.fields, format: 'ckl' }), report.action);
  assert.equal([ckl.name, ckl.type], ['U_Harbor_Linux_3_STIG_V1R2.ckl', 'application/xml; charset=utf-8']);
  assert.match(ckl.text, '<COMMENTS>seen — by Ann\nfirst line</COMMENTS>');
  // PowerShell writes UTF-16 by itself, with its byte-order mark.
  const units = Buffer.from(`\ufeff${text}`, 'utf16le');
  for (const [bytes, encoding] of [
    [units, 'UTF-16LE'],
    [Buffer.from(units).swap16(), 'UTF-16BE'],
  ] as const) {
    assert.is((await made(formOf({ a: bytes }, { slug, onChange: 'keep', as: 'file' }))).text, api.text);
    const cut = await send({ a: bytes.subarray(0, -1) }, { slug });
    assert.match(cut.text, `The checklist is not valid ${encoding}`);
  }
});

forms('scan results become a checklist, alone or merged into one that is dropped with them', async () => {
  const checklist = await old('', 'V1R2');
  const [first, ...others] = checklist.stigs[0]!.rules;
  for (const rule of others) Object.assign(rule, { status: 'not_reviewed', finding_details: '' });
  Object.assign(first!, { status: 'not_applicable', finding_details: 'Ann says so.' });
  const failed = [first!, ...others.slice(0, 2)].map((rule) => ({ id: rule.rule_id_src, result: 'fail' }));
  const results = writeResults(failed, { target: 'web01', around: 'arf' });
  const text = JSON.stringify(checklist);
  assert.match((await send({ results })).text, /Open \d+ \d+ \d+ 3 0 /);
  for (const files of [
    { results, text },
    { text, results },
  ]) {
    const merged = await send(files);
    assert.match(merged.text, /Open \d+ \d+ \d+ 2 0 .*Not applicable \d \d \d 1 1 /);
    const file = await made(formOf({}, merged.fields), merged.action);
    const api = await byApi({ results, checklist: text }, 'from-results');
    assert.equal([file.name, file.text], ['web01_harbor_linux_3_V1R2.cklb', api.text]);
  }
  const overwritten = await send({ results, text }, { overwrite: 'true' });
  assert.match(overwritten.text, /Open \d+ \d+ \d+ 3 0 /);
  const ckl = formOf({}, { ...overwritten.fields, format: 'ckl' });
  assert.match((await made(ckl, overwritten.action)).name, /\.ckl$/);
  for (const [files, problem] of [
    [{ a: results, b: results, text }, 'Choose one checklist, one file of scan results, or one of each'],
    [{ a: results.replaceAll('SV-9', 'SV-8') }, 'no rule in them belongs to a STIG in the catalog'],
    [{ a: '<Benchmark/>' }, 'has no TestResult'],
  ] as [Files, string][]) {
    const refused = await send(files);
    assert.is(refused.status, 400);
    assert.match(refused.text, problem);
  }
  // What could be read comes back, both of it.
  const refused = await send({ results, text }, { version: 'V9R9' });
  assert.match(refused.text, 'Your 2 files are still attached');
  assert.match((await send({}, { version: '' }, refused.action)).text, /Open \d+ \d+ \d+ 2 0 /);
});

forms(
  'the form refuses in the words of the API, and keeps what was typed and what could be read',
  async () => {
    const checklist = await old();
    const text = JSON.stringify(checklist);
    const [stig] = checklist.stigs;
    const critical = { ...stig, rules: [{ ...stig!.rules[0], severity: 'critical' }] };
    const ckl = writeCkl(checklist as never);
    const sound: [content: string, fields: Fields, words?: string][] = [
      [text, { version: 'V9R9' }, noVersion('V9R9')],
      [text, { slug: 'no_such_stig' }, noStig('no_such_stig')],
      [text, { slug: 'lantern_web_server_2' }, 'none of its STIGs is lantern_web_server_2'],
      [text, { hostName: 'x'.repeat(256) }, 'hostName must have at most 255 characters'],
      [text, { onChange: 'drop' }, 'onChange must be keep or reset'],
      [text, { version: 'V'.repeat(1_000_000) }, 'version must have at most 100 characters'],
    ];
    const unsound = [
      ...['{', '<CHECKLIST>', 'PK', 'PK\u0003\u0004', '', '{"stigs":[]}', `{"stigs":${'['.repeat(100)}`],
      ...[JSON.stringify({ ...checklist, stigs: [critical] }), JSON.stringify({ ...checklist, title: 7 })],
      ...[ckl.replace('</VULN>', '</VULM>'), `<!DOCTYPE CHECKLIST>${ckl.replace(/^.*\n/, '')}`],
      '<CHECKLIST><ASSET><HOST_NAME>a</HOST_NAME><HOST_NAME>b</HOST_NAME></ASSET></CHECKLIST>',
    ];
    const typed = { version: ' V1R1 ', hostName: '<b>', onChange: 'reset' };
    for (const [content, fields, words] of [
      ...sound,
      ...unsound.map((each): [string, Fields] => [each, typed]),
    ]) {
      const { status, html, action } = await send({ 'old.cklb': content }, { slug, ...fields });
      assert.is(status, 400, content.slice(0, 60));
      const said = textOf(/<p class="problem" role="alert">(.*?)<\/p>/s.exec(html)![1]!);
      const api = await byApi({ slug, ...fields, checklist: content });
      // The form takes zips, and wants a file; the API says neither.
      if (content.startsWith('PK\u0003')) assert.match(said, 'old.cklb: the zip cannot be opened');
      else if (content !== '' && words === undefined) assert.is(said, api.json.error.message);
      if (words !== undefined) assert.match(said, words);
      const isStored = words !== undefined;
      assert.is(textOf(html).includes('Your file is still attached'), isStored);
      assert.is(/<input id="file"[^>]*>/.exec(html)![0].includes('required'), !isStored);
      assert.is(action.includes('?upload='), isStored);
      if (!isStored) {
        assert.match(html, /name="version" value="V1R1"/);
        assert.match(html, /name="hostName" value="&lt;b&gt;"/);
        assert.match(html, /<option value="reset" selected/);
        continue;
      }
      assert.ok(html.length < 20_000, `${html.length}`);
      // A browser sends an empty part for a file that was not chosen.
      const taken = await send({ '': '' }, { slug, hostName: 'web01' }, action);
      assert.match(taken.text, 'V1R1 to V1R2');
    }
    const { action } = await send({ text }, { slug: 'no_such_stig' });
    const another = await send({ a: '{"stigs":[]}' }, {}, action);
    assert.match(another.text, 'has no stigs', 'a new file goes before the one that is stored');
    // The page of the first file is about that file, whatever another tab sent from it.
    const second = await send({ text: await oldText('second') }, { slug }, action);
    assert.is.not(second.action, action);
    for (const [host, form] of [
      ['h', action],
      ['second', second.action],
    ] as const) {
      const file = await made(formOf({}, { slug, as: 'file' }), form);
      assert.is(JSON.parse(file.text).target_data.host_name, host);
    }
    // Only their sender gets stored files, and nobody those of an id that is unknown.
    const bob = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
    for (const [path, caller] of [
      [action, bob],
      [`${upgrade}?upload=${'0'.repeat(36)}`, ann],
    ] as const) {
      const { status, html } = await loadPage(t, path, caller, formOf({}, { slug }));
      assert.is(status, 400);
      assert.match(textOf(html), 'The files are no longer stored: choose them again');
    }
  },
);

forms('a checklist that is no UTF-8 is read as an import reads it, and the report warns', async () => {
  const checklist = await old();
  checklist.stigs[0]!.rules[0]!.comments = 'geprüft – „Müller“';
  const special: Record<string, number> = { '…': 0x85, '–': 0x96, '“': 0x93, '”': 0x94, '„': 0x84 };
  const ansi = (text: string) =>
    Uint8Array.from([...text].map((each) => special[each] ?? each.charCodeAt(0)));
  const cklb = JSON.stringify(checklist);
  const ckl = (encoding: string) =>
    writeCkl(checklist as never).replace(/^<\?xml[^>]*\?>/, `<?xml version="1.0" encoding="${encoding}"?>`);
  for (const [content, isWarned] of [
    [ckl('windows-1252'), false],
    [ansi(ckl('windows-1252')), false],
    [ansi(ckl('UTF-8')), true],
    [ansi(cklb), true],
  ] as const) {
    const { text, fields, action } = await send({ content });
    const file: Cklb = JSON.parse((await made(formOf({}, fields), action)).text);
    assert.is(file.stigs[0]!.rules[0]!.comments, 'geprüft – „Müller“');
    const warning =
      /The checklist is not valid UTF-8: byte 0x[0-9A-F]+ at offset \d+ \(line \d+\); the whole file was read as windows-1252/;
    assert.is(warning.test(text), isWarned);
  }
  for (const content of [ansi(cklb.replace('gepr', 'gepr\u0081')), ansi(ckl('shift_jis'))]) {
    const refused = await send({ content });
    assert.equal([refused.status, refused.text.includes('The checklist is not valid UTF-8')], [400, true]);
  }
});

for (const format of ['cklb', 'ckl'] as const)
  forms(`several, ${format}: previewed by file, then one zip of what the API makes of each`, async () => {
    const files: Record<string, string> = {
      'first.cklb': await oldText('web01'),
      'second.ckl': writeCkl((await old('web02')) as never),
      '../twin.cklb': await oldText('web01'),
    };
    const preview = await send(files, { format, onChange: 'reset' });
    assert.match(preview.text, '3 of 3 checklists upgraded');
    for (const name of Object.keys(files)) assert.match(preview.text, name);
    const { names, texts, report } = await zipOf(formOnPage(preview.html), preview.action);
    assert.equal(
      names,
      ['web01_harbor_linux_3_V1R2', 'web02_harbor_linux_3_V1R2', 'web01_harbor_linux_3_V1R2-2'].map(
        (name) => `${name}.${format}`,
      ),
    );
    for (const [index, [file, checklist]] of Object.entries(files).entries()) {
      const asked = { slug, checklist, format, onChange: 'reset' };
      const { json } = await t.send('POST', '/api/v1/checklists/upgrade', asked);
      const text = texts.get(names[index]!)!;
      assert.is(text, format === 'ckl' ? json.checklist : JSON.stringify(json.checklist));
      (format === 'ckl' ? readCkl : readCklb)(text);
      const own = report.filter((line) => line.file === file);
      assert.ok(own.every((line) => line.upgradedFile === names[index]));
      const { rules, notCarried } = json.report;
      const left = notCarried.map((each: { ruleId?: string }) => `not-carried ${each.ruleId ?? ''}`);
      assert.equal(told(own, 'outcome', 'ruleId'), [...told(rules, 'outcome', 'ruleId'), ...left]);
    }
    const reset = report.find((line) => line.outcome === 'reset' && line.file === 'first.cklb')!;
    // Formulas are escaped, as in every csv.
    assert.equal([reset.lostStatus, reset.lostDetails], ['open', "'=seen on web01"]);
    assert.ok(report.some((line) => line.outcome === 'not-carried' && line.lostStatus === 'open'));
  });

forms('what cannot be upgraded is told, and keeps no other from it', async () => {
  const foreign = await old('web03');
  Object.assign(foreign.stigs[0]!, { stig_id: 'Nobody_Knows', stig_name: 'Nobody knows' });
  for (const [at, rule] of foreign.stigs[0]!.rules.entries())
    Object.assign(rule, { group_id: `V-99${at}`, rule_id_src: `SV-99${at}r1_rule` });
  const bad = {
    'broken.cklb': '{',
    'foreign.cklb': JSON.stringify(foreign),
    '<b>.txt': 'x',
    'scan.xml': '<TestResult xmlns="http://checklists.nist.gov/xccdf/1.2" id="t"/>',
  };
  const files = { 'good.cklb': await oldText('web01'), ...bad };
  const preview = await send(files);
  for (const words of [
    '1 of 5 checklists upgraded',
    'checklist: the text is not valid JSON',
    'Nobody_Knows is not in the catalog, and stays as it was',
    '<b>.txt',
  ])
    assert.match(preview.text, words);
  assert.not.match(preview.html, '<b>.txt');
  const { names, report } = await zipOf(formOnPage(preview.html), preview.action);
  assert.equal(names, ['web01_harbor_linux_3_V1R2.cklb']);
  const left = report.filter(({ outcome }) => outcome === 'not-upgraded');
  assert.equal(told(left, 'file'), Object.keys(bad));
  // Named by hand, a checklist of another id is of the STIG that shares its rules.
  assert.match((await send(files, { slug })).text, '2 of 5 checklists upgraded');
  const none = await send({ 'broken.cklb': '{', 'foreign.cklb': JSON.stringify(foreign) });
  assert.match(none.text, '0 of 2 checklists upgraded');
  assert.not.match(none.html, 'Download checklists and report');
  // Under another benchmark id a STIG is found by its title, else by its rules.
  const renamed = { stig_id: 'Renamed_By_A_Tool' };
  for (const change of [renamed, { ...renamed, stig_name: 'Ours' }, { stig_id: '', stig_name: '' }]) {
    const checklist = await old('web04');
    Object.assign(checklist.stigs[0]!, change);
    const { html, action } = await send({ a: JSON.stringify(checklist), b: '{' });
    assert.equal((await zipOf(formOnPage(html), action)).names, ['web04_harbor_linux_3_V1R2.cklb']);
  }
});

forms('a checklist of several STIGs has each of them upgraded, also two entries of one', async () => {
  const both = await old('web01');
  const other: Cklb = (await t.get('/api/v1/stigs/lantern_web_server_2/download')).json;
  both.stigs.push(...other.stigs);
  const files = { 'both.cklb': JSON.stringify(both), 'no host.cklb': await oldText('') };
  const { names, texts, report } = await zipOf(formOf(files, { as: 'file' }));
  assert.equal(names, ['web01.cklb', 'no host.cklb']);
  const { stigs } = JSON.parse(texts.get('web01.cklb')!) as Cklb;
  assert.is(stigs.length, 2);
  assert.ok(stigs.every((stig) => stig.rules.every((rule) => rule.stig_uuid === stig.uuid)));
  assert.is(new Set(report.map(({ file, stig }) => `${file} ${stig}`)).size, 3);

  const twice = await old('twice');
  const [first] = twice.stigs;
  twice.stigs = ['harbor_linux_3_stig', 'Harbor_Linux_3_STIG', 'Harbor_Linux_3_STIG'].map((stig_id, at) => {
    const rules = first!.rules.map((rule) => ({ ...rule, comments: `entry ${at}` }));
    return { ...first!, stig_id, rules };
  });
  const entries = { 'twice.cklb': JSON.stringify(twice), 'other.cklb': await oldText('other') };
  const { html, action } = await send(entries);
  const zip = await zipOf(formOnPage(html), action);
  const upgraded = (JSON.parse(zip.texts.get('twice.cklb')!) as Cklb).stigs;
  const said = upgraded.map((each) => each.release_info.slice(0, 10) + each.rules[0]!.comments);
  assert.equal(said, ['Release: 2entry 0', 'Release: 2entry 1', 'Release: 2entry 2']);
});

forms('a zip stands for its checklists, a hostile one and what makes no sense are refused', async () => {
  const zip = async (files: Record<string, string>) =>
    writeZip(Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) })));
  const [web01, web02] = [await oldText('web01'), writeCkl((await old('web02')) as never)];
  const sources = { 'a/web01.cklb': web01, 'b.ckl': web02, 'notes.txt': 'x' };
  const both = await send({ 'all.zip': Uint8Array.from(await zip(sources)) });
  assert.match(both.text, '2 of 2 checklists upgraded');
  const made = ['web01_harbor_linux_3_V1R2.cklb', 'web02_harbor_linux_3_V1R2.cklb'];
  assert.equal((await zipOf(formOnPage(both.html), both.action)).names, made);
  const one = await send({ 'all.zip': Uint8Array.from(await zip({ 'web01.cklb': web01 })) });
  assert.match(one.text, 'V1R1 to V1R2');
  const refusals: [files: Files, fields: Fields, message: string][] = [
    [{ a: '{}', b: '{}' }, { hostName: 'x' }, 'Several checklists keep their own host names: leave the host'],
    [{ a: '{}', b: '{}' }, { version: 'V1R1' }, 'Choose the STIG that the release is of, or leave the'],
    [{ a: web01, b: '{}', c: '{}' }, { slug: 'no_such_stig' }, noStig('no_such_stig')],
    [Object.fromEntries(Array(101).fill('{}').entries()), {}, 'Choose at most 100 checklists at once'],
  ];
  for (const [bytes, message] of [
    [await zip({ 'notes.txt': 'x' }), 'all.zip has no checklist (.ckl, .cklb) and no scan results (.xml)'],
    [(await zip(sources)).subarray(0, -30), 'all.zip: the zip cannot be opened'],
    [await zip({ 'big.cklb': ' '.repeat(60 * 1024 * 1024) }), 'compressed more than 200:1'],
  ] as const)
    refusals.push([{ 'all.zip': Uint8Array.from(bytes) }, {}, message]);
  for (const [files, fields, message] of refusals) {
    const refused = await send(files, fields);
    assert.equal([refused.status, refused.text.includes(message)], [400, true], message);
  }
});

forms.run();
