import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import * as assert from 'uvu/assert';
import { type KeySet, loadKeys } from '../../src/auth/keys.ts';
import { createVerifyUserToken, type VerifyUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { createLog } from '../../src/base/log.ts';
import { suite } from '../support/harness.ts';
import { until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// The key set follows its file (threat A2).
const watch = suite('Key rotation');

const now = new Date('2026-11-21T12:00:00Z');
const old = await generateKeyPair('ES256', { extractable: true });
const next = await generateKeyPair('ES256', { extractable: true });
const keyOf = async (pair: typeof old, kid: string): Promise<JWK> => ({
  ...(await exportJWK(pair.publicKey)),
  kid,
  alg: 'ES256',
});
const oldKey = await keyOf(old, 'old');
const nextKey = await keyOf(next, 'next');

let file: string;
let events: { level: string; msg: string; reason?: string }[];
let reloads: (string | null)[];
let keys: KeySet;
let verify: VerifyUserToken;

watch.before.each(async () => {
  file = join(scratchFolder(), 'jwks.json');
  put([oldKey]);
  events = [];
  reloads = [];
  const log = createLog('info', (line) => events.push(JSON.parse(line)));
  const from = { GAPSTONE_JWKS: file, GAPSTONE_ISSUER: 'gapstone', GAPSTONE_AUDIENCE: 'gapstone' };
  const config = readConfig({}, from);
  keys = await loadKeys(config, log, (reason) => reloads.push(reason));
  verify = createVerifyUserToken(config, keys, () => now);
});

function put(set: JWK[]): void {
  writeFileSync(`${file}.new`, JSON.stringify({ keys: set }));
  renameSync(`${file}.new`, file);
}

const reloaded = (times: number) => until(`${times} reloads`, () => events.length === times);

async function works(pair: typeof old, kid?: string): Promise<boolean> {
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', ...(kid === undefined ? {} : { kid }) })
    .setSubject('alice')
    .setIssuer('gapstone')
    .setAudience('gapstone')
    .setIssuedAt(now)
    .setExpirationTime(now.getTime() / 1000 + 3600)
    .sign(pair.privateKey);
  return verify(token).then(
    () => true,
    () => false,
  );
}
const both = async () => [await works(old, 'old'), await works(next, 'next')];

watch('a new set is taken, with and without overlap', async () => {
  assert.equal(await both(), [true, false]);
  put([oldKey, nextKey]);
  await reloaded(1);
  assert.equal(await both(), [true, true]);
  put([nextKey]);
  await reloaded(2);
  assert.equal(await both(), [false, true]);
  assert.equal(
    events.map(({ msg }) => msg),
    ['key set reloaded', 'key set reloaded'],
  );
  assert.equal([keys.version(), reloads], [2, [null, null]]);
});

watch('a set that is missing, half-written, empty or secret leaves the last good one', async () => {
  const good = JSON.stringify({ keys: [nextKey] });
  const secret = { ...nextKey, d: (await exportJWK(next.privateKey)).d };
  const bad = ['', '{', good.slice(0, -9), '{"keys":[]}', 'null', JSON.stringify({ keys: [secret] })];
  for (const [index, text] of bad.entries()) {
    writeFileSync(file, text);
    await reloaded(index + 1);
    assert.equal(await both(), [true, false], text);
  }
  rmSync(file);
  await reloaded(bad.length + 1);
  assert.equal(await both(), [true, false]);
  for (const event of events) {
    assert.equal([event.level, event.msg], ['warn', 'key set not reloaded: the new file cannot be used']);
    assert.not.ok(JSON.stringify(event).includes(secret.d!));
  }
  assert.equal(
    reloads,
    events.map(({ reason }) => reason),
  );
  put([nextKey]);
  await reloaded(bad.length + 2);
  assert.equal(await both(), [false, true]);
});

watch('ten thousand names of keys cost no reading of the file', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (let count = 0; count < 10_000; count++) {
    const token = `${part({ alg: 'ES256', kid: `random-${count}` })}.${part({ sub: 'a' })}.${'A'.repeat(86)}`;
    assert.is(await verify(token).catch(() => null), null);
  }
  assert.equal([keys.version(), events], [0, []]);
});

watch.run();
