import * as assert from 'uvu/assert';
import { createSearchIndex } from '../../importers/stigs/search-index.ts';
import { atOnce } from '../../src/base/slices.ts';
import {
  columnOf,
  columns,
  countInto,
  createPageReader,
  placesIn,
  type WordRules,
} from '../../src/catalog/search/index-pages.ts';
import { numbersIn } from '../../src/catalog/search/numbers.ts';
import type { Database } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData, shipped } from '../support/reference.ts';

// The rules of a word are read from the pages of FTS5: those that FTS5 itself tells, as often in each column.

/** Enough for words of several pages. */
const few = 5;
const names = ['title', 'discussion', 'check_content', 'fix_text', 'ids'];

/** Compares one of so many words of the index, and gives how many words there are. */
function compare({ sqlite, ...db }: Database, share = 1): number {
  sqlite.exec('CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, rule_search, instance)');
  const rows = sqlite
    .prepare<[], { term: string; doc: number; col: string; places: string }>(
      "SELECT term, doc, col, group_concat(offset, ' ') AS places FROM temp.places GROUP BY term, doc, col",
    )
    .iterate();
  const expected = new Map<string, Map<number, string[]>>();
  for (const { term, doc, col, places } of rows) {
    const ofWord = expected.get(term) ?? new Map<number, string[]>();
    const ofColumns = ofWord.get(doc) ?? new Array<string>(columns).fill('');
    ofColumns[names.indexOf(col)] = places;
    expected.set(term, ofWord.set(doc, ofColumns));
  }
  sqlite.exec('DROP TABLE temp.places');
  const rulesOf = createPageReader({ sqlite });
  const wrong: string[] = [];
  const counts = new Array<number>(columns).fill(0);
  db.read(() => {
    for (const [word, rules] of [...expected].filter((_, at) => at % share === 0)) {
      const { ids, records } = atOnce(rulesOf(word));
      const found = ids.flatMap((id, at) => {
        const places = placesIn(records[at]!);
        countInto(counts, records[at]!);
        const ofColumns = counts.map((_, column) => places.filter((place) => columnOf(place) === column));
        const areSame = counts.every((count, column) => count === ofColumns[column]!.length);
        if (!areSame) wrong.push(`${word} in ${id}`);
        return places.length === 0
          ? []
          : [[id, ...ofColumns.map((each) => each.map((place) => place % 2 ** 32).join(' '))]];
      });
      const some = ids.filter((_, at) => at % 611 === 7 || at === ids.length - 1);
      const left = atOnce(rulesOf(word, some));
      const places = (of: WordRules) => of.ids.map((id, at) => `${id} ${placesIn(of.records[at]!)}`);
      const whole = places({ ids, records }).filter((_, at) => some.includes(ids[at]!));
      if (places(left).join() !== whole.join()) wrong.push(`${word} in some rules`);
      const told = [...rules].sort(([a], [b]) => a - b).map(([id, ofColumns]) => [id, ...ofColumns]);
      if (JSON.stringify(found) !== JSON.stringify(told)) wrong.push(word);
    }
  });
  assert.equal(wrong, []);
  for (const word of ['', 'no-such-word', '\u{10ffff}']) {
    const { ids } = db.read(() => atOnce(rulesOf(word)));
    assert.is(ids.length, expected.get(word)?.size ?? 0, word);
  }
  return expected.size;
}

const partsOf = ({ sqlite }: Database): number => {
  const block = sqlite.prepare<[], Buffer>('SELECT block FROM rule_search_data WHERE id = 10').pluck();
  return numbersIn(block.get()!.subarray(4))[1]!;
};

/** Takes each release out of the index in a transaction of its own, and all but each third in again. */
function change(db: Database): void {
  const index = createSearchIndex(db);
  const releases = db.sqlite
    .prepare<[], number>('SELECT release_id FROM searched_releases ORDER BY release_id')
    .pluck()
    .all();
  for (const [at, release] of releases.entries()) {
    db.sqlite.transaction(() => index.remove(release))();
    if (at % 3 > 0) db.sqlite.transaction(() => index.add(release))();
  }
}

const small = suite('The pages of the search index');

small('tell the rules of each word, also where rules were taken out and came again', async () => {
  const { db } = await testApp([shipped()]);
  assert.ok(compare(db) > 500);
  change(db);
  assert.ok(partsOf(db) > 1, 'the index is in several parts');
  assert.ok(compare(db, 3) > 300);
  db.close();
});
small.run();

const onReal = suiteIf(referenceData, 'The pages of the search index, of real rules');

onReal?.('tell the rules of each word, in one part and in several', async () => {
  const { db } = await testApp(benchmarkPaths.slice(0, few));
  assert.ok(compare(db) > 5000);
  change(db);
  assert.ok(partsOf(db) > 1, 'the index is in several parts');
  compare(db, 5);
  db.close();
});
onReal?.run();
