import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { loadedStatus } from '../../src/catalog/loaded-status.ts';
import { type CheckReport, checkDatabase } from '../../src/commands/check.ts';
import { type Database, openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { change, damagePage, newest, siteOf, stateOf } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { filesOf, put, scratchFolder } from '../support/scratch.ts';

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

/** Enough words that one of them is in the sample. */
const words = (beginning: string) =>
  Array.from({ length: 20 }, (_, index) => `${beginning}${index}`).join(' ');

/** What is done to a database; then what is said of it, these lines (>) and nodes whose paths do not follow from the edges (~). */
const seeds = String.raw`
# a row whose parent is gone, in the catalog
INSERT INTO stig_aliases VALUES ('lost', 9999)
> foreign keys of the catalog: stig_aliases refers to a row of stigs that does not exist
# a row whose parent is gone, in users' data
INSERT INTO list_stigs VALUES ('nobody', 'harbor_linux_3', 'h', 'H', 'V1R1', 1, '', '', NULL)
> foreign keys of users' data: list_stigs refers to a row of bundles that does not exist
# a total of a run
UPDATE import_runs SET summary = json_set(summary, '$.rejected', 0) WHERE id = 2
> ledger: run 2 says 0 rejected, its lines say 1
# a line of a run that is gone
DELETE FROM import_ledger WHERE run_id = 2 AND ordinal = 4
> ledger: run 2 says 1 rejected, its lines say 0
> ledger: run 2 says 4 sources, it has 3 lines
# warnings that were not told
UPDATE import_ledger SET warnings = '["one","two"]' WHERE run_id = 2 AND ordinal = 4
> ledger: run 2 says \d+ warnings, its lines have \d+
# a generation that went back
UPDATE catalog SET generation = 0
> ledger: the catalog is of generation 0, run 1 left 1
> ledger: the catalog is of generation 0, run 2 left 2
# a source that no run imported
UPDATE import_ledger SET outcome = 'unchanged' WHERE run_id = 2 AND ordinal = 1;
UPDATE import_runs SET summary = json_set(summary, '$.imported', (summary ->> 'imported') - 1, '$.unchanged', 1)
WHERE id = 2
> ledger: the stored source [0-9a-f]{64} \(controls-csv\) has no line that says it was imported
# a source that states nothing
DELETE FROM document_facts WHERE source_id = (SELECT min(source_id) FROM document_facts);
DELETE FROM documents WHERE document_id NOT IN (SELECT document_id FROM document_facts)
> sources: the source [0-9a-f]{64} \(regdoc\) states nothing
# an older release that is served
UPDATE stigs SET current_release_id = (SELECT id FROM stig_releases WHERE version = 'V1R1') WHERE slug =
'harbor_linux_3'
> releases: harbor_linux_3 serves V1R1, its newest release is V1R2
> search index: \d+ rules are found that no current release has: number \d+ by "\w+"
> search index: \d+ rules are not found by a word that they have: number \d+ by "\w+"
# another title
UPDATE stigs SET title = 'x' WHERE slug = 'harbor_linux_3'
> releases: harbor_linux_3 has another title than its newest release
# a finding that is gone
DELETE FROM findings WHERE ordinal = 3 AND release_id = (SELECT id FROM stig_releases WHERE version = 'V1R2')
> releases: harbor_linux_3 V1R2 says \d+ findings \(\d+, \d+, \d+\), it has \d+
> search index: 1 rules are found that no current release has:.*
# a severity that was changed
UPDATE findings SET severity = CASE severity WHEN 'low' THEN 'high' ELSE 'low' END WHERE ordinal = 3 AND release_id
= (SELECT id FROM stig_releases WHERE version = 'V2R3')
> releases: lantern_web_server_2 V2R3 says.*
# a profile that is gone
DELETE FROM stig_profiles WHERE ordinal = 1 AND release_id = (SELECT id FROM stig_releases WHERE version = 'V2R3')
> releases: lantern_web_server_2 V2R3 says \d+ profiles, it has \d+
# a benchmark id that leads nowhere
DELETE FROM stig_aliases WHERE alias LIKE 'lantern%'
> releases: lantern_web_server_2 V2R3 has a benchmark id that leads nowhere:.*
# an alias that is a slug
INSERT INTO stig_aliases SELECT slug, id FROM stigs WHERE slug = 'harbor_linux_3'
> releases: the alias harbor_linux_3 is the slug of a STIG
# a printing that gives way to one of another version
UPDATE stig_printings SET superseded_by = (SELECT id FROM stig_printings WHERE version = 'V1R2') WHERE version =
'V1R1'
> releases: harbor_linux_3 V1R1 gives way to a release that is not served in its place
# a printing that cannot be compared
DELETE FROM stig_evidence WHERE release_id = (SELECT id FROM stig_printings WHERE version = 'V1R1')
> releases: the printing [0-9a-f]{64} belongs to no STIG, or what it is compared by is not there
# two default versions
INSERT INTO framework_versions VALUES ('nist-800-53', 'Rev 9', '', 1, 0)
> controls: nist-800-53 has 2 default and 1 newest versions
> controls: nist-800-53 Rev 9 has 0 controls, numbered to 0
# a control that is gone
DELETE FROM controls WHERE framework = 'nist-800-171' AND ordinal = 5
> controls: nist-800-171 Rev 2 has 109 controls, numbered to 110
# a control that nobody states
DELETE FROM control_facts WHERE framework = 'nist-800-171' AND identifier = '3.1.1'
> controls: no source states nist-800-171:3\.1\.1 of Rev 2
> closure: nist-800-171:3\.1\.1 - nist-800-53:AC-2 is auto, the sources give no edge
> closure: nist-800-171:3\.1\.1 - nist-800-53:AC-3 is auto, .+ no edge
> closure: nist-800-171:3\.1\.1 - nist-800-53:AC-17 is auto, .+ no edge
# a control with the key of another
UPDATE controls SET control_id = (SELECT id FROM control_keys WHERE identifier = '3.1.2') WHERE identifier = '3.1.1'
> controls: nist-800-171:3\.1\.1 has the key of nist-800-171:3\.1\.2
# an edge without evidence
DELETE FROM crosswalk_evidence WHERE a = (SELECT min(a) FROM crosswalk_edges) AND b = (SELECT min(b) FROM
crosswalk_edges WHERE a = (SELECT min(a) FROM crosswalk_edges))
> crosswalk: no source states nist-800-53:.+ - nist-800-171:.+
# evidence of nothing
INSERT INTO crosswalk_evidence VALUES (1, 2, 77, 1)
> crosswalk: the evidence of edge 1 - 2 is of no source
# an edge of another status
UPDATE crosswalk_edges SET status = 'rejected' WHERE a = (SELECT id FROM crosswalk_nodes WHERE identifier = 'AC-17')
AND b = (SELECT id FROM crosswalk_nodes WHERE identifier = '3.1.1')
> closure: nist-800-171:3\.1\.1 - nist-800-53:AC-17 is rejected, the sources give auto
~ nist-800-53:AC-2
~ nist-800-53:AC-3
~ nist-800-53:AC-17
~ nist-800-171:3.1.1
~ nist-800-171:3.1.2
# an edge that nobody states
INSERT INTO crosswalk_edges SELECT min(id), max(id), 'auto' FROM crosswalk_nodes WHERE identifier IN ('AC-17',
'3.14.7')
> crosswalk: no source states nist-800-53:AC-17 - nist-800-171:3\.14\.7
> closure: nist-800-171:3\.14\.7 - nist-800-53:AC-17 is auto, the sources give no edge
~ nist-800-53:AC-17
~ nist-800-53:SI-4
~ nist-800-171:3.1.1
~ nist-800-171:3.1.2
~ nist-800-171:3.14.7
# a path that is gone
DELETE FROM crosswalk_paths WHERE source = 0 AND ordinal = 1
~ nist-800-53:\S+
# a path of another status
UPDATE crosswalk_paths SET statuses = statuses + 1 WHERE source = 3 AND ordinal = 1
> closure: the paths of nist-800-53:\S+ do not match its edges: (\d+) stored, \1 expected
# a path from nowhere
INSERT INTO crosswalk_paths VALUES (9999, 1, 1, 1, 1, 0, 1, NULL, NULL, NULL)
> closure: 1 paths begin at nodes that do not exist
# a rank that is missing
UPDATE role_mappings SET relevance_rank = 99 WHERE id = (SELECT min(id) FROM role_mappings)
> roles and documents: \S+ has \d+ roles, ranked to 99
# a document that is not served
DELETE FROM documents WHERE document_id = 'harbor-basic-directive'
> roles and documents: the document harbor-basic-directive is stated and not served
# a rule that the index does not have
INSERT INTO rule_search (rule_search, rowid, title, discussion, check_content, fix_text, ids)
SELECT 'delete', id, title, discussion, check_content, fix_text, ids FROM searchable_rules
WHERE id = (SELECT max(f.id) FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id)
> search index: 1 rules are not found by a word that they have: number \d+ by "\w+"
# words of the index that no rule has
INSERT INTO rule_search (rowid, title, discussion, check_content, fix_text, ids)
SELECT max(current_release_id) + 9000, '@zebra@', '', '', '', '' FROM stigs;
INSERT INTO rule_search (rowid, title, discussion, check_content, fix_text, ids)
SELECT max(f.id), '@kangaroo@', '', '', '', '' FROM findings AS f JOIN stigs AS s ON s.current_release_id =
f.release_id
> search index: 1 rules are found that no current release has: number \d+ by "z\w+"
> search index: 1 rules are found by a word that they do not have: number \d+ by "\w+"
# a text that changed behind the index
UPDATE findings SET rule_title = '@ostrich@'
WHERE id = (SELECT max(f.id) FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id)
> search index: 1 rules are found by a word that they do not have: number \d+ by "\w+"
> search index: 1 rules are not found by a word that they have: number \d+ by "o\w+"
# an occupation that nobody states
DELETE FROM occupation_facts WHERE occupation_code = '15-1244.00'
> roles and documents: the occupation 15-1244\.00 is served and not stated
`;

check('finds every kind of contradiction, and says nothing else', () => {
  const db = openDatabase(filesOf(sample));
  db.sqlite.pragma('foreign_keys = OFF');
  const digest = catalogDigest(db);
  for (const block of seeds.split(/^# /m).slice(1)) {
    const [name, ...lines] = block.trimEnd().split('\n');
    const isSql = (line: string) => !/^[>~] /.test(line);
    const problems = lines
      .filter((line) => !isSql(line))
      .map((line) =>
        line.replace(
          /^~ (.*)/,
          String.raw`> closure: the paths of $1 do not match its edges: \d+ stored, \d+ expected`,
        ),
      )
      .map((line) => new RegExp(`^${line.slice(2)}$`));
    const sql = lines
      .filter(isSql)
      .join('\n')
      .replace(/@(\w+)@/g, (_, word) => words(word));
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

check('a damaged page is told of, and the other checks go on', async () => {
  for (const [kind, bad, good] of [
    ['catalog', 'integrity of the catalog,foreign keys of the catalog', /users|closure|ledger/],
    ['users', "integrity of users' data", /^(?!integrity of users|foreign keys of users)/],
  ] as const) {
    const { folder, file, files } = siteOf(kind);
    damagePage(file, kind);
    const before = stateOf(folder);
    const { code, stdout, stderr } = await commandHere(['check', '--db', files.db, '--json']);
    const report: CheckReport = JSON.parse(stdout);
    assert.equal([code, stderr, report.ok], [1, '', false]);
    assert.is(report.digest === null, kind === 'catalog');
    const found = report.checks.filter(({ problems }) => problems.length > 0).map(({ name }) => name);
    for (const name of bad.split(',')) assert.ok(found.includes(name), `${name}: ${found}`);
    assert.equal(
      found.filter((name) => good.test(name)),
      [],
    );
    assert.equal(stateOf(folder), before);
  }
});

check('by the command: a line for each problem, exit 1; both files stay as they are', async () => {
  const { folder, file } = siteOf('catalog', undefined, filesOf(sample));
  const before = stateOf(folder);
  const fine = await commandHere(['check', '--db', file]);
  assert.equal([fine.code, fine.stderr], [0, '']);
  assert.equal(stateOf(folder), before);
  const db = openCatalog(file);
  const digest = catalogDigest(db);
  db.close();
  const lines = ['schema', ...names].map((name) => `ok: ${name}\n`);
  assert.is(fine.stdout, `${lines.join('')}digest: ${digest}\n`);
  change(file, "UPDATE stigs SET title = 'x'");
  const bad = await commandHere(['check', '--db', file]);
  assert.is(bad.code, 1);
  const [ofDigest, ...problems] = bad.stdout.match(/^problem: .*$/gm)!.sort();
  const differs = `the stored digest ${digest} does not match the catalog: .+ Restore a backup$`;
  assert.match(ofDigest!, new RegExp(`^problem: digest: ${differs}`));
  assert.equal(
    problems,
    ['harbor_linux_3', 'lantern_web_server_2'].map(
      (slug) => `problem: releases: ${slug} has another title than its newest release`,
    ),
  );
});

check.run();

const status = suite('gapstone status');

function statusOf(db: Database) {
  return loadedStatus(db);
}

/** The members of an object as one text. */
const told = (each: object) =>
  Object.entries(each)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

status('counts what is loaded, and of users numbers alone', () => {
  const db = openDatabase(filesOf(sample));
  const bundle = (id: number, kind: string, deletedAt: string) =>
    `INSERT INTO bundles VALUES ('${id}', '${kind}', 'SECRET', '', '[]', '', '', 'PRIVATE', 'SECRET', NULL, NULL,
      't', 't', ${deletedAt}, 1);`;
  const token = (id: number, revokedAt: string) =>
    `INSERT INTO integration_tokens VALUES ('${id}', '${id}', 'SECRET', 'SECRET', 'lists:read', 't', NULL, ${revokedAt});`;
  db.sqlite.exec(`BEGIN;
    ${bundle(1, 'list', 'NULL')} ${bundle(2, 'list', "'t'")} ${bundle(3, 'role-collection', 'NULL')}
    INSERT INTO favorite_stigs SELECT 'SECRET', slug, 'SECRET', 'SECRET', 't' FROM stigs;
    ${token(1, 'NULL')} ${token(2, "'t'")}`);
  const found = statusOf(db);
  db.sqlite.exec('ROLLBACK');
  const { catalog, users, frameworks, imports } = found;
  const { file, bytes, logBytes: _, schema, ...kept } = users;
  assert.equal([file, bytes, schema], [sampleUsers, statSync(sampleUsers).size, newest.users]);
  const ofCatalog = [catalog.file, catalog.bytes, catalog.schema, catalog.generation];
  assert.equal(ofCatalog, [sample, statSync(sample).size, newest.catalog, 2]);
  assert.is(told(found.stigs), 'stigs 2, srgs 0, releases 3, findings 25, newestReleaseDate 2026-07-01');
  assert.equal(frameworks.map(told), [
    'framework nist-800-171, version Rev 2, edition , default true, controls 110, withdrawn 0',
    'framework nist-800-53, version Rev 5.2.0, edition , default true, controls 1014, withdrawn 182',
  ]);
  assert.is(told(found.crosswalk), 'nodes 231, edges 197, paths 932, decisions 2');
  assert.equal([found.documents, found.readAgain], [2, []]);
  assert.is(
    told(kept),
    'lists 1, deletedLists 1, controlCollections 0, documentCollections 0, roleCollections 1, ' +
      'favoriteStigs 2, favoriteControls 0, integrationTokens 1, sessions 0',
  );
  assert.is(
    told(found.roles),
    'occupations 29, occupationEdition O*NET 29.2, workRoles 41, workRoleEdition NICE Framework 2.0.0, mappings 7',
  );
  const { run, generation, imported, skipped, rejected } = imports[0]!;
  assert.equal([imports.length, run, generation, imported, skipped, rejected], [2, 2, 2, 3, 0, 1]);
  assert.not.match(JSON.stringify(found), /SECRET/);
  db.close();
});

status('by the command, as text and as JSON with the digest', async () => {
  const json = await commandHere(['status', '--json', '--db', sample]);
  assert.equal([json.code, json.stderr], [0, '']);
  const { version, digest, ...rest } = JSON.parse(json.stdout);
  const db = openDatabase(filesOf(sample));
  assert.equal([version, digest], ['1.0.0', catalogDigest(db)]);
  // The log of who has them open is not that of the command.
  const withoutLogs = (status: object) => JSON.stringify(status).replace(/"logBytes":\d+/g, '');
  assert.is(withoutLogs(rest), withoutLogs(statusOf(db)));
  db.close();
  const text = await commandHere(['status', '--db', sample]);
  assert.match(text.stdout, new RegExp(`^digest +${digest}$`, 'm'));
});

status("without users' data: zeros, and status and check make no file", async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  copyFileSync(sample, file);
  const bytes = readFileSync(file);
  for (const args of [['status'], ['status', '--json'], ['check'], ['check', '--json']])
    for (const more of [[], ['--users-db', 'no/such/u.db']]) {
      const { code, stderr } = await commandHere([...args, '--db', file, ...more], { cwd: folder });
      assert.equal([code, stderr], [0, ''], args.join(' '));
      assert.equal(readdirSync(folder), ['g.db'], args.join(' '));
      assert.equal(readFileSync(file), bytes, args.join(' '));
    }
  const { users, crosswalk } = JSON.parse((await commandHere(['status', '--json', '--db', file])).stdout);
  assert.equal([users.file, users.bytes, users.lists, crosswalk.decisions], [':memory:', 0, 0, 0]);
});

status.run();
