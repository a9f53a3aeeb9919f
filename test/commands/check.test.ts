import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { createStatusService } from '../../src/catalog/loaded-status.ts';
import { type CheckReport, checkDatabase } from '../../src/commands/check.ts';
import { type Database, openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { listMigrations } from '../../src/db/migrate.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { filesIn, filesOf, put, scratchFolder } from '../support/scratch.ts';

const names = [
  'integrity of the catalog',
  "integrity of users' data",
  'foreign keys of the catalog',
  "foreign keys of users' data",
  'ledger',
  'sources',
  'releases',
  'controls',
  'crosswalk',
  'roles and documents',
  'search index',
  'closure',
  'digest',
];

/** A database of all kinds of sources in two runs, with a decision about a pair of theirs and a pair of the site's own, whose crosswalk is small. */
const sample = join(scratchFolder(), 'g.db');
const sampleUsers = filesOf(sample).usersDb;
{
  const db = openCatalog(sample, { create: true });
  await runImport(db, [shipped('stigs'), shipped('regulatory'), shipped('roles')]);
  await runImport(db, [
    shipped('controls', 'nist-800-171_rev2.csv'),
    shipped('controls', 'nist-800-53_rev5.csv'),
    shipped('mappings', 'nist-800-171_to_nist-800-53.csv'),
    put(scratchFolder(), 'bad.xml', '<bad'),
  ]);
  db.close();
  for (const [from, to, status] of [
    ['3.1.1', 'AC-17', 'rejected'],
    ['3.1.2', 'PM-1', 'verified'],
  ] as const) {
    const { code } = await commandHere([
      ...['mapping', 'set', '--from', `nist-800-171:${from}`, '--to', `nist-800-53:${to}`],
      ...['--status', status, '--reason', 'why', '--db', sample],
    ]);
    assert.is(code, 0);
  }
}

function problemsOf(report: CheckReport): string[] {
  return report.checks.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`));
}

const check = suite('gapstone check');

check('finds nothing in what imports make, and changes nothing', async () => {
  const db = openDatabase(filesOf(sample));
  const report = checkDatabase(db);
  assert.equal(problemsOf(report), []);
  assert.equal(
    report.checks.map(({ name }) => name),
    names,
  );
  assert.ok(report.ok);
  assert.is(report.digest, catalogDigest(db));
  db.close();
  const alone = openCatalog(sample);
  assert.equal(checkDatabase(alone), report, 'the catalog alone is checked as it is beside users\u2019 data');
  alone.close();
  const empty = openCatalog(':memory:');
  assert.equal(problemsOf(checkDatabase(empty)), []);
  empty.close();
});

interface Seed {
  sql: string;
  problems: RegExp[];
}

/** What is said of a node whose paths do not follow from the edges. */
const pathsDiffer = (node: string) =>
  new RegExp(`^closure: the paths of ${node} do not match its edges: \\d+ stored, \\d+ expected$`);

/** Enough words that one of them is in the sample. */
const words = (beginning: string) =>
  Array.from({ length: 20 }, (_, index) => `${beginning}${index}`).join(' ');

/** What is done to a database, and what is said of it: these lines and no other. */
const seeds: Record<string, Seed> = {
  'a row whose parent is gone, in the catalog': {
    sql: "INSERT INTO stig_aliases VALUES ('lost', 9999)",
    problems: [/^foreign keys of the catalog: stig_aliases refers to a row of stigs that does not exist$/],
  },
  "a row whose parent is gone, in users' data": {
    sql: "INSERT INTO list_stigs VALUES ('nobody', 'harbor_linux_3', 'h', 'H', 'V1R1', 1, '', '', NULL)",
    problems: [/^foreign keys of users' data: list_stigs refers to a row of bundles that does not exist$/],
  },
  'a total of a run': {
    sql: `UPDATE import_runs SET summary = json_set(summary, '$.rejected', 0) WHERE id = 2`,
    problems: [/^ledger: run 2 says 0 rejected, its lines say 1$/],
  },
  'a line of a run that is gone': {
    sql: 'DELETE FROM import_ledger WHERE run_id = 2 AND ordinal = 4',
    problems: [
      /^ledger: run 2 says 1 rejected, its lines say 0$/,
      /^ledger: run 2 says 4 sources, it has 3 lines$/,
    ],
  },
  'warnings that were not told': {
    sql: `UPDATE import_ledger SET warnings = '["one","two"]' WHERE run_id = 2 AND ordinal = 4`,
    problems: [/^ledger: run 2 says \d+ warnings, its lines have \d+$/],
  },
  'a generation that went back': {
    sql: 'UPDATE catalog SET generation = 0',
    problems: [
      /^ledger: the catalog is of generation 0, run 1 left 1$/,
      /^ledger: the catalog is of generation 0, run 2 left 2$/,
    ],
  },
  'a source that no run imported': {
    sql: "UPDATE import_ledger SET outcome = 'unchanged' WHERE run_id = 2 AND ordinal = 1; UPDATE import_runs SET summary = json_set(summary, '$.imported', (summary ->> 'imported') - 1, '$.unchanged', 1) WHERE id = 2",
    problems: [
      /^ledger: the stored source [0-9a-f]{64} \(controls-csv\) has no line that says it was imported$/,
    ],
  },
  'a source that states nothing': {
    sql: 'DELETE FROM document_facts WHERE source_id = (SELECT min(source_id) FROM document_facts); DELETE FROM documents WHERE document_id NOT IN (SELECT document_id FROM document_facts)',
    problems: [/^sources: the source [0-9a-f]{64} \(regdoc\) states nothing$/],
  },
  'an older release that is served': {
    sql: "UPDATE stigs SET current_release_id = (SELECT id FROM stig_releases WHERE version = 'V1R1') WHERE slug = 'harbor_linux_3'",
    problems: [
      /^releases: harbor_linux_3 serves V1R1, its newest release is V1R2$/,
      /^search index: \d+ rules are found that no current release has: number \d+ by "\w+"$/,
      /^search index: \d+ rules are not found by a word that they have: number \d+ by "\w+"$/,
    ],
  },
  'another title': {
    sql: "UPDATE stigs SET title = 'x' WHERE slug = 'harbor_linux_3'",
    problems: [/^releases: harbor_linux_3 has another title than its newest release$/],
  },
  'a finding that is gone': {
    sql: "DELETE FROM findings WHERE ordinal = 3 AND release_id = (SELECT id FROM stig_releases WHERE version = 'V1R2')",
    problems: [
      /^releases: harbor_linux_3 V1R2 says \d+ findings \(\d+, \d+, \d+\), it has \d+$/,
      /^search index: 1 rules are found that no current release has: /,
    ],
  },
  'a severity that was changed': {
    sql: "UPDATE findings SET severity = CASE severity WHEN 'low' THEN 'high' ELSE 'low' END WHERE ordinal = 3 AND release_id = (SELECT id FROM stig_releases WHERE version = 'V2R3')",
    problems: [/^releases: lantern_web_server_2 V2R3 says/],
  },
  'a profile that is gone': {
    sql: "DELETE FROM stig_profiles WHERE ordinal = 1 AND release_id = (SELECT id FROM stig_releases WHERE version = 'V2R3')",
    problems: [/^releases: lantern_web_server_2 V2R3 says \d+ profiles, it has \d+$/],
  },
  'a benchmark id that leads nowhere': {
    sql: "DELETE FROM stig_aliases WHERE alias LIKE 'lantern%'",
    problems: [/^releases: lantern_web_server_2 V2R3 has a benchmark id that leads nowhere: /],
  },
  'an alias that is a slug': {
    sql: "INSERT INTO stig_aliases SELECT slug, id FROM stigs WHERE slug = 'harbor_linux_3'",
    problems: [/^releases: the alias harbor_linux_3 is the slug of a STIG$/],
  },
  'a printing that gives way to one of another version': {
    sql: "UPDATE stig_printings SET superseded_by = (SELECT id FROM stig_printings WHERE version = 'V1R2') WHERE version = 'V1R1'",
    problems: [/^releases: harbor_linux_3 V1R1 gives way to a release that is not served in its place$/],
  },
  'a printing that cannot be compared': {
    sql: "DELETE FROM stig_evidence WHERE release_id = (SELECT id FROM stig_printings WHERE version = 'V1R1')",
    problems: [
      /^releases: the printing [0-9a-f]{64} belongs to no STIG, or what it is compared by is not there$/,
    ],
  },
  'two default versions': {
    sql: "INSERT INTO framework_versions VALUES ('nist-800-53', 'Rev 9', '', 1, 0)",
    problems: [
      /^controls: nist-800-53 has 2 default and 1 newest versions$/,
      /^controls: nist-800-53 Rev 9 has 0 controls, numbered to 0$/,
    ],
  },
  'a control that is gone': {
    sql: "DELETE FROM controls WHERE framework = 'nist-800-171' AND ordinal = 5",
    problems: [/^controls: nist-800-171 Rev 2 has 109 controls, numbered to 110$/],
  },
  'a control that nobody states': {
    sql: "DELETE FROM control_facts WHERE framework = 'nist-800-171' AND identifier = '3.1.1'",
    problems: [
      /^controls: no source states nist-800-171:3\.1\.1 of Rev 2$/,
      /^closure: nist-800-171:3\.1\.1 - nist-800-53:AC-2 is auto, the sources give no edge$/,
      /^closure: nist-800-171:3\.1\.1 - nist-800-53:AC-3 is auto, .+ no edge$/,
      /^closure: nist-800-171:3\.1\.1 - nist-800-53:AC-17 is auto, .+ no edge$/,
    ],
  },
  'a control with the key of another': {
    sql: "UPDATE controls SET control_id = (SELECT id FROM control_keys WHERE identifier = '3.1.2') WHERE identifier = '3.1.1'",
    problems: [/^controls: nist-800-171:3\.1\.1 has the key of nist-800-171:3\.1\.2$/],
  },
  'an edge without evidence': {
    sql: 'DELETE FROM crosswalk_evidence WHERE a = (SELECT min(a) FROM crosswalk_edges) AND b = (SELECT min(b) FROM crosswalk_edges WHERE a = (SELECT min(a) FROM crosswalk_edges))',
    problems: [/^crosswalk: no source states nist-800-53:.+ - nist-800-171:.+$/],
  },
  'evidence of nothing': {
    sql: 'INSERT INTO crosswalk_evidence VALUES (1, 2, 77, 1)',
    problems: [/^crosswalk: the evidence of edge 1 - 2 is of no source$/],
  },
  'an edge of another status': {
    sql: "UPDATE crosswalk_edges SET status = 'rejected' WHERE a = (SELECT id FROM crosswalk_nodes WHERE identifier = 'AC-17') AND b = (SELECT id FROM crosswalk_nodes WHERE identifier = '3.1.1')",
    problems: [
      /^closure: nist-800-171:3\.1\.1 - nist-800-53:AC-17 is rejected, the sources give auto$/,
      ...['nist-800-53:AC-2', 'nist-800-53:AC-3', 'nist-800-53:AC-17', 'nist-800-171:3.1.1'].map(pathsDiffer),
      pathsDiffer('nist-800-171:3.1.2'),
    ],
  },
  'an edge that nobody states': {
    sql: "INSERT INTO crosswalk_edges SELECT min(id), max(id), 'auto' FROM crosswalk_nodes WHERE identifier IN ('AC-17', '3.14.7')",
    problems: [
      /^crosswalk: no source states nist-800-53:AC-17 - nist-800-171:3\.14\.7$/,
      /^closure: nist-800-171:3\.14\.7 - nist-800-53:AC-17 is auto, the sources give no edge$/,
      ...['nist-800-53:AC-17', 'nist-800-53:SI-4', 'nist-800-171:3.1.1'].map(pathsDiffer),
      ...['nist-800-171:3.1.2', 'nist-800-171:3.14.7'].map(pathsDiffer),
    ],
  },
  'a path that is gone': {
    sql: 'DELETE FROM crosswalk_paths WHERE source = 0 AND ordinal = 1',
    problems: [/^closure: the paths of nist-800-53:\S+ do not match its edges: \d+ stored, \d+ expected$/],
  },
  'a path of another status': {
    sql: 'UPDATE crosswalk_paths SET statuses = statuses + 1 WHERE source = 3 AND ordinal = 1',
    problems: [/^closure: the paths of nist-800-53:\S+ do not match its edges: (\d+) stored, \1 expected$/],
  },
  'a path from nowhere': {
    sql: 'INSERT INTO crosswalk_paths VALUES (9999, 1, 1, 1, 1, 0, 1, NULL, NULL, NULL)',
    problems: [/^closure: 1 paths begin at nodes that do not exist$/],
  },
  'a rank that is missing': {
    sql: 'UPDATE role_mappings SET relevance_rank = 99 WHERE id = (SELECT min(id) FROM role_mappings)',
    problems: [/^roles and documents: \S+ has \d+ roles, ranked to 99$/],
  },
  'a document that is not served': {
    sql: "DELETE FROM documents WHERE document_id = 'harbor-basic-directive'",
    problems: [/^roles and documents: the document harbor-basic-directive is stated and not served$/],
  },
  'a rule that the index does not have': {
    sql: `INSERT INTO rule_search (rule_search, rowid, title, discussion, check_content, fix_text, ids)
          SELECT 'delete', id, title, discussion, check_content, fix_text, ids FROM searchable_rules
           WHERE id = (SELECT max(f.id) FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id)`,
    problems: [/^search index: 1 rules are not found by a word that they have: number \d+ by "\w+"$/],
  },
  'words of the index that no rule has': {
    sql: `INSERT INTO rule_search (rowid, title, discussion, check_content, fix_text, ids)
          SELECT max(current_release_id) + 9000, '${words('zebra')}', '', '', '', '' FROM stigs;
          INSERT INTO rule_search (rowid, title, discussion, check_content, fix_text, ids)
          SELECT max(f.id), '${words('kangaroo')}', '', '', '', '' FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id`,
    problems: [
      /^search index: 1 rules are found that no current release has: number \d+ by "z\w+"$/,
      /^search index: 1 rules are found by a word that they do not have: number \d+ by "\w+"$/,
    ],
  },
  'a text that changed behind the index': {
    sql: `UPDATE findings SET rule_title = '${words('ostrich')}'
           WHERE id = (SELECT max(f.id) FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id)`,
    problems: [
      /^search index: 1 rules are found by a word that they do not have: number \d+ by "\w+"$/,
      /^search index: 1 rules are not found by a word that they have: number \d+ by "o\w+"$/,
    ],
  },
  'an occupation that nobody states': {
    sql: "DELETE FROM occupation_facts WHERE occupation_code = '15-1244.00'",
    problems: [/^roles and documents: the occupation 15-1244\.00 is served and not stated$/],
  },
};

/** What is done to the schema of a file, and what is said of it. */
const foreign: Record<string, Seed & { file: string }> = {
  'a trigger': {
    sql: 'CREATE TRIGGER "keep\n it" AFTER INSERT ON bundles BEGIN UPDATE bundles SET visibility = \'SHARED\'; END',
    file: 'g-users.db',
    problems: [/^schema of users' data: the trigger keep.+it on bundles does not belong to Gapstone$/],
  },
  'a view that is not ours': {
    sql: 'CREATE VIEW tokens AS SELECT * FROM integration_tokens',
    file: 'g-users.db',
    problems: [/^schema of users' data: the view tokens does not belong to Gapstone$/],
  },
  'a view of ours that says something else': {
    sql: "DROP VIEW searchable_rules; CREATE VIEW searchable_rules AS SELECT id, release_id, '' AS title, '' AS discussion, '' AS check_content, '' AS fix_text, '' AS ids FROM findings",
    file: 'g.db',
    problems: [/^schema of the catalog: the view searchable_rules does not belong to Gapstone$/],
  },
};

check('finds every kind of contradiction, and says nothing else', () => {
  const db = openDatabase(filesOf(sample));
  db.sqlite.pragma('foreign_keys = OFF');
  const digest = catalogDigest(db);
  for (const [name, { sql, problems }] of Object.entries(seeds)) {
    db.sqlite.exec('BEGIN');
    db.sqlite.exec(sql);
    const report = checkDatabase(db);
    db.sqlite.exec('ROLLBACK');
    const isOfDigest = (problem: string) =>
      /^digest: the stored digest [0-9a-f]{64} does not match/.test(problem);
    const found = problemsOf(report).filter((problem) => !isOfDigest(problem));
    assert.is(problemsOf(report).some(isOfDigest), report.digest !== digest, name);
    assert.not(report.ok, name);
    assert.is(found.length, problems.length, `${name}: ${found.join('; ')}`);
    for (const [index, problem] of problems.entries()) assert.match(found[index]!, problem, name);
  }
  assert.ok(checkDatabase(db).ok);
  db.close();
});

check('of a schema that is not ours each difference is told, and nothing else is read', async () => {
  for (const [name, { file, sql, problems }] of Object.entries(foreign)) {
    const folder = scratchFolder();
    for (const each of ['g.db', 'g-users.db']) copyFileSync(join(sample, '..', each), join(folder, each));
    const sqlite = new Sqlite(join(folder, file));
    sqlite.exec(sql);
    sqlite.close();
    const { code, stdout } = await commandHere(['check', '--json', '--db', join(folder, 'g.db')]);
    const report: CheckReport = JSON.parse(stdout);
    assert.equal([code, report.ok, report.digest, report.checks.length], [1, false, null, 1], name);
    const found = problemsOf(report);
    assert.is(found.length, problems.length, `${name}: ${found.join('; ')}`);
    for (const [index, problem] of problems.entries()) assert.match(found[index]!, problem, name);
  }
});

check('a damaged page is told of, and the other checks go on', async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  const sqlite = new Sqlite(sample, { readonly: true });
  const page = sqlite
    .prepare("SELECT max(pageno) FROM dbstat WHERE name = 'findings'")
    .pluck()
    .get() as number;
  const size = sqlite.pragma('page_size', { simple: true }) as number;
  sqlite.close();
  const bytes = readFileSync(sample);
  bytes.fill(0xff, (page - 1) * size, (page - 1) * size + 64);
  writeFileSync(file, bytes);
  const { code, stdout, stderr } = await commandHere(['check', '--db', file, '--json']);
  assert.equal([code, stderr], [1, '']);
  const report: CheckReport = JSON.parse(stdout);
  assert.not(report.ok);
  assert.is(report.digest, null);
  const bad = report.checks.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  assert.ok(
    bad.includes('integrity of the catalog') && bad.includes('foreign keys of the catalog'),
    bad.join(),
  );
  assert.not(
    bad.some((name) => /users|closure|ledger/.test(name)),
    bad.join(),
  );
  assert.equal(readFileSync(file), bytes);
  assert.equal(readdirSync(folder), ['g.db']);
});

check("a damaged page of users' data is told of, and the catalog is whole", async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g-users.db');
  copyFileSync(sample, join(folder, 'g.db'));
  const bytes = readFileSync(sampleUsers);
  const sqlite = new Sqlite(sampleUsers, { readonly: true });
  const page = sqlite.prepare("SELECT pageno FROM dbstat WHERE name = 'bundles'").pluck().get() as number;
  const size = sqlite.pragma('page_size', { simple: true }) as number;
  sqlite.close();
  bytes.fill(0xff, (page - 1) * size, (page - 1) * size + 64);
  writeFileSync(file, bytes);
  const { code, stdout } = await commandHere(['check', '--db', join(folder, 'g.db'), '--json']);
  const report: CheckReport = JSON.parse(stdout);
  assert.equal([code, report.ok], [1, false]);
  assert.match(report.digest!, /^[0-9a-f]{64}$/);
  const bad = report.checks.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
  assert.equal(
    bad.filter((name) => name !== "foreign keys of users' data"),
    ["integrity of users' data"],
  );
  assert.equal(readFileSync(file), bytes);
});

check(
  'by the command: a line for each problem, exit 1; both files stay as they are to the byte',
  async () => {
    const folder = scratchFolder();
    const file = join(folder, 'g.db');
    copyFileSync(sample, file);
    copyFileSync(sampleUsers, join(folder, 'g-users.db'));
    const hashes = () =>
      filesIn(folder).map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]);
    const before = hashes();
    const fine = await commandHere(['check', '--db', file]);
    assert.equal([fine.code, fine.stderr], [0, '']);
    assert.equal(hashes(), before);
    const db = openCatalog(file);
    const digest = catalogDigest(db);
    db.close();
    assert.is(
      fine.stdout,
      `${['schema', ...names].map((name) => `ok: ${name}\n`).join('')}digest: ${digest}\n`,
    );
    const sqlite = new Sqlite(file);
    sqlite.exec("UPDATE stigs SET title = 'x'");
    sqlite.close();
    const bad = await commandHere(['check', '--db', file]);
    assert.is(bad.code, 1);
    const problems = bad.stdout
      .split('\n')
      .filter((line) => line.startsWith('problem: '))
      .sort();
    assert.match(
      problems.shift()!,
      new RegExp(
        `^problem: digest: the stored digest ${digest} does not match the catalog: .+ Restore a backup$`,
      ),
    );
    assert.equal(problems, [
      'problem: releases: harbor_linux_3 has another title than its newest release',
      'problem: releases: lantern_web_server_2 has another title than its newest release',
    ]);
  },
);

check('of many problems a hundred are told, and how many more there are', () => {
  const db = openCatalog(sample);
  db.sqlite.exec('BEGIN');
  db.sqlite.exec('UPDATE crosswalk_paths SET mask = mask + 8');
  const { checks } = checkDatabase(db);
  db.sqlite.exec('ROLLBACK');
  const { problems } = checks.find(({ name }) => name === 'closure')!;
  assert.is(problems.length, 101);
  assert.match(problems.at(-1)!, /^and \d+ more$/);
  db.close();
});

check.run();

const status = suite('gapstone status');

function statusOf(db: Database) {
  return createStatusService(db).status();
}

status('counts what is loaded, and of users numbers alone', () => {
  const db = openDatabase(filesOf(sample));
  db.sqlite.exec('BEGIN');
  db.sqlite.exec(`INSERT INTO bundles VALUES ('1', 'list', 'SECRET', '', '[]', '', '', 'PRIVATE', 'SECRET', NULL, NULL, 't', 't', NULL, 1);
    INSERT INTO bundles VALUES ('2', 'list', 'SECRET', '', '[]', '', '', 'PRIVATE', 'SECRET', NULL, NULL, 't', 't', 't', 1);
    INSERT INTO bundles VALUES ('3', 'role-collection', 'SECRET', '', '[]', '', '', 'PRIVATE', 'SECRET', NULL, NULL, 't', 't', NULL, 1);
    INSERT INTO favorite_stigs SELECT 'SECRET', slug, 'SECRET', 'SECRET', 't' FROM stigs;
    INSERT INTO integration_tokens VALUES ('1', 'h', 'SECRET', 'SECRET', 'lists:read', 't', NULL, NULL);
    INSERT INTO integration_tokens VALUES ('2', 'i', 'SECRET', 'SECRET', 'lists:read', 't', NULL, 't');`);
  const found = statusOf(db);
  db.sqlite.exec('ROLLBACK');
  const { catalog, imports, roles, users, ...rest } = found;
  assert.equal(
    { ...catalog, changedAt: '', bytes: 0, logBytes: 0 },
    {
      file: sample,
      bytes: 0,
      logBytes: 0,
      schema: listMigrations('catalog').length,
      generation: 2,
      changedAt: '',
    },
  );
  assert.is(catalog.bytes, statSync(sample).size);
  const { file, bytes, logBytes, schema, ...kept } = users;
  assert.equal(
    [file, bytes, schema],
    [sampleUsers, statSync(sampleUsers).size, listMigrations('users').length],
  );
  assert.type(logBytes, 'number');
  assert.equal(rest, {
    stigs: { stigs: 2, srgs: 0, releases: 3, findings: 25, newestReleaseDate: '2026-07-01' },
    frameworks: [
      {
        framework: 'nist-800-171',
        version: 'Rev 2',
        edition: '',
        default: true,
        controls: 110,
        withdrawn: 0,
      },
      {
        framework: 'nist-800-53',
        version: 'Rev 5.2.0',
        edition: '',
        default: true,
        controls: 1014,
        withdrawn: 182,
      },
    ],
    crosswalk: { nodes: 231, edges: 197, paths: 932, decisions: 2 },
    documents: 2,
    readAgain: [],
  });
  assert.equal(kept, {
    lists: 1,
    deletedLists: 1,
    controlCollections: 0,
    documentCollections: 0,
    roleCollections: 1,
    favoriteStigs: 2,
    favoriteControls: 0,
    integrationTokens: 1,
    sessions: 0,
  });
  assert.equal(roles, {
    occupations: 29,
    occupationEdition: 'O*NET 29.2',
    workRoles: 41,
    workRoleEdition: 'NICE Framework 2.0.0',
    mappings: 30,
  });
  assert.equal(
    imports.map((each) => [each.run, each.generation, each.imported, each.skipped, each.rejected]),
    [
      [2, 2, 3, 0, 1],
      [1, 1, imports[1]!.imported, imports[1]!.sources - imports[1]!.imported, 0],
    ],
  );
  assert.ok(imports[1]!.imported >= 7);
  assert.not.match(JSON.stringify(found), /SECRET/);
  db.close();
});

status('of an empty database: zeros and nulls', () => {
  const db = openCatalog(':memory:');
  const { stigs, frameworks, roles, imports, catalog, users } = statusOf(db);
  assert.equal(stigs, { stigs: 0, srgs: 0, releases: 0, findings: 0, newestReleaseDate: null });
  assert.equal([frameworks, imports], [[], []]);
  assert.equal(roles, {
    occupations: 0,
    occupationEdition: null,
    workRoles: 0,
    workRoleEdition: null,
    mappings: 0,
  });
  for (const each of [catalog, users])
    assert.equal([each.bytes, each.logBytes, each.file], [0, 0, ':memory:']);
  db.close();
});

status('by the command, as text and as JSON with the digest', async () => {
  const json = await commandHere(['status', '--json', '--db', sample]);
  assert.equal([json.code, json.stderr], [0, '']);
  const { version, digest, ...rest } = JSON.parse(json.stdout);
  const db = openDatabase(filesOf(sample));
  assert.equal([version, digest], ['1.0.0', catalogDigest(db)]);
  // The log of who has them open is not that of the command.
  const withoutLogs = (status: ReturnType<typeof statusOf>) => ({
    ...status,
    catalog: { ...status.catalog, logBytes: 0 },
    users: { ...status.users, logBytes: 0 },
  });
  assert.equal(withoutLogs(rest), withoutLogs(statusOf(db)));
  db.close();
  const text = await commandHere(['status', '--db', sample]);
  assert.is(text.code, 0);
  assert.match(text.stdout, new RegExp(`^digest +${digest}$`, 'm'));
  assert.match(text.stdout, /^STIGs +2, SRGs 0, 3 releases, \d+ findings, newest \d{4}-\d\d-\d\d$/m);
  assert.match(text.stdout, /^catalog +\S+\/g\.db, \d+\.\d MB, log 0\.0 MB, schema \d+$/m);
  assert.match(text.stdout, /^users' data +\S+\/g-users\.db, 0\.\d MB, log 0\.0 MB, schema \d+$/m);
  assert.match(
    text.stdout,
    /^import 2 +\S+: 4 sources, 3 imported, 0 unchanged, 0 superseded, 0 skipped, 1 rejected$/m,
  );
});

status("without users' data: zeros, and status and check make no file", async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  copyFileSync(sample, file);
  const bytes = readFileSync(file);
  for (const args of [['status'], ['status', '--json'], ['check'], ['check', '--json']]) {
    const { code, stderr } = await commandHere([...args, '--db', file]);
    assert.equal([code, stderr], [0, ''], args.join(' '));
    assert.equal(readdirSync(folder), ['g.db'], args.join(' '));
    assert.equal(readFileSync(file), bytes, args.join(' '));
  }
  const { users, crosswalk } = JSON.parse((await commandHere(['status', '--json', '--db', file])).stdout);
  assert.equal([users.file, users.bytes, users.lists, crosswalk.decisions], [':memory:', 0, 0, 0]);
});

status.run();
