import * as assert from 'uvu/assert';
import { createFewRanker } from '../../src/catalog/search/few.ts';
import { readSearchQuery } from '../../src/catalog/search/query.ts';
import { matching, relevance } from '../../src/catalog/search/sql.ts';
import { createVocabulary } from '../../src/catalog/search/vocabulary.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// A few rules that have all words of a question are put in order without FTS5: in the same order.

const few = suite('The order of a few rules');
let t: TestApp;

few.before(async () => {
  t = await testApp([shipped()]);
});
few.after(() => t.db.close());

few('is that of FTS5, for every row of two to twelve words of the rules', () => {
  const { sqlite } = t.db;
  const rank = createFewRanker(t.db, createVocabulary(t.db));
  const none = { slugs: null, among: null, cci: null, ccis: null, reached: null, excluded: null };
  const sorted = sqlite.prepare<[object], number>(`SELECT f.id ${matching} ORDER BY ${relevance}`).pluck();
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
      const expected = sorted.all({ ...none, severities: null, match: query.match });
      const found = rank(query, expected.toReversed());
      if (found === null) continue;
      assert.equal(found, expected, query.match);
      if (expected.length > 1) compared++;
    }
  }
  assert.ok(compared > 100, `${compared} questions with two rules or more`);
});

few('is left to FTS5 for prefixes, ids in several forms and literal phrases', () => {
  const rank = createFewRanker(t.db, createVocabulary(t.db));
  for (const question of ['aud* log', 'SV-900001 log', '"/etc/ssh" log'])
    assert.is(rank(readSearchQuery(question), [1, 2]), null, question);
});

few.run();
