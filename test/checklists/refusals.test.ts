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

/** The lines of a table, each parted at its first `=>`. */
const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +=> */, 2) as [string, string]);

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

const long = 'x'.repeat(256);
const hosts = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ hostName: `h${n}` })));

/** Where a body is sent, the body, what is said of it. GOOD is a checklist, SCAN results, both as JSON. */
const requests = () => `
  upgrade                                                        => …not valid JSON…
  upgrade null                                                   => …
  upgrade []                                                     => …
  upgrade {                                                      => …not valid JSON…
  upgrade {}                                                     => checklist must be the text…
  upgrade {"slug":"a"}                                           => checklist must be the text…
  upgrade {"slug":7,"checklist":{}}                              => slug must be one text…
  upgrade {"slug":"a","checklist":null}                          => checklist must be the text…
  upgrade {"slug":"a","checklist":[]}                            => checklist must be the text…
  upgrade {"slug":"a","checklist":5}                             => checklist must be the text…
  upgrade {"slug":"a","checklist":{},"version":8}                => version must be one text…
  upgrade {"slug":"a","checklist":{},"onChange":"drop"}          => onChange must be keep or reset…
  upgrade {"slug":"a","checklist":{},"hostName":"${long}"}       => hostName must have at most 255…
  upgrade {"slug":"a\\u0000","checklist":{}}                     => slug must not contain NUL…
  upgrade?download=maybe {"slug":"a","checklist":{}}             => download…
  from-results                                                   => …not valid JSON…
  from-results null                                              => …
  from-results []                                                => …
  from-results {}                                                => results must be the text…
  from-results {"results":7}                                     => results must be the text…
  from-results {"results":{"TestResult":{}}}                     => results must be the text…
  from-results {"results":""}                                    => results: …
  from-results {"results":"{}"}                                  => results: …
  from-results {"results":SCAN,"slug":7}                         => slug must be one text…
  from-results {"results":SCAN,"slug":"a\\u0000"}                => slug must not contain NUL…
  from-results {"results":SCAN,"hostName":"${long}"}             => hostName must have at most 255…
  from-results {"results":SCAN,"overwrite":"yes"}                => overwrite must be true or false…
  from-results {"results":SCAN,"format":"pdf"}                   => Invalid format…
  from-results {"results":SCAN,"checklist":5}                    => checklist must be the text…
  from-results {"results":SCAN,"checklist":{}}                   => …has no stigs…
  from-results {"results":SCAN,"checklist":SCAN}                 => checklist: must begin with <CHECKLIST>…
  inspect {}                                                     => …
  inspect {"checklist":{},"results":SCAN}                        => …
  inspect []                                                     => …
  inspect {                                                      => …
  inspect PK\u0003\u0004                                         => …
  emass []                                                       => The body must be an object
  emass {                                                        => The request body is not valid JSON
  emass {"sheet":"poam"}                                         => checklists must be an array of checklists
  emass {"checklists":[],"sheet":"poam"}                         => checklists must contain 1 to 500 checklists
  emass {"checklists":[${'"",'.repeat(500)}""],"sheet":"poam"}   => checklists must contain 1 to 500 checklists
  emass {"checklists":GOOD,"sheet":"poam"}                       => checklists must be an array of checklists
  emass {"checklists":[GOOD]}                                    => sheet must be one of: test-results, poam
  emass {"checklists":[GOOD],"sheet":"pom"}                      => sheet must be one of: test-results, poam
  emass {"checklists":[GOOD,5],"sheet":"poam"}                   => checklists.1: checklist must be the text…
  emass {"checklists":[GOOD,"x"],"sheet":"poam"}                 => checklists[1]: is neither a .ckl (XML) nor…
  emass {"checklists":[GOOD,{}],"sheet":"poam"}                  => checklists[1]: has no stigs: it is not a cklb
  emass {"checklists":[GOOD,"<a/>"],"sheet":"poam"}              => checklists[1]: must begin with <CHECKLIST>…
  emass {"checklists":[GOOD],"sheet":"poam","format":"csv"}      => Invalid format. Must be one of: xlsx, json
  emass {"checklists":[GOOD],"sheet":"poam","template":"test-results"} => template must be one of: poam, poam-22, …
  emass {"checklists":[GOOD],"sheet":"poam","template":"../poam"} => template must be one of: test-results, …
  emass {"checklists":[GOOD],"sheet":"poam","template":"poam","columns":"Status"} => …template or columns, not both
  emass {"checklists":[GOOD],"sheet":"poam","testedBy":"${'x'.repeat(1001)}"} => testedBy must have at most 1000…
  emass {"checklists":[GOOD],"sheet":"poam","columns":""}        => columns: no line has a column that Gapstone fills…
  emass {"checklists":[GOOD],"sheet":"poam","columns":"a,b\\nc"} => columns: no line has a column that Gapstone fills…
  emass {"checklists":[GOOD],"sheet":"poam","columns":"Status\\n1\\n2"} => columns: there is more than one line below…
  emass {"checklists":[GOOD],"sheet":"poam","columns":"Status${',x'.repeat(200)}"} => columns: at most 200 columns…
  emass {"checklists":[GOOD],"sheet":"poam","columns":"${'x\\n'.repeat(21)}Status"} => columns: at most 200 columns…
  emass {"checklists":[GOOD],"sheet":"poam","columns":"Status,\\"open"} => columns: …
  emass {"checklists":[GOOD],"sheet":"poam","columns":"${'x'.repeat(100_001)}"} => columns must have at most 100000…
  hosts {}                                                       => The list has no hosts: name some
  hosts {"hosts":[]}                                             => hosts must contain 1 to 500 hosts
  hosts {"hosts":${hosts(501)}}                                  => hosts must contain 1 to 500 hosts
  hosts {"hosts":${hosts(1)},"format":"pdf"}                     => Invalid format. Must be one of: cklb, ckl
  hosts {"hosts":${hosts(1)},"layout":"x"}                       => layout must be one of: stig, host
  hosts {"hosts":${hosts(500)}} => 500 hosts and 11 STIGs are 5500 files; at most 5000 are made at once. Name fewer…
  hosts {"hosts":[{"hostName":"Web"},{"hostName":" wEB"}]}       => hosts: host 2 ( wEB): the host is listed twice
  hosts {"hosts":[{"ipAddress":"10.0.0.1"}]}                     => hosts: host 1: hostName is required
  hosts {"hosts":[{"hostName":"a"},7]}                           => hosts: host 2: a host must be an object with hostName
  hosts {"hosts":[{"hostName":"a"},null]}                        => hosts: host 2: a host must be an object with hostName
  hosts {"hosts":[{"hostName":"a"},[]]}                          => hosts: host 2: a host must be an object with hostName
  hosts {"hosts":[{"hostName":" "}]}                             => hosts: host 1: hostName must not be empty
  hosts {"hosts":[{"hostName":"${long}"}]} => hosts: host 1 (${long.slice(0, 64)}): hostName must have at most 255…
  hosts {"hosts":[{"hostName":"w\\u202e1","fqdn":7}]}            => hosts: host 1 (w\ufffd1): fqdn must be one text
  hosts {"hosts":[{"hostName":"a\\u0007b"}]}     => hosts: host 1 (a\ufffdb): hostName must not contain control characters
  hosts {"hosts":[{"hostName":"a","role":"King"}]}               => hosts: host 1 (a): role must be one of: None, …
  hosts {"hosts":[{"hostName":"a","ipAddress":"10.0.0"}]}        => hosts: host 1 (a): ipAddress must be an IPv4 or IPv6…
  hosts {"hosts":[{"hostName":"a","ipAddress":"10.0.0.1/24"}]}   => hosts: host 1 (a): ipAddress must be an IPv4 or IPv6…
  hosts {"hosts":[{"hostName":"a","macAddress":"00:15:5D:0E:92"}]} => hosts: host 1 (a): macAddress must be a MAC…
  hosts {"hosts":[{"hostName":"a","macAddress":"00:15-5D:0E:92:0C"}]} => hosts: host 1 (a): macAddress must be a MAC…
  hosts {"hosts":[{"hostName":"a","fqdn":"web01"}]}              => hosts: host 1 (a): fqdn must be a fully qualified name…
  hosts {"hosts":[{"hostName":"a","fqdn":"web_01.x.test"}]}      => hosts: host 1 (a): fqdn must be a fully qualified name…
  hosts {"hosts":[{"hostName":"a","stigs":[]}]}                  => hosts: host 1 (a): stigs must contain 1 to 5,000 slugs
  hosts {"hosts":[{"hostName":"a","stigs":"harbor_linux_3"}]}    => hosts: host 1 (a): stigs must be an array of slugs
  hosts {"hosts":[{"hostName":"a","stigs":["no_such"]}]}         => hosts: host 1 (a): the list has no STIG no_such
`;

