import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { sha256 } from '../../src/base/ids.ts';
import type { Manifest } from '../../src/content/manifest.ts';
import { readBundle, type TrustedKey } from '../../src/content/read-bundle.ts';
import {
  build,
  membersOf,
  resigned,
  sampleCatalog,
  sampleKey,
  sampleTime,
  writeMembers,
} from '../support/bundles.ts';
import { rejects, suite } from '../support/harness.ts';
import { numbers } from '../support/questions.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

// What reaches a site on a disc is somebody else's: each threat is refused in one line, before anything is written.
const test = suite('Bundles that are refused');

const key = sampleKey('depot');
const now = new Date(sampleTime.getTime() + 1000);
const folder = scratchFolder();
const first = put(folder, 'first.xml', writeXccdf({ title: 'First Guide', rules: 30 }));
const other = writeXccdf({ title: 'Second Guide', id: 'Second', rules: 20, first: 300 });
const second = put(folder, 'second.xml', other);
const [older, newer] = [await sampleCatalog([[first]]), await sampleCatalog([[first], [second]])];
const whole = (await build(newer, key, { sequence: 2 })).file;
const base = (await build(older, key)).file;

const read = (file: string, keys: TrustedKey[] = [key]) => readBundle(file, keys, { now });
const written = (bytes: Uint8Array) => put(scratchFolder(), 'bundle', bytes);

/** Asserts that a bundle is refused in one line. */
async function refused(file: string, pattern: RegExp, keys: TrustedKey[] = [key]): Promise<void> {
  for (const unpackTo of [undefined, join(scratchFolder(), 'catalog.db')]) {
    const error = await readBundle(file, keys, unpackTo === undefined ? { now } : { now, unpackTo }).then(
      () => null,
      (reason: Error) => reason,
    );
    assert.is(error?.name, 'CommandError', `${pattern} ${error?.stack}`);
    assert.match(error!.message, pattern);
    assert.not.match(error!.message, /[\n\r]/);
  }
}

test('a bundle is read as it was built', async () => {
  const { signer, warnings } = await read(whole);
  assert.equal([signer.name, warnings], ['depot', []]);
  const numbered = put(scratchFolder(), 'q3.001', readFileSync(whole));
  assert.is((await read(numbered)).signer.name, 'depot');
});

test('flipping any of 200 bytes of what a bundle holds is refused', async () => {
  const bytes = readFileSync(whole);
  const next = numbers(18);
  const changed = written(bytes);
  for (const { content } of membersOf(whole)) {
    for (let tried = 0; tried < 70; tried++) {
      const place = bytes.indexOf(content) + next(content.length);
      const flipped = Buffer.from(bytes);
      flipped[place]! ^= 1 << next(8);
      writeFileSync(changed, flipped);
      await refused(changed, /is refused|is no bundle/);
    }
  }
});

test('a bundle that ends too early, holds something else or in another order is refused', async () => {
  const bytes = readFileSync(whole);
  for (const end of [0, 1, 29, 30, 43, 500, bytes.length - 22, bytes.length - 1])
    await refused(written(bytes.subarray(0, end)), /is no bundle of Gapstone/);
  const members = membersOf(whole);
  const more = { name: 'more.txt', content: Buffer.from('more') };
  const other = /does not contain what its manifest says/;
  await refused(writeMembers([...members, more]), other);
  await refused(writeMembers(members.slice(0, 2)), other);
  await refused(writeMembers(members.slice(0, 1)), /is no bundle/);
  await refused(writeMembers([members[1]!, members[0]!, members[2]!]), /is no bundle of Gapstone/);
  for (const name of ['../catalog.db.zst', 'catalog.db'])
    await refused(
      writeMembers([...members.slice(0, 2), { ...members[2]!, name }]),
      /is no bundle|does not contain/,
    );
});

test('what is no bundle is refused: a text, another zip, a folder, nothing', async () => {
  const text = 'no zip at all, but long enough to be looked into as one';
  await refused(written(Buffer.from(text)), /is no bundle of Gapstone/);
  const zip = makeZip([{ name: 'manifest.json', data: '{}', stored: true }, { name: 'b' }]);
  await refused(written(zip), /is refused|is no bundle/);
  await refused(written(Buffer.alloc(0)), /is no bundle/);
  await refused(written(readFileSync(whole).fill(0, 0, 4)), /is no bundle/);
  await refused(scratchFolder(), /is not a file/);
  await refused(join(scratchFolder(), 'nothing'), /nothing cannot be read: ENOENT/);
  await refused('/dev/zero', /is not a file/);
});

