import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { longestCell } from '../../src/http/xlsx.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite, testIf } from '../support/harness.ts';
import { exchangeData, exchangeFolder, hasReferenceData, reference, shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { rowsOf as rowsOfTable } from '../support/tables.ts';
import { told } from '../support/told.ts';
import { noVersion } from '../support/words.ts';
import { partsOf, readSheet } from '../support/xlsx-reader.ts';

// Sheets of eMASS from checklists with random answers, against a reading of the checklists and of the crosswalk's own files.
const emass = suite('eMASS sheets');

type Rule = Cklb['stigs'][number]['rules'][number];
type Row = Record<string, string>;
const path = '/api/v1/checklists/emass';
let t: TestApp;
let blanks: Cklb[] = [];

emass.before(async () => {
  const texts = hasReferenceData
    ? [reference('cci-2025-01-23', 'U_CCI_List.xml'), reference('oscal'), reference('xccdf')]
    : [shipped('stigs')];
  t = await testApp([shipped('controls'), shipped('mappings'), ...texts]);
  const { stigs } = (await t.get('/api/v1/stigs?limit=150')).json;
  const some = stigs.filter(({ slug }: { slug: string }) => /harbor|chrome|2016_instance/.test(slug));
  blanks = await Promise.all(
    some.map(async ({ slug }: { slug: string }) => (await t.get(`/api/v1/stigs/${slug}/download`)).json),
  );
});
emass.after(() => t.db.close());

const ask = (checklists: unknown, sheet: string, more: object = {}): Promise<Answer> =>
  t.send('POST', path, { checklists, sheet, format: 'json', ...more });

/** The rows of an answer, each cell under the name of its column; of a name that stands twice the first. */
function rowsOf({ status, json, text }: Answer): Row[] {
  assert.is(status, 200, text.slice(0, 300));
  const { header, rows } = json as { header: string[]; rows: string[][] };
  const names = header.map((name, index) =>
    header.indexOf(name) < index ? `${name.trim()} again` : name.trim(),
  );
  return rows.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index]!])));
}

/** The controls of a CCI, read from the shipped files: of its Rev 5 references, else of those of Rev 4. */
const table = (folder: string, name: string): Row[] =>
  parse(readFileSync(shipped(folder, name)), { columns: true });
const references = table('mappings', 'cci_to_nist-800-53.csv');
const active = new Map(
  ['nist-800-53_rev5.csv', 'nist-800-53_rev4.csv'].flatMap((name) =>
    table('controls', name)
      .filter(({ status }) => status !== 'withdrawn')
      .map(({ version, identifier }, index): [string, number] => [
        `${version!.slice(0, 5)} ${identifier}`,
        index,
      ]),
  ),
);
function controlsOf(cci: string, revisions = ['Rev 5', 'Rev 4']): string[] {
  for (const revision of revisions) {
    const named = references.filter((row) => row.fromIdentifier === cci && row.toVersion === revision);
    // A reference of Rev 4 counts for a control that Rev 5 has too.
    const here = new Set(
      named.map((row) => row.toIdentifier!).filter((id) => active.has(`${revisions[0]} ${id}`)),
    );
    if (named.length > 0)
      return [...here].sort(
        (a, b) => active.get(`${revisions[0]} ${a}`)! - active.get(`${revisions[0]} ${b}`)!,
      );
  }
  return [];
}

const list = hasReferenceData ? readFileSync(reference('cci-2025-01-23', 'U_CCI_List.xml'), 'utf8') : '';
const definitions = new Map(
  [...list.matchAll(/<cci_item id="([^"]+)">.*?<definition>(.*?)<\/definition>/gs)].map(([, id, text]) => [
    id!,
    text!.replaceAll('&amp;', '&').replaceAll('&quot;', '"').trim(),
  ]),
);

const answer = fc.record({
  status: fc.constantFrom('not_reviewed', 'not_applicable', 'open', 'not_a_finding'),
  finding_details: fc.constantFrom('', 'seen', 'a\nb', '=1+1'),
  overrides: fc.constantFrom(
    {},
    {},
    { severity: { severity: 'low', reason: 'walled' } },
    { severity: { severity: 'high', reason: 'x' } },
  ),
});

/** Checklists of three hosts for some STIGs, answered at random with a bias to what is met. */
function answered(seed: number): Cklb[] {
  let at = 0;
  const answers = fc.sample(answer, { seed, numRuns: 5000 });
  return ['web01', 'web02', ''].flatMap((host_name, index) =>
    blanks.slice(index).map((blank) => {
      const checklist = structuredClone(blank);
      checklist.target_data.host_name = host_name;
      for (const rule of checklist.stigs[0]!.rules) {
        const drawn = answers[at++ % answers.length]!;
        const status = at % 3 === seed % 3 ? drawn.status : 'not_a_finding';
        Object.assign(rule, structuredClone(drawn), { status });
      }
      return checklist;
    }),
  );
}

