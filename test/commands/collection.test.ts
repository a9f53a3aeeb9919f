import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openDatabase } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
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

collection('makes both kinds, whole', async () => {
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
  using db = openDatabase(filesOf(join(folder, 'gapstone.db')));
  const made = db.sqlite.prepare<[], Record<string, unknown>>('SELECT * FROM bundles ORDER BY name DESC');
  const [own, docs] = made.all().map((row) => `${Object.values(row).slice(0, 11).join('|')}`);
  const ids = [roles.stdout.trim(), JSON.parse(documents.stdout).id];
  assert.is(own, `${ids[0]}|role-collection|Ours|D|[]|#112233||SHARED|alice|a@example.org|red`);
  assert.is(docs, `${ids[1]}|regdoc-collection|Docs||["a","b"]|||PRIVATE|alice||red`);
  for (const table of ['collection_roles', 'collection_documents'])
    assert.is(db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 2, table);
});

collection.run();
