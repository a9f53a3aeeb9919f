import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { sha256 } from '../../src/base/ids.ts';
import { type Manifest, manifestBytes } from '../../src/content/manifest.ts';
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
const whole = (await build(newer, key, { sequence: 2 })).files[0]!;
const base = (await build(older, key)).files[0]!;
const difference = (await build(newer, key, { sequence: 2, since: { bundle: base, sources: [folder] } }))
  .files[0]!;

const read = (file: string, keys: TrustedKey[] = [key]) => readBundle(file, keys, { now });
const written = (bytes: Uint8Array) => put(scratchFolder(), 'bundle', bytes);

/** Asserts that a bundle is refused in one line, and that its attempt leaves nothing but what it could unpack before. */
async function refused(file: string, pattern: RegExp, keys: TrustedKey[] = [key]): Promise<void> {
  const unpackTo = scratchFolder();
  for (const options of [{ now }, { now, unpackTo }]) {
    const error = await readBundle(file, keys, options).then(
      () => null,
      (reason: Error) => reason,
    );
    assert.is(error?.name, 'CommandError', `${pattern} ${error?.stack}`);
    assert.match(error!.message, pattern);
    assert.not.match(error!.message, /[\n\r]/);
  }
}

test('both kinds of bundle are read as they were built', async () => {
  assert.is((await read(whole)).signer.name, 'depot');
  const { manifest, warnings } = await read(difference);
  assert.is(manifest.parts.length, 1);
  assert.equal(warnings, []);
});

test('flipping any of 200 bytes of a bundle, or any byte of its frame, is refused', async () => {
  const bytes = readFileSync(whole);
  const next = numbers(18);
  const places = new Set<number>();
  while (places.size < 200) places.add(next(bytes.length));
  // What is neither signed nor hashed: the headers of the zip, and its directory.
  let at = 0;
  for (const { name: member, content } of membersOf(whole)) {
    for (let byte = at; byte < at + 30 + member.length; byte++) places.add(byte);
    at += 30 + member.length + content.length;
  }
  for (let byte = at; byte < bytes.length; byte++) places.add(byte);
  const changed = written(bytes);
  for (const place of places) {
    const flipped = Buffer.from(bytes);
    flipped[place]! ^= 1 << next(8);
    writeFileSync(changed, flipped);
    const error = await read(changed).then(
      () => null,
      (reason: Error) => reason,
    );
    assert.is(error?.name, 'CommandError', `byte ${place}: ${error?.stack}`);
  }
  writeFileSync(changed, bytes);
  await read(changed);
});

test('a bundle that ends anywhere too early, or goes on anywhere, is refused', async () => {
  const bytes = readFileSync(difference);
  const ends = [0, 1, 29, 30, 43, 500, bytes.length - 22, bytes.length - 1];
  for (const { content } of membersOf(difference)) ends.push(content.byteOffset % bytes.length);
  for (const end of ends) await refused(written(bytes.subarray(0, end)), /ends too early|it has \d+ bytes/);
  await refused(written(Buffer.concat([bytes, Buffer.of(0)])), /it has \d+ bytes; its manifest says \d+$/);
  await refused(written(Buffer.concat([bytes, bytes])), /it has \d+ bytes/);
  await refused(written(Buffer.concat([Buffer.alloc(4), bytes])), /is no bundle of Gapstone/);
  const members = membersOf(difference);
  // Between two members, under the length that the manifest states.
  const parts = Buffer.concat([bytes.subarray(0, bytes.length - 30), Buffer.alloc(30)]);
  await refused(written(parts), /its directory is another one/);
  const more = { name: 'more.txt', content: Buffer.from('more') };
  await refused(writeMembers([...members, more]), /it has \d+ bytes/);
  await refused(writeMembers(members.slice(0, 2)), /it has \d+ bytes/);
  await refused(writeMembers(members.slice(0, 1)), /ends too early|is no bundle/);
  await refused(writeMembers([members[1]!, members[0]!, members[2]!]), /is no bundle of Gapstone/);
  const renamed = { ...members[2]!, name: 'source-00002.zst' };
  await refused(writeMembers([...members.slice(0, 2), renamed]), /does not stand where it should/);
});

