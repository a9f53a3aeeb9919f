import { request } from 'node:https';
import * as assert from 'uvu/assert';
import { type Door, openDoor, type Site, site } from '../support/doors.ts';
import { rejects, suiteIf } from '../support/harness.ts';
import { issue, person } from '../support/pki.ts';
import { programs } from '../support/programs.ts';
import { documented, documentedHost, endProxies } from '../support/proxies.ts';
import { killAll, until } from '../support/running.ts';

// The blocks of docs/sign-in.md for nginx and Apache.
const nginx = suiteIf(programs('nginx'), 'Behind nginx');
const apache = suiteIf(programs('apache2'), 'Behind Apache');
for (const each of [nginx, apache])
  each?.after(() => {
    endProxies();
    killAll();
  });

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
  const all = { Host: `${documentedHost}:${port}`, 'Content-Length': Buffer.byteLength(body), ...headers };
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
  body: 'with=certificate&next=/systems',
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
  const own = `https://${documentedHost}:${port}`;
  const reply = await send(port, { ...form(own), cert: ann });
  assert.is(reply.status, 303, reply.text);
  const lists = await send(port, { path: '/systems', headers: { Cookie: reply.cookie } });
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
    door.running.stdout().includes(`"origin":"https://evil.example","host":"${documentedHost}:${port}"`),
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

/** Starts a server and a proxy before it, by the document. */
async function behind(proxy: 'nginx' | 'apache') {
  const at = await site();
  const { port, settings, start } = await documented(at);
  const door = await openDoor({ ...at, env: {} }, 'proxy', settings(1));
  start(proxy, door.running.port);
  return { at, port, door };
}

nginx?.('it serves as the document says', async () => {
  const { at, port, door } = await behind('nginx');
  await holds(at, door, port);
  const old = await send(port, { ...form(`https://${documentedHost}:${port}`), cert: expired(at) });
  assert.is(old.status, 401);
  assert.match(old.text, 'Your certificate has expired');
  await door.stop();
});

apache?.('it serves as the document says', async () => {
  const { at, port, door } = await behind('apache');
  await holds(at, door, port);
  // It ends the connection of who has an expired certificate.
  await rejects(send(port, { path: '/healthz', cert: expired(at) }), /alert/);
  await door.stop();
});

nginx?.run();
apache?.run();
