import { type Database, openCatalog } from '../../src/db/database.ts';

/** So many words are compared, and so many rules. */
const most = 500;

const matchingSql = 'SELECT rowid FROM rule_search WHERE rule_search MATCH ? ORDER BY rowid';
const wordsSql = 'SELECT term FROM rule_words ORDER BY term';

/**
 * Compares the search index with the texts of rules: a line for each kind of difference. A second index is made in memory
 * from the texts of some rules, and both must find the same of these by some words. Nor may a word find a rule of no
 * current release.
 */
export function searchProblems(db: Database): string[] {
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
  const own = spread(second.sqlite.prepare<[], string>(wordsSql).pluck().all());
  const rightly = second.sqlite.prepare<[string], number>(matchingSql).pluck();
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
  return [
    ...problemOf(strange, 'are found that no current release has'),
    ...problemOf(wrong, 'are found by a word that they do not have'),
    ...problemOf(missing, 'are not found by a word that they have'),
  ];
}

/** One line for all of some rules, with the first and its word. */
function problemOf(rules: Map<number, string>, what: string): string[] {
  const [first] = rules;
  if (first === undefined) return [];
  const [id, word] = first;
  return [`${rules.size} rules ${what}: number ${id} by ${quoted(word)}`];
}

/** As many of some items as are compared, evenly spread. */
function spread<T>(items: T[]): T[] {
  const step = Math.ceil(items.length / most);
  return items.filter((_, index) => index % step === 0);
}

const quoted = (word: string) => `"${word}"`;

/** A catalog in memory with nothing but the index of some rules. */
function indexOf({ sqlite }: Database, rules: Set<number>): Database {
  const columns = 'title, discussion, check_content, fix_text, ids';
  const texts = sqlite
    .prepare<[number], string[]>(`SELECT id, ${columns} FROM searchable_rules WHERE id = ?`)
    .raw();
  const second = openCatalog(':memory:');
  const add = second.sqlite.prepare(`INSERT INTO rule_search (rowid, ${columns}) VALUES (?, ?, ?, ?, ?, ?)`);
  for (const id of rules) for (const row of texts.all(id)) add.run(row);
  return second;
}