test('what is no bundle is refused: a text, another zip, a folder, nothing', async () => {
  const text = 'no zip at all, but long enough to be looked into as one';
  await refused(written(Buffer.from(text)), /is no bundle of Gapstone/);
  const zip = makeZip([{ name: 'manifest.json', data: '{}', stored: true }, { name: 'b' }]);
  await refused(written(zip), /is refused|is no bundle/);
  await refused(written(Buffer.alloc(0)), /ends too early/);
  await refused(scratchFolder(), /is not a file/);
  await refused(join(scratchFolder(), 'nothing'), /nothing cannot be read: ENOENT/);
  await refused('/dev/zero', /is not a file/);
});

test('another key, a stolen signature and no signature are refused, before anything is unpacked', async () => {
  const stranger = sampleKey('stranger');
  const unpackTo = scratchFolder();
  await rejects(
    readBundle(whole, [stranger], { now, unpackTo }),
    /its manifest is not signed by stranger, or was changed/,
  );
  assert.equal(readdirSync(unpackTo), []);
  await rejects(read(whole, []), /trusts no key yet/);
  const [manifest, , part] = membersOf(whole);
  const other = membersOf(difference)[1]!;
  await refused(writeMembers([manifest!, other, part!]), /is not signed by depot/);
  const empty = { name: 'manifest.sig', content: Buffer.alloc(0) };
  await refused(writeMembers([manifest!, empty, part!]), /is not signed: add/);
  const long = { name: 'manifest.sig', content: Buffer.alloc(105, 0x30) };
  await refused(writeMembers([manifest!, long, part!]), /is no bundle of Gapstone/);
  const self = resigned(whole, stranger, () => undefined);
  await refused(self, /is not signed by depot/);
  assert.is((await read(self, [key, stranger])).signer.name, 'stranger');
});

test('a channel that the key may not sign is refused, though the key is trusted for another', async () => {
  const other = (await build(older, key, { channel: 'test' })).files[0]!;
  await refused(other, /it is of the channel test, but depot may sign main$/);
  const both = [key, { ...key, name: 'depot for tests', channel: 'test' }];
  assert.is((await read(other, both)).signer.name, 'depot for tests');
  assert.is((await read(whole, both)).signer.name, 'depot');
});

/** A manifest that is changed by somebody who may sign, which is refused for what it says. */
const lies = (change: (manifest: Manifest) => unknown, file = difference) =>
  resigned(file, key, (manifest) => change(manifest));

test('names that lead out of a folder, or that systems take for something else, are refused', async () => {
  const names = '../evil|..|.||/etc/passwd|a/b|a\\b|C:evil|.hidden|a\u0000b|a\nb|a.|a |\ud800|a*|\u001b[2J';
  for (const file of [...names.split('|'), 'con|', 'x'.repeat(300)])
    await refused(
      lies((manifest) => Object.assign(manifest.parts[0]!, { file })),
      /is no manifest that this version/,
    );
  const [manifest, signature, part] = membersOf(difference);
  for (const name of ['../../evil.zst', '/etc/evil.zst', 'source-00001.zsT', 'catalog.db.zst'])
    await refused(writeMembers([manifest!, signature!, { ...part!, name }]), /is refused/);
});

