import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';
import { scratchFolder } from './support/scratch.ts';
import { type Addition, workedExample } from './support/worked-example.ts';

const example = suite('The worked example of CONTRIBUTING.md');

const mend = 'Mend test/support/worked-example.ts, and CONTRIBUTING.md where it says otherwise';

/** The text with an addition above the last place of its anchor, and above the docstring there. */
function added(source: string, { file, above, text, anchor }: Addition): string {
  const at = source.lastIndexOf(`\n${above}`) + 1;
  assert.ok(at > 0, `${file} has no "${above}" any more, where ${anchor}. ${mend}`);
  const docstring = /[^\S\n]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n$/.exec(source.slice(0, at));
  const place = at - (docstring?.[0].length ?? 0);
  return source.slice(0, place) + text + source.slice(place);
}

example('fits the sources as they are, in types and in form', () => {
  const folder = scratchFolder();
  for (const name of ['src', 'importers', 'tsconfig.json', 'package.json', 'biome.json'])
    cpSync(join(packageRoot, name), join(folder, name), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  for (const addition of workedExample) {
    const path = join(folder, addition.file);
    writeFileSync(path, added(readFileSync(path, 'utf8'), addition));
  }
  const run = (tool: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(join(folder, 'node_modules', '.bin', tool), args, {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.is(status, 0, `${tool} complains of the example. ${mend}\n${stdout}${stderr}`);
  };
  run('tsc', '--noEmit', '-p', '.');
  run('biome', 'lint', '--vcs-enabled=false', ...workedExample.map(({ file }) => file));
});

example('is what CONTRIBUTING.md describes: its files, its rule and its operation', () => {
  const text = readFileSync(join(packageRoot, 'CONTRIBUTING.md'), 'utf8');
  const from = text.indexOf('For example `GET /api/v1/lists/{id}/summary`');
  assert.ok(from >= 0, mend);
  const steps = text.slice(from, text.indexOf('\n## ', from));
  for (const { file } of workedExample)
    assert.ok(steps.includes(`\`${file}\``), `${file} is not named. ${mend}`);
  assert.ok(steps.includes('`access.listsRead`') && steps.includes('test/support/worked-example.ts'), mend);
});

example.run();
