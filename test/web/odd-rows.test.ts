import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { loadPage } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { linesOf } from '../support/tables.ts';

const odd = suite('Rows that another version or a hand wrote');

const tables = linesOf(`
  import_runs
  import_ledger
  sources
  framework_versions
  stigs
  stig_releases
  stig_printings
  bundles
`);

odd(
  'a stored text of markup or broken JSON leaves every page of the content and its API as they are',
  async () => {
    const t = await testApp([shipped()]);
    const ann = await sessionCaller(t, await userCaller(t, { sub: 'ann' }));
    const { sqlite } = t.db;
    const failures: string[] = [];
    const columns = sqlite
      .prepare<[], { table: string; name: string }>(
        `SELECT m.name AS "table", c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
        WHERE m.type = 'table' AND c.type = 'TEXT'`,
      )
      .all()
      .filter(({ table }) => tables.includes(table));
    assert.ok(columns.length > 5, `${columns.length}`);
    sqlite.pragma('ignore_check_constraints = ON');
    sqlite.pragma('foreign_keys = OFF');
    for (const text of ['<script>alert(1)</script>', '{"a": [1,', 'null'])
      for (const { table, name } of columns) {
        sqlite.exec('SAVEPOINT odd');
        try {
          sqlite
            .prepare(`UPDATE ${table} SET ${name} = ? WHERE rowid = (SELECT min(rowid) FROM ${table})`)
            .run(text);
        } catch {
          sqlite.exec('ROLLBACK TO odd; RELEASE odd');
          continue;
        }
        for (const path of ['/catalog', '/catalog/imports/1', '/']) {
          const { status, html } = await loadPage(t, path, ann);
          if (status !== 200 || html.includes('<script>alert'))
            failures.push(`${path} ${table}.${name} ${text} ${status}`);
        }
        const api = await t.get('/api/v1/catalog');
        if (api.status !== 200) failures.push(`api ${table}.${name} ${text} ${api.status}`);
        sqlite.exec('ROLLBACK TO odd; RELEASE odd');
      }
    t.db.close();
    assert.equal(failures, []);
  },
);

odd.run();
