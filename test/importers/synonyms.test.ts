import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { parseSource } from '../../importers/parse.ts';
import { runImport } from '../../importers/run.ts';
import { indexedWords } from '../../src/base/text.ts';
import { compareCatalogs } from '../../src/content/compare-catalogs.ts';
import { readBundle } from '../../src/content/read-bundle.ts';
import { type Database, openCatalog } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { build, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { told } from '../support/told.ts';

const synonyms = suite('Synonyms');

const header = 'words,reason';
const csv = (...rows: string[]) => put(scratchFolder(), 'synonyms.csv', [header, ...rows, ''].join('\n'));
const ours = shipped('search', 'synonyms.csv');

/** What stands in a group with a word, in any source. */
function insteadOf(db: Database, word: string): string[] {
  return db.sqlite
    .prepare<[string, string], string>(
      `SELECT DISTINCT other.value FROM synonym_groups AS g, json_each(g.words) AS one, json_each(g.words) AS other
        WHERE one.value = ? AND other.value <> ? ORDER BY 1`,
    )
    .pluck()
    .all(word, word);
}

const groups = (db: Database) =>
  db.sqlite
    .prepare('SELECT row, words, reason FROM synonym_groups ORDER BY source_id, row')
    .raw()
    .all() as unknown[][];

/** The groups of a file. */
function groupsIn(text: string) {
  const { content } = parseSource(Buffer.from(text));
  assert.ok(content?.type === 'synonyms');
  return content.groups;
}

synonyms('a row is a group of words as the index has them', () => {
  const text = `\ufeff${header}\r\n RDP ;Remote  Desktop,\r\n\r\n"Wi-Fi;wifi;802.11;Café_1","as we say; here"\r\n`;
  assert.equal(groupsIn(text.slice(1)), [
    { row: 2, words: ['rdp', 'remote desktop'], reason: '' },
    { row: 4, words: ['wi fi', 'wifi', '802 11', 'cafe_1'], reason: 'as we say; here' },
  ]);
});

synonyms('words are those of the tokenizer of the index', () => {
  const sqlite = openCatalog(':memory:', { create: true }).sqlite;
  const insert = sqlite.prepare('INSERT INTO rule_search (rowid, title) VALUES (1, ?)');
  const terms = sqlite.prepare('SELECT term FROM rule_words ORDER BY term').pluck();
  for (const text of [
    'Multi-Factor (MFA)',
    'Ärger Übung ñandú',
    'cafe\u0301 re\u0301sume\u0301',
    'İstanbul',
    'x.509 802.11',
    '/etc/ssh/sshd_config',
    'ΔΕΛΤΑ Ⅳ 日本',
    'C# c++',
  ]) {
    sqlite.exec('BEGIN');
    insert.run(text);
    assert.equal(terms.all(), [...new Set(indexedWords(text))].sort(), text);
    sqlite.exec('ROLLBACK');
  }
  sqlite.close();
});

const many = (number: number) => Array.from({ length: number }, (_, index) => `w${index}`).join(';');
const rows = (number: number) => Array.from({ length: number }, (_, index) => `a${index};b${index},\n`);

synonyms('what is just within the bounds is read', () => {
  const long = 'é'.repeat(100);
  const [group] = groupsIn(`${header}\n${long};${many(19)},${'😀'.repeat(1000)}\n`);
  assert.is(group!.words.length, 20);
  assert.is(group!.words[0], 'e'.repeat(100));
  assert.is(groupsIn(`${header}\n${rows(5000).join('')}`).length, 5000);
});

const noGroup = (text: string) =>
  `row 2, column words: "${text}" is no group: separate two or more words by semicolons`;
const broken: [text: string, reason: string][] = [
  ['words,reason,more\na;b,,\n', 'row 1: the header is not words,reason'],
  ['words,why\na;b,\n', 'row 1: the header is not words,reason'],
  ['words;reason\na;b\n', noGroup('a')],
  [`${header}\n`, 'there are no rows below the header'],
  [`${header}\nrdp;remote desktop\n`, 'row 2 has 1 cells, the header has 2'],
  [`${header}\nrdp,\n`, noGroup('rdp')],
  [`${header}\n,why\n`, noGroup('')],
  [`${header}\nrdp; -_- ,\n`, 'row 2, column words: "-_-" has no letter or digit'],
  [`${header}\nrdp;remote desktop;,\n`, 'row 2, column words: "" has no letter or digit'],
  [
    `${header}\nrdp;${'a'.repeat(101)},\n`,
    `row 2, column words: "${'a'.repeat(60)}" has more than 100 characters`,
  ],
  [
    `${header}\nrdp;Multi-Factor;mülti  factor,\n`,
    'row 2, column words: "mülti factor" and "Multi-Factor" are the same to a search',
  ],
  [`${header}\n${many(21)},\n`, 'row 2, column words: a group has at most 20 words'],
  [`${header}\na;b,${'x'.repeat(1001)}\n`, 'row 2, column reason: it has more than 1,000 characters'],
  [`${header}\n${rows(5001).join('')}`, 'row 5002: a file has at most 5,000 rows'],
];

synonyms('what is wrong is named by row and column, and changes nothing', async () => {
  using db = emptyCatalog();
  await runImport(db, [csv('kept;held,')]);
  const before = [groups(db), catalogDigest(db)];
  const paths = broken.map(([text], index) => put(scratchFolder(), `${index}.csv`, text));
  const { lines } = await runImport(db, paths);
  assert.equal(
    told(lines, 'kind', 'outcome', 'reason'),
    broken.map(([, reason]) => `synonyms-csv rejected ${reason}`),
  );
  assert.equal([groups(db), catalogDigest(db)], before);
});

synonyms('the shipped file is imported, and unchanged when it is imported again', async () => {
  using db = emptyCatalog();
  const { lines } = await runImport(db, [ours]);
  const { kind, outcome, target, warnings, counts } = lines[0]!;
  assert.equal([kind, outcome, target, warnings], ['synonyms-csv', 'imported', 'synonyms', []]);
  assert.is(counts.groups, groups(db).length);
  assert.equal(insteadOf(db, 'mfa'), ['2fa', 'multi factor', 'multifactor', 'two factor']);
  assert.equal(groups(db)[0], [2, '["rdp","remote desktop"]', '']);
  const again = (await runImport(db, [ours])).lines[0]!;
  assert.equal([again.outcome, again.target], ['unchanged', 'synonyms']);
  assert.equal(insteadOf(db, 'rdp'), ['remote desktop']);
});

synonyms('the files of a site add to the shipped one, in pairs and no further', async () => {
  using db = emptyCatalog();
  await runImport(db, [ours]);
  const digest = catalogDigest(db);
  const generation = db.catalogVersion();
  const site = csv('MFA;badge,what we call it', 'RDP;Remote Desktop,', 'badge;lanyard,');
  assert.is((await runImport(db, [site])).lines[0]!.outcome, 'imported');
  assert.equal(insteadOf(db, 'mfa'), ['2fa', 'badge', 'multi factor', 'multifactor', 'two factor']);
  assert.equal(insteadOf(db, 'badge'), ['lanyard', 'mfa'], 'not what stands with mfa elsewhere');
  assert.equal(insteadOf(db, 'rdp'), ['remote desktop']);
  assert.is.not(catalogDigest(db), digest);
  assert.is.not(db.catalogVersion(), generation);
});

/** A file with the shipped synonyms and STIGs. */
async function makeFile(): Promise<string> {
  const file = join(scratchFolder(), 'g.db');
  using db = openCatalog(file, { create: true });
  await runImport(db, [ours, shipped('stigs')]);
  return file;
}

const lockout = "SELECT doc FROM rule_words WHERE term = 'lockout'";

synonyms('a bundle carries them, and its plan names the groups', async () => {
  const [before, after] = [await makeFile(), await makeFile()];
  {
    using db = openCatalog(after);
    await runImport(db, [csv('Zebra;Ass,', 'RDP;Remote Desktop,')]);
  }
  const key = sampleKey('depot');
  const { file } = await build(after, key);
  const unpackTo = join(scratchFolder(), 'catalog.db');
  await readBundle(file, [key], { now: new Date(), unpackTo });
  {
    using db = openCatalog(unpackTo);
    assert.equal(insteadOf(db, 'zebra'), ['ass']);
    assert.is(db.sqlite.prepare(lockout).pluck().get(), 1);
  }
  const { synonyms: changes } = compareCatalogs(before, unpackTo);
  assert.equal(changes, { come: [{ words: 'ass; zebra' }], change: [], go: [] });
});

synonyms.run();
