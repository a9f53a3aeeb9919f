import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageVersion } from '../../src/base/root.ts';
import { auditLines } from '../support/audit.ts';
import { sampleCatalog } from '../support/bundles.ts';
import { newest } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { linesOf } from '../support/tables.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const test = suite('Commands about content');

/** A folder with a catalog and a key. */
async function site() {
  const cwd = scratchFolder();
  const source = put(scratchFolder(), 'sample.xml', writeXccdf({ title: 'Sample Guide', rules: 3 }));
  await sampleCatalog([[source]], { folder: cwd });
  const env = { GAPSTONE_DB: 'catalog.db' };
  const run = (...args: string[]) => commandHere(['content', ...args], { cwd, env });
  const json = async (...args: string[]) =>
    JSON.parse((await run(...args, '--json')).stdout) as Record<string, unknown>;
  return { cwd, run, json };
}

test('from a key to a bundle that another folder verifies', async () => {
  const { cwd, run, json } = await site();
  const made = await json('keygen', '--out', 'key');
  assert.equal(Object.keys(made), ['privateKey', 'publicKey', 'fingerprint']);
  assert.is(statSync(join(cwd, 'key')).mode & 0o777, 0o600);
  const built = await json(...'build --out b --key key --sequence 20261101'.split(' '));
  assert.match(built.digest as string, /^[0-9a-f]{64}$/);
  const { bundle: _, bytes, digest, files, ...signed } = built;
  assert.equal([files, signed], [['b'], { channel: 'main', sequence: 20_261_101, before: null }]);
  const check = await commandHere(['check', '--json'], { cwd, env: { GAPSTONE_DB: 'catalog.db' } });
  assert.match(check.stdout, new RegExp(built.digest as string));

  const refusal = await run('verify', 'b');
  assert.equal(refusal, {
    code: 1,
    stdout: '',
    stderr: 'gapstone: this site trusts no key yet: add one with "gapstone content trust add"\n',
  });
  assert.not.ok(existsSync(join(cwd, 'catalog-users.db')), 'looking makes nothing');
  const { bundle: __, ...verified } = await json('verify', 'b', '--key', 'key.pub');
  assert.equal(verified, {
    ...signed,
    ...{ digest, bytes, sources: 1, schema: newest.catalog, version: packageVersion },
    builtAt: verified.builtAt,
    expiresAt: null,
    ...{ fingerprint: made.fingerprint, signedBy: null, warnings: [] },
  });
  const again = await run('build', '--out', 'b', '--key', 'key');
  assert.is(again.code, 1);
  assert.match(
    again.stderr,
    /^gapstone: b already exists: a copy never replaces a file. Choose another name\n$/,
  );
});

test('trust is added, listed and removed by name, and the audit stream tells', async () => {
  const { cwd, run, json } = await site();
  const { fingerprint } = await json('keygen', '--out', 'key');
  await json('keygen', '--out', 'other');
  await run('build', '--out', 'b', '--key', 'key', '--channel', 'fleet');
  assert.equal(await run('trust', 'list'), { code: 0, stdout: '', stderr: '' });
  // A site may trust before it has a catalog.
  const inside = scratchFolder();
  const there = (...args: string[]) => {
    const files = args.map((each) => (/^(b|key\.pub|other\.pub)$/.test(each) ? join(cwd, each) : each));
    return commandHere(['content', ...files], { cwd: inside });
  };
  const added = await there('trust', 'add', 'key.pub', '--name', 'Depot', '--channel', 'fleet');
  assert.equal(added, { code: 0, stdout: `Depot  fleet  ${fingerprint}\n`, stderr: '' });
  assert.equal(filesIn(inside), ['gapstone-users.db']);
  const kept = JSON.parse((await there('trust', 'list', '--json')).stdout) as Record<string, unknown>;
  assert.equal(kept, {
    name: 'Depot',
    channel: 'fleet',
    fingerprint,
    addedAt: kept.addedAt,
    publicKey: kept.publicKey,
  });
  assert.match(
    (await there('verify', 'b')).stderr,
    /^fleet \d{14} of .*, signed by Depot: 1 source, whole, catalog (\w{4} ){2}\w{4}\n$/,
  );
  for (const [args, message] of [
    [
      ['add', 'key.pub', '--name', 'Depot'],
      'there is a trusted key "Depot" already: remove it first, or choose another name',
    ],
    [
      ['add', 'key.pub', '--name', 'Two', '--channel', 'fleet'],
      'this key is trusted already, as "Depot" for the channel fleet',
    ],
    [['remove', 'Nobody'], 'there is no trusted key "Nobody": see "gapstone content trust list"'],
  ] as const)
    assert.equal(await there('trust', ...args), { code: 1, stdout: '', stderr: `gapstone: ${message}\n` });
  assert.is((await there('trust', 'add', 'key.pub', '--name', 'Depot for main')).code, 0);
  assert.is((await there('trust', 'remove', 'Depot')).stdout, `Depot  fleet  ${fingerprint}\n`);
  assert.match(
    (await there('verify', 'b')).stderr,
    /it is of the channel fleet, but Depot for main may sign main\n$/,
  );

  const told = auditLines(join(inside, 'gapstone-audit.jsonl'))
    .filter(({ objectType }) => objectType === 'content-key')
    .map(({ action, objectId, outcome }) => `${action} ${objectId} ${outcome}`);
  assert.equal(
    told,
    linesOf(`
      content.trust-add Depot success
      content.trust-add Depot failure
      content.trust-add Two failure
      content.trust-remove Nobody failure
      content.trust-add Depot for main success
      content.trust-remove Depot success
    `),
  );
  const built = auditLines(join(cwd, 'gapstone-audit.jsonl'));
  assert.ok(built.some(({ action }) => action === 'content.build'));
});

test.run();