interface Checked {
  host: string;
  stig: Cklb['stigs'][number];
  rule: Rule;
}
const flat = (checklists: Cklb[]): Checked[] =>
  checklists.flatMap(({ target_data, stigs }) =>
    stigs.flatMap((stig) => stig.rules.map((rule) => ({ host: target_data.host_name, stig, rule }))),
  );
const severity = (rule: Rule) => rule.overrides.severity?.severity ?? rule.severity;
const shown = (host: string) => host || '(no host name)';
const category = (rule: Rule) => ({ high: 'CAT I', medium: 'CAT II', low: 'CAT III' })[severity(rule)];

emass('test results: a row for each CCI, with what its rules come to', async () => {
  const statuses = new Set<string>();
  for (const seed of [1, 2]) {
    const checklists = answered(seed);
    // In every form that a checklist comes in.
    const sent = checklists.map((each, index) =>
      index % 3 === 0 ? each : index % 3 === 1 ? JSON.stringify(each) : writeCkl(each),
    );
    const found = await ask(sent, 'test-results', { testedBy: 'Ann', dateTested: '22-Nov-2026' });
    const rows = rowsOf(found);
    const checks = flat(checklists);
    const ccis = [...new Set(checks.flatMap(({ rule }) => rule.ccis))].sort();
    assert.is(rows.map((row) => `CCI-${row.CCI}`).join(), ccis.join());
    for (const row of rows) {
      const cci = `CCI-${row.CCI}`;
      const mine = checks.filter(({ rule }) => rule.ccis.includes(cci));
      const has = (status: string) => mine.some(({ rule }) => rule.status === status);
      const order = [
        ['open', 'Non-Compliant'],
        ['not_reviewed', ''],
        ['not_a_finding', 'Compliant'],
      ] as const;
      const [, expected] = order.find(([status]) => has(status)) ?? [null, 'Not Applicable'];
      statuses.add(expected);
      assert.is(row['Compliance Status'], expected, cci);
      assert.is(row['Control Acronym'], controlsOf(cci).join(', '), cci);
      assert.is(row['CCI Definition'], definitions.get(cci) ?? '', cci);
      assert.equal([row['Date Tested'], row['Tested By']], ['22-Nov-2026', 'Ann']);
      const results = row['Test Results']!;
      if (expected === '') assert.is(results, '');
      else if (expected !== 'Non-Compliant') assert.ok(results.startsWith(`${expected}. `), results);
      else {
        const lines = mine
          .filter(({ rule }) => rule.status === 'open')
          .map(({ host, rule }) => {
            const name = `${shown(host)}: ${rule.rule_id_src} (${rule.rule_version})`;
            return [name, category(rule), rule.finding_details].filter((part) => part !== '').join(' - ');
          });
        const whole = ['Non-Compliant. The following technical STIG/SRG checks are open:', ...new Set(lines)];
        const [left] = /\n[\d,]+ more open checks? left out$/.exec(results) ?? [''];
        const kept = whole.slice(0, whole.length - Number(left.replace(/\D/g, '')));
        assert.is(results, kept.join('\n') + left, cci);
        assert.ok(left === '' || whole.join('\n').length > longestCell - 100, `${results.length}`);
        assert.ok(results.length <= longestCell);
      }
      const others =
        /again$|^(Control Impl|Security Control|AP Acr|Implementation G|Assessment|Inherited|Remote)/;
      for (const [name, cell] of Object.entries(row))
        if (others.test(name)) assert.is(cell, '', `${name}: only eMASS knows`);
    }
    const none = checks.filter(({ rule }) => rule.ccis.length === 0);
    assert.equal(
      told(found.json.withoutCci as Row[], 'host', 'benchmarkId', 'ruleId', 'status'),
      none.map(({ host, stig, rule }) => `${host} ${stig.stig_id} ${rule.rule_id_src} ${rule.status}`),
    );
  }
  assert.ok(statuses.has('Non-Compliant') && statuses.has('Compliant'));
});

