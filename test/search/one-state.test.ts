import { randomUUID } from 'node:crypto';
import * as assert from 'uvu/assert';
import { openDatabase, openReader } from '../../src/db/database.ts';
import { createServices } from '../../src/services.ts';
import { jobs, runJob } from '../../src/work/jobs.ts';
import { siteOf } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { told } from '../support/told.ts';

const test = suite('Answers while the catalog changes');

test('what is found for an id and what the id names are of one state, where it changes between', () => {
  const { files } = siteOf();
  using writer = openDatabase(files);
  using db = openReader(files);
  const services = createServices({
    catalog: db,
    users: db,
    now: () => new Date(),
    newId: randomUUID,
    banner: null,
  });
  const { search } = services;
  let changes = 0;
  const changing: typeof services = {
    ...services,
    search: {
      ...search,
      search(query) {
        const found = search.search(query);
        writer.sqlite.exec(`UPDATE findings SET rule_title = 'Renamed ' || rule_title;
                            UPDATE catalog SET generation = generation + 1`);
        changes++;
        return found;
      },
    },
  };
  const user = {
    kind: 'user',
    subject: 'ann',
    email: 'ann@example.org',
    organization: null,
    entitlements: new Set(),
  };
  for (const q of ['V-900011', 'V-900011 V-900012', 'rule V-900011 of harbor']) {
    const query = { q, page: 1, limit: 20 };
    const { answers, results } = runJob(db, changing, jobs.searchPage, [user, query]) as ReturnType<
      typeof jobs.searchPage
    >;
    const titles = [...told(answers, 'title'), ...told(results, 'ruleTitle')];
    const prefix = 'Renamed '.repeat(changes - 1);
    assert.ok(answers.length > 0 && results.length > 0, q);
    assert.equal(
      titles.filter((title) => !title.startsWith(prefix) || title.startsWith(`${prefix}Renamed`)),
      [],
      q,
    );
  }
});

test.run();
