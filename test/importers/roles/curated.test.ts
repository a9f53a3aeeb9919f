import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { runImport } from '../../../importers/run.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { suite } from '../../support/harness.ts';
import { shipped } from '../../support/reference.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { rowsOf } from '../../support/tables.ts';
import { told } from '../../support/told.ts';
import { writeXccdf } from '../../support/xccdf-writer.ts';

const curated = suite('Curated mappings and NICE');

const folder = scratchFolder();
const header = 'stigSlug,occupationCode,confidenceScore,roleResponsibilityLevel,niceWorkRoleId,mappingReason';
let count = 0;
const csv = (...rows: string[]) => put(folder, `${++count}.csv`, [header, ...rows, ''].join('\n'));

let t: TestApp;

curated.before.each(async () => {
  t = await testApp([shipped('stigs'), shipped('roles')]);
});

curated.after.each(() => t.db.close());

function rows(slug = 'lantern_web_server_2') {
  return t.db.sqlite
    .prepare<[string], Record<string, unknown>>(
      `SELECT m.relevance_rank AS rank, m.occupation_code AS code, m.confidence_score AS score,
              m.mapping_source AS source, m.mapping_reason AS reason, m.work_role_id AS workRole,
              m.responsibility_level AS level
         FROM role_mappings AS m JOIN stigs AS s ON s.id = m.stig_id WHERE s.slug = ? ORDER BY rank`,
    )
    .all(slug);
}

const codes = () => rows().map((row) => `${row.rank} ${row.code} ${row.source}`);

curated('a curated row replaces that of the class, ranked with the others', async () => {
  const path = csv(
    'lantern_web_server_2,15-1244.00,0.95,Primary,IO-WRL-005,"They run it, says the site."',
    'lantern_web_server_2,15-1254.00,0.50,Related,,Rarely.',
  );
  const { lines } = await runImport(t.db, [path]);
  assert.is(lines[0]!.kind, 'role-mapping-csv');
  assert.equal(lines[0]!.warnings, []);
  assert.equal(codes(), [
    '1 15-1244.00 curated',
    '2 15-1299.01 automated',
    '3 15-1212.00 automated',
    '4 15-1254.00 curated',
  ]);
  assert.equal(rows()[0], {
    rank: 1,
    code: '15-1244.00',
    score: 0.95,
    source: 'curated',
    reason: 'They run it, says the site.',
    workRole: 'IO-WRL-005',
    level: 'Primary',
  });
  assert.is(rows()[3]!.workRole, 'DD-WRL-003', 'none stated: that of the class');
});

curated('a score of 0 takes a mapping away', async () => {
  await runImport(t.db, [csv('lantern_web_server_2,15-1299.01,0,Related,,Not here.')]);
  assert.equal(codes(), ['1 15-1244.00 automated', '2 15-1212.00 automated', '3 15-1254.00 automated']);
});

curated('a later file wins, and the first may be imported again', async () => {
  const first = csv('lantern_web_server_2,15-1244.00,0.90,Primary,,First.');
  const second = csv('lantern_web_server_2,15-1244.00,0.60,Primary,,Second.');
  for (const [path, reason] of [
    [first, 'First.'],
    [second, 'Second.'],
    [first, 'First.'],
  ] as const) {
    assert.is((await runImport(t.db, [path])).lines[0]!.outcome, 'imported');
    assert.is(rows().find((row) => row.code === '15-1244.00')!.reason, reason);
  }
});

curated('what a row names may come later; until then it warns', async () => {
  const path = csv(
    'late_product,15-1244.00,0.90,Primary,,Soon.',
    'lantern_web_server_2,11-1011.00,0.90,Primary,ZZ-WRL-001,No such code.',
  );
  const { lines } = await runImport(t.db, [path]);
  assert.equal(lines[0]!.warnings, [
    'row 2: no STIG late_product in the catalog',
    'row 3: no occupation 11-1011.00, no work role ZZ-WRL-001 in the catalog',
  ]);
  const title = 'Late Product Security Technical Implementation Guide';
  await runImport(t.db, [
    put(folder, 'late.xml', writeXccdf({ id: 'Late_Product', title, stem: 'LATE-01' })),
  ]);
  assert.is(rows('late_product')[0]!.reason, 'Soon.');
});

