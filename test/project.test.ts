import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { isTooOld, oldestNode } from '../src/runtime.ts';
import { suite } from './support/harness.ts';

const read = (...parts: string[]) => readFileSync(join(packageRoot, ...parts), 'utf8');
const test = suite('the project');

/** The instructions of the Dockerfile, continuation lines joined, by stage. */
function stages(): string[][] {
  const lines = read('Dockerfile')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return lines.reduce<string[][]>((list, line) => {
    if (line.startsWith('FROM ')) list.push([]);
    list.at(-1)?.push(line);
    return list;
  }, []);
}

test('the Dockerfile builds in one stage and runs in another, both on Node 24, and compiles no driver', () => {
  const [build, final, ...more] = stages();
  assert.equal(more, []);
  assert.match(read('Dockerfile'), /ARG BUILD_TAG=24-bookworm-slim$/m);
  assert.match(read('Dockerfile'), /ARG RUN_TAG=24-bookworm-slim$/m);
  assert.ok(build!.some((line) => line === 'RUN npm ci'));
  assert.match(build![0]!, /BUILD_TAG\} AS build$/);
  assert.match(final![0]!, /RUN_TAG\}$/);
});

test('the final stage has a numeric user that is not root, one volume, no npm and a health check by Node', () => {
  const final = stages()[1]!;
  const user = final.filter((line) => line.startsWith('USER '));
  assert.is(user.length, 1);
  assert.match(user[0]!, /^USER [1-9]\d*:[1-9]\d*$/);
  assert.equal(
    final.filter((line) => line.startsWith('VOLUME ')),
    ['VOLUME /data'],
  );
  assert.ok(
    final.some((line) => line.startsWith('RUN rm -rf ') && line.includes('/usr/local/lib/node_modules')),
  );
  assert.not.ok(final.some((line) => /npm (ci|install)|apt-get/.test(line)));
  const health = final.find((line) => line.startsWith('HEALTHCHECK '))!;
  const command = JSON.parse(health.slice(health.indexOf('['))) as string[];
  assert.is(command[0], 'node');
  assert.match(command[2]!, /readyz/);
  assert.equal(JSON.parse(final.find((line) => line.startsWith('ENTRYPOINT '))!.slice(11)), [
    'node',
    'dist/src/cli.js',
  ]);
  assert.match(final.find((line) => line.startsWith('ENV '))!, /GAPSTONE_DB=\/data\/gapstone\.db/);
  const order = final.map((line) => line.split(' ')[0]);
  assert.ok(
    order.indexOf('USER') > order.lastIndexOf('RUN') && order.indexOf('USER') > order.lastIndexOf('COPY'),
  );
});

test('everything that the Dockerfile copies from here exists and is let through by .dockerignore', () => {
  const allowed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const copies = stages()
    .flat()
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));
  assert.ok(copies.length >= 8);
  for (const path of copies) {
    assert.ok(existsSync(join(packageRoot, path)), path);
    assert.ok(allowed.includes(path), `${path} is not let through`);
  }
});

test('the lock file names no download host', () => {
  assert.not.match(read('package-lock.json'), /"resolved"/);
  assert.match(read('.npmrc'), /^omit-lockfile-registry-resolved=true$/m);
  const manifest = JSON.parse(read('package.json')) as {
    allowScripts: object;
    engines: { node: string };
    devDependencies: Record<string, string>;
  };
  assert.equal(manifest.allowScripts, { 'better-sqlite3': false, esbuild: false, node: true });
  assert.is(manifest.engines.node, `>=${oldestNode}`);
  assert.match(manifest.devDependencies.node!, /^24\.\d+\.\d+$/);
});

test('a Node that is too old is told from one that will do', () => {
  for (const version of ['18.20.8', '20.20.2', '22.0.0', '22.13.9']) assert.ok(isTooOld(version), version);
  for (const version of ['22.15.0', '22.22.1', '24.0.0', '24.21.0', '25.1.0'])
    assert.not.ok(isTooOld(version), version);
});

test('the programs load nothing but their own files, Node and better-sqlite3, and assets and threads are there', () => {
  const dist = join(packageRoot, 'dist');
  const programs = [
    ['src', 'cli.js'],
    ['src', 'site', 'upload-thread.js'],
  ];
  const waiting = programs.map((parts) => join(dist, ...parts));
  const seen = new Set<string>();
  const others = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, name] of text.matchAll(/^(?:import|\} from|export .* from)\b[^'"\n]*["']([^"'\n]+)["']/gm))
      if (name!.startsWith('.')) waiting.push(join(file, '..', name!));
      else if (!isBuiltin(name!)) others.add(name!);
    for (const [, name] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g)) waiting.push(join(file, '..', name!));
  }
  assert.equal([...others], ['better-sqlite3']);
  assert.ok(seen.size > 20 && seen.size < 100, `${seen.size} files`);
  assert.ok(existsSync(join(dist, 'src', 'site', 'assets', 'style.css')));
});

