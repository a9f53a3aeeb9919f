import * as assert from 'uvu/assert';
import { createCciService } from '../../src/catalog/crosswalk/cci.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createSearchService } from '../../src/catalog/search/queries.ts';
import type { Database } from '../../src/db/database.ts';
import { dumpCatalog, importTexts } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const test = suite('the search index');

const answerOf = (db: Database, q: string) =>
  createSearchService(db, createCciService(db, createCrosswalkService(db))).search({
    q,
    page: 1,
    limit: 1000,
  });

const release = (number: number, words: string[]) =>
  writeXccdf({
    release: number,
    rules: sampleRules(words.length).map((rule, index) => ({ ...rule, title: words[index]!, ccis: [] })),
  });

test('only the rules of the current release are found, whatever comes in which order', async () => {
  const found = async (db: Database, q: string) =>
    (await answerOf(db, q)).results.map((each) => [each.version, each.groupId]);
  const db = emptyCatalog();
  await importTexts(db, [release(2, ['apple one', 'pear two'])]);
  assert.equal(await found(db, 'apple'), [['V1R2', 'V-100001']]);
  await importTexts(db, [release(1, ['plum one', 'pear two'])]);
  assert.equal(await found(db, 'plum'), [], 'an older release that comes later is not searched');
  assert.equal(await found(db, 'pear'), [['V1R2', 'V-100002']]);
  await importTexts(db, [release(3, ['cherry one', 'pear three'])]);
  assert.equal(await found(db, 'apple'), []);
  assert.equal(await found(db, 'cherry'), [['V1R3', 'V-100001']]);
  assert.equal(await found(db, 'pear'), [['V1R3', 'V-100002']]);
  db.close();
});

test('a newer printing takes the place of the older in the index', async () => {
  const db = emptyCatalog();
  const printing = (date: string, title: string) =>
    writeXccdf({ date, rules: [{ title, ccis: ['CCI-000015'] }] });
  await importTexts(db, [printing('12 Jan 2024', 'first printing')]);
  await importTexts(db, [printing('13 Jan 2024', 'second printing')]);
  assert.equal(
    (await answerOf(db, 'printing')).results.map((each) => each.ruleTitle),
    ['second printing'],
  );
  const alone = emptyCatalog();
  await importTexts(alone, [printing('13 Jan 2024', 'second printing')]);
  assert.equal(dumpCatalog(db).search, dumpCatalog(alone).search);
  db.close();
  alone.close();
});

test('an import that changes a quarter of the index leaves it in one part', async () => {
  const db = emptyCatalog();
  const partsWith = async (benchmark: string, rules: number) => {
    await importTexts(db, [writeXccdf({ id: benchmark, title: benchmark, rules: sampleRules(rules) })]);
    // The number of a part stands in the upper bits.
    return db.sqlite
      .prepare('SELECT count(DISTINCT id >> 37) FROM rule_search_data WHERE id >> 37 > 0')
      .pluck()
      .get();
  };
  assert.is(await partsWith('First', 9), 1);
  assert.is(await partsWith('Second', 3), 1);
  assert.is(await partsWith('Third', 3), 2);
  db.close();
});

test('answers, ranks included, do not tell by which imports the catalog came about', async () => {
  const texts = [1, 2, 3, 4].map((number) =>
    release(
      number,
      Array.from(
        { length: 8 },
        (_, index) => `word ${'filler '.repeat((index * number) % 7)} word ${number}`,
      ),
    ),
  );
  const step = emptyCatalog();
  for (const text of texts) await importTexts(step, [text]);
  const once = emptyCatalog();
  await importTexts(once, texts);
  const alone = emptyCatalog();
  await importTexts(alone, [texts[3]!]);
  for (const q of ['word', 'filler', 'word 4', 'sv*', '"word 4"']) {
    assert.equal(await answerOf(step, q), await answerOf(alone, q), q);
    assert.equal(await answerOf(once, q), await answerOf(alone, q), q);
  }
  assert.equal(dumpCatalog(step).search, dumpCatalog(alone).search);
  for (const db of [step, once, alone]) db.close();
});

test('a library each quarter leaves nothing of the older ones in the index', async () => {
  // Blocks of the index, which are of one size.
  const blocks = (db: Database) =>
    db.sqlite.prepare('SELECT count(*) FROM rule_search_data').pluck().get() as number;
  const library = (number: number) =>
    ['Alder', 'Birch', 'Cedar', 'Dogwood'].map((product, place) =>
      writeXccdf({
        id: `${product}_STIG`,
        title: `${product} Security Technical Implementation Guide`,
        release: number,
        rules: sampleRules(100, product, 1000 * (place + 1)).map((rule, index) => ({
          ...rule,
          title: `${product} ${index} of ${number}`,
          checks: [Array.from({ length: 60 }, (_, word) => `w${index}x${word}y${number}`).join(' ')],
        })),
      }),
    );
  const step = emptyCatalog();
  for (let number = 1; number <= 6; number++) await importTexts(step, library(number));
  const alone = emptyCatalog();
  await importTexts(alone, library(6));
  assert.is((await answerOf(step, 'w7x7y5')).pagination.total, 0);
  assert.is((await answerOf(step, 'w7x7y6')).pagination.total, 4);
  assert.ok(blocks(step) <= 1.2 * blocks(alone), `${blocks(step)} beside ${blocks(alone)}`);
  for (const db of [step, alone]) db.close();
});

test('a run that is not stored leaves the index alone', async () => {
  const db = emptyCatalog();
  await importTexts(db, [release(1, ['apple'])]);
  const before = dumpCatalog(db);
  await importTexts(db, [release(2, ['pear'])], { dryRun: true });
  await importTexts(db, [release(2, ['pear']), '<broken'], { strict: true });
  assert.equal(dumpCatalog(db), before);
  assert.is((await answerOf(db, 'apple')).pagination.total, 1);
  db.close();
});

test.run();
