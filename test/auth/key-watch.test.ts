import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import * as assert from 'uvu/assert';
import { watchKeySet } from '../../src/auth/key-watch.ts';
import { readKeySet } from '../../src/auth/keys.ts';
import { createVerifyUserToken, type VerifyUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { createLog } from '../../src/base/log.ts';
import { suite } from '../support/harness.ts';
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
let time: number;
let events: { level: string; msg: string; reason?: string }[];
let reads: number;
let verify: VerifyUserToken;

watch.before.each(async () => {
  file = join(scratchFolder(), 'jwks.json');
  put([oldKey]);
  time = 0;
  events = [];
  reads = 0;
  const log = createLog('info', (line) => events.push(JSON.parse(line)));
  const read = (path: string) => {
    reads++;
    return readKeySet(path, log);
  };
  const keys = await watchKeySet(file, read, log, () => time);
  verify = createVerifyUserToken(readConfig({}, {}), keys, () => now);
});

function put(keys: JWK[]): void {
  writeFileSync(`${file}.new`, JSON.stringify({ keys }));
  renameSync(`${file}.new`, file);
}

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

watch('a new set is taken within a second, with and without overlap', async () => {
  assert.equal([await works(old, 'old'), await works(next, 'next')], [true, false]);
  put([oldKey, nextKey]);
  assert.is(await works(next, 'next'), false, 'the file is not looked at for every token');
  time += 1000;
  assert.equal([await works(next, 'next'), await works(old, 'old')], [true, true]);
  put([nextKey]);
  time += 1000;
  assert.equal([await works(next, 'next'), await works(old, 'old')], [true, false]);
  assert.equal(
    events.map((event) => event.msg),
    ['key set reloaded', 'key set reloaded'],
  );
});

watch('a set that is missing, half-written, empty or secret leaves the last good one', async () => {
  const good = JSON.stringify({ keys: [nextKey] });
  const secret = { ...nextKey, d: (await exportJWK(next.privateKey)).d };
  const bad = ['', '{', good.slice(0, -9), '{"keys":[]}', 'null', JSON.stringify({ keys: [secret] })];
  for (const text of bad) {
    writeFileSync(file, text);
    time += 1000;
    assert.equal([await works(old, 'old'), await works(next, 'next')], [true, false], text);
  }
  rmSync(file);
  time += 1000;
  assert.is(await works(old, 'old'), true);
  assert.is(events.length, bad.length + 1);
  for (const event of events) {
    assert.equal([event.level, event.msg], ['warn', 'key set not reloaded: the new file cannot be used']);
    assert.not.ok(JSON.stringify(event).includes(secret.d!));
  }
  const readsOfBad = reads;
  time += 5000;
  await works(old, 'old');
  assert.is(reads, readsOfBad, 'a bad file is not read again until it changes');
  put([nextKey]);
  time += 1000;
  assert.equal([await works(next, 'next'), await works(old, 'old')], [true, false]);
});

watch('ten thousand names of keys cost no reading of the file', async () => {
  const token = (kid: string) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'ES256', kid })}.${part({ sub: 'a' })}.${'A'.repeat(86)}`;
  };
  for (let count = 0; count < 10_000; count++)
    assert.is(await verify(token(`random-${count}`)).catch(() => null), null);
  assert.is(reads, 1);
});

watch('requests that come while the file is read wait for the new set, and read it once', async () => {
  put([nextKey]);
  time += 1000;
  const results = await Promise.all(Array.from({ length: 20 }, () => works(next, 'next')));
  assert.equal(new Set(results), new Set([true]));
  assert.is(reads, 2);
});

watch.run();