refusals('the request itself', async () => {
  for (const [request, words] of rowsOf(requests())) {
    const [, to, body] = /^(\S+) ?(.*)$/.exec(request)!;
    const given = body!.replaceAll('GOOD', JSON.stringify(old)).replaceAll('SCAN', JSON.stringify(scan));
    await refused(to!, given, words, request.slice(0, 200));
  }
});

/** Checklists as JSON, or as a text in quotes. */
const checklists = `
  ""                                              => checklist: is neither a .ckl (XML) nor a .cklb (JSON)…
  "   \\n"                                        => checklist: is neither…
  "PK\\u0003\\u0004"                              => checklist: is neither…
  "[1,2]"                                         => checklist: is neither…
  "{"                                             => checklist: the text is not valid JSON…
  "{\\"stigs\\": [}"                              => checklist: the text is not valid JSON…
  "{\\"stigs\\":null}"                            => …has no stigs…
  {}                                              => …has no stigs…
  {"stigs":[]}                                    => …has no stigs…
  {"stigs":{}}                                    => …has no stigs…
  {"stigs":[null]}                                => …has no stigs…
  {"stigs":[7]}                                   => checklist: STIG 1 must be an object…
  {"stigs":[[]]}                                  => checklist: STIG 1 must be an object…
  {"stigs":[{"rules":"SV-1"}]}                    => checklist: rules of STIG 1 must be an array…
  {"stigs":[{"rules":[1]}]}                       => checklist: rule 1 of STIG 1 must be an object…
  {"stigs":[{"rules":[{}]}]}                      => checklist: severity of a rule in a STIG without a name must be high…
  {"stigs":[{"rules":[{"severity":"low"}]}]}      => checklist: rule 1 in a STIG without a name has no rule id…
`;

