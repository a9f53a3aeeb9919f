import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import * as assert from 'uvu/assert';
import { localKey } from '../../src/auth/keys.ts';
import { readConfig } from '../../src/base/config.ts';
import { openCatalog } from '../../src/db/database.ts';
import { cli, withoutProgress } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { killAll } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const usage = suite('Command line: usage and token issue');

usage.after(killAll);

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/** Runs the command line under a shell, where its output can be a pipe that is closed or a disk that is full. */
function shell(cwd: string, script: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn('sh', ['-c', script, process.execPath, cli], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })));
}

usage('a reader that is gone ends no command', async () => {
  const folder = scratchFolder();
  put(folder, 'a.xml', writeXccdf());
  // The pipe has no reader when the command begins to write: who reads closes it, and says so by another.
  execFileSync('mkfifo', ['gone'], { cwd: folder });
  const gone = await shell(
    folder,
    '{ cat gone; "$0" "$1" import a.xml --json; echo "code $?" >&2; } | { exec <&-; echo > gone; }',
  );
  assert.equal([gone.code, withoutProgress(gone.stderr)], [0, 'code 0\n']);
  const silent = await shell(
    folder,
    '{ cat gone; "$0" "$1" import a.xml --db b.db 2>&1; echo $? > code; } | { exec <&-; echo > gone; }',
  );
  assert.equal([silent.stderr, readFileSync(join(folder, 'code'), 'utf8')], ['', '0\n']);
  assert.ok(existsSync(join(folder, 'b.db')));
});

const onFull = testIf(
  { here: existsSync('/dev/full'), bring: 'Run the tests where there is /dev/full.' },
  usage,
);
onFull('output that is lost is told in one line', async () => {
  const folder = scratchFolder();
  put(folder, 'a.xml', writeXccdf());
  for (const command of ['--help', 'import a.xml --json']) {
    const full = await shell(folder, `"$0" "$1" ${command} > /dev/full`);
    assert.is(full.code, 1, command);
    assert.match(
      full.stderr,
      /^gapstone: the output cannot be written: ENOSPC: no space left on device, write\n$/,
    );
  }
});

usage('what the operating system refuses is one line', async () => {
  const folder = scratchFolder();
  put(folder, 'a.xml', writeXccdf());
  symlinkSync('loop.db', join(folder, 'loop.db'));
  for (const [db, message] of [
    ['loop.db', /^gapstone: ELOOP: too many symbolic links encountered, stat 'loop\.db'\n$/],
    [`${'n'.repeat(250)}.db`, /^gapstone: n+\.db cannot be created: ENAMETOOLONG: name too long, .*\n$/],
  ] as const) {
    const { code, stderr } = await runHere(folder, ['import', 'a.xml', '--db', db]);
    assert.is(code, 1);
    assert.match(stderr, message);
  }
});

usage('token issue prints one token and nothing else', async () => {
  const folder = scratchFolder();
  const args = [
    'token',
    'issue',
    '--subject',
    'dora',
    '--email',
    'd@example.org',
    '--org',
    'green',
    '--entitlement',
    'regdoc',
    '--entitlement',
    'occ',
    '--ttl',
    '90d',
  ];
  for (const name of ['gapstone.db', 'other.db']) openCatalog(join(folder, name), { create: true }).close();
  // One after the other: the first makes the key.
  const plain = await runHere(folder, args);
  const json = await runHere(folder, [...args, '--json', '--db', join(folder, 'other.db')]);
  assert.equal([plain.code, plain.stderr, json.code, json.stderr], [0, '', 0, '']);
  assert.match(plain.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const key = await localKey(readConfig({ db: join(folder, 'gapstone.db') }, {}));
  const { d: _, ...publicKey } = key;
  for (const token of [plain.stdout.trim(), JSON.parse(json.stdout).token]) {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [publicKey] }));
    const { iat, exp, ...claims } = payload;
    assert.equal(claims, {
      sub: 'dora',
      email: 'd@example.org',
      org: 'green',
      entitlements: ['regdoc', 'occ'],
      iss: 'gapstone',
      aud: 'gapstone',
    });
    assert.is(exp! - iat!, 90 * 86_400);
  }
  const short = await runHere(folder, ['token', 'issue', '--subject', 's']);
  const { iat, exp } = decodeJwt(short.stdout.trim());
  assert.is(exp! - iat!, 8 * 3600, 'eight hours unless asked otherwise');
});

usage(
  'token issue makes nothing for a database that does not exist, unless a key that is there was named',
  async () => {
    const folder = scratchFolder();
    put(folder, 'notes.txt', 'no database');
    const issue = (db: string, env = {}) =>
      runHere(folder, ['token', 'issue', '--subject', 's', '--db', db], env);
    for (const [db, env, message] of [
      ['slip.db', {}, /^gapstone: there is no database at slip\.db: create one with .+\n$/],
      ['no/such/slip.db', {}, /^gapstone: there is no database at no\/such\/slip\.db: .+\n$/],
      ['notes.txt', {}, /^gapstone: notes\.txt is not a database .+\n$/],
      [
        'slip.db',
        { GAPSTONE_KEY_FILE: 'slip-key.json' },
        /^gapstone: there is no database at slip\.db: .+\n$/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await issue(db, env);
      assert.equal([code, stdout], [1, '']);
      assert.match(stderr, message);
      assert.equal(readdirSync(folder), ['notes.txt']);
    }
    // Also where a key lies beside the name, as in the folder of another database.
    await localKey(readConfig({ db: join(folder, 'gapstone.db') }, {}));
    assert.is((await issue('slip.db')).code, 1);
    const key = scratchFolder();
    await localKey(readConfig({ db: join(key, 'gapstone.db') }, {}));
    const named = await issue('slip.db', {
      GAPSTONE_KEY_FILE: join(key, 'gapstone-key.json'),
      GAPSTONE_AUDIT_FILE: join(key, 'audit.jsonl'),
    });
    assert.equal([named.code, named.stderr], [0, '']);
    assert.match(named.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    assert.equal(readdirSync(folder).sort(), ['gapstone-key.json', 'notes.txt']);
  },
);

usage('token issue fails with a pinned key set, and with a key that others can read', async () => {
  const folder = scratchFolder();
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  put(folder, 'jwks.json', JSON.stringify({ keys: [await exportJWK(publicKey)] }));
  const args = ['token', 'issue', '--subject', 's'];
  const pinned = { GAPSTONE_JWKS: 'jwks.json', GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' };
  const other = scratchFolder();
  openCatalog(join(other, 'gapstone.db'), { create: true }).close();
  await localKey(readConfig({ db: join(other, 'gapstone.db') }, {}));
  chmodSync(join(other, 'gapstone-key.json'), 0o644);
  const [byProvider, exposed] = await Promise.all([runHere(folder, args, pinned), runHere(other, args)]);
  assert.equal([byProvider.code, byProvider.stdout, lines(byProvider.stderr).length], [1, '', 1]);
  assert.match(byProvider.stderr, /^gapstone: GAPSTONE_JWKS is set/);
  assert.equal([exposed.code, exposed.stdout, lines(exposed.stderr).length], [1, '', 1]);
  assert.match(
    exposed.stderr,
    /^gapstone: the key file .*gapstone-key\.json is readable by others \(mode 644\): run chmod 600 on it$/m,
  );
});

usage.run();
