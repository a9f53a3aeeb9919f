import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import type { LedgerLine } from '../../importers/ledger-lines.ts';
import { type ImportResult, runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import type { Database } from '../../src/db/database.ts';
import { archiveLimits, openArchive } from '../../src/read/archive.ts';
import { dumpCatalog, importTexts, tableDigests } from '../support/catalog-dump.ts';
import { gapstone } from '../support/child.ts';
import { rejects, suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { jsonLines, told } from '../support/told.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip, type ZipEntry } from '../support/zip.ts';

const good = writeXccdf({ id: 'Good', title: 'Good STIG', rules: sampleRules(3, 'GOOD', 700) });
const bad = writeXccdf({ id: 'Bad', title: 'Bad STIG', rules: sampleRules(3, 'BAD', 800) });

/** A catalog that holds one benchmark, and what it looks like. */
async function filled(): Promise<{ db: Database; before: Record<string, string> }> {
  const db = emptyCatalog();
  await importTexts(db, [writeXccdf()]);
  return { db, before: tableDigests(db) };
}

/** The members of archives with some fields of their lines; an archive itself is `-`. */
const membersOf = (lines: LedgerLine[], ...names: ('kind' | 'outcome' | 'target')[]) =>
  lines.map((line) =>
    [line.source.split('!/').slice(1).join(' ') || '-', ...names.map((name) => String(line[name]))].join(' '),
  );

function importZip(db: Database, zip: Buffer, options = {}): Promise<ImportResult> {
  return runImport(db, [put(scratchFolder(), 'a.zip', zip)], options);
}

function assertClear(said: string | null, pattern: RegExp): void {
  assert.ok(said !== null && said.length < 320, String(said));
  assert.match(said!, pattern);
  assert.not.match(said!, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/, JSON.stringify(said));
}

/** Each archive is refused as a whole with one line, as a file and inside another zip, and nothing changes. */
async function refusedWhole(cases: [zip: Buffer, reason: RegExp][]): Promise<void> {
  const { db, before } = await filled();
  const folder = scratchFolder();
  const number = (index: number) => String(index).padStart(3, '0');
  for (const [index, [zip]] of cases.entries()) {
    put(folder, `${number(index)}.zip`, zip);
    put(
      folder,
      `${number(index)}in.zip`,
      makeZip([{ name: 'inner.zip', data: zip }, { name: number(index) }]),
    );
  }
  const { lines } = await runImport(db, [folder]);
  for (const [index, [zip, reason]] of cases.entries()) {
    const of = lines.filter(({ source }) => source.startsWith(join(folder, number(index))));
    assert.equal(
      membersOf(of, 'kind', 'outcome'),
      [
        '- archive rejected',
        '- archive unchanged',
        `${number(index)} other skipped`,
        'inner.zip archive rejected',
      ],
      String(reason),
    );
    assert.equal([of[0]!.sha256, of[0]!.counts], [sha256(zip), {}]);
    for (const line of [of[0]!, of[3]!]) assertClear(line.reason, reason);
  }
  assert.equal(tableDigests(db), before);
}

/** Each member is refused with one line, its neighbour is read, and nothing changes. */
async function refusedMembers(cases: [entry: Omit<ZipEntry, 'name'>, reason: RegExp][]): Promise<void> {
  const { db, before } = await filled();
  for (const [entry, reason] of cases) {
    const zip = makeZip([
      { name: 'bad.xml', data: bad, ...entry },
      { name: 'c.txt', data: 'text' },
    ]);
    const { lines } = await importZip(db, zip);
    assert.equal(
      membersOf(lines, 'outcome'),
      ['- unchanged', 'bad.xml rejected', 'c.txt skipped'],
      String(reason),
    );
    assertClear(lines[1]!.reason, reason);
  }
  assert.equal(tableDigests(db), before);
}

const two = (one: string | Buffer, other: string | Buffer, more: Partial<ZipEntry> = {}) =>
  makeZip([
    { name: one, data: good },
    { name: other, data: bad, ...more },
  ]);

const names = suite('Z1: names that lead elsewhere');

names('a name that leads elsewhere, or that no file can have, refuses the archive', async () => {
  const hostile = String.raw`
    ../evil.xml          a/../../evil.xml  a/..             /etc/evil.xml     //server/evil.xml  C:/evil.xml
    c:evil.xml           ..\\..\\evil.xml  C:\\evil.xml     \\\\server\\evil.xml  \\evil.xml
    a\u0000.xml          a\nb.xml          a\rb.xml         \u001b[31mred.xml  a\u007f.xml
    ../a\nb\u001b[2J.xml`;
  const list = hostile
    .trim()
    .split(/\s+/)
    .map((name) => JSON.parse(`"${name}"`) as string);
  const paths = [...list, `../${'x'.repeat(4000)}.xml`].map((name): [Buffer, RegExp] => [
    two('a.xml', name),
    /name|path|character/i,
  ]);
  const pairs = ['a.xml a.xml', 'a.xml A.XML', 'Folder/a.xml folder/A.xml', 'a a/', 'a/b.xml a\\b.xml'].map(
    (pair): [Buffer, RegExp] => [two(...(pair.split(' ') as [string, string])), /two files named/],
  );
  const links = [0o120777, 0o020644, 0o010644].map((mode): [Buffer, RegExp] => [
    makeZip([{ name: 'a.xml', data: '/etc/passwd', mode }]),
    /link or device: "a\.xml"/,
  ]);
  const undecoded = two('a.xml', Buffer.from('b\xff.xml', 'latin1'));
  await refusedWhole([...paths, ...pairs, ...links, [undecoded, /a name that is not valid text/]]);
});

names('a backslash is a separator, and files of every maker are taken', async () => {
  const { db } = await filled();
  const { lines } = await importZip(
    db,
    makeZip([
      { name: 'folder/', mode: 0o040755 },
      { name: 'folder/b.txt', data: 'x', host: 0, mode: 0o120777 },
      { name: 'c d \u00e9.txt', data: 'y', mode: 0 },
      { name: 'STIGs\\', host: 0 },
      { name: 'STIGs\\a.xml', data: good, host: 0 },
      { name: 'STIGs\\more/b.txt', data: 'x' },
    ]),
  );
  assert.equal(membersOf(lines, 'outcome'), [
    '- imported',
    'STIGs/a.xml imported',
    'STIGs/more/b.txt skipped',
    'c d \u00e9.txt skipped',
    'folder/b.txt skipped',
  ]);
  assert.equal(lines[0]!.counts, { members: 4 });
});

names('a hostile archive leaves no file anywhere, and ends the command with 1', async () => {
  const [cwd, temporary, home] = [scratchFolder(), scratchFolder(), scratchFolder()];
  mkdirSync(join(cwd, 'deep', 'er'), { recursive: true });
  const zip = put(scratchFolder(), 'a.zip', makeZip([{ name: '../../evil.xml', data: bad }]));
  const db = join(home, 'x.db');
  const { code, stderr } = await gapstone(['import', zip, '--db', db], {
    cwd: join(cwd, 'deep', 'er'),
    env: { TMPDIR: temporary },
  });
  assert.is(code, 1);
  assert.match(stderr, /rejected .*a\.zip \[archive\]: /);
  assert.equal(readdirSync(cwd, { recursive: true }).sort(), ['deep', join('deep', 'er')]);
  assert.equal(readdirSync(temporary), []);
  assert.equal(
    readdirSync(home).filter((name) => !/^(x\.db|gapstone-audit\.jsonl)/.test(name)),
    [],
  );
});

names.run();

const bombs = suite('Z2: bombs and lies');

bombs('archives that lie about places and counts are refused', async () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `${index}.txt`, stored: true }));
  const lying = [
    { name: 'a.xml', data: good, stored: true, compressedSize: good.length + 200, size: good.length + 200 },
    { name: 'b.xml', data: bad, stored: true },
  ];
  await refusedWhole([
    [two('a.xml', 'b.xml', { sameDataAs: 0 }), /overlap/],
    [makeZip(lying), /overlap/],
    [makeZip(entries(20_001)), /more than 20000 files/],
  ]);
  const archive = await openArchive(makeZip(entries(20_000)), { left: 1 });
  assert.is(archive.members.length, 20_000);
  archive.close();
});

