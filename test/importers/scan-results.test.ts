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

const shapes: Record<string, [text: string, kind: string]> = {
  'after the groups of a manual STIG': [writeXccdf({ ...newer, after: result() }), 'xccdf'],
  'before them': [writeXccdf({ ...newer, before: result() }), 'xccdf'],
  'under a prefix': [writeXccdf({ ...newer, prefix: 'cdf', after: result('cdf:') }), 'xccdf'],
  'of another namespace than its benchmark': [
    writeXccdf({ ...newer, after: result().replace('<TestResult', `<TestResult xmlns="${xccdf12}"`) }),
    'xccdf',
  ],
  'of none': [
    writeXccdf({ ...newer, after: result().replace('<TestResult', '<TestResult xmlns=""') }),
    'xccdf',
  ],
  'in a benchmark of XCCDF 1.2': [
    writeXccdf({ ...newer, after: result() }).replaceAll(xccdf11, xccdf12),
    'xccdf',
  ],
  'in a benchmark that would be refused': [
    writeXccdf({ rules: [], releaseInfo: 'x', after: result() }),
    'xccdf',
  ],
  'as the root, XCCDF 1.1': [result().replace('<TestResult', `<TestResult xmlns="${xccdf11}"`), 'xccdf'],
  'as the root, prefixed': [
    result('c:').replace('<c:TestResult', `<c:TestResult xmlns:c="${xccdf12}"`),
    'xccdf',
  ],
  'as the root, without a namespace': [result(), 'xccdf'],
  'in a report of several assets': [
    `<a:asset-report-collection xmlns:a="${arf}"><a:reports><a:report><a:content>${result().replace('<TestResult', `<TestResult xmlns="${xccdf12}"`)}</a:content></a:report></a:reports></a:asset-report-collection>`,
    'scap',
  ],
  'in a wrapper of nobody': [
    `<w>${result().replace('<TestResult', `<TestResult xmlns="${xccdf12}"`)}</w>`,
    'xccdf',
  ],
};

results('are skipped with their reason, alone and beside the STIG itself, and change nothing', async () => {
  const folder = scratchFolder();
  const stig = put(folder, 'stig.xml', writeXccdf());
  const db = emptyCatalog();
  await runImport(db, [stig]);
  const before = tableDigests(db);
  for (const [name, [text, kind]] of Object.entries(shapes)) {
    const file = put(scratchFolder(), 'results.xml', text);
    const { lines, loneUnknown } = await runImport(db, [file]);
    const [line] = lines;
    assert.equal(
      [line!.outcome, line!.kind, line!.target],
      ['skipped', kind, null],
      `${name}: ${line!.reason}`,
    );
    assert.ok(line!.reason!.endsWith(says), `${name}: ${line!.reason}`);
    assert.equal(loneUnknown, [], 'a known kind: no failure');
  }
  assert.equal({ ...tableDigests(db) }, before);

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
