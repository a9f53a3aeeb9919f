import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
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
  openCatalog(join(folder, 'gapstone.db'), { create: true }).close();
  const whose = '--subject dora --email d@example.org --org green --entitlement regdoc --entitlement occ';
  const args = `token issue ${whose} --ttl 90d`.split(' ');
  // One after the other: the first makes the key.
  const plain = await runHere(folder, args);
  const json = await runHere(folder, [...args, '--json']);
  assert.equal([plain.code, plain.stderr, json.code, json.stderr], [0, '', 0, '']);
  assert.match(plain.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const { d: _, ...publicKey } = await localKey(readConfig({ db: join(folder, 'gapstone.db') }, {}));
  for (const token of [plain.stdout.trim(), JSON.parse(json.stdout).token]) {
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [publicKey] }));
    const { iat, exp, ...claims } = payload;
    assert.equal(claims, {
      ...{ sub: 'dora', email: 'd@example.org', org: 'green', entitlements: ['regdoc', 'occ'] },
      ...{ iss: 'gapstone', aud: 'gapstone' },
    });
    assert.is(exp! - iat!, 90 * 86_400);
  }
});

usage('token issue makes nothing without a database, unless a key that is there was named', async () => {
  const folder = scratchFolder();
  const issue = (db: string, env = {}) =>
    runHere(folder, ['token', 'issue', '--subject', 's', '--db', db], env);
  const none = /^gapstone: there is no database at slip\.db: create one with .+\n$/;
  const other = scratchFolder();
  const config = readConfig({ db: join(other, 'gapstone.db') }, {});
  await localKey(config);
  for (const GAPSTONE_KEY_FILE of ['slip-key.json', undefined]) {
    const { code, stdout, stderr } = await issue('slip.db', GAPSTONE_KEY_FILE && { GAPSTONE_KEY_FILE });
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr, none);
    assert.equal(readdirSync(folder), []);
  }
  // Also where a key lies beside the name, as in the folder of another database.
  assert.is((await issue(join(other, 'slip.db'))).code, 1);
  const env = { GAPSTONE_KEY_FILE: config.keyFile, GAPSTONE_AUDIT_FILE: join(other, 'audit.jsonl') };
  assert.is((await issue('slip.db', env)).code, 0);
  chmodSync(config.keyFile, 0o644);
  const exposed = await issue('slip.db', env);
  assert.equal([exposed.code, exposed.stdout], [1, '']);
  assert.match(exposed.stderr, /^gapstone: the key file \S+ is readable by others \(mode 644\): .+\n$/);
  assert.equal(readdirSync(folder), []);
});

usage.run();
