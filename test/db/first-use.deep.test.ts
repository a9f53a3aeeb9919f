import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../src/db/database.ts';
import { effortOf } from '../support/effort.ts';
import { suite } from '../support/harness.ts';

const statements = suite('Statements of a connection');

const schema = `CREATE TABLE t (id INTEGER PRIMARY KEY, whole INTEGER, real REAL, words TEXT, bytes BLOB, any ANY) STRICT;
  CREATE TABLE other (id INTEGER PRIMARY KEY, t INTEGER);
  CREATE INDEX t_words ON t (words)`;
const values = [0, 1, -1, 2, 1.5, '1', '1.0', 'a', 'A', '', '= ?', ' 1', null, Buffer.from('a'), 2n ** 60n];

statements('a value of each type means the same behind the plus that keeps plans', () => {
  using gapstone = openCatalog(':memory:');
  const plain = new Sqlite(':memory:');
  const both = [gapstone.sqlite, plain];
  for (const sqlite of both) sqlite.exec(schema);
  const ask = (source: string, ...bound: unknown[]) => {
    const [own, expected] = both.map((sqlite) => sqlite.prepare<unknown[]>(source).all(...bound));
    assert.equal(own, expected, `${source} ${bound.map(String)}`);
    return own!.length;
  };
  for (const sqlite of both) {
    const insert = sqlite.prepare('INSERT INTO t (whole, real, words, bytes, any) VALUES (?, ?, ?, ?, ?)');
    for (const value of values) {
      const is = (type: string) => (typeof value === type ? value : null);
      insert.run(
        typeof value === 'bigint' || Number.isInteger(value) ? value : null,
        is('number'),
        is('string'),
        Buffer.isBuffer(value) ? value : null,
        value,
      );
    }
    sqlite.exec('INSERT INTO other (t) SELECT id FROM t');
    sqlite.prepare('UPDATE t SET any = ? WHERE id = ?').run('changed', 3);
  }
  let found = 0;
  for (const column of ['whole', 'real', 'words', 'bytes', 'any'])
    for (const operator of ['=', '==', 'IS', 'is not', '<>', '!=', '<=', '>=', 'LIKE'])
      for (const value of values) {
        found += ask(`SELECT * FROM t WHERE ${column} ${operator} ? ORDER BY id`, value);
        ask(`SELECT * FROM t JOIN other ON other.t = t.id WHERE ${column} ${operator}? ORDER BY t.id`, value);
      }
  assert.ok(found > 1000);
  ask('SELECT * FROM t WHERE words = @text AND id = @id', { text: '= ?', id: 11 });
  plain.close();
});

statements('an index is used as for the bare value', () => {
  using gapstone = openCatalog(':memory:');
  gapstone.sqlite.exec(schema);
  const plan = gapstone.sqlite.prepare<[string], { detail: string }>(
    'EXPLAIN QUERY PLAN SELECT * FROM t JOIN other ON other.id = t.id WHERE words = ? ORDER BY any',
  );
  assert.match(plan.all('a')[0]!.detail, /^SEARCH t USING INDEX t_words \(words=\?\)/);
});

statements('a join is not planned again by each execution, as the driver has it', async () => {
  using gapstone = openCatalog(':memory:');
  const plain = new Sqlite(':memory:');
  for (const sqlite of [gapstone.sqlite, plain])
    sqlite.exec(`${schema}; INSERT INTO t (words) VALUES ('a'); INSERT INTO other (id) VALUES (1)`);
  for (const operator of ['=', 'LIKE']) {
    const [own, bare] = [gapstone.sqlite, plain].map((sqlite) => {
      const source = `SELECT t.* FROM t JOIN other ON other.id = t.id WHERE words ${operator} ?`;
      const ask = sqlite.prepare<[string]>(source);
      return () => {
        for (let turn = 0; turn < 5000; turn++) ask.get('a');
      };
    });
    const efforts = { own: Number.POSITIVE_INFINITY, bare: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 3; round++) {
      efforts.own = Math.min(efforts.own, await effortOf(own!));
      efforts.bare = Math.min(efforts.bare, await effortOf(bare!));
    }
    assert.ok(efforts.own * 1.5 < efforts.bare, `${operator} ${JSON.stringify(efforts)}`);
  }
  plain.close();
});

statements.run();