test('every command has help, which names every option', () => {
  const cli = join(packageRoot, 'dist', 'src', 'cli.js');
  const help = execFileSync(process.execPath, [cli, '--help'], { encoding: 'utf8' });
  const names = [...help.matchAll(/^ {2}([a-z-]+) {2}/gm)].map((match) => match[1]!);
  assert.ok(names.includes('import') && names.includes('serve') && names.includes('token'));
  for (const name of names) {
    const own = execFileSync(process.execPath, [cli, name, '--help'], { encoding: 'utf8' });
    assert.match(own, new RegExp(`^gapstone ${name}`));
    const options = new Set([...own.split('\n\n')[0]!.matchAll(/--[a-z-]+/g)].map((match) => match[0]));
    for (const option of options) {
      const times = own.split(option).length - 1;
      assert.ok(times >= 2 || option === '--json', `${name} ${option} has a line of help`);
    }
  }
});

interface Locked {
  version: string;
  license?: string;
  dependencies?: Record<string, string>;
}

test('the dependency table of SECURITY.md is what the lock file says, version and licence', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
  const running = new Map<string, Locked>();
  const add = (name: string) => {
    if (running.has(name)) return;
    const locked = packages[`node_modules/${name}`]!;
    running.set(name, locked);
    for (const each of Object.keys(locked.dependencies ?? {})) add(each);
  };
  for (const name of Object.keys(packages['']!.dependencies!)) add(name);
  const table = [...read('SECURITY.md').matchAll(/^\| (\S+) \| (\d\S*) \| (\S+) \| (.+) \|$/gm)];
  const stated = table.map(([, name, version, license]) => `${name} ${version} ${license}`);
  const locked = [...running].map(([name, { version, license }]) => `${name} ${version} ${license}`);
  assert.equal(stated.sort(), locked.sort());
  const sqlite = new Sqlite(':memory:');
  const version = sqlite.prepare('SELECT sqlite_version()').pluck().get() as string;
  sqlite.close();
  assert.ok(read('SECURITY.md').includes(`SQLite ${version} is compiled into`));
});

test('the bill of materials names every package of which something is inside, SQLite and Node, and is the same each time', () => {
  const script = join(packageRoot, 'src', 'sbom.mjs');
  const bytes = () =>
    execFileSync(process.execPath, [script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const text = bytes();
  assert.is(read('dist', 'sbom.cdx.json'), text);
  assert.is(bytes(), text);
  const bill = JSON.parse(text) as Bill;
  assert.is(bill.bomFormat, 'CycloneDX');
  assert.match(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal([bill.metadata.component.name, bill.metadata.timestamp], ['gapstone', undefined]);
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
  // The bundler leaves the path of each module above its text.
  const programs = ['src/cli.js', 'src/site/upload-thread.js'];
  const chunks = readdirSync(join(packageRoot, 'dist', 'chunks')).map((name) => join('chunks', name));
  const inside = new Set(['better-sqlite3']);
  for (const file of [...programs, ...chunks])
    for (const [, name] of read('dist', file).matchAll(/^\/\/ node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm))
      inside.add(name!);
  assert.ok(inside.size > 60, `${inside.size} packages`);
  const wanted = [...inside].map((name) => `${name} ${packages[`node_modules/${name}`]!.version}`);
  const sqlite = new Sqlite(':memory:');
  wanted.push(`node ${process.versions.node}`);
  wanted.push(`sqlite ${sqlite.prepare('SELECT sqlite_version()').pluck().get()}`);
  sqlite.close();
  assert.equal(bill.components.map(({ name, version }) => `${name} ${version}`).sort(), wanted.sort());
  for (const { name, licenses, hashes } of bill.components) {
    assert.ok(licenses?.length, `the licence of ${name}`);
    assert.match(hashes![0]!.content, /^([0-9a-f]{64}|[0-9a-f]{128})$/);
  }
  const refs = [...bill.components, bill.metadata.component].map((each) => each['bom-ref']);
  assert.is(new Set(refs).size, refs.length);
  for (const { ref, dependsOn } of bill.dependencies)
    for (const each of [ref, ...dependsOn]) assert.ok(refs.includes(each), each);
});

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  licenses?: object[];
  hashes?: { alg: string; content: string }[];
}

interface Bill {
  bomFormat: string;
  serialNumber: string;
  metadata: { component: Component; timestamp?: string };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

test.run();
