import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { type Door, openDoor, type Site, site } from '../support/doors.ts';
import { rejects, suite, testIf } from '../support/harness.ts';
import { issue, person, serverCertificate } from '../support/pki.ts';
import { programs } from '../support/programs.ts';
import { killAll, until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// The blocks of docs/sign-in.md for nginx and Apache, as they stand there but for paths and ports.
const proxies = suite('Behind nginx and Apache');
const children: ChildProcess[] = [];
proxies.after(() => {
  for (const child of children) child.kill('SIGTERM');
  killAll();
});

const page = readFileSync(join(packageRoot, 'docs', 'sign-in.md'), 'utf8');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The block of a language in the document, for these files and ports. */
function block(language: string, folder: string, port: number, behind: number): string {
  const text = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)![1]!;
  return text
    .replaceAll('/etc/gapstone/', `${folder}/`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${behind}`)
    .replaceAll(/\b8443\b/g, String(port));
}

const isRoot = process.getuid?.() === 0;

/** Where the requests come from: not the address of the proxy, which is trusted. */
const from = '127.0.0.9';

interface Sent {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  cert?: { cert: string; keyPem: string };
}

function send(port: number, { path, method = 'GET', headers = {}, body = '', cert }: Sent) {
  const client = cert ? { cert: cert.cert, key: cert.keyPem } : {};
  const options = {
    host: '127.0.0.1',
    localAddress: from,
    port,
    path,
    method,
    agent: false,
    rejectUnauthorized: false,
    ...client,
  };
  const all = { Host: `gapstone.example.org:${port}`, 'Content-Length': Buffer.byteLength(body), ...headers };
  return new Promise<{ status: number; text: string; cookie: string }>((resolve, reject) => {
    const sent = request({ ...options, headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          text,
          cookie: response.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const expired = (at: Site) => issue(at.issuing, { from: new Date(0), to: new Date(86_400_000) });

/** The sign-in form by certificate, as a browser without Sec-Fetch-Site sends it: the origin with its port. */
const form = (origin: string) => ({
  path: '/signin',
  method: 'POST',
  body: 'with=certificate&next=/lists',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: origin },
});

/** Asserts what holds behind every proxy. */
async function holds(at: Site, door: Door, port: number): Promise<void> {
  const ready = () =>
    send(port, { path: '/healthz' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('the proxy answers', ready);
  const ann = issue(at.issuing, { extensions: person('ann@test.mil') });
  const own = `https://gapstone.example.org:${port}`;
  const reply = await send(port, { ...form(own), cert: ann });
  assert.is(reply.status, 303, reply.text);
  const lists = await send(port, { path: '/lists', headers: { Cookie: reply.cookie } });
  assert.match(lists.text, 'ann@test.mil');
  // The address is that of the client, and what it wrote into headers counts for nothing.
  const forged = { 'X-Forwarded-For': '192.0.2.1', 'X-Client-Cert': encodeURIComponent(ann.cert) };
  const without = await send(port, { ...form(own), headers: { ...form(own).headers, ...forged } });
  assert.is(without.status, 401);
  assert.match(without.text, 'Your browser sent no certificate');
  assert.ok(door.audit(from).some(({ reason }) => reason === 'CERTIFICATE_MISSING'));
  // Another origin is refused, and the log says why.
  const other = await send(port, { ...form('https://evil.example'), cert: ann });
  assert.is(other.status, 403);
  await until('the log says why', () =>
    door.running.stdout().includes(`"origin":"https://evil.example","host":"gapstone.example.org:${port}"`),
  );
  // An upload of 32 MiB arrives whole: it is no checklist, which only its reader can say.
  const large = await send(port, {
    path: '/api/v1/checklists/inspect',
    method: 'POST',
    body: Buffer.alloc(32 * 1024 * 1024, 32),
    headers: { Cookie: reply.cookie, Origin: own, 'Content-Type': 'application/json' },
  });
  assert.is(large.status, 400, large.text.slice(0, 300));
  assert.match(large.text, '"code":"BAD_REQUEST"');
}

async function prepare() {
  const at = await site();
  const folder = scratchFolder();
  const own = serverCertificate(at.root);
  writeFileSync(join(folder, 'server.pem'), own.cert);
  writeFileSync(join(folder, 'server.key'), own.keyPem, { mode: 0o600 });
  writeFileSync(join(folder, 'client-ca.pem'), at.root.cert + at.issuing.cert);
  const port = await freePort();
  const door = await openDoor(at, 'proxy', { GAPSTONE_PUBLIC_URL: `https://gapstone.example.org:${port}` });
  return { at, folder, port, door };
}

testIf(programs('nginx'), proxies)('nginx as the document says', async () => {
  const { at, folder, port, door } = await prepare();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  );
  // Started as root, its workers could not write into a folder of root.
  const user = isRoot ? 'user root;\n' : '';
  const config = `${user}daemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\n${paths.join('\n')}\naccess_log off;\n${block('nginx', folder, port, door.running.port)}}\n`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  children.push(spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' }));
  await holds(at, door, port);
  const old = await send(port, { ...form(`https://gapstone.example.org:${port}`), cert: expired(at) });
  assert.is(old.status, 401);
  assert.match(old.text, 'Your certificate has expired');
  await door.stop();
});

testIf(programs('apache2'), proxies)('Apache as the document says', async () => {
  const { at, folder, port, door } = await prepare();
  const modules = ['/usr/lib/apache2/modules', '/usr/lib64/httpd/modules'].find((path) => existsSync(path))!;
  const wanted = ['mpm_event', 'authz_core', 'ssl', 'headers', 'proxy', 'proxy_http', 'socache_shmcb'];
  const loads = wanted.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`);
  mkdirSync(join(folder, 'run'));
  const head = `ServerRoot ${folder}\nDefaultRuntimeDir ${folder}/run\nPidFile ${folder}/pid\nErrorLog ${folder}/error.log\nServerName localhost\n`;
  // Started as root, it works as another user; a test needs none.
  const user = isRoot
    ? 'LoadModule unixd_module /usr/lib/apache2/modules/mod_unixd.so\nUser www-data\nGroup www-data\n'
    : '';
  const built = spawnSync('apache2', ['-l'], { encoding: 'utf8' }).stdout;
  const unixd = built.includes('mod_unixd') ? user.replace(/^LoadModule.*\n/, '') : user;
  writeFileSync(
    join(folder, 'apache.conf'),
    `${loads.join('\n')}\n${unixd}${head}${block('apache', folder, port, door.running.port)}`,
  );
  children.push(spawn('apache2', ['-f', join(folder, 'apache.conf'), '-DFOREGROUND'], { stdio: 'ignore' }));
  await holds(at, door, port);
  // It ends the connection of who has an expired certificate.
  await rejects(send(port, { path: '/healthz', cert: expired(at) }), /alert/);
  await door.stop();
});

proxies.run();