bombs('members that are too large, or larger than the directory says, are refused', async () => {
  await refusedMembers([
    [{ data: Buffer.alloc(2 * 1024 * 1024) }, /compressed more than 200:1/],
    [{ size: 64 * 1024 * 1024 + 1 }, /larger than 64 MB/],
    [{ size: 0xfffffff0 }, /larger than 64 MB/],
    [{ data: Buffer.alloc(50_000_000), size: 10 }, /cannot be unpacked|checksum/],
    [{ size: bad.length - 1 }, /cannot be unpacked|checksum/],
    [{ size: bad.length + 1 }, /cannot be unpacked|checksum/],
    [{ data: '', size: 100_000 }, /cannot be unpacked|checksum/],
  ]);
  const { db } = await filled();
  const small = makeZip([{ name: 'zeros', data: Buffer.alloc(1024 * 1024) }]);
  assert.is((await importZip(db, small)).lines[1]!.outcome, 'skipped');
});

bombs('the budget of a run is counted over all its archives', async () => {
  assert.is(archiveLimits.totalBytes, 8 * 1024 ** 3);
  const zip = makeZip(['a', 'b'].map((name) => ({ name, data: 'x'.repeat(60) })));
  const archive = await openArchive(zip, { left: 100 });
  assert.is((await archive.members[0]!.read()).length, 60);
  await rejects(archive.members[1]!.read(), /more than 8 GB/);
  archive.close();
});

