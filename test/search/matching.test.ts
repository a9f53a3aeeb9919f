import * as assert from 'uvu/assert';
import { atOnce } from '../../src/base/slices.ts';
import { createIndexMemory } from '../../src/catalog/search/index-memory.ts';
import { matching } from '../../src/catalog/search/matching.ts';
import { readSearchQuery } from '../../src/catalog/search/query.ts';
import { testApp } from '../support/app.ts';
import { ftsMatch } from '../support/fts-match.ts';
import { suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData } from '../support/reference.ts';

// Words, phrases and prefixes are read from the pages of FTS5: a question still finds what FTS5 finds.

const onReal = suiteIf(referenceData, 'The rules that have all words');

onReal?.('are those that FTS5 finds: words, phrases and prefixes, common and rare', async () => {
  const { db } = await testApp(benchmarkPaths);
  const memory = await createIndexMemory(db)();
  const { vocabulary, all } = memory;
  const expected = db.sqlite
    .prepare<[string], number>('SELECT rowid FROM rule_search WHERE rule_search MATCH ? ORDER BY rowid')
    .pluck();
  const same = (question: string) => {
    const { wants } = readSearchQuery(question);
    const ids = Array.from(atOnce(matching(wants, memory)), (place) => all[place]!.id);
    assert.equal(ids, expected.all(ftsMatch(question)!), question);
    return ids.length;
  };
  assert.ok(vocabulary.rulesWith('the') > vocabulary.rulesWith('to'));
  assert.ok(vocabulary.rulesWith('to') > 2000);
  const made = [
    ...[
      'the',
      'to the',
      'the sshd',
      'sshd banner to the',
      'the "to the" sshd*',
      'NO-SUCH the',
      'V-257777 the',
    ],
    ...[
      '"the the"',
      '"to the of"',
      '"the operating system must"',
      'th*',
      'sy* co*',
      'the-sys*',
      '/etc/ssh/sshd*',
    ],
    ...['"no-such the"', 'zz*', `"${'the '.repeat(100)}"`, 'SV-257777 audit', 'cci366', '"1.1"', '0.0.0.0'],
  ];
  assert.ok(made.filter((question) => same(question) > 0).length > 14);
  const texts = db.sqlite
    .prepare<[], string>('SELECT discussion FROM searchable_rules ORDER BY id LIMIT 300')
    .pluck()
    .all();
  for (const [at, text] of texts.entries()) {
    const row = text
      .replaceAll('"', ' ')
      .split(/\s+/)
      .slice(at % 7, (at % 7) + 2 + (at % 9));
    same(row.join(' '));
    same(`"${row.slice(0, 3).join(' ')}"`);
    same(`${row[0]}-${row[1]!.slice(0, 3)}*`);
  }
});

onReal?.run();
