import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';
import { put, scratchFolder } from './support/scratch.ts';

const test = suite('What runs, put together');
const make = (...args: string[]) =>
  spawnSync(process.execPath, [join(packageRoot, 'src', 'runtime-tree.mjs'), ...args], { encoding: 'utf8' });
const scratch = scratchFolder();
const tree = join(scratch, 'tree');
const files = () =>
  readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1));
const read = (name: string) => readFileSync(join(tree, name), 'utf8');

test.before(() => {
  assert.is(make(tree, 'c0ffee').status, 0);
});

test('it is the bundle, one driver, migrations, data, documents and licences', () => {
  assert.equal(readdirSync(tree).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'THIRD-PARTY-LICENSES.txt',
    'data',
    'dist',
    'docs',
    'migrations',
    'node_modules',
    'package.json',
  ]);
  const all = files();
  const binaries = all.filter(
    (name) => readFileSync(join(tree, name)).subarray(0, 4).toString('latin1') === '\x7fELF',
  );
  assert.equal(binaries, [`node_modules/better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`]);
  assert.equal(readdirSync(join(tree, 'node_modules')), ['better-sqlite3']);
  assert.equal(
    all.filter((name) => /\.(map|ts|gyp|c|cpp|h)$/.test(name)),
    [],
  );
  const manifest = JSON.parse(read('package.json')) as Record<string, unknown>;
  assert.equal([manifest.name, manifest.type, manifest.commit], ['gapstone', 'module', 'c0ffee']);
  assert.is(manifest.dependencies, undefined);
});

test('everybody may read it, its owner alone may write it, and nothing in it is a program', () => {
  for (const name of files()) assert.is(statSync(join(tree, name)).mode & 0o7777, 0o644, name);
  for (const name of ['.', 'dist', 'data/stigs'])
    assert.is(statSync(join(tree, name)).mode & 0o7777, 0o755, name);
});

test('it imports and checks, away from the checkout', () => {
  const db = join(scratch, 'gapstone.db');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(tree, 'dist', 'src', 'cli.js'), ...args, '--db', db], {
      cwd: scratch,
      encoding: 'utf8',
    });
  assert.match(run('import', join(tree, 'data', 'stigs')).stderr, /^3 sources in .*: 3 imported/m);
  const { status, stdout } = run('check');
  assert.is(status, 0);
  assert.match(stdout, /[0-9a-f]{64}/);
});

test('the licence of each package that is inside is there', () => {
  const inside = JSON.parse(readFileSync(join(packageRoot, 'dist', 'packages.json'), 'utf8')) as string[];
  const texts = read('THIRD-PARTY-LICENSES.txt').split(/\n-{80}\n\n/);
  assert.is(texts.length, inside.length + 1);
  for (const path of [...inside, 'node_modules/node-addon-api']) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(packageRoot, path, 'package.json'), 'utf8'),
    ) as Record<string, string>;
    assert.ok(
      texts.some((text) => text.startsWith(`${name} ${version} (${license})\n\n`)),
      name,
    );
  }
});

test('a folder that holds something is refused and left as it was', () => {
  put(scratch, 'full/mine.txt', 'mine');
  const { status, stderr } = make(join(scratch, 'full'));
  assert.is(status, 1);
  assert.match(stderr, /full is not empty\n$/);
  assert.equal(readdirSync(join(scratch, 'full')), ['mine.txt']);
});

test.run();
