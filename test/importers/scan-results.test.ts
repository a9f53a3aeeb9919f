import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { tableDigests } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Scan results are no part of the catalog, whatever benchmark stands around them (rule D29.5).
const results = suite('Scan results in an import');

const says = 'scan results belong to a checklist, not to the catalog';
const result = (p = '') =>
  `<${p}TestResult id="xccdf_x_testresult_1"><${p}rule-result idref="SV-100001r1_rule"><${p}result>pass</${p}result></${p}rule-result></${p}TestResult>`;
const xccdf11 = 'http://checklists.nist.gov/xccdf/1.1';
const xccdf12 = 'http://checklists.nist.gov/xccdf/1.2';
const arf = 'http://scap.nist.gov/schema/asset-reporting-format/1.1';
const newer = { release: 9, date: '12 Jan 2026' };

const of12 = (text: string) => text.replace('<TestResult', `<TestResult xmlns="${xccdf12}"`);
const shapes: [text: string, kind: string][] = [
  [writeXccdf({ ...newer, after: result() }), 'xccdf'],
  [writeXccdf({ ...newer, before: result() }), 'xccdf'],
  [writeXccdf({ ...newer, prefix: 'cdf', after: result('cdf:') }), 'xccdf'],
  // Of another namespace than its benchmark, and of none.
  [writeXccdf({ ...newer, after: of12(result()) }), 'xccdf'],
  [writeXccdf({ ...newer, after: result().replace('<TestResult', '<TestResult xmlns=""') }), 'xccdf'],
  [writeXccdf({ ...newer, after: result() }).replaceAll(xccdf11, xccdf12), 'xccdf'],
  // In a benchmark that would be refused.
  [writeXccdf({ rules: [], releaseInfo: 'x', after: result() }), 'xccdf'],
  [result().replace('<TestResult', `<TestResult xmlns="${xccdf11}"`), 'xccdf'],
  [result('c:').replace('<c:TestResult', `<c:TestResult xmlns:c="${xccdf12}"`), 'xccdf'],
  [result(), 'xccdf'],
  [
    `<a:asset-report-collection xmlns:a="${arf}"><a:reports><a:report><a:content>${of12(result())}</a:content></a:report></a:reports></a:asset-report-collection>`,
    'scap',
  ],
  [`<w>${of12(result())}</w>`, 'xccdf'],
];

results('are skipped with their reason, alone and beside the STIG itself, and change nothing', async () => {
  const folder = scratchFolder();
  const stig = put(folder, 'stig.xml', writeXccdf());
  const db = emptyCatalog();
  await runImport(db, [stig]);
  const before = tableDigests(db);
  for (const [text, kind] of shapes) {
    const { lines, loneUnknown } = await runImport(db, [put(scratchFolder(), 'results.xml', text)]);
    assert.equal(told(lines, 'outcome', 'kind', 'target'), [`skipped ${kind} null`], text.slice(0, 200));
    assert.ok(lines[0]!.reason!.endsWith(says), lines[0]!.reason!);
    assert.equal(loneUnknown, [], 'a known kind: no failure');
  }
  assert.equal(tableDigests(db), before);

  // Together with the STIG, in one run.
  const many = scratchFolder();
  for (const number of [1, 2, 3])
    put(many, `r${number}.xml`, writeXccdf({ ...newer, description: `${number}`, after: result() }));
  put(many, 'stig.xml', writeXccdf());
  const other = emptyCatalog();
  const { lines } = await runImport(other, [many]);
  assert.equal(told(lines, 'outcome'), ['skipped', 'skipped', 'skipped', 'imported']);
  assert.ok(lines.slice(0, 3).every((line) => line.reason!.endsWith(says)));
  assert.equal(
    other.sqlite.prepare('SELECT version FROM stig_releases').pluck().all(),
    ['V1R1'],
    'the release of the results is none',
  );
  db.close();
  other.close();
});

results('a test result of another kind of document is no scan result', async () => {
  const db = emptyCatalog();
  const file = put(
    scratchFolder(),
    'a.xml',
    '<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><TestResult/></TestRun>',
  );
  const { lines, loneUnknown } = await runImport(db, [file]);
  assert.equal([lines[0]!.reason, loneUnknown], ['XML of an unknown kind: root <TestRun>', [file]]);
  // The same words in a text are none either.
  const stig = put(scratchFolder(), 'b.xml', writeXccdf({ description: '<TestResult>' }));
  assert.is((await runImport(db, [stig])).lines[0]!.outcome, 'imported');
  db.close();
});

results.run();
