import * as assert from 'uvu/assert';
import { atOnce } from '../../src/base/slices.ts';
import { createFewScorer } from '../../src/catalog/search/few.ts';
import { readSearchQuery } from '../../src/catalog/search/query.ts';
import { weights } from '../../src/catalog/search/sql.ts';
import { readVocabulary } from '../../src/catalog/search/vocabulary.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// A few rules that have all words of a question are scored without FTS5: as FTS5 scores them.

const few = suite('The order of a few rules');
let t: TestApp;

few.before(async () => {
  t = await testApp([shipped()]);
});
few.after(() => t.db.close());

few('is by the scores of FTS5, for every row of two to twelve words of the rules', () => {
  const { sqlite } = t.db;
  const scoresOf = createFewScorer(t.db);
  const vocabulary = atOnce(readVocabulary(t.db));
  const scored = sqlite.prepare<[string], { id: number; score: number }>(
    `SELECT rowid AS id, bm25(rule_search, ${weights.join()}) AS score FROM rule_search
      WHERE rule_search MATCH ? ORDER BY rowid`,
  );
  const texts = sqlite
    .prepare<[], string>(
      `SELECT title || ' ' || discussion || ' ' || check_content FROM searchable_rules
        WHERE id IN (SELECT id FROM rule_search_docsize)`,
    )
    .pluck()
    .all();
  let compared = 0;
  for (const text of texts) {
    const words = text.split(/\s+/);
    for (let from = 0, length = 2; from < words.length; from += length, length = 2 + ((from * 7) % 11)) {
      const query = readSearchQuery(words.slice(from, from + length).join(' '));
      if (query.match === null) continue;
      const expected = scored.all(query.match);
      const found = scoresOf(query, expected, vocabulary);
      if (found === null) continue;
      const near = (rows: typeof expected) =>
        rows.sort((a, b) => a.id - b.id).map(({ id, score }) => `${id} ${score.toFixed(9)}`);
      assert.equal(near(found), near(expected), query.match);
      if (expected.length > 1) compared++;
    }
  }
  assert.ok(compared > 100, `${compared} questions with two rules or more`);
});

few('is left to FTS5 for prefixes, ids in several forms and literal phrases', () => {
  const scoresOf = createFewScorer(t.db);
  const vocabulary = atOnce(readVocabulary(t.db));
  for (const question of ['aud* log', 'SV-900001 log', '"/etc/ssh" log'])
    assert.is(scoresOf(readSearchQuery(question), [{ id: 1 }, { id: 2 }], vocabulary), null, question);
});

few.run();
