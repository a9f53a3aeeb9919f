import * as assert from 'uvu/assert';
import type { Database } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const test = suite('coverage: more rules than are kept');

/** Copies the rule of each release until it has so many. */
function fill({ sqlite }: Database, rules: number): void {
  const columns = (sqlite.pragma('table_info(findings)') as { name: string }[]).map(({ name }) => name);
  const others = columns.filter((name) => name !== 'id' && name !== 'ordinal').join(', ');
  sqlite.exec(`
    WITH RECURSIVE numbers (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${rules})
    INSERT INTO findings (ordinal, ${others}) SELECT number, ${others} FROM findings JOIN numbers WHERE ordinal = 1`);
}

/** A database that counts how often the rules of a release are read. */
function counting(db: Database): { db: Database; reads: () => number } {
  let reads = 0;
  db.sqlite.function('read_of', { deterministic: false }, (release) => {
    reads++;
    return release;
  });
  const sqlite = new Proxy(db.sqlite, {
    get(target, key) {
      if (key !== 'prepare') {
        const value = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return (text: string) =>
        target.prepare(text.replace(/(severity, ccis FROM findings WHERE release_id = )\?/, '$1read_of(?)'));
    },
  });
  return { db: { ...db, sqlite }, reads: () => reads };
}

test('each release is read once for an answer, in a list and in several', async () => {
  const folder = scratchFolder();
  const paths = [1, 2, 3].map((number) =>
    put(
      folder,
      `${number}.xml`,
      writeXccdf({
        id: `Product_${number}`,
        title: `Product ${number}`,
        rules: 1,
        first: 1000 * number,
        stem: `P${number}`,
      }),
    ),
  );
  const { db: filled } = await testApp(paths);
  fill(filled, 14_000);
  const { db, reads } = counting(filled);
  const t = await testApp([], { db });
  const { id } = (await t.send('POST', '/api/v1/lists', { name: 'All', visibility: 'PRIVATE' })).json;
  await t.send('POST', `/api/v1/lists/${id}/stigs`, { slugs: ['product_1', 'product_2', 'product_3'] });
  for (const framework of ['nist-800-53', 'cci']) {
    const before = reads();
    const { status, json } = await t.get(`/api/v1/lists/${id}/coverage?framework=${framework}`);
    assert.is(status, 200, JSON.stringify(json));
    assert.is(reads() - before, 3, framework);
  }
  filled.close();
});

test.run();