bombs('archives in archives: three levels are read, a fourth is refused', async () => {
  const wrap = (depth: number, text: string): Buffer =>
    makeZip([
      depth === 1 ? { name: 'a.xml', data: text } : { name: `${depth}.zip`, data: wrap(depth - 1, text) },
    ]);
  const { db, before } = await filled();
  for (const depth of [4, 12]) {
    const { lines } = await importZip(db, wrap(depth, bad));
    assert.equal(told(lines, 'kind', 'outcome'), [...Array(3).fill('archive unchanged'), 'archive rejected']);
    assertClear(lines[3]!.reason, /nested deeper than 3/);
  }
  assert.equal(tableDigests(db), before);
  const three = await importZip(db, wrap(3, good));
  assert.equal(
    three.lines.map((line) => [line.kind, line.outcome, ...line.source.split('!/').slice(1)].join(' ')),
    [
      'archive imported',
      'archive imported 3.zip',
      'archive imported 3.zip 2.zip',
      'xccdf imported 3.zip 2.zip a.xml',
    ],
  );
});

// In a child, because a position that no file has was once thrown where nobody could catch it.
bombs('positions and counts of zip64 that no file has are refused, also inside another zip', async () => {
  const folder = scratchFolder();
  const lies = Object.entries(zip64Lies());
  for (const [name, zip] of lies) {
    put(folder, `${name}.zip`, zip);
    put(folder, `${name}, inside.zip`, makeZip([{ name: 'inner.zip', data: zip }]));
  }
  for (const offset of [10_000_000n, 2n ** 63n])
    put(folder, `at ${offset}.zip`, makeZip([{ name: 'a.xml', data: bad, zip64Offset: offset }]));
  put(folder, 'good.xml', good);
  const { code, stdout, stderr } = await gapstone(['import', folder, '--json', '--db', 'x.db']);
  assert.is(code, 3, stderr.slice(0, 500));
  const lines = jsonLines(stdout).slice(0, -1);
  const failed = lines.filter((line) => line.outcome === 'rejected');
  assert.is(failed.length, 2 * lies.length + 2);
  for (const line of failed) assertClear(line.reason, /./);
  assert.equal(
    lines.flatMap((line) => (line.outcome === 'imported' ? [line.target] : [])),
    ['good'],
  );
});

bombs.run();

const damage = suite('Z3: damage');

damage('members that are damaged, encrypted or packed in an unknown way are refused', async () => {
  const noise = Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 73 + 255) % 256));
  await refusedMembers([
    [{ crc: 0x12345678 }, /checksum/],
    [{ flags: 1 }, /encrypted/],
    [{ data: noise, stored: true, method: 8, size: 4000 }, /cannot be unpacked/],
    ...[1, 9, 12, 14, 93, 99].map((method): [Omit<ZipEntry, 'name'>, RegExp] => [
      { method, size: bad.length },
      new RegExp(`cannot be unpacked.*${method}`),
    ]),
  ]);
});