test('a bomb is refused: by the size that is stated, and where the size is a lie', async () => {
  const zeros = (bytes: number, windowLog = 20) =>
    zstdCompressSync(Buffer.alloc(bytes), { params: { [constants.ZSTD_c_windowLog]: windowLog } });
  const holding = (content: Buffer, unpacked: number) =>
    resigned(whole, key, (manifest, members) => {
      members[2]!.content = content;
      Object.assign(manifest.parts[0]!, { bytes: content.length, sha256: sha256(content), unpacked });
    });
  await refused(holding(zeros(64 << 20), 1000), /holds more than the manifest says/);
  await refused(holding(zeros(1000), 64 << 20), /holds less than the manifest says/);
  await refused(holding(Buffer.from('not compressed at all'), 21), /cannot be unpacked/);
  await refused(holding(zeros(1000).subarray(0, -3), 1000), /cannot be unpacked|holds less/);
  const huge = lies((manifest) => Object.assign(manifest.parts[0]!, { unpacked: 2 ** 40 }));
  await refused(huge, /is no manifest/);
  // What asks for more memory than is given: a window of 2 GiB, which a frame of one empty block states.
  const frame = Buffer.from('28b52ffd00a8010000', 'hex');
  await refused(holding(frame, 0), /cannot be unpacked/);
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
    () => ({ before: null }),
    ({ parts }) => ({ parts: [{ ...parts[0]!, kind: 'program' }] }),
    ({ sources }) => ({ sources: [...sources, sources[0]] }),
    () => ({ sources: [] }),
  ];
  const changes: ((manifest: Manifest) => unknown)[] = [
    ...others.map((other) => (manifest: Manifest) => Object.assign(manifest, other(manifest))),
    (manifest) => `${JSON.stringify([manifest], null, 1)}\n`,
    () => 'null\n',
    () => '{',
    () => '\ufffe',
    (manifest) => JSON.stringify(manifest),
    (manifest) => `${manifestBytes(manifest)}\n`,
    (manifest) => manifestBytes(manifest).toString().replace('"channel"', '"channel": "test",\n "channel"'),
  ];
  for (const change of changes)
    await refused(lies(change), /is no manifest|is not written as|holds something else/);
  const before = ({ digest }: Manifest) => ({ before: { digest, bundle: digest } });
  const based = lies((manifest) => Object.assign(manifest, before(manifest)), whole);
  await refused(based, /is no manifest/);
});

test('a source that is not what the manifest calls it is refused', async () => {
  const content = zstdCompressSync(Buffer.from('something else'));
  const other = resigned(difference, key, (manifest, members) => {
    members[2]!.content = content;
    Object.assign(manifest.parts[0]!, { bytes: content.length, sha256: sha256(content), unpacked: 14 });
  });
  await refused(other, /holds something else as the source [0-9a-f]{64}$/);
  const wrong = lies((manifest) => Object.assign(manifest.parts[0]!, { sha256: '0'.repeat(64) }));
  await refused(wrong, /does not have the SHA-256 that the manifest states/);
});

test('a piece that is missing, exchanged with another or one too many is refused', async () => {
  const bytes = readFileSync(whole);
  const size = Math.ceil(bytes.length / 5);
  for (const [order, pattern] of [
    ['01234', null],
    ['0123', /it has \d+ bytes in 4 pieces, of which|ends too early/],
    ['02134', /is refused|is no bundle/],
    ['012344', /in 6 pieces/],
  ] as const) {
    const place = join(scratchFolder(), 'bundle');
    for (const [index, from] of [...order].entries())
      writeFileSync(`${place}.00${index + 1}`, bytes.subarray(Number(from) * size).subarray(0, size));
    if (pattern === null) assert.is((await read(place)).bytes, bytes.length);
    else await refused(place, pattern);
  }
});

test('what is unpacked is for its owner alone, and never through what lies there already', async () => {
  const unpackTo = scratchFolder();
  const target = put(scratchFolder(), 'target', 'untouched');
  symlinkSync(target, join(unpackTo, 'catalog.db'));
  await rejects(readBundle(whole, [key], { now, unpackTo }), /EEXIST/);
  assert.is(readFileSync(target, 'utf8'), 'untouched');
  const own = join(scratchFolder(), 'own');
  mkdirSync(own);
  const { unpacked } = await readBundle(whole, [key], { now, unpackTo: own });
  assert.is(statSync(unpacked[0]!).mode & 0o777, 0o600);
});

test.run();
