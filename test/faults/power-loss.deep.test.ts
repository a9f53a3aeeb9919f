import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { random, seed } from '../support/hostile/seed.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { contentOf, releases } from './support/catalog.ts';
import { say, scaled } from './support/profile.ts';
import { trace, tracing } from './support/strace.ts';

// Threat I7: the power goes in an import. What the database wrote is recorded; then the disk is made anew as it may be
// found: what was synced is there, of the rest any part, cut within pages.
const power = suite('Loss of power');

const work = scratchFolder();
const sector = 512;

/** A call that changed a file, or waited until it was on the disk. */
type Call =
  | { call: 'write'; file: string; bytes: Buffer; offset: number }
  | { call: 'truncate'; file: string; length: number }
  | { call: 'sync'; file: string }
  | { call: 'unlink'; file: string };

/** Reads what strace wrote with `-y -xx`: `17 pwrite64(20</x/g.db-wal>, "\x37...", 4096, 32) = 4096`. */
function readCalls(lines: string[]): Call[] {
  const calls: Call[] = [];
  for (const line of lines) {
    const removed = /\bunlink\("([^"]*)"\) = 0/.exec(line);
    if (removed) calls.push({ call: 'unlink', file: fromHex(removed[1]!).toString('utf8') });
    const match = /\b(pwrite64|ftruncate|fsync|fdatasync)\(\d+<([^>]*)>(?:, (.*))?\) = /.exec(line);
    if (!match) continue;
    const [, call, path, rest] = match;
    // -xx writes paths as hexadecimal too.
    const file = path!.includes('\\x') ? fromHex(path!).toString('utf8') : path!;
    if (call === 'pwrite64') {
      const [, hex, length, offset] = /^"([^"]*)", (\d+), (\d+)$/.exec(rest!)!;
      const bytes = fromHex(hex!);
      assert.is(bytes.length, Number(length), 'the whole write was recorded');
      calls.push({ call: 'write', file, bytes, offset: Number(offset) });
    } else if (call === 'ftruncate') calls.push({ call: 'truncate', file, length: Number(rest) });
    else calls.push({ call: 'sync', file });
  }
  return calls;
}

const fromHex = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex');

/** A file as bytes that grow. */
function applyTo(file: Buffer, bytes: Buffer, offset: number): Buffer {
  const grown =
    offset + bytes.length > file.length
      ? Buffer.concat([file, Buffer.alloc(offset + bytes.length - file.length)])
      : file;
  bytes.copy(grown, offset);
  return grown;
}

/** The files after a loss of power behind so many calls; `keep` says of each write that was not synced how much of it is there. */
function diskAfter(old: Map<string, Buffer>, calls: Call[], behind: number, keep: (index: number) => number) {
  const disk = new Map<string, Buffer>([...old].map(([name, bytes]) => [name, Buffer.from(bytes)]));
  const done = calls.slice(0, behind);
  const synced = new Map<string, number>();
  done.forEach((call, index) => {
    if (call.call === 'sync') synced.set(call.file, index);
  });
  done.forEach((call, index) => {
    // The name is gone when its folder was synced, or when another file was given it.
    if (call.call === 'unlink') {
      const isSafe = index < (synced.get(dirname(call.file)) ?? -1);
      const isAgain = done.slice(index + 1).some((each) => each.call === 'write' && each.file === call.file);
      if (isSafe || isAgain || keep(index) > 0.5) disk.delete(call.file);
      return;
    }
    const file = disk.get(call.file) ?? Buffer.alloc(0);
    const safe = index < (synced.get(call.file) ?? -1);
    if (call.call === 'truncate' && (safe || keep(index) > 0.5))
      disk.set(call.file, Buffer.from(file.subarray(0, call.length)));
    if (call.call !== 'write') return;
    const part = safe ? call.bytes.length : Math.round((keep(index) * call.bytes.length) / sector) * sector;
    if (part > 0) disk.set(call.file, applyTo(file, call.bytes.subarray(0, part), call.offset));
  });
  return disk;
}