damage('an archive cut short, with something after it, or strongly encrypted, is refused', async () => {
  const zip = two('a.xml', 'b.xml');
  const cuts = [...[1, 3, 5, 7, 9].map((part) => Math.floor((zip.length * part) / 10)), zip.length - 1];
  await refusedWhole([
    ...cuts.map((cut): [Buffer, RegExp] => [zip.subarray(0, cut), /cannot be opened|refused/]),
    [Buffer.concat([zip, Buffer.from('junk')]), /cannot be opened|refused/],
    [Buffer.concat([zip.subarray(0, 40), zip.subarray(60)]), /cannot be opened|refused|unpacked/],
    [Buffer.from('PK\u0003\u0004'), /cannot be opened/],
    [makeZip([{ name: 'a.xml', data: good, flags: 0x41 }]), /encryption/],
    [makeZip([{ name: 'a.xml', data: good }], { entryCount: 2 }), /refused/],
  ]);
});

damage('an empty archive and an empty member are no failures', async () => {
  const { db, before } = await filled();
  const empty = await importZip(db, makeZip([]));
  assert.equal(
    empty.lines.map((line) => [line.kind, line.outcome, line.counts]),
    [['archive', 'unchanged', { members: 0 }]],
  );
  const member = await importZip(db, makeZip([{ name: 'a.xml' }]));
  assert.equal(told(member.lines, 'outcome', 'reason'), ['unchanged null', 'skipped the file is empty']);
  assert.equal(tableDigests(db), before);
});

damage.run();

const library = suite('Z4: a library with damage');

function makeLibrary(): { zip: Buffer; names: string[] } {
  const names = Array.from({ length: 8 }, (_, index) => `Product ${index + 1}`);
  const stig = (name: string, index: number) =>
    writeXccdf({
      id: name.replace(' ', '_'),
      title: `${name} STIG`,
      rules: sampleRules(3, `P${index}`, 1000 * index + 1),
    });
  const inner = names.map((name, index) =>
    makeZip([
      { name: `U_${index}_Manual_STIG/` },
      { name: `U_${index}_Manual_STIG/U_${index}-xccdf.xml`, data: stig(name, index) },
      { name: `U_${index}_Manual_STIG/STIG_unclass.xsl`, data: '<stylesheet/>' },
      { name: 'Readme.txt', data: 'read me' },
    ]),
  );
  inner[2] = inner[2]!.subarray(0, inner[2]!.length - 30);
  inner[5] = makeZip([
    { name: 'U_5-xccdf.xml', data: stig(names[5]!, 5).slice(0, -30) },
    { name: 'Readme.txt', data: 'read me' },
  ]);
  const entries = inner.map((data, index) => ({ name: `U_${index}.zip`, data, stored: true }));
  return { zip: makeZip(entries), names };
}

library('the good sources are taken, each bad one has its line', async () => {
  const { db } = await filled();
  const { zip, names } = makeLibrary();
  const { lines, summary, stored } = await importZip(db, zip);
  assert.ok(stored);
  // The library, seven inner zips that open, six benchmarks; six style sheets, seven texts.
  const { sources, imported, unchanged, superseded, skipped, rejected } = summary;
  assert.equal([sources, imported, unchanged, superseded, skipped, rejected], [29, 13, 1, 0, 13, 2]);
  assert.is(lines.length, sources);
  assert.equal(
    lines
      .filter((line) => line.outcome === 'rejected')
      .map((line) => [...line.source.split('!/').slice(1), line.kind].join(' ')),
    ['U_2.zip archive', 'U_5.zip U_5-xccdf.xml xccdf'],
  );
  const kept = names
    .filter((_, index) => index !== 2 && index !== 5)
    .map((name) => name.toLowerCase().replace(' ', '_'));
  assert.equal(told(dumpCatalog(db).stigs, 'slug'), [...kept, 'sample_product']);
});

