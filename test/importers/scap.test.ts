import * as assert from 'uvu/assert';
import { notYetImported } from '../../importers/imported-before.ts';
import { parseSource } from '../../importers/parse.ts';
import { runImport } from '../../importers/run.ts';
import { compareScapVersions } from '../../importers/stigs/scap-contents.ts';
import type { ScapContent } from '../../importers/stigs/xccdf-record.ts';
import { loadedStatus } from '../../src/catalog/loaded-status.ts';
import type { Database } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { filesToReadAgain } from '../../src/db/read-again.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { type SampleScap, scapRules, writeScap, writeScapBenchmark } from '../support/scap-writer.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';
import { scapSamples } from './samples.ts';

const scap = suite('SCAP content');

function contentsOf(text: string): ScapContent[] {
  const parsed = parseSource(Buffer.from(text), {});
  assert.is(parsed.kind, 'scap');
  assert.ok(parsed.content?.type === 'scap', parsed.content === null ? parsed.reason : '');
  return parsed.content.contents;
}

scap('a data stream states its name, publisher, versions, date and rules', () => {
  const checks = [
    ['ocil', 'oval'],
    ['ocil'],
    [],
    ['oval in a complex check'],
    ['oval without a reference', 'ocil'],
  ];
  const rules = checks.map(
    (each, at) => ({ ruleId: `SV-${at}r1_rule`, groupId: `V-${at}`, checks: each }) as never,
  );
  const [content, ...others] = contentsOf(writeScap({ version: ' 002.008.12 ', scapVersion: '1.4', rules }));
  assert.equal(others, []);
  assert.equal(told([content!], 'benchmarkId', 'name', 'publisher', 'version', 'date', 'scapVersion'), [
    'SAMPLE Sample STIG SCAP Benchmark DISA 002.008.12 2023-12-20 1.4',
  ]);
  assert.equal(told(content!.rules, 'ruleId', 'groupId', 'automated'), [
    'SV-0r1_rule V-0 true',
    'SV-1r1_rule V-1 false',
    'SV-2r1_rule V-2 false',
    'SV-3r1_rule V-3 true',
    'SV-4r1_rule V-4 false',
  ]);
});

scap('NIWC is the publisher where the id of the collection or the title says so', () => {
  const publisher = (sample: SampleScap) => contentsOf(writeScap(sample))[0]!.publisher;
  assert.is(publisher({ collection: 'scap_navy.navwar.niwcatlantic.scc_collection_X' }), 'NIWC');
  assert.is(publisher({ title: 'X - NIWC Enhanced with Manual Questions' }), 'NIWC');
  assert.is(publisher({ benchmarkId: 'niwc' }), 'DISA');
});

scap('any other publisher is the one of the metadata, of a reference, or the owner of the ids', () => {
  const named = (name: string) =>
    `<dc:publisher xmlns:dc="http://purl.org/dc/elements/1.1/">${name}</dc:publisher>`;
  const publisher = (added: string, id = 'xccdf_mil.disa.stig_benchmark_') =>
    contentsOf(
      writeScap().replace('<x:Profile ', `${added}<x:Profile `).replace('xccdf_mil.disa.stig_benchmark_', id),
    )[0]!.publisher;
  const [metadata, references] = ['metadata', 'reference'].map(
    (element) => (name: string) => `<x:${element}>${named(name)}</x:${element}>`,
  );
  const ours = 'xccdf_org.harbor.content_benchmark_';
  assert.is(publisher(metadata!(' Harbor\n Project ')), 'Harbor Project');
  assert.is(publisher(references!('Somebody') + metadata!('Harbor Project')), 'Harbor Project');
  assert.is(publisher(references!('Harbor Project'), ours), 'Harbor Project');
  assert.is(publisher(references!('DISA, Field Security Operations'), ours), 'DISA');
  assert.is(publisher(metadata!(' '), ours), 'org.harbor.content');
  assert.is(publisher('', 'Harbor_'), 'DISA', 'the owner of the collection');
});

scap('checks of a system that is not read are a warning with their count, once each', () => {
  const script = (text: string) =>
    text.replaceAll('http://scap.nist.gov/schema/ocil/2', 'http://open-scap.org/page/SCE');
  const warningsOf = (text: string) => parseSource(Buffer.from(text)).warnings;
  assert.equal(warningsOf(writeScap()), []);
  assert.equal(warningsOf(script(writeScap())), [
    'not stored: check of the system "http://open-scap.org/page/SCE" (3)',
  ]);
  const tailored = writeScap({
    before: '<x:Tailoring xmlns:x="http://checklists.nist.gov/xccdf/1.2" id="t"/>',
  });
  assert.equal(warningsOf(tailored), ['not stored: component/Tailoring (1)']);
});

scap('the date is that of the line "Enhanced Content", else the latest of the statuses', () => {
  const date = (sample: SampleScap) => contentsOf(writeScap(sample))[0]!.date;
  const line = 'Enhanced Content 2.8.3 Date: 2023-08-04, based on Release: 2.8 Benchmark Date: 26 Jan 2023';
  assert.is(date({ releaseInfo: line }), '2023-08-04');
  assert.is(date({ releaseInfo: line.replace('2023-08-04', '2023-02-30') }), '2023-12-20');
  assert.is(date({ statusDate: 'soon' }), null);
});