testIf(tracing, power)(
  'during an import: the old catalog or the new one, and the new one once it was told',
  async () => {
    const [first, second] = releases(2).releases.map(({ version, text }) =>
      put(work, `${version}.xml`, text),
    );
    const file = join(work, 'g.db');
    const wal = `${file}-wal`;
    const db = openCatalog(file, { create: true });
    await runImport(db, [shipped('stigs'), first!]);
    db.close();
    const oldContent = contentOf(file);
    const old = new Map([[file, readFileSync(file)]]);

    const of = [file, wal, `${file}-journal`, work].flatMap((path) => ['-P', path]);
    const watched = 'trace=pwrite64,ftruncate,fsync,fdatasync,unlink,pwritev,write';
    const { under, lines } = trace('-y', '-xx', '-s', '10000000', ...of, '-e', watched);
    const { code, stderr } = await gapstone(['import', second!, '--db', file], { under });
    assert.is(code, 0, stderr.slice(-300));
    const written = readFileSync(file);
    const newContent = contentOf(file);
    assert.is.not(newContent, oldContent);
    const recorded = lines();
    assert.not(
      recorded.some((line) => /\b(write|pwritev)\(/.test(line)),
      'only the calls that are read here',
    );
    const calls = readCalls(recorded);
    const replayed = diskAfter(old, calls, calls.length, () => 1).get(file)!;
    assert.ok(replayed.equals(written), 'the recording gives the file that there is');
    // The commit is told after the log was synced with it: the first sync of the log but one for its header.
    const logSyncs = calls.flatMap((call, index) =>
      call.call === 'sync' && call.file === wal ? [index] : [],
    );
    // Before, the file is told to have a log; what comes after is the log written into the file.
    const mainWrites = calls.findIndex(
      (call, index) => call.call === 'write' && call.file === file && index > logSyncs[0]!,
    );
    const toldAt = logSyncs.filter((index) => mainWrites < 0 || index < mainWrites).at(-1)!;

    const kept = { old: 0, new: 0 };
    const found = put(join(work, 'found'), 'g.db', '');
    const assertWhole = (behind: number, keep: (index: number) => number) => {
      const disk = diskAfter(old, calls, behind, keep);
      for (const suffix of ['', '-wal', '-journal', '-shm']) {
        const bytes = disk.get(file + suffix);
        if (bytes) writeFileSync(found + suffix, bytes);
        else rmSync(found + suffix, { force: true });
      }
      const content = contentOf(found);
      assert.ok(content === oldContent || content === newContent, `behind call ${behind} of ${calls.length}`);
      if (behind > toldAt)
        assert.is(content, newContent, `call ${behind}: the import was told to be done at ${toldAt}`);
      kept[content === oldContent ? 'old' : 'new']++;
    };
    // Before and behind what waits for the disk, and half way between: nothing of the rest is there, all, or any part.
    const stops = calls.flatMap(({ call }, index) => (call === 'sync' ? [index, index + 1] : []));
    const points = [0, ...stops, calls.length];
    for (const [index, behind] of points.entries()) {
      const middle = Math.floor((behind + (points[index + 1] ?? behind)) / 2);
      for (const share of [0, 1]) assertWhole(behind, () => share);
      for (let turn = 0; turn < scaled(20, 1); turn++) {
        const parts = calls.map(() => [0, 1, 0.25, 0.5, 0.75][Math.floor(random() * 5)]!);
        for (const each of [behind, middle]) assertWhole(each, (number) => parts[number]!);
      }
    }
    say(
      `seed ${seed}: ${calls.length} calls, ${kept.old} times the old catalog, ${kept.new} times the new one`,
    );
    assert.ok(kept.old > 0 && kept.new > 0);
  },
);

power.run();
