import { copyFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { random } from '../support/hostile/seed.ts';
import { scratchFolder } from '../support/scratch.ts';
import { before, contentOf, over } from './support/catalog.ts';
import { say, scaled } from './support/profile.ts';

// Threat I1: killed at any moment, the catalog is the old one or the new one, and the next import succeeds.
const kills = suite('SIGKILL of an import');

const count = scaled(200, 6);
const work = scratchFolder();
const oldFile = join(work, 'old.db');
let oldContent: string;
let newContent: string;
let fullRun: number;

kills.before(async () => {
  const db = openCatalog(oldFile, { create: true });
  const { summary } = await runImport(db, before);
  assert.is(summary.rejected, 0);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  oldContent = contentOf(oldFile);
  const file = join(work, 'new.db');
  copyFileSync(oldFile, file);
  // The second run is timed as those that are killed will be: two at once.
  const [first] = await Promise.all([
    gapstone(['import', ...over, '--db', file]),
    gapstone(['import', ...over, '--dry-run', '--db', oldFile]),
  ]);
  assert.is(first.code, 0, first.stderr.slice(-500));
  fullRun = first.ms;
  newContent = contentOf(file);
  assert.is.not(newContent, oldContent);
});

/** Imports over a copy of the old catalog and kills it, checks what is left, and imports once more. */
async function killOne(index: number): Promise<{ killed: boolean; kept: 'old' | 'new' }> {
  const file = join(work, `${index}.db`);
  const wal = `${file}-wal`;
  copyFileSync(oldFile, file);
  // One in four is killed while its log grows, where a commit is under way; the others at any moment of the run.
  const atCommit = index % 4 === 0;
  const moment = Math.round(atCommit ? random() * 60 : fullRun * (0.1 + 0.95 * random()));
  const where = `run ${index}, killed ${moment} ms after ${atCommit ? 'its log grew' : 'its start'}`;
  const { code, signal, stderr } = await gapstone(['import', ...over, '--db', file], {
    ...(atCommit ? {} : { killAfter: moment }),
    onStart: (child) => {
      if (!atCommit) return;
      const watch = setInterval(() => {
        if ((statSync(wal, { throwIfNoEntry: false })?.size ?? 0) < 5000) return;
        clearInterval(watch);
        setTimeout(() => child.kill('SIGKILL'), moment);
      }, 1);
      child.on('close', () => clearInterval(watch));
    },
  });
  assert.ok(signal === 'SIGKILL' || code === 0, `${where}: ${code} ${stderr.slice(-300)}`);
  const content = contentOf(file);
  assert.ok(
    content === oldContent || content === newContent,
    `${where}: neither the old catalog nor the new one`,
  );
  if (code === 0) assert.is(content, newContent, `${where}: a run that ended has stored`);
  const next = await gapstone(['import', ...over, '--db', file]);
  assert.is(next.code, 0, `${where}: ${next.stderr.slice(-300)}`);
  if (index % 3 === 0) assert.is(contentOf(file), newContent, `${where}: the next import`);
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  return { killed: signal === 'SIGKILL', kept: content === oldContent ? 'old' : 'new' };
}

kills(`${count} imports killed at random moments: the catalog is the old one or the new one`, async () => {
  const results: Awaited<ReturnType<typeof killOne>>[] = [];
  const queue = Array.from({ length: count }, (_, index) => index);
  const worker = async () => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift())
      results.push(await killOne(index));
  };
  await Promise.all([worker(), worker()]);
  const killed = results.filter((each) => each.killed);
  const kept = killed.filter((each) => each.kept === 'old').length;
  say(
    `${killed.length} of ${count} killed: ${kept} kept the old catalog, ${killed.length - kept} the new one`,
  );
  assert.ok(killed.length >= count * 0.5, 'most runs were still running when they were killed');
  assert.ok(kept >= 1, 'some were killed before their commit');
});

kills.run();