const broken = String.raw`
  a~15-1244.00~1.01~Primary~~x | ^row 2, column confidenceScore: "1\.01"
  a~15-1244.00~high~Primary~~x | ^row 2, column confidenceScore
  A B~15-1244.00~1~Primary~~x  | ^row 2, column stigSlug: "A B"
  a~15-1244~1~Primary~~x       | ^row 2, column occupationCode
  a~15-1244.00~1~Owner~~x      | ^row 2, column roleResponsibilityLevel
  a~15-1244.00~1~Primary~~     | ^row 2, column mappingReason
  a~15-1244.00~1               | ^row 2 has 3 cells, the header has 6$`;

curated('what is wrong is named by row and column, and changes nothing', async () => {
  const before = rows();
  const twice = 'a,15-1244.00,1,Primary,,';
  const cases = rowsOf(broken).map(([row, reason]) => [csv(row!.replaceAll('~', ',')), reason!] as const);
  cases.push([csv(`${twice}x`, `${twice}y`), '^row 3 repeats the mapping of row 2']);
  cases.push([
    put(folder, 'header.csv', `${header},more\n${twice}x,y\n`),
    '^row 1: the header is not stigSlug,',
  ]);
  const { lines } = await runImport(
    t.db,
    cases.map(([path]) => path),
  );
  for (const [index, [, reason]] of cases.entries()) {
    assert.equal([lines[index]!.outcome, lines[index]!.kind], ['rejected', 'role-mapping-csv'], reason);
    assert.match(lines[index]!.reason!, new RegExp(reason));
  }
  assert.equal(rows(), before);
});

interface Nice {
  documents: { version: string }[];
  elements: Record<string, string>[];
  relationships: Record<string, string>[];
}

const nice = () => JSON.parse(readFileSync(shipped('roles', 'nice-work-roles.json'), 'utf8')) as Nice;
const putNice = (value: unknown) => put(folder, `${++count}.json`, JSON.stringify(value));

curated('NICE: the newest version is kept, whichever comes last', async () => {
  const newer = nice();
  newer.documents[0]!.version = '10.1.0';
  newer.elements.find((each) => each.element_identifier === 'IO-WRL-005')!.title = 'Renamed\u00a0';
  assert.is(
    (await runImport(t.db, [putNice({ response: { elements: newer } })])).lines[0]!.outcome,
    'imported',
  );
  const name = t.db.sqlite.prepare("SELECT name FROM work_roles WHERE work_role_id = 'IO-WRL-005'").pluck();
  assert.is(name.get(), 'Renamed');
  const older = nice();
  older.documents[0]!.version = '9.0.0';
  const { outcome, reason } = (await runImport(t.db, [putNice(older)])).lines[0]!;
  assert.equal([outcome, reason], ['superseded', 'NICE Framework 10.1.0 is kept, which is newer']);
  assert.is(name.get(), 'Renamed');
});

curated('NICE: a role that is withdrawn and in no category is left out', async () => {
  const newer = nice();
  newer.documents[0]!.version = '10.1.0';
  const role = newer.elements.find((each) => each.element_identifier === 'IO-WRL-005')!;
  role.text = 'Withdrawn: see another.';
  newer.relationships = newer.relationships.filter((each) => each.dest_element_identifier !== 'IO-WRL-005');
  const line = (await runImport(t.db, [putNice(newer)])).lines[0]!;
  assert.equal([line.outcome, line.counts.workRoles], ['imported', 40]);
  const row = t.db.sqlite.prepare("SELECT 1 FROM work_roles WHERE work_role_id = 'IO-WRL-005'");
  assert.is(row.get(), undefined);
});

curated('NICE: a framework without work roles, or a role in no category, is rejected', async () => {
  const empty = nice();
  empty.elements = empty.elements.filter((each) => each.element_type !== 'work_role');
  const astray = nice();
  astray.relationships = astray.relationships.slice(1);
  const wrong = { ...nice(), elements: [{ element_type: 'work_role' }] };
  const { lines } = await runImport(t.db, [putNice(empty), putNice(astray), putNice(wrong)]);
  assert.equal(told(lines, 'kind', 'outcome'), ['nice rejected', 'nice rejected', 'nice rejected']);
  assert.match(lines[1]!.reason!, /^the work role \S+ is in no category$/);
  assert.match(lines[2]!.reason!, /^\/elements\/0\//);
  assert.is(t.db.sqlite.prepare('SELECT count(*) FROM work_roles').pluck().get(), 41);
});

curated.run();
