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
import { isTooOld } from '../src/runtime.ts';
import { suite, testIf } from './support/harness.ts';
import { selfSigned } from './support/pki.ts';
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

test('a Node that is too old is told from one that will do', () => {
  for (const version of ['18.20.8', '20.20.2', '22.0.0', '22.13.9']) assert.ok(isTooOld(version), version);
  for (const version of ['22.15.0', '22.22.1', '24.0.0', '24.21.0', '25.1.0'])
    assert.not.ok(isTooOld(version), version);
});

test('the programs load nothing but their own files, Node and better-sqlite3, and assets and threads are there', () => {
  const dist = join(packageRoot, 'dist');
  const programs = [
    ['src', 'cli.js'],
    ['src', 'work', 'worker.js'],
    ['src', 'pages', 'checklists', 'upload-thread.js'],
    ['src', 'checklists', 'zip-worker.js'],
    ['src', 'auth', 'revocation-thread.js'],
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
  assert.ok(existsSync(join(dist, 'src', 'pages', 'assets', 'style.css')));
});

interface Locked {
  version: string;
  license?: string;
  dependencies?: Record<string, string>;
}

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
  const programs = [
    'src/cli.js',
    'src/work/worker.js',
    'src/pages/checklists/upload-thread.js',
    'src/checklists/zip-worker.js',
    'src/auth/revocation-thread.js',
  ];
  const chunks = readdirSync(join(packageRoot, 'dist', 'chunks')).map((name) => join('chunks', name));
  const inside = new Set(['better-sqlite3']);
  for (const file of [...programs, ...chunks])
    for (const [, name] of read('dist', file).matchAll(/^\/\/ node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm))
      inside.add(name!);
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
