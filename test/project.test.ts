import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { isBuiltin } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { isTooOld, nodeOptions, oldestNode } from '../src/runtime.ts';
import { selfSigned } from './support/certificate.ts';
import { suite, testIf } from './support/harness.ts';
import { programs } from './support/programs.ts';

const read = (...parts: string[]) => readFileSync(join(packageRoot, ...parts), 'utf8');
const test = suite('the project');

/** The instructions of the Dockerfile, continuation lines joined: those before the first stage, and those of each. */
function stages(): string[][] {
  const lines = read('Dockerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return lines.reduce<string[][]>(
    (list, line) => {
      if (line.startsWith('FROM ')) list.push([]);
      list.at(-1)!.push(line);
      return list;
    },
    [[]],
  );
}

test('the Dockerfile takes its bases as arguments, both on Node 24, and compiles nothing', () => {
  const [globals, build, root, final, ...more] = stages();
  assert.equal(more, []);
  assert.equal(globals, [
    'ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim',
    'ARG RUN_IMAGE=docker.io/library/node:24-bookworm-slim',
  ]);
  // Red Hat's bases come with a user of their own, who may write neither here nor there.
  assert.equal(build!.slice(0, 2), [`FROM $\{BUILD_IMAGE} AS build`, 'USER 0']);
  assert.equal(root!.slice(0, 3), [`FROM $\{RUN_IMAGE} AS root`, 'ARG NODE_DIR=/usr/local', 'USER 0']);
  assert.ok(build!.includes('RUN npm ci --include=dev --ignore-scripts'));
  assert.is(final![0], 'FROM scratch');
  assert.ok(final!.includes('COPY --from=root / /'));
});

test('the image has a numeric user that is not root, one volume, labels and a health check', () => {
  const final = stages()[3]!;
  const given = (word: string) =>
    final.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  assert.equal(given('USER'), ['65532:65532']);
  assert.equal(given('VOLUME'), ['/data']);
  assert.equal(given('RUN'), []);
  const health = given('HEALTHCHECK')[0]!;
  const command = JSON.parse(health.slice(health.indexOf('['))) as string[];
  assert.equal(command.slice(0, 2), ['bash', '-c']);
  assert.match(command[2]!, /readyz/);
  assert.equal(JSON.parse(given('ENTRYPOINT')[0]!), ['node', ...nodeOptions, 'dist/src/cli.js']);
  const variables = given('ENV')[0]!;
  for (const each of [
    /GAPSTONE_DB=\/data\/gapstone\.db/,
    /GAPSTONE_INBOX=\/inbox/,
    /^PATH=\$\{NODE_DIR\}\/bin:/,
  ])
    assert.match(variables, each);
  const { version, license, description } = JSON.parse(read('package.json')) as Record<string, string>;
  for (const [name, value] of [
    ['version', version],
    ['licenses', license],
    ['description', description],
  ])
    assert.ok(given('LABEL')[0]!.includes(`org.opencontainers.image.${name}="${value}"`), name);
});

testIf(programs('bash'), test)(
  'the health check passes while /readyz answers 200, over HTTP and TLS, and else fails',
  async () => {
    const line = stages()[3]!.find((each) => each.startsWith('HEALTHCHECK '))!;
    const [program, ...args] = JSON.parse(line.slice(line.indexOf('['))) as string[];
    let status = 200;
    const asked: string[] = [];
    const answer: RequestListener = (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(status).end('{}');
    };
    const day = 86_400_000;
    const certificate = selfSigned(new Date(Date.now() - day), new Date(Date.now() + day));
    for (const [server, env] of [
      [createServer(answer), {}],
      [createSecureServer(certificate, answer), { GAPSTONE_TLS_CERT: '/tls/cert.pem' }],
    ] as const) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const port = String((server.address() as AddressInfo).port);
      const check = () =>
        new Promise((resolve) => {
          const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
          const child = spawn(program!, args, {
            env: { PATH, GAPSTONE_PORT: port, ...env },
            stdio: 'ignore',
          });
          child.on('close', resolve);
        });
      status = 200;
      assert.is(await check(), 0);
      status = 503;
      assert.is(await check(), 1);
      await new Promise((resolve) => server.close(resolve));
      assert.is(await check(), 1);
    }
    assert.equal([...new Set(asked)], ['GET /readyz']);
  },
);

test('everything that the Dockerfile copies from here exists and is let through by .dockerignore', () => {
  const allowed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const copies = stages()
    .flat()
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));
  assert.equal(copies, ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', '.']);
  for (const path of [...copies.slice(0, -1), ...allowed]) {
    assert.ok(existsSync(join(packageRoot, path)), path);
    assert.ok(allowed.includes(path), `${path} is not let through`);
  }
  // What goes into the image as it is.
  const copied = /^copy\((.*)\);$/m.exec(read('src', 'runtime-tree.mjs'))![1]!.split(', ');
  assert.ok(copied.length >= 7);
  for (const name of copied) assert.ok(allowed.includes(name.slice(1, -1)), `${name} is not let through`);
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

test('npm, the image and the package start Node in the same way', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
  assert.ok(scripts.start.endsWith(`exec node ${nodeOptions.join(' ')} dist/src/cli.js start`));
  const given = [...read('packaging/launcher.c').matchAll(/next\[\d\] = "(.*)";/g)].map(
    ([, option]) => option,
  );
  assert.equal(given, nodeOptions);
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
    ['src', 'site', 'checklists', 'upload-thread.js'],
  ];
  const waiting = programs.map((parts) => join(dist, ...parts));
  const seen = new Set<string>();
  const others = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    assert.not.match(text, /AjvJsonSchemaValidator/, file);
    for (const [, name] of text.matchAll(/^(?:import|\} from|export .* from)\b[^'"\n]*["']([^"'\n]+)["']/gm))
      if (name!.startsWith('.')) waiting.push(join(file, '..', name!));
      else if (!isBuiltin(name!)) others.add(name!);
    for (const [, name] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g)) waiting.push(join(file, '..', name!));
  }
  assert.equal([...others], ['better-sqlite3']);
  assert.ok(seen.size > 20 && seen.size < 130, `${seen.size} files`);
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

test('the dependency table of docs/security.md is what the lock file says, version and licence', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
  const running = new Map<string, Locked>();
  const add = (name: string) => {
    if (running.has(name)) return;
    const locked = packages[`node_modules/${name}`]!;
    running.set(name, locked);
    for (const each of Object.keys(locked.dependencies ?? {})) add(each);
  };
  for (const name of Object.keys(packages['']!.dependencies!)) add(name);
  const table = [...read('docs', 'security.md').matchAll(/^\| (\S+) \| (\d\S*) \| (\S+) \| (.+) \|$/gm)];
  const stated = table.map(([, name, version, license]) => `${name} ${version} ${license}`);
  const locked = [...running].map(([name, { version, license }]) => `${name} ${version} ${license}`);
  assert.equal(stated.sort(), locked.sort());
  const sqlite = new Sqlite(':memory:');
  const version = sqlite.prepare('SELECT sqlite_version()').pluck().get() as string;
  sqlite.close();
  assert.ok(read('docs', 'security.md').includes(`SQLite ${version} is compiled into`));
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
  const programs = ['src/cli.js', 'src/site/checklists/upload-thread.js'];
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
