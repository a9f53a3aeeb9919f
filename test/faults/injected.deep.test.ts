import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone, withoutProgress } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { contentOf, releases } from './support/catalog.ts';
import { say, scaled } from './support/profile.ts';
import { trace, tracing } from './support/strace.ts';

// Threat I2: a call on the database that fails, at whatever point of an import. Where processes may not be traced,
// `test/importers/kill.deep.test.ts` and `full-disk.deep.test.ts` are what is left of it.
const injected = suite('Failing calls in an import');

const work = scratchFolder();
const first = put(work, 'first.xml', releases(1).releases[0]!.text);
const second = put(work, 'second.xml', releases(2).releases[1]!.text);
/** What is imported over the old catalog: small, because every call is traced. */
const over = [second];
const oldFile = join(work, 'old.db');
let oldContent: string;
let newContent: string;

injected.before(async () => {
  const db = openCatalog(oldFile, { create: true });
  await runImport(db, [shipped('stigs'), first]);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  oldContent = contentOf(oldFile);
});

/** An import over a copy of the old catalog, traced as the arguments say for the database and its log alone. */
async function traced(name: string, ...args: string[]) {
  const file = join(work, `${name}.db`);
  copyFileSync(oldFile, file);
  const { under, lines } = trace('-P', file, '-P', `${file}-wal`, ...args);
  const run = await gapstone(['import', ...over, '--db', file], { under });
  return { ...run, file, lines };
}

const faults: [call: string, error: string][] = [
  ['pwrite64', 'ENOSPC'],
  ['pwrite64', 'EIO'],
  ['pwrite64', 'EDQUOT'],
  ['fsync', 'EIO'],
  ['pread64', 'EIO'],
];

testIf(tracing, injected)(
  'no failing call leaves anything but the old catalog or the whole new one',
  async () => {
    const clean = await traced('clean', '-e', 'trace=pwrite64,fsync,pread64');
    assert.is(clean.code, 0, clean.stderr.slice(-500));
    newContent = contentOf(clean.file);
    assert.is.not(newContent, oldContent);
    const calls = clean.lines();
    const kept = { old: 0, new: 0 };
    let aborted = 0;
    for (const [call, error] of faults) {
      const total = calls.filter((line) => line.includes(` ${call}(`)).length;
      assert.ok(total > 0, `an import calls ${call}`);
      const most = scaled(12, 2);
      const moments = new Set(
        Array.from(
          { length: most },
          (_, index) => 1 + Math.round(((total - 1) * index) / Math.max(1, most - 1)),
        ),
      );
      for (const moment of moments) {
        // Once, and from then on.
        for (const end of scaled(2, 1) === 1 ? ['+'] : ['', '+']) {
          const where = `${call} fails with ${error} at ${moment}${end} of ${total}`;
          const name = `${call}-${error}-${moment}${end}`;
          const inject = `inject=${call}:error=${error}:when=${moment}${end}`;
          const { code, signal, stderr, file } = await traced(name, '-e', `trace=${call}`, '-e', inject);
          const content = contentOf(file);
          const state = content === oldContent ? 'old' : content === newContent ? 'new' : 'neither';
          if (code === 0) assert.is(state, 'new', `${where}: exit 0`);
          else {
            assert.is(signal, null, where);
            assert.is(code, 1, `${where}: ${stderr}`);
            assert.match(withoutProgress(stderr), /^gapstone: [^\n]+\n$/, `${where}: one line`);
            assert.is(state, 'old', `${where}: ${stderr}`);
            aborted++;
          }
          kept[state as 'old' | 'new']++;
          const next = openCatalog(file);
          assert.is((await runImport(next, over)).summary.rejected, 0, `${where}: the next import`);
          next.close();
          for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true });
        }
      }
    }
    say(`${aborted} imports failed; ${kept.old} catalogs stayed, ${kept.new} are the new one`);
    assert.ok(aborted > 0);
  },
);

injected.run();