emass('POA&M: a row for each rule that is open somewhere', async () => {
  const checklists = answered(4);
  const more = { officeOrg: 'Office', scheduledCompletionDate: '01-Jan-2027', resources: 'None' };
  const rows = rowsOf(await ask(checklists, 'poam', more));
  const open = flat(checklists).filter(({ rule }) => rule.status === 'open');
  const ids = [...new Set(open.map(({ rule }) => rule.rule_id_src))];
  assert.equal(told(rows, 'Security Checks').sort(), ids.sort());
  for (const row of rows) {
    const mine = open.filter(({ rule }) => rule.rule_id_src === row['Security Checks']);
    const { rule } = mine[0]!;
    const worst = ['high', 'medium', 'low'].find((each) =>
      mine.some((other) => severity(other.rule) === each),
    )!;
    const ccis = [...new Set(mine.flatMap((each) => each.rule.ccis))].sort();
    const controls = [...new Set(ccis.flatMap((cci) => controlsOf(cci)))];
    controls.sort((a, b) => active.get(`Rev 5 ${a}`)! - active.get(`Rev 5 ${b}`)!);
    const sources = mine.map(({ stig: of }) => `${of.stig_id} :: Version ${of.version}, ${of.release_info}`);
    const details = mine
      .filter((each) => each.rule.finding_details !== '')
      .map((each) => `${shown(each.host)}: ${each.rule.finding_details}`);
    const expected: Row = {
      'Control Vulnerability Description': `${rule.rule_title}\n\n${rule.discussion}`,
      'Controls / APs': controls.join(', '),
      'Office/Org': 'Office',
      'Security Checks': rule.rule_id_src,
      'Resources Required': 'None',
      'Scheduled Completion Date': '01-Jan-2027',
      'Source Identifying Vulnerability': [...new Set(sources)].join('\n'),
      Status: 'Ongoing',
      Comments: [ccis.join(', '), ...details].join('\n'),
      'Raw Severity': { high: 'I', medium: 'II', low: 'III' }[rule.severity],
      'Devices Affected': [...new Set(mine.map(({ host }) => host))].filter((host) => host !== '').join('\n'),
      Severity: { high: 'High', medium: 'Moderate', low: 'Low' }[worst]!,
      'Impact Description': rule.discussion,
      Recommendations: rule.fix_text,
    };
    for (const [name, cell] of Object.entries(row)) assert.is(cell, expected[name] ?? '', name);
  }
});

/** The sheet as a file. */
async function fileOf(checklists: unknown, sheet: string): Promise<Uint8Array> {
  const headers = { Authorization: `Bearer ${await t.token()}` };
  const body = JSON.stringify({ checklists, sheet });
  const response = await t.app.request(path, { method: 'POST', headers, body });
  assert.is(response.status, 200);
  assert.match(response.headers.get('Content-Type')!, /spreadsheetml\.sheet$/);
  assert.match(response.headers.get('Content-Disposition')!, /^attachment; filename="eMASS_[a-z_-]+\.xlsx"/);
  return new Uint8Array(await response.arrayBuffer());
}

emass('xlsx: the sheet that eMASS takes, the same cells', async () => {
  const checklists = answered(6);
  for (const [sheet, at, name] of [
    ['test-results', 6, 'Test Result Import'],
    ['poam', 1, 'POA&M'],
  ] as const) {
    const { json } = await ask(checklists, sheet);
    const bytes = await fileOf(checklists, sheet);
    const read = readSheet(bytes);
    const shown = [read.name, read.rows[at - 1], read.rows.length];
    assert.equal(shown, [name, json.header, at + json.rows.length]);
    for (const [index, cells] of (json.rows as string[][]).entries())
      for (const [column, cell] of cells.entries())
        if (cell.length <= longestCell) assert.is(read.rows[at + index]![column] ?? '', cell);
    const part = (await partsOf(bytes)).get('xl/worksheets/sheet1.xml')!;
    assert.ok(part.includes(`<autoFilter ref="A${at}:`));
  }
});

testIf(exchangeData, emass)('the templates are those of real sheets, stray blanks and all', async () => {
  for (const [sheet, template, file] of rowsOfTable(`
    test-results | test-results | emass-test-results
    test-results | test-results-18 | emass-test-results-18
    poam | poam | poam
    poam | poam-22 | poam-emass-22
    poam | poam-mccast | poam-mccast
  `)) {
    const { json } = await ask(blanks.slice(0, 1), sheet!, { template });
    const text = readFileSync(join(exchangeFolder, 'emass', `${file}.csv`), 'utf8');
    assert.equal(json.header, (parse(text) as string[][])[0], template!);
  }
});

emass('a template of another system has its own columns, filled from the checklist', async () => {
  const open = structuredClone(blanks[0]!);
  const rule = open.stigs[0]!.rules[0]!;
  rule.status = 'open';
  const more = { template: 'poam-mccast', scheduledCompletionDate: 'soon' };
  const [row] = rowsOf(await ask([open], 'poam', more));
  const columns = `Name|Weaknesses|Vulnerability Library (Rule_ID)|Estimated Completion Date|POAM Status|
    Allocated Control (Allocated Control ID)`;
  const expected = [rule.rule_title, rule.discussion, rule.rule_id_src, 'soon', 'Ongoing'];
  assert.equal(
    columns.split(/\|\s*/).map((name) => row![name]),
    [...expected, controlsOf(rule.ccis[0]!).join(', ')],
  );
});

