import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { writableByOthers } from '../../src/base/files.ts';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';

// Rule S3.6.
const rights = suite("Users' data and audit files that others may write");
rights.after(killAll);

rights('are found by their mode and that of their folder; a sticky folder is good', () => {
  const folder = scratchFolder();
  chmodSync(folder, 0o755);
  const file = put(folder, 'users.db', '');
  const cases: [folder: number, file: number, expected: string[]][] = [
    [0o755, 0o600, []],
    [0o755, 0o644, []],
    [0o755, 0o620, [`others may write ${file} (mode 0620): chmod go-w ${file}`]],
    [0o755, 0o602, [`others may write ${file} (mode 0602): chmod go-w ${file}`]],
    [0o775, 0o600, [`others may write the folder ${folder} (mode 0775): chmod go-w ${folder}`]],
    [0o757, 0o600, [`others may write the folder ${folder} (mode 0757): chmod go-w ${folder}`]],
    [0o1777, 0o600, []],
  ];
  for (const [ofFolder, ofFile, expected] of cases) {
    chmodSync(folder, ofFolder);
    chmodSync(file, ofFile);
    assert.equal(writableByOthers([file, join(folder, 'none')]), expected);
  }
  chmodSync(folder, 0o700);
});

rights('are found behind a link, in whose folder others could put another link', () => {
  const [behind, open] = [scratchFolder(), scratchFolder()];
  chmodSync(behind, 0o700);
  chmodSync(open, 0o777);
  const link = join(open, 'users.db');
  symlinkSync(put(behind, 'users.db', ''), link);
  chmodSync(join(behind, 'users.db'), 0o600);
  const found = [`others may write the folder ${open} (mode 0777): chmod go-w ${open}`];
  assert.equal(writableByOthers([link]), found);
  chmodSync(open, 0o700);
  assert.equal(writableByOthers([link]), []);
});

rights('are named with a command that a shell reads as it stands', () => {
  const folder = join(scratchFolder(), "it's a $HOME; folder");
  mkdirSync(folder);
  const file = put(folder, 'users.db', '');
  chmodSync(folder, 0o777);
  chmodSync(file, 0o666);
  const found = writableByOthers([file]);
  assert.is(found.length, 2);
  for (const line of found) {
    const command = line.slice(line.indexOf(': chmod') + 2);
    assert.is(spawnSync('sh', ['-c', command]).status, 0, command);
  }
  assert.equal(writableByOthers([file]), []);
});

rights('are refused by content apply, and warned about at the start', async () => {
  const folder = scratchFolder();
  chmodSync(folder, 0o700);
  const key = sampleKey('depot');
  const { file } = await build(await sampleCatalog([[shipped('stigs')]]), key, { sequence: 1 });
  const run = (...args: string[]) => commandHere([...args, '--db', 'g.db'], { cwd: folder });
  assert.is((await run('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot')).code, 0);
  assert.is((await run('import', shipped('stigs'))).code, 0);
  const users = join(folder, 'g-users.db');
  const audit = join(folder, 'gapstone-audit.jsonl');
  for (const file of [users, audit]) {
    chmodSync(file, 0o666);
    const { code, stderr } = await run('content', 'apply', file);
    assert.is(code, 1);
    assert.is(
      stderr,
      `gapstone: nothing was applied: others may write ${file} (mode 0666): chmod go-w ${file}\n`,
    );
    const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
    const said = `others may write ${file} (mode 0666): chmod go-w ${file}`;
    assert.is(running.stdout().split(said).length, 2);
    running.child.kill('SIGTERM');
    await running.ended;
    chmodSync(file, 0o600);
  }
  const { code, stderr } = await run('content', 'apply', file);
  assert.is(code, 0, stderr);
});

rights.run();
