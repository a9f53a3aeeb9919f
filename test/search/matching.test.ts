import * as assert from 'uvu/assert';
import { atOnce } from '../../src/base/slices.ts';
import { createIndexMemory } from '../../src/catalog/search/index-memory.ts';
import { createMatching } from '../../src/catalog/search/matching.ts';
import { readSearchQuery } from '../../src/catalog/search/query.ts';
import { createIndexQueries } from '../../src/catalog/search/sql.ts';
import { testApp } from '../support/app.ts';
import { suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';

// Which rules have common words is kept: a question still finds what FTS5 finds of all its words.

const onReal = suiteIf(referenceData, 'The rules that have all words');

onReal?.('are those that FTS5 finds, with common words, rare ones, or both', async () => {
  const { db } = await testApp(benchmarkPaths);
  const queries = createIndexQueries(db);
  const memory = await createIndexMemory(db)();
  const { vocabulary, all } = memory;
  let asked: string[] = [];
  const matching = (match: string) => {
    asked.push(match);
    return queries.matching(match);
  };
  const rulesOf = createMatching({ ...queries, matching });
  const same = (question: string) => {
    const query = readSearchQuery(question);
    const ids = Array.from(atOnce(rulesOf(query, memory)), (place) => all[place]!.id);
    assert.equal(ids, queries.matching(query.match!), question);
  };
  assert.ok(vocabulary.rulesWith('the') > vocabulary.rulesWith('to'));
  assert.ok(vocabulary.rulesWith('to') > 2000);
  for (const question of [
    'the',
    'to the',
    'the sshd',
    'sshd banner to the',
    'the "to the" sshd*',
    'NO-SUCH the',
  ])
    same(question);
  const texts = db.sqlite
    .prepare<[], string>('SELECT discussion FROM searchable_rules ORDER BY id LIMIT 300')
    .pluck()
    .all();
  for (const [at, text] of texts.entries())
    same(
      text
        .split(/\s+/)
        .slice(at % 7, (at % 7) + 2 + (at % 9))
        .join(' '),
    );
  asked = [];
  same('the sshd to');
  assert.equal(asked, ['"sshd"'], 'only the rare word is asked again');
});

onReal?.run();
