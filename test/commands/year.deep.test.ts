// A site for a year: 365 nightly backups, four bundles, a restore, an audit stream that is rotated each week, twelve
// keys, and a clock that moves on (rules D44.5, D32.4, S3.2). The commands run here, under a clock of the test's own.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { readConfig } from '../../src/base/config.ts';
import { backupCommand } from '../../src/commands/backup.ts';
import { checkCommand } from '../../src/commands/check.ts';
import type { Command } from '../../src/commands/command.ts';
import { contentCommand } from '../../src/commands/content.ts';
import { restoreCommand } from '../../src/commands/restore.ts';
import { setAside, tidyCommand } from '../../src/commands/tidy.ts';
import { tokenCommand } from '../../src/commands/token.ts';
import { connect } from '../../src/db/connect.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { filesOf, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const year = suite('A year');
const RealDate = Date;
const day = 24 * 3600 * 1000;

/** Moves the clock of this process to so many days from the real one. */
function moveClock(days: number): void {
  const now = () => RealDate.now() + days * day;
  globalThis.Date = class extends RealDate {
    constructor(...given: [] | [string | number]) {
      super(given[0] ?? now());
    }
    static override now = now;
  } as DateConstructor;
}
year.after(() => {
  globalThis.Date = RealDate;
});

/** Runs a command as the program does; gives what it printed. */
async function run(command: Command, args: string[]): Promise<string> {
  const { write } = process.stdout;
  const errors = process.stderr.write;
  let out = '';
  process.stdout.write = ((text: string) => {
    out += text;
    return true;
  }) as typeof write;
  process.stderr.write = (() => true) as typeof errors;
  try {
    const code = await command.run(args);
    if (code !== 0) throw new Error(`${command.name} ${args.join(' ')} ended with ${code}: ${out}`);
    return out;
  } finally {
    process.stdout.write = write;
    process.stderr.write = errors;
  }
}

const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/** In memory where the machine has such a folder: a year of backups is a year of waiting for the disk. */
const memory = existsSync('/dev/shm') ? mkdtempSync('/dev/shm/gapstone-year-') : scratchFolder();
year.after(() => rmSync(memory, { recursive: true, force: true }));

year(
  'nightly backups, bundles, rotation, keys: bounded disk, a whole audit stream, backups that restore',
  async () => {
    const folder = join(memory, 'site');
    const backups = join(memory, 'backups');
    for (const each of [folder, backups]) mkdirSync(each, { mode: 0o700 });
    const files = filesOf(join(folder, 'gapstone.db'));
    const at = ['--db', files.db];
    const config = readConfig({ db: files.db }, {});
    const key = sampleKey('depot');
    // The depot imports a STIG each quarter, and builds a bundle of all that it has.
    const depot = await sampleCatalog([[put(scratchFolder(), 'base.xml', writeXccdf())]]);
    const bundles: string[] = [];
    for (let quarter = 1; quarter <= 4; quarter++) {
      const xccdf = writeXccdf({ id: `Q${quarter}_STIG`, title: `Quarter ${quarter}` });
      using db = openCatalog(depot);
      await runImport(db, [put(scratchFolder(), 'quarter.xml', xccdf)]);
      bundles.push((await build(depot, key, { sequence: quarter })).files[0]!);
    }
    moveClock(0);
    await run(contentCommand, ['trust', 'add', `${key.file}.pub`, '--name', 'depot', ...at]);
    // Another site backs up into the same folder.
    const foreign = 'gapstone-elsewhere-20200101T000000Z.zip';
    for (const name of [foreign, `${foreign}.sha256`, 'notes.txt'])
      writeFileSync(join(backups, name), 'theirs');

    const rotated: string[] = [];
    const made: { file: string; digest: string; lists: number }[] = [];
    const keys = new Set<string>();
    let most = 0;
    let lists = 0;
    let digest = '';
    for (let today = 0; today < 365; today++) {
      moveClock(today);
      if (today % 91 === 0 && today / 91 < 4) {
        await run(contentCommand, ['apply', bundles[today / 91]!, ...at]);
        using db = openCatalog(files.db);
        digest = catalogDigest(db);
      }
      if (today % 30 === 0 && keys.size < 12) {
        rmSync(config.keyFile, { force: true });
        const token = await run(tokenCommand, ['issue', '--subject', 'ann', ...at]);
        keys.add(decodeProtectedHeader(token.trim()).kid!);
      }
      if (today === 240) {
        await run(restoreCommand, [made.at(-1)!.file, ...at]);
        assert.is(setAside(files).filter(({ why }) => why === 'replaced by a restore').length, 2);
      }
      if (today % 7 === 6) {
        rotated.push(`${config.auditFile}.${rotated.length + 1}`);
        renameSync(config.auditFile, rotated.at(-1)!);
        await run(tidyCommand, ['--older-than', '30d', ...at]);
      }
      {
        using users = connect(files.usersDb, 'users');
        users
          .prepare(
            `INSERT INTO bundles VALUES (?, 'list', 'L', '', '[]', '', '', 'PRIVATE', 'ann', NULL, NULL, 't', 't', NULL, 1)`,
          )
          .run(`list-${today}`);
        lists++;
      }
      const printed = await run(backupCommand, ['--into', backups, '--keep', '14', '--json', ...at]);
      made.push({ file: JSON.parse(printed).file, digest, lists });
      const names = readdirSync(backups);
      assert.is(names.length, 2 * Math.min(14, today + 1) + 3, names.join());
      if (today >= 20) most = Math.max(most, bytesBelow(backups));
    }
    assert.is(keys.size, 12);
    assert.is(rotated.length, 52);

    // What a year leaves beside the data: one catalog to go back to, and the audit stream.
    const beside = readdirSync(folder).filter((name) => !/^gapstone-audit|-(wal|shm)$/.test(name));
    assert.equal(
      beside.sort(),
      ['gapstone-key.json', 'gapstone-users.db', 'gapstone.db', 'gapstone.db.before-4'].sort(),
    );
    const data = bytesBelow(folder);
    process.stdout.write(`after a year: ${data} bytes of data, at most ${most} bytes of backups\n`);
    assert.ok(data < 3 * statSync(files.db).size + 5e6);
    // Fourteen compressed backups are smaller than fourteen times both files.
    assert.ok(most < 14 * 0.5 * (statSync(files.db).size + statSync(files.usersDb).size), String(most));

    const checked = JSON.parse(await run(checkCommand, ['--audit', ...rotated, '--json', ...at]));
    assert.ok(checked.ok, JSON.stringify(checked));
    assert.is(checked.digest, digest);

    const kept = made.filter(({ file }) => existsSync(file));
    assert.equal(kept, made.slice(-14), 'the last fourteen');
    for (const backup of kept) {
      const fresh = filesOf(join(scratchFolder(), 'gapstone.db'));
      await run(restoreCommand, [backup.file, '--db', fresh.db]);
      using db = openDatabase(fresh);
      assert.is(catalogDigest(db), backup.digest);
      assert.is(db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), backup.lists);
    }
    // The catalog from before the last bundle is still there after all those tidyings.
    await run(contentCommand, ['rollback', ...at]);
  },
);

year.run();