test('another key, a stolen signature and no signature are refused, before anything is unpacked', async () => {
  const stranger = sampleKey('stranger');
  const unpackTo = join(scratchFolder(), 'catalog.db');
  await rejects(
    readBundle(whole, [stranger], { now, unpackTo }),
    /its manifest is not signed by stranger, or was changed/,
  );
  assert.not.ok(existsSync(unpackTo));
  await rejects(read(whole, []), /trusts no key yet/);
  const [manifest, , part] = membersOf(whole);
  const other = membersOf(base)[1]!;
  await refused(writeMembers([manifest!, other, part!]), /is not signed by depot/);
  const empty = { name: 'manifest.sig', content: Buffer.alloc(0) };
  await refused(writeMembers([manifest!, empty, part!]), /it is not signed/);
  const long = { name: 'manifest.sig', content: Buffer.alloc(105, 0x30) };
  await refused(writeMembers([manifest!, long, part!]), /is no bundle of Gapstone/);
  const self = resigned(whole, stranger, () => undefined);
  await refused(self, /is not signed by depot/);
  assert.is((await read(self, [key, stranger])).signer.name, 'stranger');
});

test('a channel that the key may not sign is refused, though the key is trusted for another', async () => {
  const other = (await build(older, key, { channel: 'test' })).file;
  await refused(other, /it is of the channel test, but depot may sign main$/);
  const both = [key, { ...key, name: 'depot for tests', channel: 'test' }];
  assert.is((await read(other, both)).signer.name, 'depot for tests');
  assert.is((await read(whole, both)).signer.name, 'depot');
});

/** A manifest that is changed by somebody who may sign, which is refused for what it says. */
const lies = (change: (manifest: Manifest) => unknown, file = whole) =>
  resigned(file, key, (manifest) => change(manifest));

test('a bomb is refused: by the size that is stated, and where the size is a lie', async () => {
  const zeros = (bytes: number, windowLog = 20) =>
    zstdCompressSync(Buffer.alloc(bytes), { params: { [constants.ZSTD_c_windowLog]: windowLog } });
  const holding = (content: Buffer, unpacked: number) =>
    resigned(whole, key, (manifest, members) => {
      members[2]!.content = content;
      Object.assign(manifest.parts[0], { bytes: content.length, sha256: sha256(content), unpacked });
    });
  await refused(holding(zeros(64 << 20), 1000), /has more bytes than the manifest says/);
  await refused(holding(zeros(1000), 64 << 20), /has fewer bytes than the manifest says/);
  await refused(holding(Buffer.from('not compressed at all'), 21), /cannot be unpacked/);
  await refused(holding(zeros(1000).subarray(0, -3), 1000), /cannot be unpacked|has fewer/);
  const huge = lies((manifest) => Object.assign(manifest.parts[0], { unpacked: 2 ** 40 }));
  await refused(huge, /is no manifest/);
  // What asks for more memory than is given: a window of 2 GiB, which a frame of one empty block states.
  const frame = Buffer.from('28b52ffd00a8010000', 'hex');
  await refused(holding(frame, 1), /cannot be unpacked/);
});

test('a manifest that says anything else than a manifest says is refused', async () => {
  const others: ((manifest: Manifest) => object)[] = [
    () => ({ format: 'gapstone-bundle-2' }),
    () => ({ extra: true }),
    () => ({ channel: 'Main' }),
    () => ({ sequence: 0 }),
    () => ({ sequence: 1.5 }),
    ({ digest }) => ({ digest: digest.toUpperCase() }),
    () => ({ builtAt: 'yesterday' }),
    () => ({ version: 'two\nlines' }),
    ({ parts }) => ({ parts: [{ ...parts[0]!, kind: 'program' }] }),
    ({ sources }) => ({ sources: [{ ...sources[0]!, sha256: 'x' }] }),
    ({ parts }) => ({ parts: [...parts, ...parts] }),
  ];
  const changes: ((manifest: Manifest) => unknown)[] = [
    ...others.map((other) => (manifest: Manifest) => Object.assign(manifest, other(manifest))),
    (manifest) => `${JSON.stringify([manifest], null, 1)}\n`,
    () => 'null\n',
    () => '{',
    () => '\ufffe',
  ];
  for (const change of changes) await refused(lies(change), /is no manifest/);
});

test('a catalog that does not have the hash that the manifest states is refused', async () => {
  const wrong = lies((manifest) => Object.assign(manifest.parts[0], { sha256: '0'.repeat(64) }));
  await refused(wrong, /does not have the SHA-256 that the manifest states/);
});

test('what is unpacked is for its owner alone, and never through what lies there already', async () => {
  const unpackTo = join(scratchFolder(), 'catalog.db');
  const target = put(scratchFolder(), 'target', 'untouched');
  symlinkSync(target, unpackTo);
  await rejects(readBundle(whole, [key], { now, unpackTo }), /EEXIST/);
  assert.is(readFileSync(target, 'utf8'), 'untouched');
  const own = join(scratchFolder(), 'catalog.db');
  await readBundle(whole, [key], { now, unpackTo: own });
  assert.is(statSync(own).mode & 0o777, 0o600);
});

test.run();