scap('each benchmark of a stream is a content, with the SCAP version of its data stream', () => {
  const two = writeScap({ benchmarkId: 'A' }, { benchmarkId: 'B', rules: scapRules(7, 2) });
  assert.equal(
    contentsOf(two).map(({ benchmarkId, rules, scapVersion }) => [benchmarkId, rules.length, scapVersion]),
    [
      ['A', 3, '1.3'],
      ['B', 2, '1.3'],
    ],
  );
  const other = two
    .replace('<component-ref id="r1" l:href="#c1"/>', '')
    .replace(
      '<component ',
      '<data-stream scap-version="1.2"><component-ref l:href="#c1"/></data-stream><component ',
    );
  assert.equal(told(contentsOf(other), 'scapVersion'), ['1.3', '1.2']);
  assert.is(contentsOf(writeScap({ scapVersion: null }))[0]!.scapVersion, '');
});

scap('a benchmark anywhere else, and a rule of another namespace, is none', () => {
  const benchmark = writeScapBenchmark({ benchmarkId: 'INNER' });
  const nested = writeScap({ before: `<o>${benchmark}</o>` });
  assert.equal(told(contentsOf(nested), 'benchmarkId'), ['SAMPLE']);
  const foreign = writeScap().replace('<x:Group ', '<o:Rule xmlns:o="urn:o" id="SV-9"/><x:Group ');
  assert.is(contentsOf(foreign)[0]!.rules.length, 3);
});

const many = (number: number) => scapRules(1, number).map((rule) => ({ ...rule, checks: [] }));
const before = (mark: string, text: string) => writeScap().replace(mark, `${text}${mark}`);
const longId = [{ ruleId: 'x'.repeat(1001), groupId: '' }];
const hundred = Array.from({ length: 101 }, (_, at) => ({ benchmarkId: `B${at}` }));
const hostile: [string, RegExp][] = [
  [writeScap().replaceAll('x:Benchmark', 'x:Other'), /^the data stream has no XCCDF benchmark$/],
  [writeScap({ rules: [] }), /^the benchmark SAMPLE has no rules$/],
  [writeScap({ benchmarkId: '' }), /^a benchmark has no id$/],
  [writeScap({ title: ' ' }), /^the benchmark SAMPLE has no title$/],
  [writeScap({ version: '' }), /^the benchmark SAMPLE has no version$/],
  [writeScap({ scapVersion: '9.9' }), /^SCAP "9\.9" is not one of 1\.2, 1\.3 and 1\.4$/],
  [writeScap({ title: 'x'.repeat(100_000) }), /^the title of .+ more than 1,000 characters$/],
  [writeScap({ rules: [...many(2), ...many(1)] }), /has the rule SV-1r1_rule twice$/],
  [writeScap({}, {}), /^the data stream has the benchmark SAMPLE twice$/],
  [writeScap({ rules: many(20_001) }), /has more than 20,000 rules$/],
  [writeScap({ rules: [{ ruleId: '', groupId: '' }] }), /has a rule without an id$/],
  [writeScap({ rules: longId }), /an id of more than 1,000/],
  [writeScap(...hundred), /^the data stream has more than 100 benchmarks$/],
  [
    before('</x:Benchmark>', '<x:Rule id="a"/>'.repeat(1_000_000)),
    /more than 1000000 elements in <Benchmark>/,
  ],
  [writeScap().slice(0, -40), /\(line \d+, column \d+\)$/],
  [writeScap({ title: '&lol;' }), /\(line \d+, column \d+\)$/],
];

scap('a data stream that is broken or beyond the bounds is refused in one line', async () => {
  const db = emptyCatalog();
  const folder = scratchFolder();
  const paths = hostile.map(([text], at) => put(folder, `${String(at).padStart(2, '0')}.xml`, text));
  const { lines } = await runImport(db, paths);
  for (const [at, [, message]] of hostile.entries()) {
    const { outcome, kind, reason } = lines[at]!;
    assert.equal([outcome, kind], ['rejected', 'scap'], String(message));
    assert.match(reason!, message);
    assert.ok(reason!.length < 300 && !reason!.includes('\n'), reason!);
  }
  assert.is(JSON.parse(db.catalogVersion())[0], 0);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM scap_facts').pluck().get(), 0);
  db.close();
});

scap('versions are compared number by number', () => {
  const ordered = 'x 1 1.x 001.1 1.10.5 002.007.021 2.8 2.008.3 99999999999999999999'.split(' ');
  for (const [at, a] of ordered.entries())
    for (const [to, b] of ordered.entries())
      assert.is(Math.sign(compareScapVersions(a, b)), Math.sign(at - to), `${a} ${b}`);
  assert.is(compareScapVersions('003.007', '3.7'), 0);
});

