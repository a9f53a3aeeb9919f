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
  for (const [args, code, last] of [
    [[], 0, '1 passed, 0 failed, 0 skipped'],
    [['--deep'], 1, '2 passed, 1 failed, 0 skipped'],
    [['one'], 0, '1 passed, 0 failed, 0 skipped'],
    [['two'], 1, '1 passed, 1 failed, 0 skipped'],
    [['--deep', 'nothing'], 1, '0 passed, 1 failed, 0 skipped'],
  ] as const) {
    const ended = await run(files, ...args);
    assert.equal([ended.code, ended.last], [code, last], args.join());
  }
});

runner(
  'a failing test is a failure, in whichever suite of a file, and so is what uvu alone would pass',
  async () => {
    const hook = (name: string) =>
      `const c = suite('c'); c.${name}(() => { throw new Error('no'); }); c('x', () => {}); c.run();`;
    const files = {
      first: failing + passing('a'),
      second: passing('a') + failing,
      third: passing('a') + passing('b') + failing,
      forgotten: `${passing('a')}const c = suite('c'); c('x', () => {});`,
      before: hook('before'),
      after: hook('after'),
      empty: "const c = suite('c'); c.run();",
      none: 'const x = suite;',
      unread: "throw new Error('no');",
    };
    const { code, last, out } = await run(files);
    assert.is(code, 1);
    for (const name of Object.keys(files)) assert.ok(out.lastIndexOf(`${name}.test.ts: `) > 0, name);
    assert.is(last, '5 passed, 9 failed, 0 skipped');
    assert.match(out, /boom/);
    assert.not.match(out, /native code|Total:/, 'uvu runs the suites itself, beside the runner');
    assert.is((await run({})).code, 1, 'no file at all');
  },
);

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
