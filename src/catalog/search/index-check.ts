import Sqlite from 'better-sqlite3';
import type { Database } from '../../db/database.ts';
import type { Check } from '../checks.ts';

/** So many words are compared, and so many rules. */
const most = 500;

const matchingSql = 'SELECT rowid FROM rule_search WHERE rule_search MATCH ? ORDER BY rowid';
const wordsSql = 'SELECT term FROM rule_words ORDER BY term';

/**
 * Compares the search index with the texts of rules. A second index is made in memory from the texts of some rules, and
 * both must find the same of these by some words. Nor may a word find a rule of no current release.
 */
export const searchIndex: Check = {
  name: 'search index',
  *run(db) {
    const list = <T>(sql: string) => db.sqlite.prepare<[], T>(sql).pluck().all();
    const matching = db.sqlite.prepare<[string], number>(matchingSql).pluck();
    const current = list<number>(
      'SELECT f.id FROM stigs AS s JOIN findings AS f ON f.release_id = s.current_release_id ORDER BY f.id',
    );
    const isCurrent = new Set(current);
    const words = spread(list<string>(wordsSql));
    const rules = new Set([
      ...spread(current),
      ...words.flatMap((word) => matching.all(quoted(word)).slice(-1)),
    ]);
    using second = indexOf(db, rules);
    const own = spread(second.prepare<[], string>(wordsSql).pluck().all());
    const rightly = second.prepare<[string], number>(matchingSql).pluck();
    const strange = new Map<number, string>();
    const wrong = new Map<number, string>();
    const missing = new Map<number, string>();
    for (const word of new Set([...words, ...own])) {
      const right = new Set(rightly.all(quoted(word)));
      for (const id of matching.all(quoted(word))) {
        if (!isCurrent.has(id)) strange.set(id, word);
        else if (rules.has(id) && !right.delete(id)) wrong.set(id, word);
      }
      for (const id of right) if (isCurrent.has(id)) missing.set(id, word);
    }
    yield* told(strange, 'are found that no current release has');
    yield* told(wrong, 'are found by a word that they do not have');
    yield* told(missing, 'are not found by a word that they have');
  },
};

/** One line for some rules, each with one of the words. */
function* told(rules: Map<number, string>, what: string): Iterable<string> {
  for (const [id, word] of [...rules].slice(0, 1))
    yield `${rules.size} rules ${what}: number ${id} by ${quoted(word)}`;
}

/** As many of some items as are compared, evenly spread. */
function spread<T>(items: T[]): T[] {
  const step = Math.ceil(items.length / most);
  return items.filter((_, index) => index % step === 0);
}

const quoted = (word: string) => `"${word}"`;

/** The index of some rules, made anew. */
function indexOf({ sqlite, names }: Database, rules: Set<number>) {
  const declared = sqlite
    .prepare<[], string>(
      `SELECT sql FROM ${names.catalog}.sqlite_schema WHERE name IN ('rule_search', 'rule_words') ORDER BY name`,
    )
    .pluck();
  const texts = sqlite
    .prepare<[number], unknown[]>(
      'SELECT id, title, discussion, check_content, fix_text, ids FROM searchable_rules WHERE id = ?',
    )
    .raw();
  const index = new Sqlite(':memory:');
  index.exec(declared.all().join(';'));
  const add = index.prepare(
    'INSERT INTO rule_search (rowid, title, discussion, check_content, fix_text, ids) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const id of rules) for (const row of texts.all(id)) add.run(row);
  return Object.assign(index, { [Symbol.dispose]: () => void index.close() });
}