/** The contents that count, with the STIG of each. */
const served = (db: Database) =>
  db.sqlite
    .prepare(
      `SELECT f.publisher, f.benchmark_id, f.version, s.slug FROM scap_contents AS c
         JOIN scap_facts AS f USING (source_id, ordinal) LEFT JOIN stigs AS s ON s.id = c.stig_id
        ORDER BY f.publisher, f.benchmark_id`,
    )
    .raw()
    .all();

scap('the ledger says what counts, what is superseded and what belongs to no STIG', async () => {
  const folder = scratchFolder();
  const db = emptyCatalog();
  await runImport(db, [put(folder, 'stig.xml', scapSamples['stig.xml']!)]);
  const before = dumpCatalog(db).stigs;
  const file = (name: string) => put(folder, name, scapSamples[name]!);
  const { lines } = await runImport(db, [file('one.scap.xml'), file('niwc.scap.xml'), file('both.scap.xml')]);
  assert.equal(
    lines.map(({ outcome, kind, target, counts }) => [outcome, kind, target, counts]),
    [
      ['imported', 'scap', 'SAMPLE', { rules: 3, automated: 3, manual: 0 }],
      ['imported', 'scap', 'SAMPLE', { rules: 3, automated: 3, manual: 0 }],
      ['imported', 'scap', 'SAMPLE, NONE', { rules: 5, automated: 5, manual: 0 }],
    ],
  );
  assert.equal([lines[0]!.warnings, lines[1]!.warnings], [[], []]);
  assert.is(lines[2]!.warnings.length, 2);
  assert.match(
    lines[2]!.warnings.join(),
    /SAMPLE 1 is superseded: .+niwc\.scap\.xml has 001\.010\.2 of 2023-12-20/,
  );
  assert.match(lines[2]!.warnings.join(), /NONE 001\.001 belongs to no STIG/);
  const generation = db.catalogVersion();
  const next = await runImport(db, [put(folder, 'old.scap.xml', writeScap({ version: '1.2' }))]);
  assert.equal([next.lines[0]!.outcome, next.lines[0]!.warnings], ['superseded', []]);
  assert.match(next.lines[0]!.reason!, /^DISA's SAMPLE 1\.2 is superseded: .+one\.scap\.xml has 1\.9/);
  assert.is.not(db.catalogVersion(), generation);
  assert.is((await runImport(db, [file('one.scap.xml')])).lines[0]!.outcome, 'unchanged');
  assert.equal(dumpCatalog(db).stigs, before);
  db.close();
});

scap('a content belongs to the STIG with which it shares most rules, at least half of its own', async () => {
  const folder = scratchFolder();
  const db = emptyCatalog();
  const numbered = (id: string, first: number) =>
    put(folder, `${id}.xml`, writeXccdf({ id, title: `${id} STIG`, stem: id, first, rules: 4 }));
  await runImport(db, [numbered('B', 1001), numbered('A', 2001)]);
  const stigOf = async (name: string, rules: ReturnType<typeof scapRules>) => {
    await runImport(db, [put(folder, `${name}.scap.xml`, writeScap({ benchmarkId: name, rules }))]);
    return (served(db) as string[][]).find(([, id]) => id === name)![3];
  };
  const foreign = (number: number) => scapRules(9001, number);
  assert.is(await stigOf('half', [...scapRules(1001, 3), ...foreign(3)]), 'b');
  assert.is(await stigOf('less', [...scapRules(1001, 3), ...foreign(4)]), null);
  assert.is(await stigOf('most', [...scapRules(1001, 2), ...scapRules(2001, 3)]), 'a');
  assert.is(await stigOf('alike', [...scapRules(1001, 2), ...scapRules(2001, 2)]), 'a');
  db.close();
});

scap('what an older version skipped is read again, also in an archive of the inbox', async () => {
  const folder = scratchFolder();
  const stig = put(folder, 'stig.xml', scapSamples['stig.xml']!);
  const zip = put(
    folder,
    'lib.zip',
    makeZip([{ name: 'in.zip', data: makeZip([{ name: 's.xml', data: writeScap() }]) }]),
  );
  const db = emptyCatalog();
  await runImport(db, [stig, zip]);
  const whole = catalogDigest(db);
  // What the former version left: no facts, and its line in the ledger.
  db.sqlite.exec(`DELETE FROM scap_contents; DELETE FROM sources WHERE kind = 'scap';
    UPDATE import_ledger SET outcome = 'skipped', target = NULL, counts = '{}',
      reason = 'SCAP content (automated checks, root <data-stream-collection>): it cannot be imported as a STIG'
     WHERE kind = 'scap'`);
  const again = [`${zip}!/in.zip!/s.xml`];
  assert.equal(filesToReadAgain(db.sqlite), again);
  assert.equal(loadedStatus(db).readAgain, again);
  const look = async () => (await notYetImported(db, [stig, zip], new Set(), false)).fresh;
  assert.equal(await look(), [zip]);
  await runImport(db, [zip]);
  assert.is(catalogDigest(db), whole);
  assert.equal(filesToReadAgain(db.sqlite), []);
  assert.equal(await look(), []);
  db.close();
});

scap.run();
