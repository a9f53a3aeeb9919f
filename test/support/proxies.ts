import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import type { Site } from './doors.ts';
import { serverCertificate } from './pki.ts';
import { put, scratchFolder } from './scratch.ts';

/** The name of the site in docs/sign-in.md. */
export const documentedHost = 'gapstone.example.org';

const alive = new Set<ChildProcess>();
process.once('exit', endProxies);

/** Ends what was started; every suite that starts proxies does so in its `after`. */
export function endProxies(): void {
  for (const child of alive) child.kill('SIGTERM');
  alive.clear();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A site set up by docs/sign-in.md: its blocks as they stand there, but for folder, ports and addresses. */
export interface Documented {
  port: number;
  /** What the blocks of settings say: the nth of the page. */
  settings(...numbers: number[]): Record<string, string>;
  /** Starts a proxy by its block, before the server on a port. */
  start(proxy: 'nginx' | 'apache', behind: number): void;
}

/** Puts the files that the page names where a site has them. */
export async function documented(at: Site): Promise<Documented> {
  const port = await freePort();
  const page = readFileSync(join(packageRoot, 'docs', 'sign-in.md'), 'utf8')
    .replaceAll('/etc/gapstone/', `${at.folder}/`)
    .replaceAll(/\b8443\b/g, String(port));
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);
  const own = serverCertificate(at.root);
  put(at.folder, 'server.pem', own.cert);
  writeFileSync(join(at.folder, 'server.key'), own.keyPem, { mode: 0o600 });
  put(at.folder, 'people.csv', blocks('csv')[0]!);
  return {
    port,
    settings: (...numbers) =>
      Object.fromEntries(
        numbers
          .flatMap((number) => blocks('ini')[number]!.trim().split('\n'))
          .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
      ),
    start(proxy, behind) {
      const block = blocks(proxy)[0]!.replaceAll('127.0.0.1:8080', `127.0.0.1:${behind}`);
      const { command, args } = { nginx, apache }[proxy](scratchFolder(), block);
      alive.add(spawn(command, args, { stdio: 'ignore' }));
    },
  };
}

const isRoot = process.getuid?.() === 0;

function nginx(folder: string, block: string) {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  );
  // Started as root, its workers could not write into a folder of root.
  const user = isRoot ? 'user root;\n' : '';
  const head = `${user}daemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\n`;
  const config = `${head}http {\n${paths.join('\n')}\naccess_log off;\n${block}}\n`;
  return { command: 'nginx', args: ['-p', folder, '-c', put(folder, 'nginx.conf', config)] };
}

function apache(folder: string, block: string) {
  const modules = ['/usr/lib/apache2/modules', '/usr/lib64/httpd/modules'].find((path) => existsSync(path))!;
  const builtIn = spawnSync('apache2', ['-l'], { encoding: 'utf8' }).stdout;
  const wanted = 'mpm_event authz_core unixd ssl headers proxy proxy_http socache_shmcb'.split(' ');
  const loads = wanted
    .filter((name) => !builtIn.includes(`mod_${name}.c`))
    .map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`);
  mkdirSync(join(folder, 'run'));
  const head = [
    ...loads,
    // Started as root, it works as another user.
    ...(isRoot ? ['User www-data', 'Group www-data'] : []),
    `ServerRoot ${folder}`,
    `DefaultRuntimeDir ${folder}/run`,
    `PidFile ${folder}/pid`,
    `ErrorLog ${folder}/error.log`,
    'ServerName localhost',
  ];
  const config = `${head.join('\n')}\n${block}`;
  return { command: 'apache2', args: ['-f', put(folder, 'apache.conf', config), '-DFOREGROUND'] };
}
