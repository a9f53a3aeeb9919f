// A site for a year: 365 nightly backups, four bundles, an audit stream that is rotated each week, twelve keys, and a
// clock that moves on (rules D44.5, D32.4, S3.2). The commands run here, under a clock of the test's own.
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { localKey } from '../../src/auth/keys.ts';
import { readConfig } from '../../src/base/config.ts';
import { auditNewKey } from '../../src/commands/audit.ts';
import { backupCommand } from '../../src/commands/backup.ts';
import { checkCommand } from '../../src/commands/check.ts';
import type { Command } from '../../src/commands/command.ts';
import { contentCommand } from '../../src/commands/content.ts';
import { restoreCommand } from '../../src/commands/restore.ts';
import { tidyCommand } from '../../src/commands/tidy.ts';
import { openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
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

year(
  'nightly backups, bundles, rotation, keys: bounded disk, a whole audit stream, backups that restore',
  async () => {
    const folder = scratchFolder();
    const backups = scratchFolder();
    const files = filesOf(join(folder, 'gapstone.db'));
    const at = ['--db', files.db];
    const config = readConfig({ db: files.db }, {});
    const key = sampleKey('depot');
    const sources = [[shipped('stigs')]];
    const bundles: string[] = [];
    for (let quarter = 1; quarter <= 4; quarter++) {
      const name = `quarter-${quarter}.xml`;
      sources.push([
        put(scratchFolder(), name, writeXccdf({ id: `Q${quarter}_STIG`, title: `Quarter ${quarter}` })),
      ]);
      bundles.push((await build(await sampleCatalog(sources), key, { sequence: quarter })).files[0]!);
    }
    moveClock(0);
    await run(contentCommand, [
      'trust',
      'add',
      `${key.file}.pub`,
      '--name',
      'depot',
      '--users-db',
      files.usersDb,
    ]);
    // Another site backs up into the same folder.
    const foreign = 'gapstone-elsewhere-20200101T000000Z.zip';
    for (const name of [foreign, `${foreign}.sha256`, 'notes.txt'])
      writeFileSync(join(backups, name), 'theirs');

    const rotated: string[] = [];
    const expected = new Map<string, { digest: string; lists: number }>();
    const keys = new Set<string>();
    let most = 0;
    let lists = 0;
    let latest = '';
    for (let today = 0; today < 365; today++) {
      moveClock(today);
      if (today % 91 === 0 && today / 91 < 4)
        await run(contentCommand, ['apply', bundles[today / 91]!, ...at]);
      if (today % 30 === 0 && keys.size < 12) {
        rmSync(config.keyFile, { force: true });
        keys.add((await localKey(config, auditNewKey(config))).kid!);
      }
      if (today % 7 === 6) {
        rotated.push(`${config.auditFile}.${rotated.length + 1}`);
        renameSync(config.auditFile, rotated.at(-1)!);
        await run(tidyCommand, ['--older-than', '30d', ...at]);
      }
      {
        using db = openDatabase(files);
        db.sqlite
          .prepare(
            `INSERT INTO bundles VALUES (?, 'list', 'L', '', '[]', '', '', 'PRIVATE', 'ann', NULL, NULL, 't', 't', NULL, 1)`,
          )
          .run(`list-${today}`);
        lists++;
        latest = catalogDigest(db);
      }
      const { file } = JSON.parse(
        await run(backupCommand, ['--into', backups, '--keep', '14', '--json', ...at]),
      );
      expected.set(file, { digest: latest, lists });
      const names = readdirSync(backups);
      assert.ok(names.length <= 2 * 14 + 3, names.join());
      assert.ok(names.includes(foreign));
      if (today >= 20) most = Math.max(most, bytesBelow(backups));
    }
    assert.is(keys.size, 12);
    assert.is(rotated.length, 52);
    assert.is(readdirSync(backups).filter((name) => name.endsWith('.zip') && name !== foreign).length, 14);

    // What a year leaves beside the data: one catalog to go back to, and the audit stream.
    const beside = readdirSync(folder).filter((name) => !name.startsWith('gapstone-audit'));
    assert.equal(
      beside.filter((name) => !/-(wal|shm)$/.test(name)).sort(),
      ['gapstone-key.json', 'gapstone-users.db', 'gapstone.db', 'gapstone.db.before-4'].sort(),
    );
    process.stdout.write(
      `after a year: ${bytesBelow(folder)} bytes of data, at most ${most} bytes of backups\n`,
    );
    assert.ok(bytesBelow(folder) < 3 * statSync(files.db).size + 5e6);
    // Fourteen compressed backups are smaller than fourteen times both files.
    assert.ok(most < 14 * 0.5 * (statSync(files.db).size + statSync(files.usersDb).size), String(most));

    const checked = JSON.parse(await run(checkCommand, ['--audit', ...rotated, '--json', ...at]));
    assert.ok(checked.ok, JSON.stringify(checked));
    assert.is(checked.digest, latest);

    const kept = [...expected].filter(([file]) => existsSync(file));
    assert.is(kept.length, 14);
    assert.equal(kept, [...expected].slice(-14), 'the last fourteen');
    for (const [file, { digest, lists: count }] of kept) {
      const fresh = filesOf(join(scratchFolder(), 'gapstone.db'));
      await run(restoreCommand, [file, '--db', fresh.db]);
      using db = openDatabase(fresh);
      assert.is(catalogDigest(db), digest);
      assert.is(db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), count);
    }
    // The catalog from before the last bundle is still there after all those tidyings.
    await run(contentCommand, ['rollback', ...at]);
  },
);

year.run();
