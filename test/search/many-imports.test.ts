import * as assert from 'uvu/assert';
import { searchProblems } from '../../importers/stigs/search-problems.ts';
import { createCciService } from '../../src/catalog/crosswalk/cci.ts';
import { createCrosswalkService } from '../../src/catalog/crosswalk/queries.ts';
import { createSearchService, type RuleSearch } from '../../src/catalog/search/queries.ts';
import { type Database, openSerialized } from '../../src/db/database.ts';
import { importTexts } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// A catalog that came about by many small imports answers as one whose index is made anew from the texts: FTS5 merges
// the parts of an index bit by bit, and what is searched meanwhile lies in parts that are half merged.

const imports = 100;
const asked = 300;

let seed = 48;
function below(limit: number): number {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * limit);
}
const pick = <T>(items: T[]): T => items[below(items.length)]!;
const some = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** Letters of some scripts; FTS5 knows no letter of the last. */
const scripts = ['etaoinshrdlu', 'оеаинтслвкд', 'αειοντσρλκ', 'אבגדהולמנ', 'कनपरलसता', '监控系统日志', '𞤀𞤣𞤤'];
const vocabularies = scripts.map((letters) =>
  some(300, () => some(2 + below(7), () => pick([...letters])).join('')),
);
const latin = vocabularies[0]!;
/** A text in a language. Its first words are common, the last are rare. */
const sentence = (words: number, language = latin) =>
  some(words, () => language[Math.min(below(300), below(300), below(300))]).join(' ');

function release(benchmark: number, number: number): string {
  // A part of the index in one script is used up by a merge before one in another is.
  const language = pick([latin, pick(vocabularies)]);
  const rules = sampleRules(3, `B${benchmark}`, 100_001 + 10 * benchmark).map((rule) => ({
    ...rule,
    title: sentence(1 + below(6), language),
    description: `<VulnDiscussion>${sentence(below(40), language)}</VulnDiscussion>`,
    checks: [sentence(1 + below(60), language)],
    severity: pick(['high', 'medium', 'low']),
  }));
  return writeXccdf({
    id: `Product_${benchmark}`,
    title: `Product ${benchmark} ${sentence(2)}`,
    release: number,
    rules,
  });
}

function question(): RuleSearch {
  const language = pick([latin, pick(vocabularies)]);
  const word = () => sentence(1, language);
  const text = pick([
    () => word(),
    () => sentence(2, language),
    () => `${word()} ${sentence(4)}`,
    () => `"${sentence(2, language)}"`,
    () => `${word().slice(0, 2)}*`,
    () => `${word()} -${word()}`,
    () => `V-${100_001 + below(400)}`,
    () => `${word().slice(1)}x ${word()}`,
  ])();
  const filter = pick([
    {},
    {},
    { severity: new Set(['high' as const]) },
    { sort: 'id' as const },
    { stig: [`product_${below(9)}`] },
  ]);
  return { q: text, page: 1 + below(2), limit: 20, ...filter };
}

/** The same catalog with an index that is made anew. */
function rebuilt(db: Database): Database {
  const copy = openSerialized(db.sqlite.serialize());
  copy.sqlite.exec(`
    INSERT INTO rule_search (rule_search) VALUES ('delete-all');
    INSERT INTO rule_search (rowid, title, discussion, check_content, fix_text, ids)
    SELECT id, title, discussion, check_content, fix_text, ids FROM searchable_rules
     WHERE release_id IN (SELECT current_release_id FROM stigs);
    INSERT INTO rule_search (rule_search) VALUES ('optimize')`);
  return copy;
}

const test = suite('The search after many imports');

test('answers as with an index made anew from the texts, while its parts are half merged', async () => {
  const db = emptyCatalog();
  // Small pages, so that few rules fill many.
  db.sqlite.exec("INSERT INTO rule_search (rule_search, rank) VALUES ('pgsz', 64)");
  const releases = some(50, () => 0).flatMap((_, benchmark) =>
    [1, 2, 3, 4].map((number) => [benchmark, number] as const),
  );
  const order = releases.map((each) => ({ each, at: below(1_000_000) })).sort((a, b) => a.at - b.at);
  const merge = db.sqlite.prepare<[number]>(
    "INSERT INTO rule_search (rule_search, rank) VALUES ('merge', ?)",
  );
  const questions = some(asked, question);
  const compare = (all: RuleSearch[], where: string) => {
    const other = rebuilt(db);
    const [own, right] = [db, other].map((each) =>
      createSearchService(each, createCciService(each, createCrosswalkService(each))),
    );
    let found = 0;
    for (const each of all) {
      if (each.stig !== undefined && !isThere(db, each.stig[0]!)) continue;
      const answer = own!.search(each);
      assert.equal(answer, right!.search(each), `${where}: ${JSON.stringify(each)}`);
      if (answer.pagination.total > 0) found++;
    }
    assert.equal([...searchProblems(db)], [], where);
    other.close();
    return found;
  };
  for (let run = 1; run <= imports; run++) {
    await importTexts(
      db,
      order.splice(0, Math.min(order.length, 1 + below(3))).map(({ each }) => release(...each)),
    );
    if (run % 3 > 0) continue;
    // So many pages, as FTS5 does by itself in larger indexes.
    merge.run(pick([-1, 1]) * (50 + below(300)));
    compare(questions.slice(3 * run - 9, 3 * run), `after import ${run}`);
  }
  assert.ok(compare(questions, 'at the end') > asked / 2);
  db.close();
});

const isThere = ({ sqlite }: Database, slug: string) =>
  sqlite.prepare('SELECT 1 FROM stigs WHERE slug = ?').get(slug) !== undefined;

test.run();
