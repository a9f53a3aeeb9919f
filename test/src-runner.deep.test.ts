import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';
import { put, scratchFolder } from './support/scratch.ts';

// The runner of the tests must not pass by accident: each way in which uvu alone would is tried here.
const runner = suite('Test runner');

/** Runs the runner in a folder of its own over the given test files. */
function run(
  files: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; last: string; out: string }> {
  const base = scratchFolder();
  const folder = join(base, 'test');
  cpSync(join(packageRoot, 'test', 'support'), join(folder, 'support'), { recursive: true });
  copyFileSync(join(packageRoot, 'test', 'run.ts'), join(folder, 'run.ts'));
  for (const name of 'node_modules src importers migrations data tsconfig.json package-lock.json'.split(' '))
    symlinkSync(join(packageRoot, name), join(base, name));
  put(base, 'package.json', '{"type":"module"}');
  for (const [name, body] of Object.entries(files))
    put(
      folder,
      `${name}.test.ts`,
      `import { suite } from '${name.includes('/') ? '..' : '.'}/support/harness.ts';\n${body}`,
    );
  return new Promise((resolve) => {
    const loader = join(folder, 'support', 'loader.mjs');
    execFile(process.execPath, ['--import', loader, join(folder, 'run.ts'), ...args], (error, out) => {
      const lines = out.trimEnd().split('\n');
      resolve({ code: Number(error?.code ?? 0), last: lines[lines.length - 1]!, out });
    });
  });
}

const passing = (name: string) =>
  `const ${name} = suite('${name}'); ${name}('passes', () => {}); ${name}.run();\n`;
const failing = "const bad = suite('bad'); bad('fails', () => { throw new Error('boom'); }); bad.run();\n";

runner('the deep files run with --deep, and with a word that no other file matches', async () => {
  const files = { one: passing('a'), 'some/two.deep': failing + passing('b') };
  const [core, all, one, two, none] = await Promise.all([
    run(files),
    run(files, '--deep'),
    run(files, 'one'),
    run(files, 'two'),
    run(files, '--deep', 'nothing'),
  ]);
  assert.equal([core.code, core.last], [0, '1 passed, 0 failed, 0 skipped']);
  assert.equal([all.code, all.last], [1, '2 passed, 1 failed, 0 skipped']);
  assert.equal([one.code, one.last], [0, '1 passed, 0 failed, 0 skipped']);
  assert.equal([two.code, two.last], [1, '1 passed, 1 failed, 0 skipped']);
  assert.equal([none.code, none.last], [1, '0 passed, 1 failed, 0 skipped'], 'nothing matches');
});

runner('what uvu alone would pass is a failure', async () => {
  const cases: [string, Record<string, string>, string[]][] = [
    ['a forgotten run()', { one: `${passing('a')}const c = suite('c'); c('x', () => {});` }, []],
    [
      'a before that throws',
      { one: "const c = suite('c'); c.before(() => { throw new Error('no'); }); c('x', () => {}); c.run();" },
      [],
    ],
    [
      'an after that throws',
      { one: "const c = suite('c'); c.after(() => { throw new Error('no'); }); c('x', () => {}); c.run();" },
      [],
    ],
    ['a suite without tests', { one: "const c = suite('c'); c.run();" }, []],
    ['a file without suites', { one: 'const x = suite;' }, []],
    ['a file that does not load', { one: "throw new Error('no');" }, []],
    ['no file at all', {}, []],
    ['a word that matches nothing', { one: passing('a') }, ['nothing']],
  ];
  const results = await Promise.all(cases.map(([, files, args]) => run(files, ...args)));
  for (const [index, { code, last, out }] of results.entries()) {
    const [name] = cases[index]!;
    assert.is(code, 1, `${name}: ${out}`);
    assert.match(last, /^\d+ passed, [1-9]\d* failed, \d+ skipped$/, name);
  }
});

runner(
  'what is left out for want of files is counted as skipped and named, with how to bring them',
  async () => {
    const harness = "import { suiteIf, testIf } from './support/harness.ts';";
    const need = (here: boolean) => `{ here: ${here}, bring: 'Lay the files there.' }`;
    const files = {
      one: `${harness} const c = suiteIf(${need(false)}, 'whole'); if (c) throw new Error('made');`,
      two: `${harness} const c = suite('c'); const some = testIf(${need(false)}, c);
      some('one test', () => { throw new Error('ran'); }); c('another', () => {}); c.run();`,
      three: `${harness} const c = suiteIf(${need(true)}, 'here'); testIf(${need(true)}, c)('x', () => {}); c.run();`,
      four: `${harness} const c = suite('c'); testIf(${need(false)}, c)('the only test', () => {}); c.run();`,
    };
    const all = await run(files);
    assert.equal([all.code, all.last], [0, '2 passed, 0 failed, 3 skipped']);
    const names = ['four.test.ts: the only test', 'one.test.ts: whole', 'two.test.ts: one test'];
    const named = [...names.map((name) => `skipped: ${name}`), 'Lay the files there.'];
    assert.ok(all.out.includes(named.join('\n')), all.out);
    const single = await run(files, 'two');
    assert.equal([single.code, single.last], [0, '1 passed, 0 failed, 1 skipped']);
    assert.match(single.out, /^skipped: two.test.ts: one test\nLay the files there\.$/m);
  },
);

runner.run();
