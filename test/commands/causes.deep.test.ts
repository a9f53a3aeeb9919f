import { chmodSync, chownSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { discover, listFiles } from '../../importers/discover.ts';
import { whyRefused } from '../../src/base/files.ts';
import { packageRoot } from '../../src/base/root.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { actingAsNobody, nobody } from '../support/nobody.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const causes = suite('Errors name their cause');

const isRoot = process.geteuid?.() === 0;
/** A copy of the compiled program whose driver is another: none, or a damaged one. */
function programWith(driver: 'none' | 'damaged'): string {
  const folder = scratchFolder();
  for (const name of ['package.json', 'migrations', 'data'])
    symlinkSync(join(packageRoot, name), join(folder, name));
  for (const name of ['src', 'chunks'])
    cpSync(join(packageRoot, 'dist', name), join(folder, 'dist', name), { recursive: true });
  if (driver === 'damaged') {
    const own = join(folder, 'node_modules', 'better-sqlite3');
    mkdirSync(dirname(own));
    cpSync(join(packageRoot, 'node_modules', 'better-sqlite3'), own, {
      recursive: true,
      filter: (path) => !path.endsWith('deps') && !path.endsWith('src'),
    });
    writeFileSync(join(own, 'prebuilds', `${process.platform}-${process.arch}.node`), 'not a library');
  }
  return join(folder, 'dist', 'src', 'cli.js');
}

for (const [driver, why] of [
  ['none', "Cannot find package 'better-sqlite3'"],
  ['damaged', '.*(file too short|invalid ELF|cannot open shared object)'],
] as const)
  causes(`a driver that cannot be loaded (${driver}) is a fault of the installation`, async () => {
    const cwd = scratchFolder();
    for (const command of [
      ['import', 'x'],
      ['start', '--port', '0'],
    ]) {
      const { code, stderr } = await gapstone([], {
        cwd,
        under: [process.execPath, programWith(driver), ...command],
      });
      assert.is(code, 1);
      assert.match(
        stderr,
        new RegExp(
          `^gapstone: the SQLite driver cannot be loaded: ${why}.*\\. Install the package for ${process.platform}-${process.arch} again; this is Node ${process.versions.node}\\n$`,
        ),
      );
    }
  });

causes('what lies in a folder that cannot be entered is named, file by file, with whose it is', async () => {
  const folder = scratchFolder();
  const closed = join(folder, 'closed');
  const names = ['a.xml', 'b.zip'].map((name) => put(closed, name, '<x/>'));
  if (isRoot) chownSync(closed, 4711, 4712);
  chmodSync(folder, 0o755);
  // Listed by everybody, entered by nobody else.
  chmodSync(closed, isRoot ? 0o744 : 0o644);
  const { uid, gid } = isRoot
    ? { uid: 4711, gid: 4712 }
    : { uid: process.geteuid!(), gid: process.getegid!() };
  const whose = `: ${closed} belongs to uid ${uid}, gid ${gid} (mode ${isRoot ? '0744' : '0644'}), and this process is uid ${isRoot ? nobody : uid}, gid ${isRoot ? nobody : gid}`;
  const found = await actingAsNobody(async () => {
    const all: string[] = [];
    for await (const each of discover(listFiles([folder])))
      all.push(each.type === 'unreadable' ? `${each.outcome} ${each.source}: ${each.reason}` : 'read');
    return all;
  });
  chmodSync(closed, 0o755);
  assert.equal(
    found,
    names.map((name) => `rejected ${name}: EACCES: permission denied, lstat '${name}'${whose}`),
  );
});

causes('an error that is about no right has no owner in it', () => {
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  assert.is(whyRefused('/', error), 'ENOSPC: no space left on device');
});

causes.run();