/** Changes of the first rule of a checklist. */
const firstRules = `
  {"status":"passed"}             => …status of V-900001 in Harbor Linux 3 …must be Not_Reviewed, …, not "passed"
  {"status":"not_a_finding${' '.repeat(100)}x"} => …status of V-900001 in Harbor Linux 3 …must be…
  {"severity":"critical"}         => …severity of V-900001 in …must be high, medium or low, not "critical"
  {"severity":" "}                => …severity of V-900001 in Harbor Linux 3 …must be high, medium or low
  {"severity":"${'x'.repeat(500)}"} => …, not "${'x'.repeat(64)}"
  {"rule_id":"TWICE"}             => checklist: V-9… in Harbor Linux 3 …repeats the rule SV-…
`;

/** A ckl, or what of a good one becomes what else. */
const ckls = `
  <                                               => checklist: …
  <CHECKLIST>                                     => …unclosed tag…
  <Benchmark id="x"/>                             => …must begin with <CHECKLIST>, not <Benchmark>…
  <${'x'.repeat(100_000)}/>                       => …must begin with <CHECKLIST>, not <${'x'.repeat(64)}>…
  <html><body>Sign in</body></html>               => …must begin with <CHECKLIST>, not <html>…
  <CHECKLIST></CHECKLIST>                         => …has no stigs…
  <CHECKLIST><STIGS><iSTIG/></STIGS></CHECKLIST>  => …none of its STIGs is…
  HALF                                            => checklist: …
  WHOLE<CHECKLIST/>                               => checklist: …
  </VULN> ~ </VULM>                               => …unexpected close tag…
  <STATUS> ~ <STATUS a=b>                         => checklist: …
  </STATUS> ~ </STATUS><STATUS>Open</STATUS>      => …VULN[1] contains STATUS twice…
  <HOST_NAME> ~ <HOST_NAME>a</HOST_NAME><HOST_NAME> => …ASSET contains HOST_NAME twice…
  <COMMENTS> ~ <COMMENTS>\u0000                   => checklist: …
  <COMMENTS> ~ <COMMENTS>\ud800                   => …lone surrogates…
  <COMMENTS> ~ <COMMENTS>&#0;                     => checklist: …
  <COMMENTS> ~ <COMMENTS>&nbsp;                   => …undefined entity…
`;

/** The same of results. */
const results = `
  <                                               => results: …
  HALF                                            => results: …
  <html><body>Sign in</body></html>               => …has no TestResult: … (root <html>)
  <${'x'.repeat(100_000)}/>                       => …has no TestResult: … (root <${'x'.repeat(64)}>)
  <CHECKLIST/>                                    => …this is a checklist (ckl)…
  </result> ~ </resulT>                           => …unexpected close tag…
  <target> ~ <target>\u0000                       => results: …
  <target> ~ <target>&nbsp;                       => …undefined entity…
  <target>h</target> ~ <x:target>h</x:target>     => …prefix "x" is not bound…
`;

/** What a line of these tables stands for, made of a good text. */
function madeOf(whole: string, line: string): string {
  const [from, to] = line.split(' ~ ');
  if (to !== undefined) return whole.replace(from!, to);
  return line.replace('HALF', whole.slice(0, whole.length / 2)).replace('WHOLE', whole);
}

refusals('what is no checklist', async () => {
  for (const [text, words] of rowsOf(checklists)) await refusedChecklist(JSON.parse(text), words);
  const [first, second, ...rest] = old.stigs[0]!.rules;
  const withRules = (rules: object[]) => ({ ...old, stigs: [{ ...old.stigs[0]!, rules }] });
  for (const [text, words] of rowsOf(firstRules)) {
    const change = JSON.parse(text.replace('TWICE', second!.rule_id));
    await refusedChecklist(withRules([{ ...first!, ...change }, second!, ...rest]), words);
  }
  for (const [line, words] of rowsOf(ckls)) await refusedChecklist(madeOf(ckl, line), words);
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
    ...rowsOf(results).map(([line, words]) => [madeOf(scan, line), words] as const),
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
