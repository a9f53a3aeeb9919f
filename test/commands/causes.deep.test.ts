import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { scratchFolder } from '../support/scratch.ts';

const causes = suite('Errors name their cause');

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

causes.run();
