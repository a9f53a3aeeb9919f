import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { scratchFolder } from '../support/scratch.ts';
import { filesOf } from '../support/site.ts';

// What a token may see is in `test/routes`, what is purged in `test/services/purge.test.ts`.
const users = suite('Users’ data from the command line');

/** A database with lists of the organization red; a list is deleted as many days ago as `deleted` says. */
function site(lists: string[]) {
  const folder = scratchFolder();
  const files = filesOf(join(folder, 'gapstone.db'));
  openCatalog(files.db, { create: true }).close();
  const db = openDatabase(files, { create: true });
  for (const id of lists)
    db.sqlite.exec(`INSERT INTO bundles VALUES ('${id}', 'list', '${id}', '', '[]', '', '', 'PRIVATE', 'ann', NULL,
      'red', 't', 't', NULL, 1)`);
  const run = (...args: string[]) => runHere(folder, args);
  return { db, run };
}

users('integration tokens: create, assign, list, revoke', async () => {
  const { db, run } = site(['one', 'two', 'three']);
  const create = ['token', 'integration', 'create', '--name', 'ci', '--org'];
  const listed = async () =>
    (await run('token', 'integration', 'list', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const created = await run(...create, 'red', '--list', 'one', '--ttl', '1h');
  assert.match(created.stdout, /^gsi_[\w-]{43}\n$/, created.stderr);
  const [token, ...others] = await listed();
  assert.equal(
    [others.length, token.name, token.organization, token.state, token.scope, token.lists],
    [0, 'ci', 'red', 'active', 'lists:read', ['one']],
  );
  assert.is((await run('token', 'integration', 'assign', token.id, '--list', 'two', 'three')).code, 0);
  assert.equal((await listed())[0].lists.sort(), ['one', 'three', 'two']);
  const foreign = await run(...create, 'blue', '--list', 'one');
  assert.equal([foreign.code, foreign.stdout], [1, '']);
  assert.match(foreign.stderr, /does not belong to the organization blue/);
  assert.is((await run('token', 'integration', 'revoke', token.id)).code, 0);
  const late = await run('token', 'integration', 'assign', token.id, '--list', 'one');
  assert.equal([late.code, /is revoked/.test(late.stderr)], [1, true]);
  const shown = await run('token', 'integration', 'list');
  assert.match(shown.stdout, /revoked {2}red {2}ci \(3 lists, expires /);
  assert.not.match(shown.stdout, /gsi_/);
  db.close();
});

users('purge: dry, by hand, and against a clock that was set back', async () => {
  const { db, run } = site(['old']);
  const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const age = (days: number) => db.sqlite.prepare('UPDATE bundles SET deleted_at = ?').run(at(-days));
  age(29);
  assert.equal((await run('purge')).stdout, '0 lists deleted more than 30 days ago were removed\n');
  age(31);
  assert.equal((await run('purge', '--dry-run', '--json')).stdout, '{"purged":1,"dryRun":true}\n');
  const latest = db.sqlite.prepare('UPDATE clock SET latest = ?');
  assert.is(latest.run(at(1)).changes, 1);
  const refused = await run('purge');
  assert.equal([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /nothing was purged \(see --accept-clock\)/);
  const accepted = await run('purge', '--accept-clock');
  assert.is(accepted.stdout, '1 list deleted more than 30 days ago was removed\n');
  db.close();
});

users.run();
