import * as assert from 'uvu/assert';
import { type Database, openSerialized } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

// An answer is of one state of the catalog, wherever it changes between two of the reads of a request.

const test = suite('Answers while the catalog changes');

const catalog = (await testApp([shipped('stigs')])).db.sqlite.serialize();

const change = (db: Database) =>
  db.sqlite.exec(`UPDATE findings SET rule_title = 'Renamed ' || rule_title;
                  UPDATE catalog SET generation = generation + 1`);

/** A database that changes after so many of the next reads; 0 for none. */
function changing(db: Database) {
  let left = 0;
  const changeAfter = (reads: number) => {
    left = reads;
  };
  const changed: Database = {
    ...db,
    read: (work) => {
      if (db.sqlite.inTransaction) return work();
      const result = db.read(work);
      if (--left === 0) change(db);
      return result;
    },
  };
  return { db: changed, changeAfter };
}

for (const q of ['V-900011', 'V-900011 V-900012', 'rule V-900011 of harbor'])
  test(`what is found for ${q} and what its ids name are of one state`, async () => {
    for (let reads = 1; reads <= 6; reads++) {
      const { db, changeAfter } = changing(openSerialized(catalog));
      const t = await testApp([], { db });
      changeAfter(reads);
      const { json } = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}`);
      const titles: string[] = [
        ...json.answers.map((each: { title: string }) => each.title),
        ...json.results.map((each: { ruleTitle: string }) => each.ruleTitle),
      ];
      assert.ok(titles.length > 1);
      const renamed = titles.filter((title) => title.startsWith('Renamed'));
      assert.ok(renamed.length === 0 || renamed.length === titles.length, `after ${reads} reads`);
      db.close();
    }
  });

test('a catalog that changes in every attempt is a 503 after some, also of the crosswalk', async () => {
  const { db } = await testApp([shipped('controls'), shipped('mappings')]);
  let asked = 0;
  let isChanging = false;
  const t = await testApp([], {
    db: { ...db, generation: () => (isChanging && asked < 5000 ? ++asked : 0) },
  });
  for (const path of [
    '/api/v1/crosswalk/resolve?from=nist-800-171:3.1.1&to=nist-800-53&explain=true',
    '/api/v1/crosswalk/resolve?from=nist-800-171:3.1.1&to=cci&explain=true&maxHops=6',
    '/api/v1/search?q=audit',
  ]) {
    isChanging = true;
    asked = 0;
    assert.is((await t.get(path)).status, 503, path);
    assert.ok(asked < 5000, path);
    isChanging = false;
    assert.is((await t.get(path)).status, 200, path);
  }
  db.close();
});

test.run();