emass('a site’s own columns: the head of its sheet as csv, with what stands in each row', async () => {
  const columns =
    '\uFEFF"Our sheet, 2026",\r\n cci ,Team,TEST  RESULTS,Compliance status,CCI\r\nx,Blue,y,=z,\r\n';
  const { json } = await ask(blanks.slice(0, 1), 'test-results', { columns });
  assert.equal(json.header, [' cci ', 'Team', 'TEST  RESULTS', 'Compliance status', 'CCI']);
  assert.ok(json.rows.length > 0);
  // None is reviewed, so that nothing is known but the CCI.
  for (const [cci, ...rest] of json.rows) {
    assert.match(cci, /^\d{6}$/);
    assert.equal(rest, ['Blue', 'y', '=z', '']);
  }
});

emass('an older revision: what its references state; one that is not there is a 404', async () => {
  const checklists = blanks.slice(0, 1);
  const rows = rowsOf(await ask(checklists, 'test-results', { revision: 'Rev 4' }));
  for (const row of rows)
    assert.is(row['Control Acronym'], controlsOf(`CCI-${row.CCI}`, ['Rev 4']).join(', '), row.CCI);
  const newest = rowsOf(await ask(checklists, 'test-results', { revision: '5' }));
  assert.equal(newest, rowsOf(await ask(checklists, 'test-results')));
  assertError(await ask(checklists, 'test-results', { revision: '99' }), 404, 'NOT_FOUND', noVersion('99'));
});

emass('CCIs as people write them, and what is none; rules of no CCI are named', async () => {
  const checklist = structuredClone(blanks[0]!);
  const rules = checklist.stigs[0]!.rules;
  for (const rule of rules) rule.ccis = [];
  rules[0]!.ccis = ['cci-366', ' CCI-000366 ', 'CCI-0000366', 'CCI 366'];
  rules[1]!.ccis = ['CCI-999999', 'AC-2', '__proto__'];
  rules[2]!.ccis = ['CCI-0', '<b>'];
  const { json } = await ask([checklist], 'test-results');
  assert.equal(told(json.rows as string[][], 0, 6), ['CM-6 000366', ' 999999']);
  assert.equal(json.unknownCcis, ['CCI-999999']);
  assert.equal(json.withoutCci.length, rules.length - 2);
  const { rows } = readSheet(await fileOf([checklist], 'test-results'));
  assert.is(rows[1]![0], `${rules.length - 2} rules without a CCI are not in this sheet`);
});

emass('a sheet of more text than its checklists is refused, and a long host name is cut', async () => {
  const rule = (id: number, more: object) => ({ rule_id_src: `SV-${id}r1_rule`, severity: 'low', ...more });
  const ccis = Array.from({ length: 3000 }, (_, number) => `CCI-${String(number).padStart(6, '0')}`);
  const details = { status: 'open', finding_details: 'x'.repeat(30_000), ccis };
  const large = { stigs: [{ rules: [rule(1, details)] }] };
  const words = 'The sheet would have more than 67108864 characters: send fewer checklists at once';
  assertError(await ask([large], 'test-results'), 400, 'BAD_REQUEST', words);
  const long = {
    target_data: { host_name: 'h'.repeat(1_000_000) },
    stigs: [{ rules: Array.from({ length: 2000 }, (_, id) => rule(id, { status: 'open' })) }],
  };
  const { json } = await ask([long], 'poam');
  assert.is(json.rows.length, 2000);
  assert.ok(json.withoutCci.every(({ host }: { host: string }) => host.length === 255));
});

emass('long texts are cut with what is left out', async () => {
  const checklist = structuredClone(blanks[0]!);
  const cell = async () => rowsOf(await ask([checklist], 'test-results'))[0]!['Test Results']!;
  for (const rule of checklist.stigs[0]!.rules)
    Object.assign(rule, { status: 'open', ccis: ['CCI-000366'], finding_details: '😀'.repeat(8000) });
  const many = await cell();
  assert.match(many, /\n\d+ more open checks left out$/);
  checklist.stigs[0]!.rules.splice(1);
  checklist.stigs[0]!.rules[0]!.finding_details = '😀'.repeat(40_000);
  const one = await cell();
  assert.ok(one.endsWith(' [cut]'));
  for (const text of [many, one]) assert.ok(text.length <= longestCell && text.isWellFormed());
});

emass.run();