library('under strict nothing is stored', async () => {
  const { db, before } = await filled();
  const { zip } = makeLibrary();
  const { lines, summary, stored } = await importZip(db, zip, { strict: true });
  assert.is(stored, false);
  assert.equal([summary.rejected, summary.imported, summary.skipped], [2, 0, summary.sources - 3]);
  const reason = 'nothing was stored: --strict was given, and 2 sources cannot be imported';
  assert.is(lines.filter((line) => line.reason === reason).length, 13, 'what would have been imported');
  assert.equal(tableDigests(db), before);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM import_runs').pluck().get(), 1);
  assert.not(db.sqlite.inTransaction);
});

library.run();

const content = suite('the kind comes from the content, never from the name');

content('files and members under any name', async () => {
  const folder = scratchFolder();
  put(folder, 'picture.jpg', good);
  put(folder, 'not-a-zip.zip', bad);
  put(folder, 'text.xml', 'no XML at all');
  put(folder, 'zip.pdf', makeZip([{ name: 'benchmark', data: writeXccdf() }]));
  const db = emptyCatalog();
  const { lines } = await runImport(db, [folder]);
  assert.equal(
    lines.map((line) => [line.source.slice(folder.length + 1), line.kind, line.outcome, line.target]),
    [
      ['not-a-zip.zip', 'xccdf', 'imported', 'bad'],
      ['picture.jpg', 'xccdf', 'imported', 'good'],
      ['text.xml', 'other', 'skipped', null],
      ['zip.pdf', 'archive', 'imported', null],
      ['zip.pdf!/benchmark', 'xccdf', 'imported', 'sample_product'],
    ],
  );
});

content('links in a folder are not followed, a link that is named itself is', async () => {
  const outside = put(scratchFolder(), 'a.xml', good);
  const folder = scratchFolder();
  symlinkSync(outside, join(folder, 'link.xml'));
  symlinkSync(scratchFolder(), join(folder, 'folder'));
  symlinkSync(folder, join(folder, 'loop'));
  const db = emptyCatalog();
  const { lines } = await runImport(db, [folder]);
  assert.equal(
    lines.map((line) => [line.outcome, line.reason]),
    Array(3).fill(['skipped', 'a link or device, not a file']),
  );
  const named = await runImport(db, [join(folder, 'link.xml')]);
  assert.is(named.lines[0]!.outcome, 'imported');
});

content('a pipe is a failure where it is named, and skipped in a folder', async () => {
  const folder = scratchFolder();
  const pipe = join(folder, 'pipe.xml');
  execFileSync('mkfifo', [pipe]);
  const { lines } = await runImport(emptyCatalog(), [folder, pipe]);
  assert.equal(told(lines, 'outcome', 'reason'), [
    'skipped a link or device, not a file',
    'rejected a device or pipe, not a file',
  ]);
});

content.run();

function zip64Lies(): Record<string, Buffer> {
  const zip = makeZip([{ name: 'a.xml', data: good }]);
  const end = zip.subarray(zip.length - 22);
  const body = zip.subarray(0, zip.length - 22);
  const locator = (offset: bigint) => {
    const record = Buffer.alloc(20);
    record.writeUInt32LE(0x07064b50, 0);
    record.writeBigUInt64LE(offset, 8);
    record.writeUInt32LE(1, 16);
    return record;
  };
  const record = (count: bigint, offset: bigint) => {
    const bytes = Buffer.alloc(56);
    bytes.writeUInt32LE(0x06064b50, 0);
    bytes.writeBigUInt64LE(44n, 4);
    bytes.writeBigUInt64LE(count, 32);
    bytes.writeBigUInt64LE(offset, 48);
    return Buffer.concat([body, bytes, locator(BigInt(body.length)), end]);
  };
  const at = (offset: bigint) => Buffer.concat([body, locator(offset), end]);
  return {
    'a place that holds something else': at(0n),
    'a place beyond the end': at(10_000_000n),
    'a place beyond any file': at(2n ** 64n - 1n),
    'a million million entries': record(2n ** 40n, BigInt(end.readUInt32LE(16))),
    'a directory beyond the end': record(1n, 10_000_000n),
    'a directory beyond any file': record(1n, 2n ** 63n),
  };
}
