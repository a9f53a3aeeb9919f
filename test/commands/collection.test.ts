import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openDatabase } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { startServer } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';
import { filesOf } from '../support/site.ts';

const collection = suite('gapstone collection create');

const folder = scratchFolder();
const run = (...args: string[]) => runHere(folder, args);
const create = (...args: string[]) =>
  run('collection', 'create', '--owner', 'alice', '--org', 'red', ...args);

collection.before(async () => {
  const imported = await run('import', shipped('stigs'), shipped('roles'), shipped('regulatory'));
  assert.is(imported.code, 0, imported.stderr);
});

collection('makes both kinds, which the server then serves', async () => {
  const roles = await create(
    ...['--kind', 'role', '--name', 'Ours', '--visibility', 'shared', '--email', 'a@example.org'],
    ...['--description', 'D', '--color', '#112233', '--item', '15-1244.00', '15-1242.00', '15-1244.00'],
  );
  assert.equal([roles.code, roles.stderr], [0, '']);
  const documents = await create(
    ...['--kind', 'regdoc', '--name', 'Docs', '--tag', 'a', '--tag', 'b', '--json'],
    ...['--item', 'harbor-basic-directive', '--item', 'lantern-web-guideline'],
  );
  assert.is(documents.code, 0, documents.stderr);
  const { id } = JSON.parse(documents.stdout) as { id: string };
  const issued = ['--subject', 'alice', '--org', 'red', '--entitlement', 'regdoc', '--entitlement', 'occ'];
  const token = (await run('token', 'issue', ...issued)).stdout.trim();
  const server = await startServer(folder, ['serve', '--port', '0']);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const get = async (path: string): Promise<any> =>
    (await fetch(`${server.url}${path}`, { headers: { Authorization: `Bearer ${token}` } })).json();
  const [own] = (await get('/api/v1/role-collections')).collections;
  assert.equal(
    [own.id, own.name, own.visibility, own.roleCount, own.createdByEmail, own.color],
    [roles.stdout.trim(), 'Ours', 'SHARED', 2, 'a@example.org', '#112233'],
  );
  const [docs] = (await get('/api/v1/regdoc-collections')).collections;
  assert.equal([docs.id, docs.tags, docs.documentCount, docs.visibility], [id, ['a', 'b'], 2, 'PRIVATE']);
  server.child.kill('SIGTERM');
  assert.is((await server.ended).code, 0);
});

collection('an owner of a thousand gets no more', async () => {
  const files = filesOf(join(folder, 'gapstone.db'));
  {
    using db = openDatabase(files);
    db.sqlite.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       INSERT INTO bundles SELECT 'x' || i, 'role-collection', 'N', '', '[]', '', '', 'PRIVATE', 'olga', NULL, NULL,
         '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', NULL, 1 FROM n`,
    );
  }
  const args = ['collection', 'create', '--kind', 'role', '--name', 'N', '--item', '15-1244.00', '--owner'];
  const { code, stderr } = await run(...args, 'olga');
  const words = 'One creator can have at most 1,000 collections of roles. Delete one first';
  assert.equal([code, stderr], [1, `gapstone: ${words}\n`]);
  assert.is((await run(...args, 'peter')).code, 0);
});

collection.run();
