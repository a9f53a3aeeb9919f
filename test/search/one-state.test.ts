import * as assert from 'uvu/assert';
import { type Database, openSerialized } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { told } from '../support/told.ts';

// An answer is of one state of the catalog, wherever it changes between two of the reads of a request.

const test = suite('Answers while the catalog changes');

const catalog = (await testApp([shipped('stigs')])).db.sqlite.serialize();

const change = (db: Database) =>
  db.sqlite.exec(`UPDATE findings SET rule_title = 'Renamed ' || rule_title;
                  UPDATE catalog SET generation = generation + 1`);

test('what is found for an id and what the id names are of one state, wherever it changes between', async () => {
  for (const q of ['V-900011', 'V-900011 V-900012', 'rule V-900011 of harbor'])
    for (let after = 1; ; after++) {
      const own = openSerialized(catalog);
      let reads = 0;
      let isAsked = false;
      const db: Database = {
        ...own,
        read: (work) => {
          if (own.sqlite.inTransaction) return work();
          const result = own.read(work);
          if (isAsked && ++reads === after) change(own);
          return result;
        },
      };
      const t = await testApp([], { db });
      isAsked = true;
      const { json } = await t.get(`/api/v1/search?q=${encodeURIComponent(q)}`);
      const titles = [...told(json.answers, 'title'), ...told(json.results, 'ruleTitle')];
      const renamed = titles.filter((title) => title.startsWith('Renamed'));
      assert.ok(
        titles.length > 1 && [0, titles.length].includes(renamed.length),
        `${q} after ${after} reads`,
      );
      own.close();
      // Each read that it makes was the last before a change.
      if (reads >= after) continue;
      assert.ok(after > 1, 'it never changed');
      break;
    }
});

test.run();
