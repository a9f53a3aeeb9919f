import * as assert from 'uvu/assert';
import { atOnce } from '../../src/base/slices.ts';
import { createIndexMemory, type IndexMemory } from '../../src/catalog/search/index-memory.ts';
import { type Reading, weights } from '../../src/catalog/search/postings.ts';
import { matchOf, readSearchQuery } from '../../src/catalog/search/query.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ftsMatch } from '../support/fts-match.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData, shipped } from '../support/reference.ts';

// What a question scores is added up from words that are kept: as FTS5 scores it, but for the last digits.

interface Scored {
  id: number;
  score: number;
}

function comparer({ db }: TestApp, { all, postings }: IndexMemory) {
  const scored = (reading: Reading) =>
    db.sqlite.prepare<[string], Scored>(
      `SELECT rowid AS id, bm25(rule_search, ${weights[reading].join()}) AS score FROM rule_search
        WHERE rule_search MATCH ? ORDER BY rowid`,
    );
  const expected = { first: scored('first'), second: scored('second') };
  return (question: string, reading: Reading, join: ' AND ' | ' OR ', isFew: boolean): number => {
    const { wants } = readSearchQuery(question);
    const matches = wants.flatMap(({ patterns }) => patterns.map(matchOf));
    const match = join === ' AND ' ? ftsMatch(question)! : matches.join(join);
    const rows = expected[reading].all(match);
    const placeOf = new Map(all.map(({ id, place }) => [id, place]));
    const among = isFew ? rows.map(({ id }) => placeOf.get(id)!) : null;
    const weighed = matches.map((each) => ({ match: each, share: 1 }));
    const { places, scores } = atOnce(postings.scores(weighed, reading, among));
    const found = rows.map(({ id }) => ({ id, score: scores[placeOf.get(id)!]! }));
    const told = ({ id, score }: Scored) => `${id} ${Math.abs(score).toPrecision(12)}`;
    assert.equal(found.map(told), rows.map(told), question);
    if (isFew || join === ' OR ') assert.is(places.length, rows.length, question);
    return rows.length;
  };
}

/** Rows of two to twelve words of the texts of rules. */
function rowsOf({ db }: TestApp, each: number): string[] {
  const texts = db.sqlite
    .prepare<[number], string>(
      `SELECT title || ' ' || discussion || ' ' || check_content FROM searchable_rules
        WHERE id IN (SELECT id FROM rule_search_docsize) AND id % ? = 0`,
    )
    .pluck()
    .all(each);
  return texts.flatMap((text) => {
    const words = text.split(/\s+/).slice(0, 200);
    const rows: string[] = [];
    for (let from = 0, length = 2; from < words.length; from += length, length = 2 + ((from * 7) % 11))
      rows.push(words.slice(from, from + length).join(' '));
    return rows.filter((row) => readSearchQuery(row).wants.length > 0);
  });
}

const small = suite('The scores of words that are kept');

small('are those of FTS5: all words, any, few rules, all rules, prefixes, ids and phrases', async () => {
  const t = await testApp([shipped()]);
  const compare = comparer(t, await createIndexMemory(t.db)());
  const more = ['aud* log', 'SV-900001 log', '"the log"', 'ccı 366', 'a b c', 'nothing-like-it the'];
  let several = 0;
  for (const question of [...rowsOf(t, 1), ...more]) {
    for (const isFew of [true, false]) {
      if (compare(question, 'first', ' AND ', isFew) > 1) several++;
      compare(question, 'second', ' OR ', isFew);
    }
  }
  assert.ok(several > 100, `${several} questions with two rules or more`);
  t.db.close();
});
small.run();

const onReal = suiteIf(referenceData, 'The scores of words that are kept, of real rules');

onReal?.('are those of FTS5, as are those of words that are read in parts', async () => {
  const t = await testApp(benchmarkPaths);
  const memory = await createIndexMemory(t.db)();
  const compare = comparer(t, memory);
  assert.ok(memory.vocabulary.rulesWith('the') > 3000, 'common words are read in several parts');
  const made = [
    '"the operating system must"',
    'th*',
    'sy* co*',
    '"to the" sshd*',
    '/etc/ssh/sshd*',
    '"the the"',
  ];
  for (const question of ['the', 'a* the', 'the system must', 'to the', ...made])
    compare(question, 'first', ' AND ', false);
  for (const question of rowsOf(t, 400)) {
    compare(question, 'first', ' AND ', true);
    compare(question, 'second', ' OR ', false);
  }
  t.db.close();
});
onReal?.run();
